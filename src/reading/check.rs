//! Arguments of `rails_check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_page, invalid};
use crate::config::{Config, Finding};
use crate::error::Result;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Codes, such as `route_without_action`.
    pub only: Option<Vec<Finding>>,
    /// Default 50.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Where the page begins.
    #[schemars(range(max = 1_000_000))]
    pub offset: Option<u32>,
    /// `next_cursor` of the page before, instead.
    pub cursor: Option<String>,
    /// What the project does not want to hear of (`check.ignore` in `.coatepec.yml`).
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    ignore: Vec<Finding>,
}

impl Arguments for Check {
    const WHAT: &'static str = "check";
    const RESULT: &'static [(&'static str, &'static str)] = &[
        ("findings", "array"),
        ("matched", "integer"),
        ("next_offset", "integer"),
        ("next_cursor", "string"),
        ("changed", "string"),
        ("by_code", "object"),
        ("ignored", "object"),
        ("unchecked", "array"),
        ("unchecked_count", "integer"),
    ];

    fn check(&self) -> Result<()> {
        // That nothing was looked for would read as if nothing were wrong.
        if self.only.as_ref().is_some_and(Vec::is_empty) {
            return Err(invalid(
                "`only` holds no code".to_owned(),
                "leave it out to look for all",
            ));
        }
        check_page(self.limit, self.offset, self.cursor.as_deref())
    }

    fn complete(&mut self, config: &Config) {
        self.limit.get_or_insert(50);
        self.offset.get_or_insert(0);
        self.ignore.clone_from(&config.check.ignore);
    }
}
