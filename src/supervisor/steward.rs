//! The steward: takes calls in order, makes the tree warm and fresh, has the run executed, and reports.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::account::{self, Attempt};
use super::board::{self, Board};
use super::booted::Booted;
use super::call::{Checked, Queued};
use super::coverage::Measuring;
use super::demand::Demand;
use super::execute::{self, NotStarted, Ran};
use super::history::{Ended, History};
use super::lease::Lease;
use super::lock::Locks;
use super::neighbours::{neighbours, own_app};
use super::queue::Queue;
use super::runs::{Over, Runs};
use super::seats::Seats;
use super::serving::{self, Serving, cancelled};
use super::setup::{Setup, Site};
use super::warm::{self, Problem, Shared, Warm};
use super::watcher::Watcher;
use crate::config::Fork;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::journal::entry::{Entry, Event};
use crate::run::Limits;
use crate::run::mode::Decision;
use crate::run::outcome::{End, Outcome};
use crate::run::paths::Paths;
use crate::run::report::{CrashedFork, Facts, Mode};
use crate::run::results::Results;
use crate::worker::protocol::{ProcessMode, RunRequest};

/// How often a run is tried that never began, because the zygote was gone by then.
const STARTS: u32 = 3;

/// How many calls in a row may have found tables altered. More than that, and it is the tests' own doing: then the tables
/// are not asked for any more, until the server is started again.
const OUTDATED: u32 = 5;

/// Serves until the shutdown comes, and then ends everything.
pub(super) async fn serve(site: Site, office: Office, eager: bool) {
    let beside = site.clone();
    let others = spawn_blocking(move || neighbours(&beside)).await.unwrap_or_default();
    office.warm.lock().await.begin(own_app(&others));
    let work = eager.then_some(Work::WarmUp);
    serve_in_order(site, &office, work).await;
    office.queue.close();
}

/// What the steward shares with those who ask.
#[derive(Debug, Clone, Default)]
pub(super) struct Office {
    pub(super) queue: Queue,
    pub(super) runs: Runs,
    pub(super) board: Board,
    pub(super) journal: Journal,
    pub(super) warm: Shared,
    pub(super) seats: Seats,
    pub(super) demand: Demand,
    /// Somebody else has looked after the tree: other files may count now.
    pub(super) looked_after: Arc<Notify>,
    /// Somebody has ended the tree to have it booted anew.
    pub(super) restart: Arc<Notify>,
    pub(super) shutdown: CancellationToken,
    pub(super) history: Arc<Mutex<History>>,
}

impl Office {
    pub(super) fn new() -> Office {
        let demand = Demand::default();
        Office {
            warm: Arc::new(tokio::sync::Mutex::new(Warm::new(demand.clone()))),
            demand,
            ..Office::default()
        }
    }
}

async fn serve_in_order(site: Site, office: &Office, mut work: Option<Work>) {
    let mut steward = Steward::new(office);
    let mut watcher: Option<Watcher> = None;
    loop {
        let work = match work.take() {
            Some(work) => work,
            None => tokio::select! {
                biased;
                () = office.shutdown.cancelled() => return,
                call = office.queue.next() => Work::Answer(Box::new(call)),
                () = saved(watcher.as_ref()) => Work::WarmUp,
                () = office.restart.notified() => Work::WarmUp,
                () = office.looked_after.notified() => Work::Nothing,
            },
        };
        // A task of its own: should it panic, the tree goes with it, and the next call starts with nothing.
        let mut working = tokio::spawn(steward.work(site.clone(), work));
        let done = tokio::select! {
            done = &mut working => done,
            () = office.shutdown.cancelled() => {
                working.abort();
                return;
            }
        };
        steward = match done {
            Ok(steward) => steward,
            Err(_) => {
                office.warm.lock().await.forget();
                Steward::new(office)
            }
        };
        let warm = office.warm.lock().await;
        office.board.at_rest(warm.booted());
        watcher = watch(watcher, warm.booted());
    }
}

enum Work {
    Answer(Box<Queued>),
    /// Make the tree warm and fresh while nobody waits.
    WarmUp,
    Nothing,
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
    warm: Shared,
    demand: Demand,
    history: Arc<Mutex<History>>,
    board: Board,
    journal: Journal,
    /// What the last fresh process used, for the next one where nothing is booted.
    databases: Option<Vec<String>>,
    /// Runs in a row, up to the last, before which the tables of a database had been altered.
    outdated: u32,
}

