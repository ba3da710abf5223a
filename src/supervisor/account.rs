//! From what happened to what is to be reported of it.

use super::call::Checked;
use super::coverage::Measuring;
use super::execute::Ran;
use super::remedies::Remedies;
use super::setup::held_back;
use super::warm::{Prepared, Problem};
use crate::project::Framework;
use crate::run::blocked::Refusals;
use crate::run::command::Asked;
use crate::run::log::RunLog;
use crate::run::outcome::{Outcome, Verdict, judge, no_ruby, unmatched_beside};
use crate::run::output::{Capture, Captured};
use crate::run::paths::selector;
use crate::run::report::{CrashedFork, Facts, Leftover, Mode, SkippedPath, Timing};
use crate::run::{RunId, advice, allow};
use crate::sandbox::rules::Place;
use crate::worker::Broken;
use crate::worker::protocol::{Failure, Identity, KnownAs};

/// A run, or what kept it from being one.
pub(super) struct Attempt {
    pub(super) mode: Mode,
    pub(super) mode_reason: Option<String>,
    pub(super) prepared: Prepared,
    /// Seconds before it was this call's turn, and for its database.
    pub(super) waited: f64,
    pub(super) crashed_fork: Option<CrashedFork>,
    pub(super) measuring: Option<Measuring>,
    pub(super) end: std::result::Result<Ran, Problem>,
}

/// Everything known of a call that was served.
pub(super) fn facts(id: RunId, call: &Checked, attempt: Attempt) -> Facts {
    let Attempt {
        mode,
        mode_reason,
        prepared,
        waited,
        crashed_fork,
        measuring,
        end,
    } = attempt;
    let base = Facts {
        id,
        mode,
        mode_reason,
        crashed_fork,
        verdict: Verdict {
            outcome: Outcome::Incomplete,
            reason: None,
        },
        log: RunLog::default(),
        stdout: nothing(),
        stderr: nothing(),
        timing: Timing {
            boot: prepared.boot,
            wait: waited,
            load: prepared.load,
            run: 0.0,
        },
        command: command(call, None, &[]),
        error: None,
        kernel_threads: Vec::new(),
        leftovers: Vec::new(),
        warnings: Vec::new(),
        skipped: skipped(call),
        hint: None,
        trigger: prepared.trigger,
        sandbox: None,
        refused: Refusals::default(),
        held_back: held_back(&call.setup.config.sandbox),
        sandbox_at_least: call.setup.sandbox_at_least,
        stood_for: call.stood_for.selectors.clone(),
        also_failed: call.stood_for.also_failed.clone(),
        also_last: call.stood_for.also_last.clone(),
        ahead: 0,
        coverage: None,
    };
    match end {
        Ok(ran) => Facts {
            coverage: measuring.map(|measuring| measuring.report(call.root(), &ran.log.coverage)),
            ..ran_facts(call, base, ran)
        },
        Err(problem) => problem_facts(base, problem),
    }
}

fn ran_facts(call: &Checked, base: Facts, ran: Ran) -> Facts {
    let verdict = judge(&ran.log, ran.end, ran.stop);
    let loading = ran.log.started.as_ref().map_or(0.0, |started| started.seconds);
    let known_as = ran.log.started.as_ref().map_or(&[][..], |started| &started.known_as);
    let random = ran.log.started.as_ref().filter(|started| started.random);
    let of_crash = base
        .crashed_fork
        .as_ref()
        .and_then(|crash| advice::of_crashed_fork(&crash.stderr));
    Facts {
        command: command(call, random.and_then(|started| started.seed), known_as),
        hint: allow::joined([
            advice::of_run(&verdict, &ran.log, ran.end, base.mode == Mode::Fork),
            of_refusals(call, &ran.refused),
        ]),
        skipped: base.skipped.into_iter().chain(excluded(&ran.log)).collect(),
        warnings: unmatched_beside(&ran.log, &verdict)
            .into_iter()
            .chain(beyond(call, &ran.log))
            .chain(warnings(&ran))
            .chain(of_crash.map(str::to_owned))
            .collect(),
        leftovers: ran.leftovers.iter().map(leftover).collect(),
        timing: Timing {
            load: base.timing.load + loading,
            run: (ran.seconds - loading).max(0.0),
            ..base.timing
        },
        verdict,
        sandbox: Some(ran.sandbox.to_string()),
        refused: ran.refused,
        stdout: ran.stdout,
        stderr: ran.stderr,
        kernel_threads: ran.kernel_threads,
        log: ran.log,
        ..base
    }
}

fn of_refusals(call: &Checked, refused: &Refusals) -> Option<String> {
    if refused.listed.is_empty() {
        return None;
    }
    let at_least = call.setup.sandbox_at_least;
    let remedies = Remedies::new(Place::here(call.root()), &call.setup.config.sandbox, at_least);
    allow::hint(&refused.listed, at_least, |kind, path| remedies.of(kind, path))
}

fn problem_facts(base: Facts, problem: Problem) -> Facts {
    let Problem {
        outcome,
        broken: Broken { failure, stderr, .. },
        ..
    } = problem;
    Facts {
        verdict: Verdict {
            outcome,
            reason: Some(why(outcome, &failure)),
        },
        hint: Some(advice::of_problem(outcome, &failure)),
        stderr: Captured {
            bytes: stderr.len() as u64,
            text: stderr,
            dropped: 0,
        },
        error: Some(failure),
        ..base
    }
}

