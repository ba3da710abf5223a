//! The owner of all state: one task, the steward, has the warm process tree and executes one call at a time, in the
//! order they came. Everyone else speaks to it through a bounded queue and reads the board.
//!
//! Invariant: runs of one supervisor never overlap; they share a test database.

mod account;
mod beside;
pub mod board;
pub mod booted;
pub mod call;
pub mod card;
pub mod concern;
pub mod coverage;
mod cut;
mod demand;
pub mod execute;
pub mod flaky;
mod git;
pub mod history;
mod lease;
pub mod listing;
pub mod lock;
pub mod neighbours;
pub mod queue;
mod readers;
mod reading;
pub mod remedies;
pub mod results;
pub mod rewrites;
pub mod runs;
mod seats;
mod serving;
pub mod setup;
mod steward;
mod unbooted;
pub mod warm;
mod watcher;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::journal::Entry;
use crate::process::spawn;
use crate::project::Rules;
use crate::project::overview::{self, Overview};
use crate::project::since::{Moment, anything_since};
use crate::reading::Question;
use crate::run::RunId;
use crate::run::paths::Paths;
use crate::run::report::{FailureReport, Report};
use crate::sandbox::grants::Disk;
use crate::sandbox::rules::{Place, not_there};
use board::{Defaults, Status};
use call::{Checked, Queued, RunArguments};
use concern::{ConcernArguments, ConcernReport};
use demand::Wish;
use flaky::{FlakyArguments, FlakyReport};
use listing::{ListArguments, ListReport};
use neighbours::neighbours;
use queue::{NotQueued, QUEUE, Queue};
use results::{Page, StreamName};
use runs::{Answer, Found, Ongoing, Over, Served};
use setup::{Setup, Site};
use steward::Office;

/// How long the end of everything may take before we leave without having seen it. The keepers then go on alone.
const FAREWELL: Duration = Duration::from_secs(10);

/// How long who asked for a boot waits for the test helper, too: a run that comes may have it prepare for minutes.
const SETTLING: Duration = Duration::from_secs(30);

/// A handle to the steward.
#[derive(Debug, Clone)]
pub struct Supervisor {
    site: Site,
    /// Held while a call is checked.
    intake: Arc<tokio::sync::Mutex<()>>,
    office: Office,
}

impl Supervisor {
    /// Starts the steward of a project. Nothing is booted before the first call, or `eager`.
    pub fn start(site: Site, eager: bool) -> (Supervisor, JoinHandle<()>) {
        let office = Office::new();
        let supervisor = Supervisor {
            site: site.clone(),
            intake: Arc::default(),
            office: office.clone(),
        };
        let steward = tokio::spawn(steward::serve(site, office, eager));
        (supervisor, steward)
    }

    pub fn root(&self) -> &Path {
        &self.site.root
    }

    /// Runs what was named, and waits for the end. Answered with a report whatever the run amounts to.
    ///
    /// # Errors
    /// As of [`Supervisor::begin`], and `cancelled` when the caller went away before the run began.
    pub async fn run(&self, arguments: RunArguments, cancel: CancellationToken) -> Result<Report> {
        Ok(self.served(arguments, &cancel).await?.report())
    }

    async fn served(&self, arguments: RunArguments, cancel: &CancellationToken) -> Result<Arc<Over>> {
        match self.begin(arguments).await?.wait(None, cancel).await? {
            Answer::Over(over) => Ok(over),
            Answer::Running(_) => unreachable!("it was waited for without a limit"),
        }
    }

    /// Tells what a selection holds without waiting for the run that is under way; `None` if there is none, or if it has to be
    /// waited for.
    async fn beside(&self, arguments: RunArguments, cancel: &CancellationToken) -> Result<Option<Arc<Over>>> {
        if !self.office.board.is_running() {
            return Ok(None);
        }
        let asked = Moment::in_ticks();
        let checked = self.checked(arguments).await?;
        let ongoing = Arc::new(self.office.runs.unlisted(asked, checked.view.max_bytes));
        let (office, listed) = (self.office.clone(), Arc::clone(&ongoing));
        let listing = tokio::spawn(async move { beside::list(&office, &checked, &listed).await });
        tokio::select! {
            over = listing => Ok(over.map_err(panicked)?.map(Arc::new)),
            () = cancel.cancelled() => {
                ongoing.cancel.cancel();
                Err(cancelled(None))
            }
        }
    }

