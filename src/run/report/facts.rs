//! What is known of a run that is over, and what of it a caller wants to see.

use serde::{Deserialize, Serialize};

use super::{CrashedFork, Leftover, SkippedPath, Timing};
use crate::config::IncludeStdout;
use crate::process::kernel_view::KernelThread;
use crate::run::RunId;
use crate::run::blocked::Refusals;
use crate::run::coverage::CoverageReport;
use crate::run::log::RunLog;
use crate::run::outcome::Verdict;
use crate::run::output::Captured;
use crate::worker::protocol::Failure;

/// How the process of a run came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Forked from the warm zygote.
    Fork,
    /// A fresh process, because the caller or the project asked for it.
    Spawn,
    /// A fresh process, because a guard found forking unsafe.
    SpawnFallback,
    /// A fresh process, because the fork crashed.
    SpawnAfterCrash,
}

/// What the caller wants to see.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    pub include_passing: bool,
    pub include_stdout: IncludeStdout,
    /// Bytes of the whole report as JSON.
    pub max_bytes: usize,
}

/// Everything known about a run that is over.
#[derive(Debug)]
pub struct Facts {
    pub id: RunId,
    pub mode: Mode,
    pub verdict: Verdict,
    pub log: RunLog,
    pub stdout: Captured,
    pub stderr: Captured,
    pub timing: Timing,
    /// What a person would type.
    pub command: String,
    /// Boot, reload or helper load that failed, in place of a run.
    pub error: Option<Failure>,
    /// Threads as the kernel sees them, for a run that could not say where it hung.
    pub kernel_threads: Vec<KernelThread>,
    pub leftovers: Vec<Leftover>,
    pub warnings: Vec<String>,
    pub skipped: Vec<SkippedPath>,
    pub hint: Option<String>,
    /// Why this call had to boot, reload or load the helper again.
    pub trigger: Option<String>,
    /// Why it was not a fork, if it was not.
    pub mode_reason: Option<String>,
    pub crashed_fork: Option<CrashedFork>,
    /// How its processes were confined, in a line; None when nothing was run.
    pub sandbox: Option<String>,
    /// What the sandbox refused to them, as far as it is known.
    pub refused: Refusals,
    /// Names of variables that it kept from them.
    pub held_back: Vec<String>,
    /// What the settings may not go below.
    pub sandbox_at_least: crate::config::sandbox::Mode,
    /// What `@failed` or `@last` stood for.
    pub stood_for: Vec<String>,
    /// Stands for failures that `@failed` did not.
    pub also_failed: Option<String>,
    /// Stands for the part of the last selection that `@last` did not.
    pub also_last: Option<String>,
    /// Calls that were ahead of this one when it came.
    pub ahead: usize,
    /// Which lines it executed, if that was asked for.
    pub coverage: Option<CoverageReport>,
}

impl Facts {
    /// `None` when nothing was run.
    pub fn mode_of_run(&self) -> Option<Mode> {
        self.error.is_none().then_some(self.mode)
    }

    /// About how many bytes it takes to keep them.
    pub fn bytes(&self) -> usize {
        self.stdout.text.len() + self.stderr.text.len() + self.log.bytes()
    }
}
