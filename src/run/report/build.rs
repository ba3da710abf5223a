//! From what is known to all there is to say of it; what of that fits is another matter (`budget`).

use super::budget;
use super::failure::{FRAMES, rounded};
use super::{
    CrashedFork, Cut, ErrorReport, ExampleReport, Facts, FailureReport, Leftover, OutsideReport, PendingReport,
    Profile, Report, Stream, Summary, ThreadReport, Timing, View,
};
use crate::config::IncludeStdout;
use crate::process::kernel_view::KernelThread;
use crate::process::signal_name;
use crate::run::allow;
use crate::run::blocked::Refused;
use crate::run::outcome::Outcome;
use crate::run::output::{Captured, ceil_char_boundary, clip};
use crate::run::paths::{Paths, selector};
use crate::worker::protocol::{ExampleStatus, Failure, Identity, ThreadDump};

/// Pending examples and not-run selectors listed at first.
const LIST: usize = 100;
/// Selectors told of what `@failed` or `@last` stood for.
const STOOD_FOR: usize = 20;
/// Passing examples listed at most; the number of the field's other tool.
const PASSING: usize = 500;

impl Report {
    pub fn new(facts: &Facts, view: View, paths: &Paths) -> Report {
        Builder { facts, view, paths }.build().within(view.max_bytes)
    }

    /// The same in at most so many bytes.
    #[must_use]
    pub fn within(self, max_bytes: usize) -> Report {
        budget::fit(self, max_bytes)
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
        let (not_run, more_not_run) = first(LIST, log.not_run_ids().map(|id| selector(id)));
        let (pending, more_pending) = first(LIST, self.pending());
        let (passing, more_passing) = first(PASSING, self.passing());
        let cut = Cut {
            passing: more_passing,
            pending: more_pending,
            not_run: more_not_run,
            ..Cut::default()
        };
        Report {
            run_id: facts.id.to_string(),
            outcome: facts.verdict.outcome,
            mode: facts.mode_of_run(),
            mode_reason: facts.mode_reason.clone(),
            summary: self.summary(),
            reason: facts.verdict.reason.as_ref().map(|reason| self.paths.text(reason)),
            hint: self.hint(),
            error: facts.error.as_ref().map(|error| ErrorReport::of(error, self.paths)),
            failures: self.failures(),
            errors_outside: self.errors_outside(),
            unfinished: log.unfinished().map(|example| self.example(example, None)).collect(),
            threads: self.threads(),
            not_run,
            pending,
            passing,
            coverage: facts.coverage.clone(),
            stdout: self.stdout(),
            stderr: self.stream(&facts.stderr),
            crashed_fork: facts.crashed_fork.as_ref().map(|crash| crash.shown(self.paths)),
            warnings: facts.warnings.iter().map(|warning| self.paths.text(warning)).collect(),
            profile: Profile::of(log, self.paths),
            leftovers: facts.leftovers.iter().map(|found| self.leftover(found)).collect(),
            skipped: facts.skipped.clone(),
            cut: cut.unless_empty(),
            trigger: facts.trigger.clone(),
            seed: log.started.as_ref().and_then(|started| started.seed),
            stood_for: facts.stood_for.iter().take(STOOD_FOR).cloned().collect(),
            also_failed: facts.also_failed.clone(),
            also_last: facts.also_last.clone(),
            command: facts.command.clone(),
            refused: facts.refused.listed.iter().map(|known| self.refused(known)).collect(),
            held_back: self.held_back(),
            sandbox: facts.sandbox.as_ref().map(|sandbox| self.paths.text(sandbox)),
            queued_behind: facts.ahead,
            timing: facts.timing.rounded(),
        }
    }

    fn summary(&self) -> Summary {
        let log = &self.facts.log;
        Summary {
            examples: u32::try_from(log.examples.len()).unwrap_or(u32::MAX),
            failures: log.count(ExampleStatus::Failed),
            pending: log.count(ExampleStatus::Pending),
            errors_outside: u32::try_from(log.outside.len()).unwrap_or(u32::MAX),
            not_run: log.not_run(),
            assertions: log.assertions(),
            seconds: rounded(self.seconds()),
        }
    }

