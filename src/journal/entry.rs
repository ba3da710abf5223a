//! One line of the log.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::time;

/// Paths that are named; the others are counted.
const PATHS: usize = 5;

/// Characters of a path, or of the name of a client.
const CHARS: usize = 200;

/// What there is to say of a call or a run. What does not apply is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// In UTC, as of RFC 3339: when it ended.
    pub time: String,
    pub event: Event,
    pub root: String,
    /// Of the server.
    pub pid: u32,
    /// As the client calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The first selectors that were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_paths: usize,
    /// Of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Of a call that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// From the call to its answer, or from the first call for a run to its end.
    pub milliseconds: u64,
    /// Of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Somebody called a tool and was answered.
    #[default]
    Call,
    /// A run ended, whoever waited for it.
    Run,
}

impl Entry {
    /// Of something in `root` that has just ended and took so long.
    pub fn now(root: &Path, took: Duration) -> Self {
        Entry {
            time: time::utc(SystemTime::now()),
            root: root.display().to_string(),
            pid: std::process::id(),
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            ..Entry::default()
        }
    }

    #[must_use]
    pub fn with_paths<'a>(mut self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut paths = paths.into_iter();
        self.paths = paths.by_ref().take(PATHS).map(clip).collect();
        self.more_paths = paths.count();
        self
    }

    #[must_use]
    pub fn with_client(mut self, client: Option<&str>) -> Self {
        self.client = client.map(clip);
        self
    }
}

/// In one line, and not too long.
fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(CHARS).collect()
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
