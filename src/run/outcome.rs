//! From what a run told and how its process ended to one outcome. Pure; the table in tests/unit/outcome.rs is the
//! specification. `passed` has one door, and every condition of it is listed there.

use serde::{Deserialize, Serialize};

use super::log::{Finish, RunLog};
use super::paths::selector;
use crate::process::signal_name;
use crate::worker::protocol::{ExampleStatus, Location, Started};

/// What a run amounts to. Values of the public interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every selected example that was not pending ran to its end and passed, and nothing went wrong around them.
    Passed,
    /// An example failed, or something around the examples did.
    Failed,
    /// The files loaded, and no example matched.
    NoExamples,
    /// Every selected example is pending or skipped: nothing was tested.
    AllPending,
    /// All examples passed, and an exit handler then changed the exit status.
    FailedAtExit,
    /// The deadline passed.
    TimedOut,
    /// The caller took the call back.
    Cancelled,
    /// Its processes used more memory than allowed.
    MemoryExceeded,
    /// It had more processes than allowed.
    TooManyProcesses,
    /// It wrote a file larger than allowed.
    FileTooLarge,
    /// The process died of a signal that we did not send.
    Crashed,
    /// The process ended by itself before the run was over.
    Incomplete,
    /// A spec file or the test helper could not be loaded.
    LoadError,
    /// The project configured a dry run: examples were listed, not run.
    DryRun,
    /// The app did not boot.
    BootFailed,
    /// Changed code could not be loaded again.
    ReloadFailed,
    /// Another process used the test database until the deadline.
    DatabaseBusy,
}

impl Outcome {
    /// Whether the run began and did not come to its end.
    pub fn is_cut_short(self) -> bool {
        matches!(
            self,
            Outcome::TimedOut
                | Outcome::Cancelled
                | Outcome::MemoryExceeded
                | Outcome::TooManyProcesses
                | Outcome::FileTooLarge
                | Outcome::Crashed
                | Outcome::Incomplete
        )
    }
}

/// How the process ended, as its parent saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signaled(i32),
    /// Nobody could wait for it: its parent died, too.
    Unknown,
}

/// Why we ended the process, if we did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Deadline,
    Cancelled,
    /// Its processes together used this many bytes when they were looked at.
    Memory(u64),
    /// The kernel ended all of them, which had used this many bytes.
    OutOfMemory(u64),
    /// It had this many processes.
    Processes(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: Outcome,
    /// A sentence for everything but a plain pass or failure.
    pub reason: Option<String>,
}

/// `stop`: why we began to end the process, unless its last record had been heard by then.
pub fn judge(log: &RunLog, end: End, stop: Option<Stop>) -> Verdict {
    match (stop, log.exit) {
        (Some(Stop::Cancelled), _) => verdict(Outcome::Cancelled, "the caller cancelled the run"),
        (Some(Stop::Memory(bytes)), _) => verdict(
            Outcome::MemoryExceeded,
            format!("its processes used {} of memory{}", mib(bytes), position(log)),
        ),
        (Some(Stop::OutOfMemory(bytes)), _) => verdict(
            Outcome::MemoryExceeded,
            format!(
                "the kernel ended it: its processes used {} of memory{}",
                mib(bytes),
                position(log)
            ),
        ),
        (Some(Stop::Processes(count)), _) => verdict(
            Outcome::TooManyProcesses,
            format!("it had {count} processes{}", position(log)),
        ),
        (Some(Stop::Deadline), _) => verdict(Outcome::TimedOut, format!("the deadline passed{}", position(log))),
        (None, Some(exit)) => over(log, end, exit),
        (None, None) => cut_short(log, end),
    }
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes / (1024 * 1024))
}

/// The process came to its own end, exit handlers included.
fn over(log: &RunLog, end: End, exit: i32) -> Verdict {
    match (&log.started, log.finished, end) {
        // A signal that Ruby turned into an exception: handlers run, then the process dies of it.
        (_, None, End::Signaled(signal)) => verdict(Outcome::Crashed, crashed(log, signal)),
        (None, _, _) => verdict(Outcome::LoadError, not_started(log, exit)),
        (Some(_), None, _) => verdict(Outcome::Incomplete, left_early(log, exit)),
        (Some(started), Some(finish), _) => ran(log, started, finish, exit),
    }
}

fn ran(log: &RunLog, started: &Started, finish: Finish, exit: i32) -> Verdict {
    let failed = log.count(ExampleStatus::Failed);
    let passed = log.count(ExampleStatus::Passed);
    let pending = log.count(ExampleStatus::Pending);
    let unfinished = log.unfinished().count();
    // A hook or an example may have turned it on after others had been run.
    if started.dry_run && failed == 0 {
        verdict(
            Outcome::DryRun,
            "the project configures a dry run: examples are listed and not run",
        )
    } else if started.outside > 0 {
        verdict(Outcome::LoadError, not_loaded(log))
    } else if failed > 0 {
        plain(Outcome::Failed)
    } else if !log.outside.is_empty() || finish.outside > 0 {
        verdict(Outcome::Failed, "an error occurred outside of the examples")
    } else if unfinished > 0 || finish.quit || log.not_run() > 0 {
        verdict(Outcome::Incomplete, stopped(log))
    } else if started.selected == 0 {
        verdict(Outcome::NoExamples, nothing_matched(log, started))
    } else if finish.status != 0 {
        let status = finish.status;
        verdict(
            Outcome::Failed,
            format!("no example failed, but the test framework ended with status {status}"),
        )
    } else if exit != 0 {
        verdict(
            Outcome::FailedAtExit,
            format!("every example passed, then an exit handler set the status to {exit}"),
        )
    } else if !log.unmatched().is_empty() {
        verdict(Outcome::NoExamples, partly_matched(log, started))
    } else if passed == 0 && pending > 0 {
        verdict(Outcome::AllPending, "every selected example is pending or skipped")
    } else {
        plain(Outcome::Passed)
    }
}

