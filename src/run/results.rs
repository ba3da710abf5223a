//! What became of each example of a run, for the questions that are asked after it. Pure.

use super::log::RunLog;
use super::outcome::Outcome;
use super::paths::{Paths, selector};
use crate::worker::protocol::{ExampleStatus, ListedExample};

/// Bytes of a failure's message that are kept.
const MESSAGE: usize = 300;

#[derive(Debug, Clone, Default)]
pub struct Results {
    pub seed: Option<u32>,
    /// In the order they ran.
    pub examples: Vec<ExampleResult>,
    /// Selectors of selected examples that never started.
    pub not_run: Vec<String>,
    /// What a listing found, as far as it was told, and how many there are.
    pub listed: Vec<ListedExample>,
    pub selected: u32,
    /// Something that was named matched nothing.
    pub unmatched: bool,
    /// The framework's runner came back, and no error was outside of the examples.
    pub whole: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExampleResult {
    /// The selector that runs exactly this one.
    pub id: String,
    pub description: String,
    /// `None`: it never came to its end.
    pub status: Option<ExampleStatus>,
    /// Of a failure, with paths as callers may see them.
    pub message: Option<String>,
}

impl ExampleResult {
    pub fn failed(&self) -> bool {
        !matches!(self.status, Some(ExampleStatus::Passed | ExampleStatus::Pending))
    }
}

impl Results {
    pub fn of(log: &RunLog, paths: &Paths) -> Results {
        let examples = log.examples.iter().map(|example| ExampleResult {
            id: selector(&example.identity.id),
            description: example.identity.description.clone(),
            status: example.end.as_ref().map(|end| end.status),
            message: example
                .end
                .as_ref()
                .and_then(|end| Some(clipped(&paths.text(end.failure.as_ref()?.message.trim())))),
        });
        Results {
            seed: log.started.as_ref().and_then(|started| started.seed),
            examples: examples.collect(),
            not_run: log.not_run_ids().map(|id| selector(id)).collect(),
            listed: log.listed.clone(),
            selected: log.started.as_ref().map_or(0, |started| started.selected),
            unmatched: !log.unmatched().is_empty(),
            whole: log.finished.is_some_and(|finish| finish.outside == 0 && !finish.quit),
        }
    }
}

pub(super) fn clipped(message: &str) -> String {
    super::output::clip(message, MESSAGE).0
}

/// Whether a run of this outcome says something of its examples.
pub fn tells_of_examples(outcome: Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::BootFailed
            | Outcome::ReloadFailed
            | Outcome::DatabaseBusy
            | Outcome::LoadError
            | Outcome::NoExamples
            | Outcome::DryRun
            | Outcome::Cancelled
    )
}
