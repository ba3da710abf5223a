//! What a sandbox refuses to a process, as it is told.

use serde::{Deserialize, Serialize};

/// What was wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// To talk to somebody.
    Network,
    Read,
    Write,
    /// A part of the kernel.
    Syscall,
}

/// Something that a process wanted to do and may not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    pub kind: Kind,
    /// An address, the name of a system call.
    pub what: String,
}

impl Act {
    pub fn new(kind: Kind, what: impl Into<String>) -> Act {
        Act {
            kind,
            what: what.into(),
        }
    }
}
