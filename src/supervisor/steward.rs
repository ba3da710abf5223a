//! The steward: takes calls in order, makes the tree warm and fresh, has the run executed, and reports.

use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::call::{Checked, Queued, RunArguments};
use super::execute::{self, NotStarted, Ran};
use super::warm::{Prepared, Problem, Setup, Warm};
use crate::config::{Config, Fork};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::run::advice;
use crate::run::outcome::{Outcome, Verdict, judge};
use crate::run::output::{Capture, Captured};
use crate::run::paths::Paths;
use crate::run::report::{Facts, Leftover, Mode, Report, SkippedPath, Timing};
use crate::run::{RunId, log::RunLog};
use crate::worker::Broken;
use crate::worker::protocol::{Framework, ProcessMode, RunRequest};

/// How often a run is tried that never began, because the zygote was gone by then.
const STARTS: u32 = 3;

/// Serves until the queue is closed or the shutdown comes, and then ends everything.
pub(super) async fn serve(
    root: PathBuf,
    mut calls: mpsc::Receiver<Queued>,
    board: Board,
    shutdown: CancellationToken,
    eager: bool,
) {
    let mut steward = Steward {
        warm: Warm::default(),
        board,
        runs: 0,
    };
    if eager {
        tokio::select! {
            () = steward.warm_up(&root) => {}
            () = shutdown.cancelled() => return,
        }
    }
    loop {
        let call = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            call = calls.recv() => call,
        };
        let Some(call) = call else { return };
        steward.board.queued(-1);
        // A task of its own: should it panic, the tree goes with it, and the next call starts with nothing.
        let runs = steward.runs + 1;
        let board = steward.board.clone();
        let mut serving = tokio::spawn(steward.answer(call));
        let served = tokio::select! {
            served = &mut serving => served,
            () = shutdown.cancelled() => {
                serving.abort();
                return;
            }
        };
        steward = served.unwrap_or_else(|_| Steward {
            warm: Warm::default(),
            board,
            runs,
        });
        steward.board.at_rest(steward.warm.booted());
    }
}

#[derive(Debug)]
struct Steward {
    warm: Warm,
    board: Board,
    runs: u64,
}

/// A run, or what kept it from being one.
struct Attempt {
    mode: Mode,
    prepared: Prepared,
    waited: f64,
    end: std::result::Result<Ran, Problem>,
}

impl Steward {
    /// Boots ahead of the first call. What goes wrong is for the first call to report.
    async fn warm_up(&mut self, root: &std::path::Path) {
        let Ok(config) = Config::load(root) else { return };
        let Ok(project) = Project::at(root, &config) else {
            return;
        };
        self.board.preparing();
        let _ = self
            .warm
            .ready(&Setup {
                project,
                config,
                framework: Framework::Rspec,
            })
            .await;
        self.board.at_rest(self.warm.booted());
    }

    async fn answer(mut self, call: Queued) -> Steward {
        if call.abandoned() {
            return self;
        }
        self.runs += 1;
        let id = RunId(self.runs);
        let answer = self
            .attempt(id, &call)
            .await
            .map(|attempt| self.report(id, &call.checked, attempt));
        // A caller that has gone away needs no answer.
        let _ = call.reply.send(answer);
        self
    }

    async fn attempt(&mut self, id: RunId, call: &Queued) -> Result<Attempt> {
        match call.checked.fork {
            Fork::Never => self.spawned(id, call, Mode::Spawn).await,
            Fork::Auto | Fork::Always => self.forked(id, call).await,
        }
    }

    async fn forked(&mut self, id: RunId, call: &Queued) -> Result<Attempt> {
        let waited = call.since.elapsed().as_secs_f64();
        let mut prepared = Prepared::default();
        for _ in 0..STARTS {
            self.board.preparing();
            let attempt = |prepared, end| Attempt {
                mode: Mode::Fork,
                prepared,
                waited,
                end,
            };
            let booted = match self.warm.ready(&call.checked.setup).await {
                Ok((more, booted)) => {
                    prepared.add(more);
                    booted
                }
                Err(problem) => {
                    prepared.add(problem.prepared.clone());
                    return Ok(attempt(prepared, Err(problem)));
                }
            };
            self.board.prepared(&prepared);
            if call.abandoned() {
                return Err(cancelled());
            }
            let Some(zygote) = &booted.zygote else { continue };
            call.begin();
            self.board.running(id);
            let request = request(id, &call.checked, ProcessMode::Fork);
            let keeper = booted.worker.keeper();
            match execute::forked(zygote, keeper, request, call.checked.limits, &call.cancel).await {
                Ok(ran) => return Ok(attempt(prepared, Ok(ran))),
                Err(NotStarted::Refused(reason)) => return Err(not_started(&reason)),
                Err(NotStarted::Lost(_)) => self.warm.drop_zygote().await,
            }
        }
        Err(not_started("the process that runs are forked from did not stay alive"))
    }

    async fn spawned(&mut self, id: RunId, call: &Queued, mode: Mode) -> Result<Attempt> {
        let waited = call.since.elapsed().as_secs_f64();
        let plan = call.checked.setup.plan()?;
        call.begin();
        self.board.running(id);
        let request = request(id, &call.checked, ProcessMode::Spawn);
        match execute::spawned(&plan, &request, call.checked.limits, &call.cancel).await {
            Ok(ran) => Ok(Attempt {
                mode,
                prepared: Prepared::default(),
                waited,
                end: Ok(ran),
            }),
            Err(NotStarted::Refused(reason) | NotStarted::Lost(reason)) => Err(not_started(&reason)),
        }
    }