fn why(outcome: Outcome, failure: &Failure) -> String {
    if let Some(place) = &failure.location {
        return format!("{}, and nothing was run", no_ruby(place));
    }
    if failure.class.starts_with("Bundler::") {
        return "the gems of the app could not be set up; nothing was run".to_owned();
    }
    let what = match outcome {
        Outcome::ReloadFailed => "changed code could not be loaded; nothing was run",
        Outcome::DatabaseBusy => "another run uses the same test database; nothing was run",
        Outcome::LoadError => "the test helper could not be loaded; nothing was run",
        _ => "the app did not boot; nothing was run",
    };
    what.to_owned()
}

fn nothing() -> Captured {
    Capture::new(0).finish()
}

fn skipped(call: &Checked) -> Vec<SkippedPath> {
    let skipped = call.selection.skipped.iter();
    skipped
        .map(|entry| SkippedPath {
            path: entry.path.clone(),
            reason: entry.reason.clone(),
        })
        .collect()
}

fn excluded(log: &RunLog) -> impl Iterator<Item = SkippedPath> {
    let files = log.started.iter().flat_map(|started| started.excluded.iter());
    files.map(|path| SkippedPath {
        path: path.clone(),
        reason: "the project's exclude pattern".to_owned(),
    })
}

fn leftover(found: &crate::process::tree::Leftover) -> Leftover {
    Leftover {
        pid: found.pid,
        command: found.command.clone(),
    }
}

/// Lines behind the end of a file, and what RSpec took in their place.
fn beyond(call: &Checked, log: &RunLog) -> impl Iterator<Item = String> {
    call.beyond.iter().map(|beyond| {
        let of_file = |identity: &&Identity| selector(&identity.file) == beyond.path;
        let ran = log.examples.iter().map(|example| &example.identity);
        let listed = log.listed.iter().map(|listed| &listed.example);
        let mut lines: Vec<u32> = ran
            .chain(listed)
            .filter(of_file)
            .map(|identity| identity.line)
            .collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
        let taken = match lines.is_empty() {
            true => String::new(),
            false => format!("; what is selected is in line {}", lines.join(", ")),
        };
        format!(
            "`{}` has {}, so line {} is none of it{taken}",
            beyond.path,
            counted(beyond.lines, "line"),
            beyond.line,
        )
    })
}

/// Lines of examples that a warning names.
const LINES: usize = 10;

/// What a caller must know beside the verdict.
fn warnings(ran: &Ran) -> Vec<String> {
    let mut warnings = Vec::new();
    if ran.refused.unlisted > 0 {
        warnings.push(format!("{} more refusals are not listed", ran.refused.unlisted));
    }
    if ran.log.coverage_skipped {
        warnings.push("coverage was not measured: a warm process can't; `fork: \"never\"` measures it".to_owned());
    }
    if let Some(started) = &ran.log.started {
        let hidden = started.loaded.saturating_sub(started.selected);
        let filters = started.filters.include.iter().map(|rule| format!("only {rule}"));
        let filters: Vec<String> = filters
            .chain(started.filters.exclude.iter().map(|rule| format!("not {rule}")))
            .collect();
        if hidden > 0 && !filters.is_empty() {
            warnings.push(format!(
                "{} hidden by filters of the project: {}",
                were(hidden, "example"),
                filters.join(", ")
            ));
        }
        if started.fail_fast && ran.log.not_run() > 0 {
            let not_run = counted(ran.log.not_run(), "example");
            warnings.push(format!("stopped at the first failure; {not_run} did not run"));
        }
    }
    if ran.leftovers_total > 0 {
        let left = counted(ran.leftovers_total, "process");
        warnings.push(format!("the run left {left} behind, killed by now"));
    }
    if ran.log.stripped > 0 {
        let failures = counted(ran.log.stripped, "failure");
        warnings.push(format!("{failures} told without details: there were too many"));
    }
    if ran.log.ignored > 0 {
        let records = were(ran.log.ignored, "record");
        warnings.push(format!(
            "{records} ignored: not of this run's process, or no record at all"
        ));
    }
    if !ran.survivors.is_empty() {
        let survivors = counted(ran.survivors.len(), "process");
        warnings.push(format!("{survivors} could not be killed"));
    }
    warnings
}

/// "1 process", "2 processes"
fn counted<N: TryInto<u64> + Copy + std::fmt::Display>(count: N, what: &str) -> String {
    let one = matches!(count.try_into(), Ok(1));
    let ending = match what.ends_with('s') {
        _ if one => "",
        true => "es",
        false => "s",
    };
    format!("{count} {what}{ending}")
}

/// "1 example was", "2 examples were"
fn were<N: TryInto<u64> + Copy + std::fmt::Display>(count: N, what: &str) -> String {
    let verb = if matches!(count.try_into(), Ok(1)) {
        "was"
    } else {
        "were"
    };
    format!("{} {verb}", counted(count, what))
}

/// What a person would type to see the same.
fn command(call: &Checked, seed: Option<u32>, known_as: &[KnownAs]) -> String {
    let asked = Asked {
        paths: &call.arguments.paths,
        selectors: &call.selection.selectors,
        example: call.arguments.example.as_deref(),
        known_as,
        // In an order that is not random, RSpec itself takes no seed.
        seed: call.arguments.seed.filter(|_| !call.arguments.keep_order).or(seed),
        fail_fast: call.arguments.fail_fast == Some(true),
    };
    match call.setup.framework {
        Framework::Rspec => asked.rspec(),
        Framework::Minitest => asked.rails_test(call.root().join("bin/rails").is_file()),
    }
}
