//! Arguments of `rails_job`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_constant, check_page, check_text, invalid};
use crate::error::Result;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Without a name: the list of all.
    pub name: Option<String>,
    pub kind: Option<JobKind>,
    pub query: Option<String>,
    /// Of the list. Default 100.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Where the page begins.
    #[schemars(range(max = 1_000_000))]
    pub offset: Option<u32>,
    /// `next_cursor` of the page before, instead.
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    Job,
    Mailer,
    Channel,
}

impl Arguments for Job {
    const WHAT: &'static str = "job";
    const RESULT: &'static [(&'static str, &'static str)] = &[
        ("classes", "array"),
        ("matched", "integer"),
        ("next_offset", "integer"),
        ("next_cursor", "string"),
        ("changed", "string"),
        ("not_loaded", "array"),
        ("not_loaded_count", "integer"),
    ];

    fn check(&self) -> Result<()> {
        let listed = [
            self.query.is_some(),
            self.limit.is_some(),
            self.offset.is_some(),
            self.cursor.is_some(),
        ]
        .contains(&true);
        if let Some(name) = &self.name {
            check_constant("name", name)?;
            if listed {
                let problem = "`query`, `limit`, `offset` and `cursor` belong to the list of all";
                return Err(invalid(problem.to_owned(), "leave them out, or leave out `name`"));
            }
        }
        check_text("query", self.query.as_deref())?;
        check_page(self.limit, self.offset, self.cursor.as_deref())
    }
}
