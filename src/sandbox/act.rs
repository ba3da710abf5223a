//! What a sandbox refuses to a process, as it is told.

use std::time::Duration;

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

/// An act that was refused, and when: in nanoseconds of the monotonic clock, which is the same for all processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedAct {
    pub at: u64,
    pub act: Act,
}

impl RefusedAct {
    pub fn now(act: Act) -> RefusedAct {
        let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
        RefusedAct {
            at: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
            act,
        }
    }
}

impl Act {
    pub fn new(kind: Kind, what: impl Into<String>) -> Act {
        Act {
            kind,
            what: what.into(),
        }
    }
}
