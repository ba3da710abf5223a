//! The steward: takes calls in order, makes the tree warm and fresh, has the run executed, and reports.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::call::{Checked, Queued, RunArguments};
use super::execute::{self, NotStarted, Ran};
use super::lock::Locks;
use super::queue::Queue;
use super::warm::{Booted, Prepared, Problem, Setup, Warm};
use super::watcher::Watcher;
use crate::config::{Config, Fork};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::run::log::RunLog;
use crate::run::mode::{Decision, Wanted};
use crate::run::outcome::{End, Outcome, Verdict, judge};
use crate::run::output::{Capture, Captured};
use crate::run::paths::Paths;
use crate::run::report::{CrashedFork, Facts, Leftover, Mode, Report, SkippedPath, Timing};
use crate::run::{Limits, RunId, advice};
use crate::worker::Broken;
use crate::worker::protocol::{Framework, ProcessMode, RunRequest};

/// How often a run is tried that never began, because the zygote was gone by then.
const STARTS: u32 = 3;

/// Serves until the shutdown comes, and then ends everything.
pub(super) async fn serve(root: PathBuf, queue: Queue, board: Board, shutdown: CancellationToken, eager: bool) {
    let work = eager.then_some(Work::WarmUp);
    serve_in_order(root, &queue, board, shutdown, work).await;
    queue.close();
}

async fn serve_in_order(
    root: PathBuf,
    queue: &Queue,
    board: Board,
    shutdown: CancellationToken,
    mut work: Option<Work>,
) {
    let mut steward = Steward {
        warm: Warm::default(),
        board,
        runs: 0,
        meanwhile: None,
    };
    let mut watcher: Option<Watcher> = None;
    loop {
        let work = match work.take() {
            Some(work) => work,
            None => tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                call = queue.next() => Work::Answer(Box::new(call)),
                () = saved(watcher.as_ref()) => Work::WarmUp,
            },
        };
        let (runs, board) = (steward.runs + 1, steward.board.clone());
        // A task of its own: should it panic, the tree goes with it, and the next call starts with nothing.
        let mut working = tokio::spawn(steward.work(root.clone(), work));
        let done = tokio::select! {
            done = &mut working => done,
            () = shutdown.cancelled() => {
                working.abort();
                return;
            }
        };
        steward = done.unwrap_or_else(|_| Steward {
            warm: Warm::default(),
            board,
            runs,
            meanwhile: None,
        });
        steward.board.at_rest(steward.warm.booted());
        watcher = watch(watcher, steward.warm.booted());
    }
}

enum Work {
    Answer(Box<Queued>),
    /// Make the tree warm and fresh while nobody waits.
    WarmUp,
}

async fn saved(watcher: Option<&Watcher>) {
    match watcher {
        Some(watcher) => watcher.changed().await,
        None => std::future::pending().await,
    }
}

/// Each boot may read other files.
fn watch(watcher: Option<Watcher>, booted: Option<&Booted>) -> Option<Watcher> {
    let booted = booted?;
    watcher
        .filter(|watcher| watcher.boot_id == booted.id)
        .or_else(|| Watcher::start(booted.id, &booted.watch))
}

#[derive(Debug)]
struct Steward {
    warm: Warm,
    board: Board,
    runs: u64,
    /// What was done since the last call, for the next one to tell.
    meanwhile: Option<String>,
}

/// A run, or what kept it from being one.
struct Attempt {
    mode: Mode,
    mode_reason: Option<String>,
    prepared: Prepared,
    /// Seconds before it was this call's turn, and for its database.
    waited: f64,
    crashed_fork: Option<CrashedFork>,
    end: std::result::Result<Ran, Problem>,
}

/// One call while it is being served.
struct Serving<'a> {
    id: RunId,
    call: &'a Queued,
    queued: f64,
    locks: Locks,
    prepared: Prepared,
}

impl Steward {
    async fn work(mut self, root: PathBuf, work: Work) -> Steward {
        match work {
            Work::Answer(call) => self.answer(*call).await,
            Work::WarmUp => self.warm_up(&root).await,
        }
        self
    }

    /// What goes wrong is for the next call to report.
    async fn warm_up(&mut self, root: &Path) {
        let Ok(config) = Config::load(root) else { return };
        let Ok(project) = Project::at(root, &config) else {
            return;
        };
        self.board.preparing();
        let setup = Setup {
            project,
            config,
            framework: Framework::Rspec,
        };
        let mut locks = Locks::new(Duration::ZERO, CancellationToken::new());
        if let Ok((prepared, booted)) = self.warm.ready(&setup, &mut locks).await {
            self.board.prepared(&prepared, Some(booted));
            self.meanwhile = prepared.trigger.or(self.meanwhile.take());
        }
    }

    async fn answer(&mut self, call: Queued) {
        if call.abandoned() {
            return;
        }
        self.runs += 1;
        let mut serving = Serving::new(RunId(self.runs), &call);
        serving.prepared.trigger = self.meanwhile.take();
        let id = serving.id;
        let attempt = self.attempt(serving).await;
        let answer = attempt.map(|attempt| self.report(id, &call, attempt));
        // A caller that has gone away needs no answer.
        let _ = call.reply.send(answer);
        self.warm
            .recycle(call.checked.setup.config.max_warm_memory_mib * 1024 * 1024)
            .await;
    }