impl Steward {
    fn new(office: &Office) -> Steward {
        Steward {
            warm: Arc::clone(&office.warm),
            demand: office.demand.clone(),
            history: Arc::clone(&office.history),
            board: office.board.clone(),
            journal: office.journal.clone(),
            databases: None,
            outdated: 0,
        }
    }

    async fn work(mut self, site: Site, work: Work) -> Steward {
        match work {
            Work::Answer(call) => self.answer(*call).await,
            Work::WarmUp => self.warm_up(&site).await,
            Work::Nothing => {}
        }
        self
    }

    /// What goes wrong is for the next call to report.
    async fn warm_up(&mut self, site: &Site) {
        let Ok(mut setup) = Setup::at(site) else { return };
        let used = self.warm.lock().await.booted().and_then(|booted| booted.framework);
        setup.framework = used.unwrap_or(setup.framework);
        self.board.preparing();
        let _wish = self.demand.wish();
        let mut locks = Locks::new(Duration::ZERO, CancellationToken::new());
        if let Ok((prepared, _lease)) = warm::ready(&self.warm, &setup, &mut locks).await {
            self.board.prepared(&prepared, self.warm.lock().await.booted());
        }
    }

    async fn answer(&mut self, call: Queued) {
        if call.abandoned() {
            return;
        }
        call.ongoing().prepare();
        let attempt = self.attempt(Serving::new(&call)).await;
        call.served.finish(attempt.map(|attempt| self.over(&call, attempt)));
        let limit = call.checked.setup.config.max_warm_memory_mib * 1024 * 1024;
        self.warm.lock().await.recycle(limit).await;
    }

    async fn attempt(&mut self, mut serving: Serving<'_>) -> Result<Attempt> {
        if let Some(Decision::Spawn { mode, reason }) = serving.wanted(0).early() {
            return self.spawned(serving, mode, Some(reason)).await;
        }
        for start in 1..=STARTS {
            self.board.preparing();
            let lease = match self.ready(&mut serving).await {
                Ok(lease) => lease,
                Err(problem) => return serving.stopped_by(problem),
            };
            if serving.call.abandoned() {
                return Err(cancelled());
            }
            let config = &serving.call.checked.setup.config;
            let decision = match lease.fork_facts(config).await {
                Some(facts) => {
                    let decision = serving.wanted(lease.crashes).decide(&facts);
                    self.board.decided(&decision, facts.extra_threads(), lease.crashes);
                    decision
                }
                None => {
                    self.give_up(lease).await;
                    continue;
                }
            };
            if let Decision::Spawn { mode, reason } = decision {
                lease.give_back(&self.warm).await;
                return self.spawned(serving, mode, Some(reason)).await;
            }
            // Who alters tables all the time gets a run all the same.
            let ask_tables = start < STARTS && self.outdated < OUTDATED;
            match serving.fork(&self.board, &lease, ask_tables).await {
                Ok(ran) => {
                    if start == 1 && ask_tables {
                        self.outdated = 0;
                    }
                    return self.forked(serving, lease, ran).await;
                }
                Err(NotStarted::Refused(reason)) => return Err(not_started(&reason)),
                Err(NotStarted::Lost(_)) => self.give_up(lease).await,
                Err(NotStarted::Outdated) => self.reload(lease).await,
            }
        }
        Err(not_started("the process that runs are forked from did not stay alive"))
    }

    async fn ready(&mut self, serving: &mut Serving<'_>) -> std::result::Result<Lease, Problem> {
        let ready = warm::ready(&self.warm, &serving.call.checked.setup, &mut serving.locks).await;
        let mut warm = self.warm.lock().await;
        serving.prepared.trigger = warm.news().or(serving.prepared.trigger.take());
        match ready {
            Ok((more, lease)) => {
                serving.prepared.add(more);
                self.board.prepared(&serving.prepared, warm.booted());
                Ok(lease)
            }
            Err(problem) => {
                self.board.prepared(&problem.prepared, warm.booted());
                Err(problem)
            }
        }
    }

    /// What tables are like, classes know from when they were loaded.
    async fn reload(&mut self, lease: Lease) {
        self.outdated += 1;
        let boot_id = lease.boot_id;
        lease.give_back(&self.warm).await;
        self.warm.lock().await.outdated(boot_id);
    }

