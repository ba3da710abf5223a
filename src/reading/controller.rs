//! Arguments of `rails_controller`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_constant};
use crate::error::Result;

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// `Admin::WidgetsController`, or as in routes: `admin/widgets`.
    pub name: String,
}

impl Arguments for Controller {
    const WHAT: &'static str = "controller";
    const RESULT: &'static [(&'static str, &'static str)] = &[
        ("name", "string"),
        ("controller_path", "string"),
        ("at", "string"),
        ("superclass", "string"),
        ("actions", "array"),
        ("unroutable_actions", "array"),
        ("routes_without_action", "array"),
        ("callbacks", "array"),
        ("concerns", "array"),
        ("rescue_from", "array"),
        ("layout", "object"),
        ("formats", "array"),
        ("errors", "array"),
    ];

    fn check(&self) -> Result<()> {
        check_constant("name", &self.name)
    }
}