    async fn checked(&self, arguments: RunArguments) -> Result<Checked> {
        let site = self.site.clone();
        let history = Arc::clone(&self.office.history);
        let check = move || Checked::new(&site, arguments, &history);
        spawn_blocking(check).await.map_err(panicked)?
    }

    async fn setup(&self) -> Result<Setup> {
        let site = self.site.clone();
        spawn_blocking(move || Setup::at(&site)).await.map_err(panicked)?
    }

    /// Files that the warm tree has written while it was made: no save of anybody.
    async fn written_by_app(&self) -> BTreeSet<PathBuf> {
        let warm = self.office.warm.lock().await;
        warm.booted().map(|booted| booted.written.clone()).unwrap_or_default()
    }

    /// Runs what was named several times, to see what fails only now and then, and why.
    ///
    /// # Errors
    /// As of [`Supervisor::run`].
    pub async fn check_flaky(&self, arguments: FlakyArguments, cancel: CancellationToken) -> Result<FlakyReport> {
        flaky::check(self, arguments, cancel).await
    }

    /// Tells what a selection holds, and runs nothing of it.
    ///
    /// # Errors
    /// As of [`Supervisor::run`].
    pub async fn list(&self, arguments: ListArguments, cancel: CancellationToken) -> Result<ListReport> {
        listing::list(self, arguments, cancel).await
    }

    /// Tells which tests changed files concern. Nothing is booted for it.
    ///
    /// # Errors
    /// What is wrong with the call or the settings; Git, where it has to be asked.
    pub async fn concern(&self, arguments: ConcernArguments) -> Result<ConcernReport> {
        let setup = self.setup().await?;
        concern::concern(setup, arguments).await
    }

    /// Has what was named run, or finds the run of the very same that is waiting or under way, if it is of the files as
    /// they are now.
    ///
    /// # Errors
    /// What is wrong with the call or the project's settings; `busy` when too many calls wait.
    pub async fn begin(&self, arguments: RunArguments) -> Result<Arc<Ongoing>> {
        // Calls join the queue in the order they came, however long the check of each takes.
        let _turn = self.intake.lock().await;
        if !arguments.aside
            && let Some(same) = self.same(&arguments).await
        {
            return Ok(same);
        }
        let asked = Moment::in_ticks();
        let checked = self.checked(arguments.clone()).await?;
        let ongoing = self.office.runs.open(&arguments, asked, checked.view.max_bytes);
        let queued = Queued {
            checked,
            ahead: 0,
            served: Served::new(Arc::clone(&ongoing), self.office.runs.clone()),
        };
        let wish = self.office.demand.wish();
        let ticket = self.office.queue.join(queued).map_err(not_queued)?;
        let (queue, call) = (self.office.queue.clone(), Arc::clone(&ongoing));
        tokio::spawn(async move {
            leave_when_abandoned(queue, ticket, call).await;
            drop(wish);
        });
        Ok(ongoing)
    }

    async fn same(&self, arguments: &RunArguments) -> Option<Arc<Ongoing>> {
        let same = self.office.runs.same(arguments)?;
        let (root, asked) = (self.site.root.clone(), same.asked_by_files());
        let changed = spawn_blocking(move || anything_since(&root, asked.by_files())).await;
        (!changed.unwrap_or(true)).then_some(same)
    }

    /// A run of this session.
    ///
    /// # Errors
    /// `RunNotFound`: there was none, or it is too long ago.
    pub fn found(&self, id: RunId) -> Result<Found> {
        let runs = &self.office.runs;
        let ongoing = runs.ongoing(id).map(Found::Ongoing);
        ongoing.or_else(|| runs.over(id).map(Found::Over)).ok_or_else(|| {
            let kept: Vec<String> = runs.kept().iter().take(10).map(RunId::to_string).collect();
            let hint = match kept.as_slice() {
                [] => "no run of this session is over yet".to_owned(),
                some => format!("kept, the last one first: {}", some.join(", ")),
            };
            Error::new(Kind::RunNotFound, format!("there is no `{id}`")).hint(hint)
        })
    }