    /// A zygote that is of no use any more.
    async fn give_up(&self, lease: Lease) {
        self.warm.lock().await.drop_zygote().await;
        lease.give_back(&self.warm).await;
    }

    /// A fork that crashed without having been told to is run once more, in a fresh process and what is left of its time.
    async fn forked(&mut self, serving: Serving<'_>, lease: Lease, ran: Ran) -> Result<Attempt> {
        let crash = fork_crash(&ran);
        let boot_id = lease.boot_id;
        lease.give_back(&self.warm).await;
        let mut warm = self.warm.lock().await;
        if let Some(booted) = warm.booted_mut().filter(|booted| booted.id == boot_id) {
            booted.crashes = if crash.is_some() { booted.crashes + 1 } else { 0 };
        }
        drop(warm);
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
        let booted = self.databases_of_booted().await.or(self.databases.clone());
        if let Err(problem) = serving.lock(booted.as_deref()).await {
            return serving.stopped_by(problem);
        }
        self.warm.lock().await.give_up_ports().await;
        serving.call.ongoing().begin();
        self.board.running(serving.id);
        let measuring = serving.measuring().await;
        let request = RunRequest {
            coverage: measuring.as_ref().map(Measuring::paths),
            ..serving::request(serving.id, &serving.call.checked, ProcessMode::Spawn)
        };
        let limits = Limits {
            deadline,
            ..serving.call.checked.limits
        };
        match execute::spawned(&plan, &request, limits, serving.call.ongoing()).await {
            Ok(ran) => {
                self.databases = Some(ran.log.databases.clone()).filter(|names| !names.is_empty());
                if let Some(measuring) = &measuring {
                    measuring.learn(&serving.call.checked, &ran.log).await;
                }
                Ok(Attempt {
                    measuring,
                    ..serving.ended(mode, reason, Ok(ran))
                })
            }
            Err(NotStarted::Refused(reason) | NotStarted::Lost(reason)) => Err(not_started(&reason)),
            Err(NotStarted::Outdated) => Err(not_started("a fresh process found itself outdated")),
        }
    }

    async fn databases_of_booted(&self) -> Option<Vec<String>> {
        let warm = self.warm.lock().await;
        Some(warm.booted()?.app.as_ref()?.ready.databases.clone())
    }

    fn over(&self, queued: &Queued, attempt: Attempt) -> Over {
        let call = &queued.checked;
        let facts = Facts {
            ahead: queued.ahead,
            ..account::facts(queued.ongoing().id, call, attempt)
        };
        let paths = Paths::new(call.root(), std::env::home_dir());
        // Nothing was run for a list, and so there is nothing to count or to keep.
        let listing = call.arguments.list;
        if listing {
            self.board.stopped();
        } else {
            self.board.ran(facts.mode_of_run(), facts.verdict.outcome);
            self.journal.note(entry(queued, &facts));
            self.remember(call, &facts, &paths);
        }
        Over {
            asked: queued.ongoing().asked(),
            ended: SystemTime::now(),
            listing,
            facts,
            view: call.view,
            paths,
        }
    }

    fn remember(&self, call: &Checked, facts: &Facts, paths: &Paths) {
        if call.arguments.aside {
            return;
        }
        // A dry run says of each example that it passed.
        let results = match facts.verdict.outcome {
            Outcome::DryRun => Results::default(),
            _ => Results::of(&facts.log, paths),
        };
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.note(
            call.root(),
            &Ended {
                run: &facts.id.to_string(),
                framework: call.setup.framework,
                arguments: &call.arguments,
                results: &results,
            },
        );
    }
}

/// What is worth keeping of a run that is over.
fn entry(queued: &Queued, facts: &Facts) -> Entry {
    let arguments = &queued.checked.arguments;
    let entry = Entry {
        event: Event::Run,
        run_id: Some(facts.id.to_string()),
        outcome: Some(board::name(facts.verdict.outcome)),
        mode: facts.mode_of_run().map(board::name),
        ..Entry::now(queued.checked.root(), queued.ongoing().since.elapsed())
    };
    entry.with_paths(arguments.paths.iter().map(String::as_str))
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

fn not_started(reason: &str) -> Error {
    Error::internal(format!("failed to start the run: {reason}")).hint("call again; if it stays, restart the server")
}
