//! Arguments of `rails_routes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Arguments;
use crate::error::Result;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Routes {
    /// Only routes whose name, verb, path, controller, action or engine contains this text, in any case.
    pub query: Option<String>,
}

impl Arguments for Routes {
    const WHAT: &'static str = "routes";
    const RESULT: &'static [(&'static str, &'static str)] = &[("routes", "array")];

    fn check(&self) -> Result<()> {
        Ok(())
    }
}
