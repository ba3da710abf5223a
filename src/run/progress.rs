//! How far a run has come, for whoever does not want to wait in silence. Pure.

use serde::{Deserialize, Serialize};

use crate::run::output::clip;
use crate::worker::protocol::{ExampleStatus, RunEvent};

/// Failed examples that are named while the run goes on; the report has all of them.
pub const NAMED: usize = 100;

/// Bytes of each of their texts.
const NAME_BYTES: usize = 300;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waits for its turn.
    #[default]
    Queued,
    /// Boots, reloads, loads the test helper, or waits for its database.
    Preparing,
    /// Loads the named files.
    Loading,
    Running,
    /// Was taken back, and is being ended.
    Stopping,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Progress {
    pub phase: Phase,
    /// Calls that are served before this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ahead: usize,
    /// Examples that were selected, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<u32>,
    pub finished: u32,
    pub failures: u32,
    /// What runs at this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// The first that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Failed {
    /// The selector that runs exactly it.
    pub rerun: String,
    pub description: String,
    /// The first line of what went wrong.
    pub message: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Progress {
    /// Takes note of a record of the run's own process.
    pub fn note(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Hello {} => self.phase = Phase::Loading,
            RunEvent::Started(started) => {
                self.phase = Phase::Running;
                self.examples = Some(started.selected);
            }
            RunEvent::ExampleStarted(example) => self.current = Some(example.description.clone()),
            RunEvent::ExampleFinished(end) => {
                self.finished += 1;
                self.current = None;
                if end.status == ExampleStatus::Failed {
                    self.failures += 1;
                    self.name(end);
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, end: &crate::worker::protocol::ExampleFinished) {
        if self.failed.len() >= NAMED {
            return;
        }
        let message = end.failure.as_ref().map_or("", |failure| failure.message.trim());
        self.failed.push(Failed {
            rerun: crate::run::paths::selector(&end.example.id),
            description: clip(&end.example.description, NAME_BYTES).0,
            message: clip(message.lines().next().unwrap_or_default(), NAME_BYTES).0,
        });
    }

    /// With as many names of what failed as go into so many bytes; `failures` counts all.
    #[must_use]
    pub fn within(mut self, max_bytes: usize) -> Progress {
        let mut bytes = 0;
        let fits = |failed: &Failed| {
            bytes += serde_json::to_string(failed).map_or(0, |text| text.len());
            bytes <= max_bytes
        };
        let count = self.failed.iter().map(fits).take_while(|fits| *fits).count();
        self.failed.truncate(count);
        self
    }

    /// In a sentence, for a person.
    pub fn sentence(&self) -> String {
        match (self.phase, self.examples) {
            (Phase::Queued, _) if self.ahead > 0 => format!("{} ahead in the queue", self.ahead),
            (Phase::Queued, _) => "queued".to_owned(),
            (Phase::Stopping, _) => "stopping".to_owned(),
            (Phase::Preparing, _) => "booting, or waiting for the database".to_owned(),
            (Phase::Loading, _) | (Phase::Running, None) => "loading the files".to_owned(),
            (Phase::Running, Some(examples)) => {
                let failures = match self.failures {
                    0 => String::new(),
                    1 => ", 1 failure".to_owned(),
                    more => format!(", {more} failures"),
                };
                let current = self.current.as_ref().map(|current| format!(": {current}"));
                format!(
                    "{} of {examples}{failures}{}",
                    self.finished,
                    current.unwrap_or_default()
                )
            }
        }
    }
}