    async fn attempt(&mut self, mut serving: Serving<'_>) -> Result<Attempt> {
        if let Some(Decision::Spawn { mode, reason }) = serving.wanted(0).early() {
            return self.spawned(serving, mode, Some(reason)).await;
        }
        for _ in 0..STARTS {
            self.board.preparing();
            let booted = match self.warm.ready(&serving.call.checked.setup, &mut serving.locks).await {
                Ok((more, booted)) => {
                    serving.prepared.add(more);
                    booted
                }
                Err(problem) => {
                    self.board.prepared(&problem.prepared, self.warm.booted());
                    return serving.stopped_by(problem);
                }
            };
            self.board.prepared(&serving.prepared, Some(booted));
            if serving.call.abandoned() {
                return Err(cancelled());
            }
            let config = &serving.call.checked.setup.config;
            let decision = match booted.fork_facts(config).await {
                Some(facts) => serving.wanted(booted.crashes).decide(&facts),
                None => {
                    self.warm.drop_zygote().await;
                    continue;
                }
            };
            if let Decision::Spawn { mode, reason } = decision {
                return self.spawned(serving, mode, Some(reason)).await;
            }
            match serving.fork(&self.board, booted).await {
                Ok(ran) => return self.forked(serving, ran).await,
                Err(NotStarted::Refused(reason)) => return Err(not_started(&reason)),
                Err(NotStarted::Lost(_)) => self.warm.drop_zygote().await,
            }
        }
        Err(not_started("the process that runs are forked from did not stay alive"))
    }

    /// A fork that crashed without having been told to is run once more, in a fresh process and what is left of its time.
    async fn forked(&mut self, serving: Serving<'_>, ran: Ran) -> Result<Attempt> {
        let crash = fork_crash(&ran);
        if let Some(booted) = self.warm.booted_mut() {
            booted.crashes = if crash.is_some() { booted.crashes + 1 } else { 0 };
        }
        let left = serving
            .call
            .checked
            .limits
            .deadline
            .saturating_sub(Duration::from_secs_f64(ran.seconds));
        match crash {
            Some(signal) if serving.call.checked.fork == Fork::Auto && !left.is_zero() => {
                let crashed = CrashedFork::new(signal, &ran.stderr.text);
                let reason = format!("the fork was killed by {}", crashed.signal);
                let retried = self
                    .spawned_within(serving, Mode::SpawnAfterCrash, Some(reason), left)
                    .await?;
                Ok(Attempt {
                    crashed_fork: Some(crashed),
                    ..retried
                })
            }
            _ => Ok(serving.ended(Mode::Fork, None, Ok(ran))),
        }
    }

    async fn spawned(&mut self, serving: Serving<'_>, mode: Mode, reason: Option<String>) -> Result<Attempt> {
        let deadline = serving.call.checked.limits.deadline;
        self.spawned_within(serving, mode, reason, deadline).await
    }

    async fn spawned_within(
        &mut self,
        mut serving: Serving<'_>,
        mode: Mode,
        reason: Option<String>,
        deadline: Duration,
    ) -> Result<Attempt> {
        let plan = serving.call.checked.setup.plan()?;
        if let Err(problem) = serving.lock(self.warm.booted()).await {
            return serving.stopped_by(problem);
        }
        serving.call.begin();
        self.board.running(serving.id);
        let request = request(serving.id, &serving.call.checked, ProcessMode::Spawn);
        let limits = Limits {
            deadline,
            ..serving.call.checked.limits
        };
        match execute::spawned(&plan, &request, limits, &serving.call.cancel).await {
            Ok(ran) => Ok(serving.ended(mode, reason, Ok(ran))),
            Err(NotStarted::Refused(reason) | NotStarted::Lost(reason)) => Err(not_started(&reason)),
        }
    }

    fn report(&self, id: RunId, queued: &Queued, attempt: Attempt) -> Report {
        let call = &queued.checked;
        let facts = Facts {
            ahead: queued.ahead,
            ..facts(id, call, attempt)
        };
        let report = Report::new(facts, call.view, &Paths::new(call.root(), std::env::home_dir()));
        self.board.ran(report.mode, report.outcome);
        report
    }
}

impl<'a> Serving<'a> {
    fn new(id: RunId, call: &'a Queued) -> Self {
        let locks = Locks::new(call.checked.limits.deadline, call.cancel.clone());
        Serving {
            id,
            call,
            queued: call.since.elapsed().as_secs_f64(),
            locks,
            prepared: Prepared::default(),
        }
    }

