//! Arguments of `rails_routes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, check_page, check_text, excerpt, invalid};
use crate::config::{Config, EngineRoutes};
use crate::error::Result;

/// As browsers and clients of APIs send them.
const VERBS: &[&str] = &[
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
];

/// What else Rails takes: of WebDAV and its like.
const RARE_VERBS: &[&str] = &[
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "VERSION-CONTROL",
    "REPORT",
    "CHECKOUT",
    "CHECKIN",
    "UNCHECKOUT",
    "MKWORKSPACE",
    "UPDATE",
    "LABEL",
    "MERGE",
    "BASELINE-CONTROL",
    "MKACTIVITY",
    "ORDERPATCH",
    "ACL",
    "SEARCH",
    "MKCALENDAR",
    "LINK",
    "UNLINK",
];

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
        ("hint", "string"),
    ];

    fn check(&self) -> Result<()> {
        check_text("query", self.query.as_deref())?;
        check_text("controller", self.controller.as_deref())?;
        self.verb.as_deref().map_or(Ok(()), check_verb)?;
        check_page(self.limit, self.offset, self.cursor.as_deref())
    }

    fn complete(&mut self, config: &Config) {
        self.limit.get_or_insert(100);
        self.offset.get_or_insert(0);
        self.engines.get_or_insert(config.defaults.routes.engines);
    }
}

/// Any other would be answered with the routes that take every verb.
fn check_verb(verb: &str) -> Result<()> {
    if VERBS.iter().chain(RARE_VERBS).any(|one| one.eq_ignore_ascii_case(verb)) {
        return Ok(());
    }
    let hint = format!("one of {}, or one of WebDAV's", VERBS.join(", "));
    Err(invalid(
        format!("`verb` is {}, which is no verb of HTTP", excerpt(verb)),
        &hint,
    ))
}
