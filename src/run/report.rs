//! What the caller sees of a run: failures only by default, each with the selector that reruns it, in as few bytes
//! as say it, and never more than the budget.

use serde::Serialize;

use super::RunId;
use super::log::{Example, RunLog};
use super::outcome::{Outcome, Verdict};
use super::output::{Captured, clip};
use super::paths::{Frame, Paths, selector};
use crate::config::IncludeStdout;
use crate::process::kernel_view::KernelThread;
use crate::process::signal_name;
use crate::worker::protocol::{ExampleFinished, ExampleStatus, Failure, Identity, ThreadDump};

/// How the process of a run came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, Copy)]
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
    /// Calls that were ahead of this one when it came.
    pub ahead: usize,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
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
    pub stdout: Option<Stream>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stream>,
    /// The fork that crashed before this fresh process ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crashed_fork: Option<CrashedFork>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
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
    pub command: String,
    /// Calls that were ahead of this one in the queue when it came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queued_behind: usize,
    pub timing: Timing,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Summary {
    pub examples: u32,
    pub failures: u32,
    pub pending: u32,
    pub errors_outside: u32,
    pub not_run: u32,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FailureReport {
    pub id: String,
    pub description: String,
    pub file: String,
    pub line: u32,
    /// The selector that runs exactly this example.
    pub rerun: String,
    /// The id of an earlier failure with the same class, message and place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
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

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
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

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OutsideReport {
    pub context: String,
    pub error: ErrorReport,
}

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ExampleReport {
    pub id: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PendingReport {
    pub id: String,
    pub description: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ThreadReport {
    pub name: String,
    pub status: String,
    pub backtrace: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Stream {
    pub text: String,
    /// Bytes written by the run.
    pub bytes: u64,
    /// Bytes of those that are not in `text`.
    pub dropped: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CrashedFork {
    pub signal: String,
    /// The first 4 KiB of what it wrote there.
    pub stderr: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Leftover {
    pub pid: i32,
    pub command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SkippedPath {
    pub path: String,
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Cut {
    /// Entries left out, by list.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, schemars::JsonSchema)]
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

/// Frames of one backtrace.
const FRAMES: usize = 12;
/// Pending examples and not-run selectors listed at first.
const LIST: usize = 100;
/// Passing examples listed at most; the number of the field's other tool.
const PASSING: usize = 500;

impl Report {
    pub fn new(facts: Facts, view: View, paths: &Paths) -> Report {
        let mut report = Builder {
            facts: &facts,
            view,
            paths,
        }
        .build();
        fit::to_budget(&mut report, view.max_bytes);
        report
    }

    /// Compact JSON, the text half of a result.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys and finite numbers only")
    }
}

struct Builder<'a> {
    facts: &'a Facts,
    view: View,
    paths: &'a Paths,
}

impl Builder<'_> {
    fn build(&self) -> Report {
        let facts = self.facts;
        let log = &facts.log;
        let not_run: Vec<String> = log.not_run_ids().map(|id| selector(id)).collect();
        let mut report = Report {
            run_id: facts.id.to_string(),
            outcome: facts.verdict.outcome,
            mode: facts.error.is_none().then_some(facts.mode),
            mode_reason: facts.mode_reason.clone(),
            summary: self.summary(),
            reason: facts.verdict.reason.as_ref().map(|reason| self.paths.text(reason)),
            hint: facts.hint.clone(),
            error: facts.error.as_ref().map(|error| self.error(error)),
            failures: self.failures(),
            errors_outside: self.errors_outside(),
            unfinished: log.unfinished().map(|example| self.example(example, None)).collect(),
            threads: self.threads(),
            not_run,
            pending: self.pending(),
            passing: self.passing(),
            stdout: self.stdout(),
            stderr: self.stream(&facts.stderr),
            crashed_fork: facts.crashed_fork.as_ref().map(|crash| crash.shown(self.paths)),
            warnings: facts.warnings.iter().map(|warning| self.paths.text(warning)).collect(),
            leftovers: facts.leftovers.iter().map(|found| self.leftover(found)).collect(),
            skipped: facts.skipped.clone(),
            cut: None,
            trigger: facts.trigger.clone(),
            seed: log.started.as_ref().and_then(|started| started.seed),
            command: facts.command.clone(),
            queued_behind: facts.ahead,
            timing: facts.timing.rounded(),
        };
        let listed = report.passing.len();
        let passing = if self.view.include_passing {
            log.count(ExampleStatus::Passed) as usize
        } else {
            listed
        };
        fit::lists(&mut report, passing - listed);
        report
    }

    fn summary(&self) -> Summary {
        let log = &self.facts.log;
        Summary {
            examples: u32::try_from(log.examples.len()).unwrap_or(u32::MAX),
            failures: log.count(ExampleStatus::Failed),
            pending: log.count(ExampleStatus::Pending),
            errors_outside: u32::try_from(log.outside.len()).unwrap_or(u32::MAX),
            not_run: log.not_run(),
            seconds: rounded(
                log.ended()
                    .filter_map(|end| end.seconds)
                    .fold(0.0, |sum, seconds| sum + seconds),
            ),
        }
    }

    fn failures(&self) -> Vec<FailureReport> {
        let mut reports: Vec<FailureReport> = Vec::new();
        for end in self.facts.log.ended().filter(|end| end.status == ExampleStatus::Failed) {
            let report = self.failure(end);
            let report = match reports
                .iter()
                .find(|earlier| earlier.same_as.is_none() && same(earlier, &report))
            {
                Some(earlier) => repetition(report, earlier.id.clone()),
                None => report,
            };
            reports.push(report);
        }
        reports
    }

    fn failure(&self, end: &ExampleFinished) -> FailureReport {
        let Identity {
            id,
            description,
            file,
            line,
        } = &end.example;
        let failure = end.failure.clone().unwrap_or_default();
        let (message, diff) = split_diff(&self.paths.text(&failure.message));
        FailureReport {
            id: selector(id),
            description: description.clone(),
            file: selector(file),
            line: *line,
            rerun: selector(id),
            same_as: None,
            class: Some(failure.class.clone()),
            message: Some(message),
            diff,
            backtrace: self.backtrace(&failure),
            causes: failure.causes.iter().map(|cause| self.error(cause)).collect(),
            parts: failure.parts.iter().map(|part| self.error(part)).collect(),
            seconds: end.seconds.map(rounded),
            pending_fixed: end.pending_fixed.unwrap_or(false),
        }
    }

    /// An aggregated failure may be raised by the framework alone, after the example: then its first part says where.
    fn backtrace(&self, failure: &Failure) -> Vec<String> {
        let own = |failure: &&Failure| {
            failure
                .frames
                .iter()
                .any(|frame| matches!(self.paths.frame(frame), Frame::App(_)))
        };
        let telling = Some(failure).filter(own).or_else(|| failure.parts.iter().find(own));
        self.paths.backtrace(&telling.unwrap_or(failure).frames, FRAMES)
    }

    /// Where it happened: what a SyntaxError says of itself, else the first frame of the app.
    fn error(&self, failure: &Failure) -> ErrorReport {
        // Of a SyntaxError the stack is that of `require`.
        let frames = if failure.location.is_some() {
            &[][..]
        } else {
            &failure.frames
        };
        let backtrace = self.paths.backtrace(frames, FRAMES);
        let place = match &failure.location {
            Some(location) => Some((self.paths.place(&location.file), location.line)),
            None => backtrace.first().and_then(|frame| file_and_line(frame)),
        };
        ErrorReport {
            class: failure.class.clone(),
            message: self.paths.text(failure.message.trim()),
            file: place.as_ref().map(|(file, _)| file.clone()),
            line: place.map(|(_, line)| line).filter(|line| *line > 0),
            backtrace,
        }
    }

    fn errors_outside(&self) -> Vec<OutsideReport> {
        let outside = self.facts.log.outside.iter();
        outside
            .map(|error| OutsideReport {
                context: self.paths.text(error.context.trim()),
                error: self.error(&error.failure),
            })
            .collect()
    }

    fn pending(&self) -> Vec<PendingReport> {
        let ended = self
            .facts
            .log
            .ended()
            .filter(|end| end.status == ExampleStatus::Pending);
        ended
            .map(|end| PendingReport {
                id: selector(&end.example.id),
                description: end.example.description.clone(),
                reason: self.paths.text(end.reason.as_deref().unwrap_or_default()),
            })
            .collect()
    }

    fn passing(&self) -> Vec<ExampleReport> {
        let passed = |example: &&Example| {
            example
                .end
                .as_ref()
                .is_some_and(|end| end.status == ExampleStatus::Passed)
        };
        let examples = self.facts.log.examples.iter().filter(passed).take(PASSING);
        match self.view.include_passing {
            true => examples
                .map(|example| self.example(&example.identity, example.end.as_ref().and_then(|end| end.seconds)))
                .collect(),
            false => Vec::new(),
        }
    }

    fn example(&self, identity: &Identity, seconds: Option<f64>) -> ExampleReport {
        ExampleReport {
            id: selector(&identity.id),
            description: identity.description.clone(),
            seconds: seconds.map(rounded),
        }
    }

    /// What Ruby said; else what the kernel sees.
    fn threads(&self) -> Vec<ThreadReport> {
        match &self.facts.log.threads {
            Some(threads) => threads.iter().map(|thread| self.thread(thread)).collect(),
            None => self.facts.kernel_threads.iter().map(kernel_thread).collect(),
        }
    }

    fn thread(&self, thread: &ThreadDump) -> ThreadReport {
        let name = match (&thread.name, thread.main) {
            (_, true) => "main".to_owned(),
            (Some(name), false) => name.clone(),
            (None, false) => "(unnamed)".to_owned(),
        };
        ThreadReport {
            name,
            status: thread.status.clone(),
            backtrace: self.paths.backtrace(&thread.frames, FRAMES),
        }
    }

    fn leftover(&self, found: &Leftover) -> Leftover {
        Leftover {
            pid: found.pid,
            command: self.paths.text(&found.command),
        }
    }

    fn stdout(&self) -> Option<Stream> {
        let wanted = match self.view.include_stdout {
            IncludeStdout::Always => true,
            IncludeStdout::Never => false,
            IncludeStdout::Failures => self.facts.verdict.outcome != Outcome::Passed,
        };
        if wanted { self.stream(&self.facts.stdout) } else { None }
    }

    fn stream(&self, captured: &Captured) -> Option<Stream> {
        (captured.bytes > 0).then(|| Stream {
            text: self.paths.text(&captured.text),
            bytes: captured.bytes,
            dropped: captured.dropped,
        })
    }
}

/// Bytes kept of the stderr of a fork that crashed: its first lines say what and where.
const CRASH_STDERR: usize = 4096;

impl CrashedFork {
    pub fn new(signal: i32, stderr: &str) -> Self {
        CrashedFork {
            signal: signal_name(signal),
            stderr: clip(stderr, CRASH_STDERR).0,
        }
    }

    fn shown(&self, paths: &Paths) -> CrashedFork {
        CrashedFork {
            signal: self.signal.clone(),
            stderr: paths.text(&self.stderr),
        }
    }
}

impl Timing {
    fn rounded(self) -> Timing {
        Timing {
            boot: rounded(self.boot),
            wait: rounded(self.wait),
            load: rounded(self.load),
            run: rounded(self.run),
        }
    }
}

/// To the millisecond.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn kernel_thread(thread: &KernelThread) -> ThreadReport {
    ThreadReport {
        name: if thread.main {
            "main".to_owned()
        } else {
            thread.name.clone()
        },
        status: thread.doing.clone(),
        backtrace: Vec::new(),
    }
}

fn same(one: &FailureReport, other: &FailureReport) -> bool {
    one.class == other.class
        && one.message == other.message
        && one.diff == other.diff
        && one.backtrace.first() == other.backtrace.first()
        && one.parts == other.parts
}

fn repetition(report: FailureReport, earlier: String) -> FailureReport {
    FailureReport {
        same_as: Some(earlier),
        class: None,
        message: None,
        diff: None,
        backtrace: Vec::new(),
        causes: Vec::new(),
        parts: Vec::new(),
        ..report
    }
}

/// RSpec appends the diff to the message.
fn split_diff(message: &str) -> (String, Option<String>) {
    match message.find("\nDiff:") {
        Some(at) => {
            let (message, diff) = message.split_at(at);
            (
                message.trim().to_owned(),
                Some(diff["\nDiff:".len()..].trim_matches('\n').to_owned()),
            )
        }
        None => (message.trim().to_owned(), None),
    }
}

/// `spec/a_spec.rb:12:in …` → its file and line.
fn file_and_line(frame: &str) -> Option<(String, u32)> {
    let mut parts = frame.splitn(3, ':');
    let file = parts.next()?;
    Some((file.to_owned(), parts.next()?.parse().ok()?))
}

/// Making a report fit: whole entries go from the end of the lists that matter least, texts shrink, and whatever went
/// is counted.
mod fit {
    use super::{Cut, ErrorReport, LIST, Report, Stream};
    use crate::run::output::clip;

    /// Texts shrink to these sizes, in bytes, one step after the other, until the report fits.
    const STEPS: [usize; 7] = [8192, 4096, 2048, 1024, 400, 160, 60];
    /// Bytes of a cut text that tell how much is gone.
    const MARK: usize = 40;
    /// Frames of a backtrace at the smallest.
    const FRAMES: usize = 2;

    /// `passing`: how many examples that passed are not listed.
    pub(super) fn lists(report: &mut Report, passing: usize) {
        let pending = truncate(&mut report.pending, LIST);
        let not_run = truncate(&mut report.not_run, LIST);
        note(report, |cut| {
            cut.passing += passing;
            cut.pending += pending;
            cut.not_run += not_run;
        });
    }

    /// Each step begins with the whole report again, so that what it cuts is counted once.
    pub(super) fn to_budget(report: &mut Report, budget: usize) {
        if size(report) <= budget {
            return;
        }
        let whole = report.clone();
        for limit in STEPS {
            *report = whole.clone();
            let bytes = texts(report, limit);
            note(report, |cut| cut.bytes += bytes);
            if size(report) <= budget {
                return;
            }
        }
        while size(report) > budget && drop_entries(report) {}
        if size(report) > budget {
            drop_streams(report);
        }
    }

    fn size(report: &Report) -> usize {
        report.to_json().len()
    }

    /// Halves the longest-lived of the lists, least important first; false when there is nothing left to drop.
    fn drop_entries(report: &mut Report) -> bool {
        let least = |len: usize| usize::from(len > 1) * (len / 2);
        macro_rules! halve {
            ($list:ident, $count:ident) => {
                if report.$list.len() > 1 {
                    let keep = least(report.$list.len());
                    let dropped = truncate(&mut report.$list, keep);
                    note(report, |cut| cut.$count += dropped);
                    return true;
                }
            };
        }
        if !report.passing.is_empty() {
            let keep = report.passing.len() / 2;
            let dropped = truncate(&mut report.passing, keep);
            note(report, |cut| cut.passing += dropped);
            return true;
        }
        halve!(pending, pending);
        halve!(not_run, not_run);
        halve!(skipped, other);
        halve!(leftovers, other);
        halve!(threads, other);
        halve!(failures, failures);
        halve!(errors_outside, errors_outside);
        halve!(unfinished, other);
        halve!(warnings, other);
        let nested = nested(report);
        note(report, |cut| cut.other += nested);
        nested > 0
    }

    /// Of the failures that are left, what lies behind and within them.
    fn nested(report: &mut Report) -> usize {
        let lists = report
            .failures
            .iter_mut()
            .flat_map(|failure| [&mut failure.causes, &mut failure.parts]);
        lists.map(|list| truncate(list, 0)).sum()
    }

    fn drop_streams(report: &mut Report) {
        let streams = [report.stdout.take(), report.stderr.take()];
        let bytes: usize = streams.into_iter().flatten().map(|stream| stream.text.len()).sum();
        note(report, |cut| cut.bytes += bytes);
    }

    fn truncate<T>(list: &mut Vec<T>, keep: usize) -> usize {
        let dropped = list.len().saturating_sub(keep);
        list.truncate(keep);
        dropped
    }

    /// Clips every text to `limit`; answers how many bytes went.
    fn texts(report: &mut Report, limit: usize) -> usize {
        let short = limit.min(1024);
        let frames = FRAMES + limit / 512;
        let mut dropped = 0;
        for stream in [&mut report.stdout, &mut report.stderr].into_iter().flatten() {
            dropped += stream_text(stream, limit);
        }
        for failure in &mut report.failures {
            dropped += text(&mut failure.description, short);
            dropped += failure.class.as_mut().map_or(0, |class| text(class, short));
            dropped += failure.message.as_mut().map_or(0, |message| text(message, limit));
            dropped += failure.diff.as_mut().map_or(0, |diff| text(diff, limit));
            dropped += backtrace(&mut failure.backtrace, frames, short);
            for inner in failure.causes.iter_mut().chain(&mut failure.parts) {
                dropped += error(inner, limit / 2, frames.min(FRAMES + 1));
            }
        }
        for outside in &mut report.errors_outside {
            dropped += text(&mut outside.context, short) + error(&mut outside.error, limit, frames);
        }
        dropped += report.error.as_mut().map_or(0, |inner| error(inner, limit, frames));
        for thread in &mut report.threads {
            dropped += text(&mut thread.name, short) + backtrace(&mut thread.backtrace, frames, short);
        }
        for example in report.unfinished.iter_mut().chain(&mut report.passing) {
            dropped += text(&mut example.description, short);
        }
        for pending in &mut report.pending {
            dropped += text(&mut pending.description, short) + text(&mut pending.reason, short);
        }
        for leftover in &mut report.leftovers {
            dropped += text(&mut leftover.command, short);
        }
        dropped += report
            .crashed_fork
            .as_mut()
            .map_or(0, |crash| text(&mut crash.stderr, limit));
        dropped += report
            .warnings
            .iter_mut()
            .map(|warning| text(warning, short))
            .sum::<usize>();
        for line in [
            &mut report.reason,
            &mut report.hint,
            &mut report.mode_reason,
            &mut report.trigger,
        ] {
            dropped += line.as_mut().map_or(0, |line| text(line, short));
        }
        dropped + text(&mut report.command, short)
    }

    fn error(error: &mut ErrorReport, limit: usize, frames: usize) -> usize {
        let short = limit.min(1024);
        let file = error.file.as_mut().map_or(0, |file| text(file, short));
        let rest = text(&mut error.class, short) + text(&mut error.message, limit);
        file + rest + backtrace(&mut error.backtrace, frames, short)
    }

    fn backtrace(frames: &mut Vec<String>, keep: usize, limit: usize) -> usize {
        let gone = frames.iter().skip(keep).map(String::len).sum::<usize>();
        frames.truncate(keep);
        gone + frames.iter_mut().map(|frame| text(frame, limit)).sum::<usize>()
    }

    /// Of a stream the end matters: the last thing that was printed before it went wrong.
    fn stream_text(stream: &mut Stream, limit: usize) -> usize {
        let Some(from) = stream.text.len().checked_sub(limit).filter(|from| *from > 0) else {
            return 0;
        };
        let from = (from..=stream.text.len())
            .find(|at| stream.text.is_char_boundary(*at))
            .unwrap_or(from);
        stream.text.drain(..from);
        stream.dropped += from as u64;
        from
    }

    fn text(text: &mut String, limit: usize) -> usize {
        if text.len() <= limit + MARK {
            return 0;
        }
        let (kept, dropped) = clip(text, limit);
        *text = format!("{kept}… {dropped} bytes left out");
        dropped
    }

    fn note(report: &mut Report, change: impl FnOnce(&mut Cut)) {
        let mut cut = report.cut.take().unwrap_or_default();
        change(&mut cut);
        report.cut = (cut != Cut::default()).then_some(cut);
    }
}