    /// The failure of this number, from 1, of a run under way, as whole as it fits.
    ///
    /// # Errors
    /// `InvalidArguments`: that many have not failed by now, or there was no room to keep it.
    pub fn failure_so_far(&self, ongoing: &Ongoing, number: usize) -> Result<FailureReport> {
        let failure = ongoing.failure(number, &self.paths()).ok_or_else(|| {
            let (id, failures) = (ongoing.id, ongoing.progress().borrow().failures as usize);
            let (message, hint) = match number {
                0 => ("`failure` is 0".to_owned(), "failures are counted from 1"),
                number if number > failures => (
                    format!("`failure` is {number}, and {id}, which goes on, has {failures} so far"),
                    "not yet: leave out `failure` to wait for the end of the run",
                ),
                number => (
                    format!("failure {number} of {id} is not kept while it goes on"),
                    "leave out `failure` to wait for the end of the run, and ask then",
                ),
            };
            Error::new(Kind::InvalidArguments, message).hint(hint)
        })?;
        Ok(failure.within(ongoing.max_bytes))
    }

    /// A page of what a run under way has printed by now.
    ///
    /// # Errors
    /// `InvalidArguments` when the text ends before `offset`.
    pub fn output_so_far(&self, ongoing: &Ongoing, stream: StreamName, offset: usize) -> Result<Page> {
        ongoing.page(stream, offset, &self.paths())
    }

    /// All of it that is kept.
    pub fn printed_so_far(&self, ongoing: &Ongoing, stream: StreamName) -> String {
        ongoing.printed(stream, &self.paths())
    }

    fn paths(&self) -> Paths {
        Paths::new(&self.site.root, std::env::home_dir())
    }

    /// Ends a run that was taken back, without the time it has to leave by itself.
    pub fn hurry(&self, id: RunId) {
        if let Some(ongoing) = self.office.runs.ongoing(id) {
            ongoing.hurry();
        }
    }

    /// Each run that waits, is under way or is kept, the last one first, and what became of it.
    pub fn known_runs(&self) -> Vec<(RunId, Option<String>)> {
        let all = self.office.runs.all().into_iter();
        all.map(|(id, outcome)| (id, outcome.map(board::name))).collect()
    }

    /// Changes when a run begins or ends.
    pub fn changes_of_runs(&self) -> watch::Receiver<()> {
        self.office.runs.changes()
    }

    /// What kind of app it is. Nothing is booted for it.
    ///
    /// # Errors
    /// What is wrong with the settings, or that there is no app any more.
    pub async fn overview(&self) -> Result<Overview> {
        let site = self.site.clone();
        let look = move || Setup::at(&site).map(|setup| Overview::of(&setup.project, &setup.config));
        spawn_blocking(look).await.map_err(panicked)?
    }