    /// Of a run that did not come to its end all of its time: what was cut off has told none.
    fn seconds(&self) -> f64 {
        match self.facts.verdict.outcome.is_cut_short() {
            true => self.facts.timing.run,
            false => {
                let of_examples = self.facts.log.ended().filter_map(|end| end.seconds);
                of_examples.fold(0.0, |sum, seconds| sum + seconds)
            }
        }
    }

    fn failures(&self) -> Vec<FailureReport> {
        let failed = self.facts.log.failed();
        FailureReport::rolled_up(failed.map(|end| FailureReport::of(end, self.paths)))
    }

    fn errors_outside(&self) -> Vec<OutsideReport> {
        let outside = self.facts.log.outside.iter();
        outside
            .map(|error| OutsideReport {
                context: self.paths.text(error.context.trim()),
                error: ErrorReport::of(&error.failure, self.paths),
            })
            .collect()
    }

    fn pending(&self) -> impl Iterator<Item = PendingReport> {
        let ended = self
            .facts
            .log
            .ended()
            .filter(|end| end.status == ExampleStatus::Pending);
        ended.map(|end| PendingReport {
            id: selector(&end.example.id),
            description: end.example.description.clone(),
            reason: self.paths.text(end.reason.as_deref().unwrap_or_default()),
        })
    }

    fn passing(&self) -> impl Iterator<Item = ExampleReport> {
        let ended = self.facts.log.ended();
        let passed = ended.filter(|end| self.view.include_passing && end.status == ExampleStatus::Passed);
        passed.map(|end| self.example(&end.example, end.seconds))
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

    fn refused(&self, known: &Refused) -> Refused {
        Refused {
            what: self.paths.text(&known.what),
            example: known.example.as_deref().map(selector),
            ..known.clone()
        }
    }

    fn hint(&self) -> Option<String> {
        let facts = self.facts;
        let of_failure = |failure: &Failure| {
            let inner = failure.causes.iter().chain(&failure.parts);
            std::iter::once(failure)
                .chain(inner)
                .map(|failure| failure.message.clone())
                .collect::<Vec<_>>()
        };
        let ended = facts.log.ended().filter_map(|end| end.failure.as_ref());
        let all = ended
            .chain(facts.log.outside.iter().map(|outside| &outside.failure))
            .chain(&facts.error);
        let texts: Vec<String> = all.flat_map(of_failure).chain([facts.stderr.text.clone()]).collect();
        let texts = texts.iter().map(String::as_str);
        let variables = allow::variables(&self.held_back(), facts.sandbox_at_least, texts);
        allow::joined([facts.hint.as_ref().map(|hint| self.paths.text(hint)), variables])
    }

    /// What passes has missed none.
    fn held_back(&self) -> Vec<String> {
        match self.facts.verdict.outcome {
            Outcome::Passed | Outcome::AllPending | Outcome::NoExamples | Outcome::Cancelled => Vec::new(),
            _ => self.facts.held_back.clone(),
        }
    }

    fn stream(&self, captured: &Captured) -> Option<Stream> {
        (captured.bytes > 0).then(|| Stream {
            text: self.paths.output(&captured.text),
            bytes: captured.bytes,
            dropped: captured.dropped,
        })
    }
}

/// Bytes kept of the stderr of a fork that crashed.
const CRASH_STDERR: usize = 4096;

/// How Ruby begins what it prints when it dies: the line before what matters most of it.
const BUG: &str = "[BUG]";

/// The beginning of what Ruby said of the crash, whatever was printed before; else what was printed last.
fn last_words(stderr: &str) -> &str {
    let at = stderr
        .rfind(BUG)
        .map(|at| stderr[..at].rfind('\n').map_or(0, |line| line + 1));
    let from = at.unwrap_or_else(|| ceil_char_boundary(stderr, stderr.len().saturating_sub(CRASH_STDERR)));
    &stderr[from..]
}

impl CrashedFork {
    pub fn new(signal: i32, stderr: &str) -> Self {
        CrashedFork {
            signal: signal_name(signal),
            stderr: clip(last_words(stderr), CRASH_STDERR).0,
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

/// At most `limit` of them, and how many more there are.
fn first<T>(limit: usize, mut items: impl Iterator<Item = T>) -> (Vec<T>, usize) {
    (items.by_ref().take(limit).collect(), items.count())
}
