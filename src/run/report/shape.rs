//! The answer of a run, field by field.

use serde::{Deserialize, Serialize};

use super::{Mode, Profile};
use crate::run::blocked::Refused;
use crate::run::coverage::CoverageReport;
use crate::run::outcome::Outcome;

#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Report {
    pub run_id: String,
    pub outcome: Outcome,
    /// Absent when nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Why it was not a fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_reason: Option<String>,
    pub summary: Summary,
    /// Why, where `outcome` and `failures` don't say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What kept the app, changed code or the test helper from being loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors_outside: Vec<OutsideReport>,
    /// Examples that started and never finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<ExampleReport>,
    /// Where a run that had to be ended was hanging.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadReport>,
    /// Selectors of examples that never started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passing: Vec<ExampleReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Stream>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stream>,
    /// The fork that crashed before this fresh process ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crashed_fork: Option<CrashedFork>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Where the time went, if `profile` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Processes that the run left behind; they were killed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<Leftover>,
    /// Entries of named directories that were not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedPath>,
    /// What was left out to stay within the byte budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    /// What `@failed` or `@last` stood for, the first of it; `command` has all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stood_for: Vec<String>,
    /// Selector of the failures of the other framework, which `@failed` left out: a run is one framework's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_failed: Option<String>,
    /// The same of `@last`, where runs of both frameworks were of one selection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_last: Option<String>,
    pub command: String,
    /// What the sandbox refused, as far as it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// Variables that the sandbox kept from the app since they look like secrets; of a run that did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<String>,
    /// How far the sandbox was enforced: its mode, and what of it was not in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Calls that were ahead of this one in the queue when it came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queued_behind: usize,
    pub timing: Timing,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    pub examples: u32,
    pub failures: u32,
    pub pending: u32,
    pub errors_outside: u32,
    pub not_run: u32,
    /// Of Minitest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<u32>,
    /// In its examples; of a run that did not come to its end, all of its time.
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FailureReport {
    /// What it is fetched by (`failure`), unless that is its place in this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    pub id: String,
    pub description: String,
    pub file: String,
    pub line: u32,
    /// The selector that runs exactly this example.
    pub rerun: String,
    /// Further examples that failed in the same way: same class, message and place. Each is rerun by its id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ExampleReport>,
    pub class: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backtrace: Vec<String>,
    /// Causes, outermost first, or the parts of an aggregated failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<ErrorReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ErrorReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Marked pending, and passes now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending_fixed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ErrorReport {
    pub class: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backtrace: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OutsideReport {
    pub context: String,
    pub error: ErrorReport,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExampleReport {
    pub id: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PendingReport {
    pub id: String,
    pub description: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ThreadReport {
    pub name: String,
    pub status: String,
    pub backtrace: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Stream {
    pub text: String,
    /// Bytes written by the run.
    pub bytes: u64,
    /// Bytes of those that are not in `text`.
    pub dropped: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CrashedFork {
    pub signal: String,
    /// The first 4 KiB of what it wrote there.
    pub stderr: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Leftover {
    pub pid: i32,
    pub command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SkippedPath {
    pub path: String,
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cut {
    /// Entries left out, by list; of failures also the ones that are like one that is told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors_outside: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pending: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passing: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_run: usize,
    /// Entries of the other lists, and causes and parts of failures.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other: usize,
    /// Bytes of messages, diffs, backtraces and streams left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Seconds. `boot` and `load` are zero when everything was warm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Timing {
    /// Booting or reloading the app.
    pub boot: f64,
    /// Waiting for other runs.
    pub wait: f64,
    /// Loading the test helper and the spec files.
    pub load: f64,
    /// The rest of the run's process, from its start to its end: the examples, and of a fresh process the start of Ruby.
    pub run: f64,
}

impl Report {
    /// Compact JSON, the text half of a result.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys and finite numbers only")
    }
}

impl Cut {
    pub(super) fn unless_empty(self) -> Option<Cut> {
        (self != Cut::default()).then_some(self)
    }
}