    /// The spec and test files that somebody may mean who has written this much.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub async fn completions(&self, text: &str) -> Result<Vec<String>> {
        let (root, text) = (self.site.root.clone(), text.to_owned());
        let look = move || {
            let rules = Rules::new(&Config::load(&root)?.spec_roots);
            let files = overview::test_files(&root, &rules);
            Ok(overview::completions(&files, &text)
                .into_iter()
                .map(str::to_owned)
                .collect())
        };
        spawn_blocking(look).await.map_err(panicked)?
    }

    /// What the app is made of. Never waits for a run.
    ///
    /// # Errors
    /// The app can't be booted or reloaded; there is nothing of that name; `cancelled`.
    pub async fn read(&self, question: Question, cancel: CancellationToken) -> Result<Value> {
        let over = cancel.clone();
        self.aside(cancel, |office, setup| async move {
            reading::read(&office, &setup, question, &over).await
        })
        .await
    }

    /// Boots the app if it has to be, and waits a while for what is loaded beside that.
    ///
    /// # Errors
    /// As of [`Supervisor::read`].
    pub async fn boot(&self, cancel: CancellationToken) -> Result<()> {
        self.aside(cancel, |office, setup| async move {
            reading::boot(&office, &setup).await?;
            let _ = timeout(SETTLING, office.board.settled()).await;
            Ok(())
        })
        .await
    }

    /// Ends the warm processes, after the run that uses them, and boots anew. Says which boot it was that ended.
    pub async fn restart(&self) -> Option<u64> {
        let mut heeded = self.office.demand.start_over();
        let ended = tokio::select! {
            biased;
            mut warm = self.office.warm.lock() => {
                let ended = warm.restart().await;
                self.office.board.retired();
                ended
            }
            // Whoever was booting or reloading the app does so anew.
            _ = heeded.changed() => None,
        };
        self.office.restart.notify_one();
        ended
    }

    /// Does something with the tree beside the steward. It goes on for a while when the caller does not wait for it any
    /// more: clients give up after a time of their own, and ask again.
    async fn aside<T, F, Fut>(&self, cancel: CancellationToken, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Office, Setup) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T>> + Send,
    {
        let setup = self.setup().await?;
        let office = self.office.clone();
        let shutdown = office.shutdown.clone();
        let wish = office.demand.wish();
        let working = tokio::spawn(async move {
            tokio::select! {
                done = work(office, setup) => done,
                () = shutdown.cancelled() => Err(going_away()),
            }
        });
        tokio::select! {
            done = working => done.map_err(panicked)?,
            () = cancel.cancelled() => {
                tokio::spawn(linger(wish));
                Err(cancelled(None))
            }
        }
    }

    /// A client has called and was answered.
    pub fn called(&self, entry: Entry) {
        if let Some(tool) = &entry.tool {
            self.office.board.called(tool);
        }
        self.office.journal.note(entry);
    }

    /// What is going on, at once; also while the settings are wrong.
    pub async fn status(&self) -> Result<Status> {
        let site = self.site.clone();
        let look = move || {
            let config = site.config();
            let config_error = config.as_ref().err().map(Error::with_hint);
            let config = config.unwrap_or_default();
            let not_there = not_there(&config.sandbox, &Place::here(&site.root), &Disk);
            (config, config_error, not_there, neighbours(&site))
        };
        let (config, config_error, not_there, other_servers) = spawn_blocking(look).await.map_err(panicked)?;
        let defaults = defaults(&config);
        let queue = self.office.queue.waiting();
        Ok(Status {
            config_error,
            other_servers,
            held_back: setup::held_back(&config.sandbox),
            not_there,
            ..self
                .office
                .board
                .status(self.site.root.display().to_string(), defaults, queue)
        })
    }

    /// Ends everything, and waits until nothing is left.
    pub async fn shut_down(&self) {
        self.office.shutdown.cancel();
        let ended = async {
            // Whoever still holds the tree lets go of it now.
            self.office.warm.lock().await.forget();
            spawn::all_cleared(FAREWELL).await;
        };
        let _ = timeout(FAREWELL, ended).await;
        self.office.journal.flush().await;
    }
}

/// How long a boot goes on that was begun for a question, once its caller is gone.
const LINGER: Duration = Duration::from_secs(60);

async fn linger(wish: Wish) {
    tokio::time::sleep(LINGER).await;
    drop(wish);
}

fn defaults(config: &Config) -> Defaults {
    let run = &config.defaults.spec_run;
    Defaults {
        timeout_seconds: run.timeout_seconds,
        include_passing: run.include_passing,
        include_stdout: run.include_stdout,
        fork: config.fork,
    }
}

/// A call that nobody wants any more makes room, unless it has begun.
async fn leave_when_abandoned(queue: Queue, ticket: u64, ongoing: Arc<Ongoing>) {
    tokio::select! {
        () = ongoing.abandoned() => match queue.leave(ticket) {
            Some((ahead, call)) => call.served.finish(Err(cancelled(Some(ahead)))),
            None => ongoing.finish(Err(cancelled(None))),
        },
        () = ongoing.over() => {}
    }
}

/// `ahead`: of a call that was still in the queue.
fn cancelled(ahead: Option<usize>) -> Error {
    let message = match ahead {
        Some(ahead) if ahead > 0 => format!("the call was cancelled in the queue, with {ahead} ahead of it"),
        _ => "the call was cancelled before it ran".to_owned(),
    };
    Error::new(Kind::Cancelled, message)
}

fn not_queued(why: NotQueued) -> Error {
    match why {
        NotQueued::Full => Error::new(Kind::Busy, format!("{QUEUE} calls are waiting already"))
            .hint("wait for some of them, or name several specs in one call"),
        NotQueued::Closed => going_away(),
    }
}

fn going_away() -> Error {
    Error::new(Kind::ShuttingDown, "the server is going away")
}

fn panicked(error: tokio::task::JoinError) -> Error {
    Error::internal("a part of the server failed").source(error)
}

/// To the millisecond, as callers see it.
fn seconds_since(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
}
