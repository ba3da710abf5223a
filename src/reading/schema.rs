//! Arguments of `rails_schema`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_page, check_text};
use crate::error::Result;

/// Tables of one answer, unless told otherwise.
pub const LIMIT: u32 = 100;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// `TABLE` or `DATABASE.TABLE`.
    pub table: Option<String>,
    /// Part of a table's or column's name.
    pub query: Option<String>,
    /// Default `full` of one `table`, else `summary`.
    pub detail: Option<Detail>,
    /// Default 100.
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
pub enum Detail {
    Names,
    Summary,
    Full,
}

impl Schema {
    pub fn detail(&self) -> Detail {
        self.detail.unwrap_or(match self.table {
            Some(_) => Detail::Full,
            None => Detail::Summary,
        })
    }
}

impl Arguments for Schema {
    const WHAT: &'static str = "schema";
    const RESULT: &'static [(&'static str, &'static str)] = &[
        ("source", "string"),
        ("databases", "array"),
        ("detail", "string"),
        ("matched", "integer"),
        ("tables", "array"),
        ("next_offset", "integer"),
        ("next_cursor", "string"),
        ("changed", "string"),
        ("pending_migrations", "array"),
        ("instead", "string"),
        ("pending_count", "integer"),
    ];

    fn check(&self) -> Result<()> {
        check_text("table", self.table.as_deref())?;
        check_text("query", self.query.as_deref())?;
        check_page(self.limit, self.offset, self.cursor.as_deref())
    }
}
