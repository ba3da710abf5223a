//! The runs of this session: those that wait or are under way, with everyone who waits for their end, and the last ones
//! that are over, whole.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::call::RunArguments;
use super::results::StreamName;
use crate::error::{Error, Kind, Result};
use crate::project::since::Moment;
use crate::run::RunId;
use crate::run::log::weight;
use crate::run::outcome::Outcome;
use crate::run::output::{Capture, Captured};
use crate::run::paths::Paths;
use crate::run::progress::{NAMED, Phase, Progress};
use crate::run::report::{Facts, FailureReport, Report, View};
use crate::run::results::Results;
use crate::worker::protocol::{ExampleFinished, ExampleStatus, RunEvent};
use crate::worker::tail::Heard;

/// Runs that are kept when they are over, and bytes of all of them together.
const KEPT: usize = 50;
const KEPT_BYTES: usize = 32 * 1024 * 1024;

/// Bytes of the failures of a run under way that can be had in full; its report has all of them.
const LIVE_BYTES: usize = 2 * 1024 * 1024;

/// A run that is over, to its last byte.
#[derive(Debug)]
pub struct Over {
    /// By the clock on the wall.
    pub asked: SystemTime,
    pub ended: SystemTime,
    /// Its examples were listed, and not run.
    pub listing: bool,
    pub facts: Facts,
    pub view: View,
    pub paths: Paths,
}

impl Over {
    pub fn report(&self) -> Report {
        Report::new(&self.facts, self.view, &self.paths)
    }

    pub fn results(&self) -> Results {
        Results::of(&self.facts.log, &self.paths)
    }
}

type End = Result<Arc<Over>>;

/// A call to run something, from the moment it was accepted.
#[derive(Debug)]
pub struct Ongoing {
    pub id: RunId,
    pub since: Instant,
    /// Of an answer about it.
    pub max_bytes: usize,
    /// Ends the run.
    pub(super) cancel: CancellationToken,
    /// Ends it without grace.
    pub(super) hurry: CancellationToken,
    progress: watch::Sender<Progress>,
    end: watch::Sender<Option<End>>,
    live: Mutex<Live>,
    /// Those who wait for the end at this moment.
    waiting: AtomicUsize,
    asked: Moment,
    /// A process of it may exist.
    begun: CancellationToken,
}

/// What can be had of a run under way.
#[derive(Debug, Default)]
struct Live {
    /// As many of those that `progress` names as there is room for.
    failed: Vec<ExampleFinished>,
    bytes: usize,
    /// What it prints, once it has a process.
    printed: Option<Printed>,
}

#[derive(Debug)]
struct Printed {
    stdout: Heard,
    stderr: Heard,
}

impl Live {
    /// In order and without gaps, so that a number means one failure.
    fn keep(&mut self, end: &ExampleFinished, weight: usize) {
        self.bytes += weight;
        if self.bytes <= LIVE_BYTES && self.failed.len() < NAMED {
            self.failed.push(end.clone());
        }
    }
}

/// What one who waits gets.
#[derive(Debug)]
pub enum Answer {
    Over(Arc<Over>),
    /// The time to wait is over, and the run is not.
    Running(Progress),
}

/// A run that is known by its id.
#[derive(Debug)]
pub enum Found {
    Ongoing(Arc<Ongoing>),
    Over(Arc<Over>),
}

