//! The section `sandbox:`, what the processes of the app may do.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::value;

/// What the processes of the app may do. What the kernel makes of it is told by the status.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a section, such as `sandbox: {mode: off}`"
)]
pub struct Sandbox {
    #[serde(deserialize_with = "value::word")]
    pub mode: Mode,
    /// Places that may be written, besides the built-in ones.
    #[serde(deserialize_with = "value::places")]
    pub write: Vec<String>,
    /// Places that may be read although the mode alone forbids it.
    #[serde(deserialize_with = "value::places")]
    pub read: Vec<String>,
    /// Places that may neither be read nor written, whatever else is said.
    #[serde(deserialize_with = "value::places")]
    pub deny: Vec<String>,
    /// `None` leaves it to the mode.
    #[serde(deserialize_with = "value::optional_word")]
    pub network: Option<Network>,
    #[serde(deserialize_with = "value::section")]
    pub env: Env,
    #[serde(deserialize_with = "value::section")]
    pub limits: Limits,
    /// Whether nothing is run where a part of the sandbox can't be enforced.
    pub required: bool,
}

/// How much is forbidden, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing; the limits stay.
    Off,
    /// What an ordinary test suite does not do.
    #[default]
    Standard,
    /// What a unit test does not do.
    Strict,
}

/// Whom the processes may talk to, from more to less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    #[default]
    Allow,
    /// This machine.
    Loopback,
    /// This machine by Unix sockets.
    None,
}

/// What they find in their environment. Names may have `*` and `?`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a section, such as `env: {keep: [NAME]}`")]
pub struct Env {
    /// Variables that stay although they look like secrets.
    #[serde(deserialize_with = "value::patterns")]
    pub keep: Vec<String>,
    /// Variables that are dropped, besides those that look like secrets.
    #[serde(deserialize_with = "value::patterns")]
    pub drop: Vec<String>,
    #[serde(deserialize_with = "value::section")]
    pub set: BTreeMap<String, String>,
}

/// Limits of each single process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a section, such as `limits: {open_files: 1024}`"
)]
pub struct Limits {
    /// Open files at a time, 64 to 1,048,576; `None` leaves what the server has.
    #[serde(deserialize_with = "value::optional_within::<64, 1048576, _>")]
    pub open_files: Option<u64>,
}

impl Sandbox {
    pub fn network(&self) -> Network {
        let by_mode = match self.mode {
            Mode::Off | Mode::Standard => Network::Allow,
            Mode::Strict => Network::Loopback,
        };
        self.network.unwrap_or(by_mode)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Off => "off",
            Mode::Standard => "standard",
            Mode::Strict => "strict",
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Network::Allow => "allow",
            Network::Loopback => "loopback",
            Network::None => "none",
        })
    }
}
