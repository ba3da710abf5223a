//! Arguments of `rails_model`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_constant, check_page, check_text, invalid};
use crate::error::Result;

const MAX_NAMES: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Without a name: the list of all.
    pub name: Option<String>,
    #[schemars(length(min = 1, max = 20))]
    pub names: Option<Vec<String>>,
    pub fields: Option<Vec<Field>>,
    /// Part of a name or table.
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
pub enum Field {
    Columns,
    Associations,
    Validators,
    Enums,
    Scopes,
    Callbacks,
    Indexes,
    ForeignKeys,
    Attributes,
    Sti,
    Concerns,
    Methods,
}

impl Model {
    fn check_combination(&self) -> Result<()> {
        let listed = [
            self.query.is_some(),
            self.limit.is_some(),
            self.offset.is_some(),
            self.cursor.is_some(),
        ]
        .contains(&true);
        let named = self.name.is_some() || self.names.is_some();
        let (problem, hint) = match named {
            true if self.name.is_some() && self.names.is_some() => {
                ("`name` and `names` exclude each other", "put all into `names`")
            }
            true if listed => (
                "`query`, `limit`, `offset` and `cursor` belong to the list of all",
                "leave them out, or leave out the name",
            ),
            false if self.fields.is_some() => ("`fields` needs `name` or `names`", "say of which models to tell them"),
            _ => return Ok(()),
        };
        Err(invalid(problem.to_owned(), hint))
    }

    fn check_names(&self) -> Result<()> {
        if let Some(name) = &self.name {
            check_constant("name", name)?;
        }
        match &self.names {
            Some(names) if names.is_empty() || names.len() > MAX_NAMES => Err(invalid(
                format!("`names` holds {} names, and must hold 1 to {MAX_NAMES}", names.len()),
                "ask again for the others",
            )),
            names => names
                .iter()
                .flatten()
                .try_for_each(|name| check_constant("names", name)),
        }
    }
}

impl Arguments for Model {
    const WHAT: &'static str = "model";
    const RESULT: &'static [(&'static str, &'static str)] = &[
        ("models", "array"),
        ("brief", "object"),
        ("hint", "string"),
        ("matched", "integer"),
        ("next_offset", "integer"),
        ("next_cursor", "string"),
        ("changed", "string"),
        ("not_loaded", "array"),
        ("not_loaded_count", "integer"),
    ];

    fn check(&self) -> Result<()> {
        self.check_combination()?;
        self.check_names()?;
        check_text("query", self.query.as_deref())?;
        check_page(self.limit, self.offset, self.cursor.as_deref())
    }
}