impl Ongoing {
    fn new(id: RunId, asked: Moment, max_bytes: usize) -> Self {
        Ongoing {
            id,
            max_bytes,
            since: Instant::now(),
            cancel: CancellationToken::new(),
            hurry: CancellationToken::new(),
            progress: watch::Sender::default(),
            end: watch::Sender::default(),
            live: Mutex::default(),
            waiting: AtomicUsize::new(0),
            asked,
            begun: CancellationToken::new(),
        }
    }

    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub(super) fn on_progress(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    /// Takes note of a record of the run's own process.
    pub(super) fn hear(&self, event: &RunEvent) {
        if let RunEvent::ExampleFinished(end) = event
            && end.status == ExampleStatus::Failed
        {
            // Before it is counted, so that it is there for whoever has seen the count.
            lock(&self.live).keep(end, weight(event));
        }
        self.on_progress(|progress| progress.note(event));
    }

    /// The failure of this number, from 1, in full, if it has happened by now.
    pub fn failure(&self, number: usize, paths: &Paths) -> Option<FailureReport> {
        let live = lock(&self.live);
        let end = live.failed.get(number.checked_sub(1)?)?;
        Some(FailureReport::of(end, paths))
    }

    /// Its process has begun to print.
    pub(super) fn prints(&self, stdout: Heard, stderr: Heard) {
        lock(&self.live).printed = Some(Printed { stdout, stderr });
    }

    /// What it has printed by now.
    pub(super) fn output(&self, stream: StreamName) -> Captured {
        let live = lock(&self.live);
        let heard = live.printed.as_ref().map(|printed| match stream {
            StreamName::Stdout => &printed.stdout,
            StreamName::Stderr => &printed.stderr,
        });
        heard.map_or_else(|| Capture::new(0).finish(), Heard::so_far)
    }

    /// Ends it without grace, if it is being ended.
    pub fn hurry(&self) {
        if self.cancel.is_cancelled() {
            self.hurry.cancel();
        }
    }

    /// Its turn has come.
    pub(super) fn prepare(&self) {
        self.on_progress(|progress| {
            progress.ahead = 0;
            progress.phase = Phase::Preparing;
        });
    }

    /// From now on only its end is an answer: a process of it may exist.
    pub(super) fn begin(&self) {
        self.begun.cancel();
        *lock(&self.live) = Live::default();
        self.on_progress(|progress| {
            *progress = Progress {
                phase: Phase::Loading,
                ..Progress::default()
            }
        });
    }

    /// By the clock on the wall, as it was then.
    pub fn asked(&self) -> SystemTime {
        self.asked.by_wall()
    }

    /// What is saved later may not be in it.
    pub(super) fn asked_by_files(&self) -> Moment {
        self.asked
    }

    /// The first end is the end.
    pub(super) fn finish(&self, end: End) {
        self.end.send_if_modified(|known| {
            let first = known.is_none();
            known.get_or_insert(end);
            first
        });
    }

    /// What kept it from being a run, if that is how it ended.
    pub fn error(&self) -> Option<Error> {
        self.end.borrow().as_ref().and_then(|end| end.as_ref().err().cloned())
    }

    pub fn is_over(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Waits for its end, `at_most` that long. When the last one who waits takes it back, the run is ended.
    ///
    /// # Errors
    /// What kept it from being a run; `cancelled` when it had not begun, or when others still wait for it.
    pub async fn wait(&self, at_most: Option<Duration>, cancel: &CancellationToken) -> Result<Answer> {
        let _interest = Interest::of(self);
        let patience = async {
            match at_most {
                Some(at_most) => tokio::time::sleep(at_most).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            end = self.ended() => end.map(Answer::Over),
            () = cancel.cancelled() => self.taken_back().await,
            () = patience => Ok(Answer::Running(self.progress.borrow().clone())),
        }
    }

    async fn taken_back(&self) -> Result<Answer> {
        if self.waiting.load(Ordering::Acquire) > 1 {
            let message = format!("the call was cancelled; {} goes on, since others wait for it", self.id);
            return Err(Error::new(Kind::Cancelled, message));
        }
        self.take_back();
        self.ended().await.map(Answer::Over)
    }

    /// Ends it, unless somebody waits for it at this moment.
    pub fn give_up(&self) {
        if self.waiting.load(Ordering::Acquire) == 0 {
            self.take_back();
        }
    }

    fn take_back(&self) {
        self.on_progress(|progress| progress.phase = Phase::Stopping);
        self.cancel.cancel();
    }

    async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().expect("it was waited for"),
            Err(_) => Err(super::going_away()),
        }
    }

    /// Waits for its end, without a claim to it.
    pub async fn over(&self) {
        let _ = self.ended().await;
    }

    /// Once a run has begun, only its end is an answer; before, nobody need wait for a boot that nobody wants.
    pub(super) async fn abandoned(&self) {
        self.cancel.cancelled().await;
        if self.begun.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }
}

/// One who waits.
struct Interest<'a>(&'a AtomicUsize);

impl<'a> Interest<'a> {
    fn of(ongoing: &'a Ongoing) -> Self {
        ongoing.waiting.fetch_add(1, Ordering::AcqRel);
        Interest(&ongoing.waiting)
    }
}

impl Drop for Interest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Runs(Arc<Mutex<Known>>);

#[derive(Debug)]
struct Known {
    ids: u64,
    ongoing: Vec<(RunArguments, Arc<Ongoing>)>,
    over: VecDeque<(RunId, usize, Arc<Over>)>,
    /// Calls that ended without having been a run, for whoever asks what became of them.
    failed: VecDeque<Arc<Ongoing>>,
    /// Hears of each run that begins or ends.
    changes: watch::Sender<()>,
}

impl Runs {
    /// The call that asks for the very same and is not over.
    pub(super) fn same(&self, arguments: &RunArguments) -> Option<Arc<Ongoing>> {
        let known = lock(&self.0);
        let same = known
            .ongoing
            .iter()
            .find(|(asked, ongoing)| asked == arguments && !ongoing.is_over() && !ongoing.cancel.is_cancelled());
        same.map(|(_, ongoing)| Arc::clone(ongoing))
    }