    fn report(&self, id: RunId, call: &Checked, attempt: Attempt) -> Report {
        let paths = Paths::new(call.root(), std::env::home_dir());
        let facts = match attempt.end {
            Ok(ran) => ran_facts(id, call, attempt.mode, &attempt.prepared, attempt.waited, ran),
            Err(problem) => problem_facts(id, call, &attempt.prepared, attempt.waited, problem),
        };
        let report = Report::new(facts, call.view, &paths);
        self.board.ran(report.mode, report.outcome);
        report
    }
}

fn cancelled() -> Error {
    Error::new(crate::error::Kind::Cancelled, "the call was cancelled before it ran")
}

fn not_started(reason: &str) -> Error {
    Error::internal(format!("failed to start the run: {reason}")).hint("call again; if it stays, restart the server")
}

fn request(id: RunId, call: &Checked, mode: ProcessMode) -> RunRequest {
    let RunArguments {
        example,
        seed,
        fail_fast,
        ..
    } = call.arguments.clone();
    RunRequest {
        run: id.to_string(),
        root: call.root().clone(),
        mode,
        arguments: call
            .selection
            .selectors
            .iter()
            .map(crate::project::Selector::to_argument)
            .collect(),
        example,
        seed,
        fail_fast: fail_fast.unwrap_or(false),
    }
}

fn ran_facts(id: RunId, call: &Checked, mode: Mode, prepared: &Prepared, waited: f64, ran: Ran) -> Facts {
    let verdict = judge(&ran.log, ran.end, ran.stop);
    let loading = ran.log.started.as_ref().map_or(0.0, |started| started.seconds);
    Facts {
        id,
        mode,
        command: command(
            call,
            ran.log
                .started
                .as_ref()
                .filter(|started| started.random)
                .map(|started| started.seed),
        ),
        hint: advice::of_run(&verdict, &ran.log, mode == Mode::Fork),
        warnings: warnings(&ran),
        leftovers: ran.leftovers.iter().map(leftover).collect(),
        timing: Timing {
            boot: prepared.boot,
            wait: waited,
            load: prepared.load + loading,
            run: (ran.seconds - loading).max(0.0),
        },
        skipped: skipped(call),
        trigger: prepared.trigger.clone(),
        verdict,
        stdout: ran.stdout,
        stderr: ran.stderr,
        log: ran.log,
        error: None,
    }
}

fn problem_facts(id: RunId, call: &Checked, prepared: &Prepared, waited: f64, problem: Problem) -> Facts {
    let Problem {
        outcome,
        broken: Broken { failure, stderr },
        ..
    } = problem;
    Facts {
        id,
        mode: Mode::Fork,
        verdict: Verdict {
            outcome,
            reason: Some(why(outcome).to_owned()),
        },
        log: RunLog::default(),
        stdout: nothing(),
        stderr: Captured {
            bytes: stderr.len() as u64,
            text: stderr,
            dropped: 0,
        },
        timing: Timing {
            boot: prepared.boot,
            wait: waited,
            load: prepared.load,
            run: 0.0,
        },
        command: command(call, None),
        hint: Some(advice::of_problem(outcome, &failure)),
        error: Some(failure),
        leftovers: Vec::new(),
        warnings: Vec::new(),
        skipped: skipped(call),
        trigger: prepared.trigger.clone(),
    }
}

fn why(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::ReloadFailed => "changed code could not be loaded; nothing was run",
        Outcome::LoadError => "the test helper could not be loaded; nothing was run",
        _ => "the app did not boot; nothing was run",
    }
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

fn leftover(found: &crate::process::tree::Leftover) -> Leftover {
    Leftover {
        pid: found.pid,
        command: found.command.clone(),
    }
}

/// What a caller must know beside the verdict.
fn warnings(ran: &Ran) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(started) = &ran.log.started {
        let hidden = started.loaded.saturating_sub(started.selected);
        let filters = started.filters.include.iter().map(|rule| format!("only {rule}"));
        let filters: Vec<String> = filters
            .chain(started.filters.exclude.iter().map(|rule| format!("not {rule}")))
            .collect();
        if hidden > 0 && !filters.is_empty() {
            warnings.push(format!(
                "{hidden} examples were hidden by filters of the project: {}",
                filters.join(", ")
            ));
        }
        if started.fail_fast && ran.log.not_run() > 0 {
            warnings.push(format!(
                "stopped at the first failure; {} examples did not run",
                ran.log.not_run()
            ));
        }
    }
    if ran.leftovers_total > 0 {
        warnings.push(format!(
            "the run left {} processes behind; they were killed",
            ran.leftovers_total
        ));
    }
    if !ran.survivors.is_empty() {
        warnings.push(format!("{} processes could not be killed", ran.survivors.len()));
    }
    warnings
}

/// What a person would type to see the same.
fn command(call: &Checked, seed: Option<u32>) -> String {
    let mut words = vec!["bundle exec rspec".to_owned()];
    words.extend(call.arguments.paths.iter().map(|path| quote(path)));
    if let Some(example) = &call.arguments.example {
        words.extend(["-e".to_owned(), quote(example)]);
    }
    if let Some(seed) = call.arguments.seed.or(seed) {
        words.push(format!("--seed {seed}"));
    }
    if call.arguments.fail_fast == Some(true) {
        words.push("--fail-fast".to_owned());
    }
    words.join(" ")
}

/// For a POSIX shell; a leading dash becomes a path, so that it is no option.
fn quote(word: &str) -> String {
    let word = if word.starts_with('-') {
        format!("./{word}")
    } else {
        word.to_owned()
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl Prepared {
    fn add(&mut self, more: Prepared) {
        self.boot += more.boot;
        self.load += more.load;
        self.trigger = self.trigger.take().or(more.trigger);
    }
}