const FILE_TOO_LARGE: i32 = nix::sys::signal::Signal::SIGXFSZ as i32;

/// No last record, and it was not us.
fn cut_short(log: &RunLog, end: End) -> Verdict {
    match end {
        End::Signaled(signal) if signal == FILE_TOO_LARGE => verdict(
            Outcome::FileTooLarge,
            format!("a file grew beyond what is allowed{}", position(log)),
        ),
        End::Signaled(signal) => verdict(Outcome::Crashed, crashed(log, signal)),
        End::Exited(status) if log.started.is_none() => verdict(Outcome::LoadError, not_started(log, status)),
        End::Exited(status) => verdict(Outcome::Incomplete, left_early(log, status)),
        End::Unknown => verdict(Outcome::Incomplete, format!("the process is gone{}", position(log))),
    }
}

/// Which file is no Ruby: the one that was named, or what it loads.
pub fn no_ruby(place: &Location) -> String {
    match place.line {
        0 => format!("{} has a syntax error", place.file),
        line => format!("{} has a syntax error in line {line}", place.file),
    }
}

fn not_loaded(log: &RunLog) -> String {
    let why = match log.outside.first().and_then(|error| error.failure.location.as_ref()) {
        Some(place) => no_ruby(place),
        None => "an error occurred while loading".to_owned(),
    };
    match log.examples.len() {
        0 => format!("{why}, so no example was run"),
        _ => format!("{why}; only examples of the other files were run"),
    }
}

/// What the framework said last says more than a status.
fn not_started(log: &RunLog, status: i32) -> String {
    let left = format!("the process exited with status {status} while files were being loaded");
    match (log.outside.first(), log.messages.last()) {
        (Some(error), _) => error.context.trim().to_owned(),
        (None, Some(message)) => format!("{left}: {}", message.trim()),
        (None, None) => left,
    }
}

fn left_early(log: &RunLog, status: i32) -> String {
    match log.finished {
        Some(_) => format!("the process left with status {status} from an exit handler, after the last example"),
        None => format!("the process exited with status {status}{}", position(log)),
    }
}

fn crashed(log: &RunLog, signal: i32) -> String {
    format!("the process was killed by {}{}", signal_name(signal), position(log))
}

fn stopped(log: &RunLog) -> String {
    let not_run = log.not_run();
    if log.finished.is_some_and(|finish| !finish.quit) && log.unfinished().next().is_none() {
        let why = log.messages.last().map(|text| format!(": {}", text.trim()));
        let why = why.unwrap_or_default();
        return format!("the test framework came to its end, and {not_run} of the selected examples never ran{why}");
    }
    format!(
        "the test framework was stopped before its end{}; {} not run",
        position(log),
        not_run
    )
}

/// Where the run was: the first question after "what happened".
fn position(log: &RunLog) -> String {
    match (log.unfinished().next(), &log.started, log.finished) {
        (Some(example), _, _) => format!(" in {}", selector(&example.id)),
        (None, None, _) => " while files were being loaded".to_owned(),
        (None, Some(_), None) => " between examples".to_owned(),
        (None, Some(_), Some(_)) => " after the last example".to_owned(),
    }
}

fn nothing_matched(log: &RunLog, started: &Started) -> String {
    match (started.loaded, log.messages.last()) {
        (0, _) => "the files define no examples".to_owned(),
        (loaded, Some(message)) => format!("none of {loaded} examples matched ({})", message.trim()),
        (loaded, None) => format!("none of {loaded} examples matched"),
    }
}

/// Part of what was named is not there: the rest is not what was asked for.
fn partly_matched(log: &RunLog, started: &Started) -> String {
    let unmatched = unmatched(log.unmatched());
    match started.selected {
        1 => format!("{unmatched}; the other example passed"),
        others => format!("{unmatched}; the other {others} examples passed"),
    }
}

/// What a caller must know beside the verdict: else a failure elsewhere hides what was never there.
pub fn unmatched_beside(log: &RunLog, verdict: &Verdict) -> Option<String> {
    let names = log.unmatched();
    let text = unmatched(names);
    let told = verdict.reason.as_ref().is_some_and(|reason| reason.starts_with(&text));
    (!names.is_empty() && !told).then_some(text)
}

fn unmatched(names: &[String]) -> String {
    let named: Vec<String> = names.iter().take(UNMATCHED).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(UNMATCHED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more} matched nothing", named.join(", "))
}

/// Of selectors that matched nothing, these are named.
const UNMATCHED: usize = 5;

fn plain(outcome: Outcome) -> Verdict {
    Verdict { outcome, reason: None }
}

fn verdict(outcome: Outcome, reason: impl Into<String>) -> Verdict {
    Verdict {
        outcome,
        reason: Some(reason.into()),
    }
}