    pub(super) fn open(&self, arguments: &RunArguments, asked: Moment, max_bytes: usize) -> Arc<Ongoing> {
        let mut known = lock(&self.0);
        known.ids += 1;
        let ongoing = Arc::new(Ongoing::new(RunId(known.ids), asked, max_bytes));
        known.ongoing.push((arguments.clone(), Arc::clone(&ongoing)));
        known.changes.send_replace(());
        ongoing
    }

    /// One that nobody else is to find.
    pub(super) fn unlisted(&self, asked: Moment, max_bytes: usize) -> Ongoing {
        let mut known = lock(&self.0);
        known.ids += 1;
        Ongoing::new(RunId(known.ids), asked, max_bytes)
    }

    /// Nobody finds it as ongoing any more; what became of it is kept, unless it was a list.
    fn close(&self, ongoing: &Arc<Ongoing>, end: &End) {
        let mut known = lock(&self.0);
        let open = known.ongoing.len();
        known.ongoing.retain(|(_, other)| other.id != ongoing.id);
        if known.ongoing.len() == open {
            return;
        }
        match end {
            Ok(over) if over.listing => {}
            Ok(over) => known.keep(ongoing.id, Arc::clone(over)),
            Err(_) => known.keep_failed(Arc::clone(ongoing)),
        }
        known.changes.send_replace(());
    }

    /// One that goes on, or that ended without having been a run: whoever waits for it hears why.
    pub(super) fn ongoing(&self, id: RunId) -> Option<Arc<Ongoing>> {
        let known = lock(&self.0);
        let ongoing = known.ongoing.iter().map(|(_, ongoing)| ongoing);
        let found = ongoing.chain(&known.failed).find(|ongoing| ongoing.id == id);
        found.map(Arc::clone)
    }

    pub(super) fn over(&self, id: RunId) -> Option<Arc<Over>> {
        let known = lock(&self.0);
        let found = known.over.iter().find(|(kept, ..)| *kept == id);
        found.map(|(_, _, over)| Arc::clone(over))
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        lock(&self.0).changes.subscribe()
    }

    /// Those under way or waiting, and those that are kept, the last one first.
    pub(super) fn all(&self) -> Vec<(RunId, Option<Outcome>)> {
        let known = lock(&self.0);
        let ongoing = known.ongoing.iter().map(|(_, ongoing)| (ongoing.id, None));
        let over = known
            .over
            .iter()
            .map(|(id, _, over)| (*id, Some(over.facts.verdict.outcome)));
        let mut all: Vec<_> = ongoing.chain(over).collect();
        all.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        all
    }

    /// The last one of them first.
    pub(super) fn kept(&self) -> Vec<RunId> {
        lock(&self.0).over.iter().rev().map(|(id, ..)| *id).collect()
    }
}

impl Default for Known {
    fn default() -> Self {
        Known {
            ids: RunId::before_the_first(SystemTime::now()).0,
            ongoing: Vec::new(),
            over: VecDeque::new(),
            failed: VecDeque::new(),
            changes: watch::Sender::default(),
        }
    }
}

impl Known {
    fn keep_failed(&mut self, ongoing: Arc<Ongoing>) {
        self.failed.push_back(ongoing);
        if self.failed.len() > KEPT {
            self.failed.pop_front();
        }
    }

    fn keep(&mut self, id: RunId, over: Arc<Over>) {
        self.over.push_back((id, over.facts.bytes(), over));
        let bytes = |kept: &VecDeque<(RunId, usize, Arc<Over>)>| kept.iter().map(|(_, bytes, _)| bytes).sum::<usize>();
        while self.over.len() > KEPT || (self.over.len() > 1 && bytes(&self.over) > KEPT_BYTES) {
            self.over.pop_front();
        }
    }
}

/// The steward's side of a call: however it ends, those who wait hear of it.
#[derive(Debug)]
pub struct Served {
    ongoing: Arc<Ongoing>,
    runs: Runs,
}

impl Served {
    pub(super) fn new(ongoing: Arc<Ongoing>, runs: Runs) -> Self {
        Served { ongoing, runs }
    }

    pub(super) fn ongoing(&self) -> &Ongoing {
        &self.ongoing
    }

    /// The first end is the end.
    pub(super) fn finish(&self, end: Result<Over>) {
        let known = self.ongoing.end.borrow().clone();
        let end = known.unwrap_or_else(|| end.map(Arc::new));
        self.runs.close(&self.ongoing, &end);
        self.ongoing.finish(end);
    }
}

impl Drop for Served {
    /// If it was not served to its end: the server is going away, or a part of it failed.
    fn drop(&mut self) {
        self.finish(Err(super::going_away()));
    }
}

/// Plain data: a panic elsewhere leaves it whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
