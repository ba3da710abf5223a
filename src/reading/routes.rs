//! Arguments of `rails_routes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_page, check_text};
use crate::config::{Config, EngineRoutes};
use crate::error::Result;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Routes {
    /// Part of a name, verb, path, action or engine.
    pub query: Option<String>,
    /// `admin/widgets` or `Admin::WidgetsController`.
    pub controller: Option<String>,
    pub verb: Option<String>,
    /// Default 100.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Where the page begins.
    #[schemars(range(max = 1_000_000))]
    pub offset: Option<u32>,
    /// `next_cursor` of the page before, instead.
    pub cursor: Option<String>,
    /// Default `exclude`.
    pub engines: Option<EngineRoutes>,
}

impl Arguments for Routes {
    const WHAT: &'static str = "routes";
    const RESULT: &'static [(&'static str, &'static str)] = &[
        ("columns", "array"),
        ("rows", "array"),
        ("matched", "integer"),
        ("next_offset", "integer"),
        ("next_cursor", "string"),
        ("changed", "string"),
        ("engines", "string"),
        ("engines_excluded", "integer"),
        ("app_excluded", "integer"),
        ("internal_excluded", "integer"),
    ];

    fn check(&self) -> Result<()> {
        check_text("query", self.query.as_deref())?;
        check_text("controller", self.controller.as_deref())?;
        check_text("verb", self.verb.as_deref())?;
        check_page(self.limit, self.offset, self.cursor.as_deref())
    }

    fn complete(&mut self, config: &Config) {
        self.limit.get_or_insert(100);
        self.offset.get_or_insert(0);
        self.engines.get_or_insert(config.defaults.routes.engines);
    }
}