    fn wanted(&self, crashes: u32) -> Wanted<'a> {
        let checked = &self.call.checked;
        Wanted {
            fork: checked.fork,
            config: &checked.setup.config,
            crashes,
            macos: cfg!(target_os = "macos"),
        }
    }

    async fn fork(&self, board: &Board, booted: &Booted) -> std::result::Result<Ran, NotStarted> {
        let gone = || NotStarted::Lost("there is no zygote".to_owned());
        let zygote = booted.zygote.as_ref().ok_or_else(gone)?;
        self.call.begin();
        board.running(self.id);
        let request = request(self.id, &self.call.checked, ProcessMode::Fork);
        execute::forked(
            zygote,
            booted.worker.keeper(),
            request,
            self.call.checked.limits,
            &self.call.cancel,
        )
        .await
    }

    /// A fresh process uses the databases of the last boot; before any boot, they are not known.
    async fn lock(&mut self, booted: Option<&Booted>) -> std::result::Result<(), Problem> {
        let databases = booted.map(|booted| &booted.ready.databases[..]);
        let taken = self.locks.take(self.call.checked.root(), databases).await;
        taken.map_err(|taken| Problem::busy(&taken, self.prepared.clone()))
    }

    fn ended(self, mode: Mode, mode_reason: Option<String>, end: std::result::Result<Ran, Problem>) -> Attempt {
        let waited = self.queued + self.locks.waited;
        Attempt {
            mode,
            mode_reason,
            prepared: self.prepared,
            waited,
            crashed_fork: None,
            end,
        }
    }

    fn stopped_by(mut self, problem: Problem) -> Result<Attempt> {
        if self.call.abandoned() {
            return Err(cancelled());
        }
        self.prepared.add(problem.prepared.clone());
        Ok(self.ended(Mode::Fork, None, Err(problem)))
    }
}

/// The signal of a crash that forking may be to blame for: one that the process raised by itself.
fn fork_crash(ran: &Ran) -> Option<i32> {
    const CRASHES: [Signal; 7] = [
        Signal::SIGSEGV,
        Signal::SIGABRT,
        Signal::SIGBUS,
        Signal::SIGILL,
        Signal::SIGTRAP,
        Signal::SIGFPE,
        Signal::SIGSYS,
    ];
    match (ran.end, ran.stop) {
        // Once the last record is out, a crash changes nothing.
        (End::Signaled(signal), None) if ran.log.exit.is_none() => {
            CRASHES.iter().any(|crash| *crash as i32 == signal).then_some(signal)
        }
        _ => None,
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
        directories: directories(call),
        named: call.arguments.paths.clone(),
        example,
        seed,
        fail_fast: fail_fast.unwrap_or(false),
        max_file_bytes: call.limits.file,
    }
}

fn directories(call: &Checked) -> Vec<String> {
    let paths = call
        .arguments
        .paths
        .iter()
        .filter(|path| call.root().join(path).is_dir());
    paths.cloned().collect()
}

fn facts(id: RunId, call: &Checked, attempt: Attempt) -> Facts {
    let Attempt {
        mode,
        mode_reason,
        prepared,
        waited,
        crashed_fork,
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
        command: command(call, None),
        error: None,
        kernel_threads: Vec::new(),
        leftovers: Vec::new(),
        warnings: Vec::new(),
        skipped: skipped(call),
        hint: None,
        trigger: prepared.trigger,
        ahead: 0,
    };
    match end {
        Ok(ran) => ran_facts(call, base, ran),
        Err(problem) => problem_facts(base, problem),
    }
}

fn ran_facts(call: &Checked, base: Facts, ran: Ran) -> Facts {
    let verdict = judge(&ran.log, ran.end, ran.stop);
    let loading = ran.log.started.as_ref().map_or(0.0, |started| started.seconds);
    let random = ran.log.started.as_ref().filter(|started| started.random);
    Facts {
        command: command(call, random.map(|started| started.seed)),
        hint: advice::of_run(&verdict, &ran.log, base.mode == Mode::Fork),
        skipped: base.skipped.into_iter().chain(excluded(&ran.log)).collect(),
        warnings: warnings(&ran),
        leftovers: ran.leftovers.iter().map(leftover).collect(),
        timing: Timing {
            load: base.timing.load + loading,
            run: (ran.seconds - loading).max(0.0),
            ..base.timing
        },
        verdict,
        stdout: ran.stdout,
        stderr: ran.stderr,
        kernel_threads: ran.kernel_threads,
        log: ran.log,
        ..base
    }
}

fn problem_facts(base: Facts, problem: Problem) -> Facts {
    let Problem {
        outcome,
        broken: Broken { failure, stderr },
        ..
    } = problem;
    Facts {
        verdict: Verdict {
            outcome,
            reason: Some(why(outcome).to_owned()),
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

fn why(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::ReloadFailed => "changed code could not be loaded; nothing was run",
        Outcome::DatabaseBusy => "another run uses the same test database; nothing was run",
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

/// What a caller must know beside the verdict.
fn warnings(ran: &Ran) -> Vec<String> {
    let mut warnings = Vec::new();
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
    if ran.log.stripped > 0 {
        warnings.push(format!(
            "{} failures are counted without their details: there were too many",
            ran.log.stripped
        ));
    }
    if ran.log.ignored > 0 {
        warnings.push(format!(
            "{} records were not of this run's process, and were ignored",
            ran.log.ignored
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
        self.trigger = more.trigger.or(self.trigger.take());
    }
}
