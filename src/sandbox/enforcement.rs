//! How much of what was asked for this machine enforces: told with every status and result.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::config::sandbox::Mode;

/// What became of a policy. A part that was not asked for is not among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Enforcement {
    pub mode: Mode,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Part {
    pub part: Name,
    pub enforced: Level,
    /// Why not in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    Limits,
    Environment,
    Filesystem,
    /// Signals to processes outside, and what can be read or traced of them.
    Signals,
    Syscalls,
    Network,
    /// Unix sockets that lie somewhere, of whoever is outside.
    Sockets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    None,
    Partial,
    Full,
}

/// Nothing was asked for.
impl Default for Enforcement {
    fn default() -> Self {
        Enforcement {
            mode: Mode::Off,
            parts: Vec::new(),
        }
    }
}

impl Part {
    pub fn full(part: Name) -> Part {
        Part {
            part,
            enforced: Level::Full,
            why: None,
        }
    }

    pub fn partial(part: Name, why: impl Into<String>) -> Part {
        Part {
            part,
            enforced: Level::Partial,
            why: Some(why.into()),
        }
    }

    pub fn none(part: Name, why: impl Into<String>) -> Part {
        Part {
            part,
            enforced: Level::None,
            why: Some(why.into()),
        }
    }
}

impl Enforcement {
    /// What is not enforced in full.
    pub fn missing(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.enforced != Level::Full)
    }
}

/// One line: `standard`, or `standard, but signals: none (…)`.
impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&word(self.mode))?;
        for (at, part) in self.missing().enumerate() {
            let before = if at == 0 { ", but" } else { ";" };
            write!(f, "{before} {part}")?;
        }
        Ok(())
    }
}

/// `signals: none (this kernel has …)`
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", word(self.part), word(self.enforced))?;
        match &self.why {
            Some(why) => write!(f, " ({why})"),
            None => Ok(()),
        }
    }
}

/// As in JSON.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
