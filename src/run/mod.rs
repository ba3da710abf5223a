//! One execution of a validated selection: what was asked, how far it came, what it amounts to.

pub mod advice;
pub mod allow;
pub mod blocked;
pub mod cause;
pub mod command;
pub mod coverage;
pub mod denylist;
pub mod flaky;
pub mod log;
pub mod mode;
pub mod outcome;
pub mod output;
pub mod paths;
pub mod progress;
pub mod report;
pub mod results;
pub mod said;
pub mod state;

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Wall time of a run, in seconds: the least, the default and the most.
pub const TIMEOUT_SECONDS: (u64, u64, u64) = (1, 120, 900);

/// The name of a run. It counts up, and from where the last server can't have come: whoever asks a new server for the run
/// of a lost one must not get another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run-{}", self.0)
    }
}

impl RunId {
    /// What a server counts from that starts now: no server runs more than a hundred things in a second. The same comes
    /// again after 11 days.
    pub fn before_the_first(now: SystemTime) -> RunId {
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        RunId(seconds % 1_000_000 * 100)
    }
}

impl FromStr for RunId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = text.strip_prefix("run-").ok_or(())?;
        number.parse().map(RunId).map_err(|_| ())
    }
}

/// What bounds a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// When the kill path starts.
    pub deadline: Duration,
    /// How long between TERM and KILL.
    pub grace: Duration,
    /// Kept per stream, in bytes.
    pub output: usize,
    /// Of all its processes together, in bytes.
    pub memory: u64,
    /// At a time, the first included.
    pub processes: usize,
    /// The largest file one of them may write, in bytes.
    pub file: u64,
}
