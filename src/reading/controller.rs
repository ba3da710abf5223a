//! Arguments of `rails_controller`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, TEXT_BYTES, check_constant, excerpt, invalid};
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
    ];

    fn check(&self) -> Result<()> {
        if self.name.starts_with(|first: char| first.is_ascii_lowercase()) {
            return check_route_form(&self.name);
        }
        check_constant("name", &self.name)
    }
}

fn check_route_form(name: &str) -> Result<()> {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let good = |part: &str| part.starts_with(|first: char| first.is_ascii_lowercase()) && part.bytes().all(word);
    if name.len() <= TEXT_BYTES && name.split('/').all(good) {
        return Ok(());
    }
    Err(invalid(
        format!("`name` is {}, which is not the name of a controller", excerpt(name)),
        "a name is like `Admin::WidgetsController` or `admin/widgets`, and has at most 200 characters",
    ))
}
