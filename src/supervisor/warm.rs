//! The warm process tree of one project: booted on first need, checked against the files before each use, and
//! thrown away exactly as far as a change calls for.
//!
//! Runs and questions share it. Each holds it only while it looks and prepares: a run then has a lease, a question a
//! reader. So neither waits for the other's end, and a change found by one is done for both.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::booted::{self, Before, Booted, Looking, now};
use super::cut::{Cut, Files, cut};
use super::demand::Demand;
use super::lease::Lease;
use super::lock::{Locks, Taken};
use super::readers::{Asking, Idle};
use super::rewrites::{Changed, Rewrites};
use super::setup::{Settings, Setup};
use crate::config;
use crate::process::usage;
use crate::project::Project;
use crate::project::changes::{Change, ChangeKind, Snapshot};
use crate::project::since::Moment;
use crate::run::outcome::Outcome;
use crate::run::paths::Paths;
use crate::worker::freshness::{Effect, Watch};
use crate::worker::protocol::{Failure, Ready, Reloaded};
use crate::worker::zygote::Zygote;
use crate::worker::{Broken, Worker};

/// A tree that changes its own inputs each time it is made is used as it is after this many tries. Most are known before
/// that (`rewrites`), after five boots and loads.
const TRIES: u32 = 8;

/// How often something is begun again, for one call, because files have changed while it was loaded; then it is waited for.
const OUTRUN: u32 = 2;

pub type Shared = Arc<Mutex<Warm>>;

/// The state of the tree and how it came to it.
#[derive(Debug, Default)]
pub struct Warm {
    booted: Option<Booted>,
    boots: u64,
    /// Files that changed during boots, and during loads of the test helper.
    during_boots: Rewrites,
    during_loads: Rewrites,
    /// Why the last worker is no more, until the next one is there.
    gone: Option<String>,
    /// What was last done and why, until a run has told it.
    untold: Option<String>,
    demand: Demand,
}

/// What was done to get a warm, fresh tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prepared {
    /// Seconds in boots and reloads.
    pub boot: f64,
    /// Seconds in loading the test helper.
    pub load: f64,
    /// "rebooted: config/initializers/money.rb was modified"
    pub trigger: Option<String>,
    /// What was not waited for, since the files had changed meanwhile.
    outrun: u32,
}

/// Why there is no warm tree.
#[derive(Debug, Clone)]
pub struct Problem {
    pub outcome: Outcome,
    pub broken: Broken,
    pub prepared: Prepared,
}

/// What an attempt to do something with the tree failed with.
type Failed = (Outcome, Broken);

/// Why a boot did not come to its end.
enum Unbooted {
    Broken(Broken),
    Cut(Cut),
}

/// A zygote that has loaded nothing older than the files on disk at this moment. Holds the locks of its databases before
/// any test code is loaded, and never the tree while it waits for them.
pub(super) async fn ready(
    warm: &Shared,
    setup: &Setup,
    locks: &mut Locks,
) -> std::result::Result<(Prepared, Lease), Problem> {
    let mut prepared = Prepared::default();
    let lease = try_ready(warm, setup, locks, &mut prepared).await;
    match lease {
        Ok(lease) => Ok((prepared, lease)),
        Err(failed) => Err(Problem::new(failed, prepared)),
    }
}

async fn try_ready(
    warm: &Shared,
    setup: &Setup,
    locks: &mut Locks,
    prepared: &mut Prepared,
) -> std::result::Result<Lease, Failed> {
    let mut lost = false;
    for tried in 1.. {
        let (databases, lease) = {
            let mut warm = warm.lock().await;
            let effect = warm.fresh(setup, prepared).await?;
            let booted = warm.booted().expect("a fresh tree is booted");
            let foreign = booted.is_of_another(setup.framework);
            if foreign {
                let name = setup.framework.name();
                prepared.trigger = Some(format!("helper loaded: the last run was not {name}'s"));
            }
            // Its own loads may change what it is made of, again and again.
            let good = !foreign && (effect == Effect::Nothing || tried > TRIES);
            (booted.ready.databases.clone(), booted.lease().filter(|_| good))
        };
        let taken = locks.take(&setup.project.root, Some(&databases)).await;
        taken.map_err(|taken| (Outcome::DatabaseBusy, busy(&taken)))?;
        if let Some(lease) = lease {
            return Ok(lease);
        }
        match load(warm, setup, prepared).await {
            // Who is lost once need not be so by the helper's doing. The second one is.
            Err((_, broken)) if !lost && broken.from_outside() => {
                lost = true;
                prepared.trigger = Some(format!("helper loaded again: {}", broken.failure.message));
            }
            Err(_) if !lost && warm.lock().await.booted.is_none() => lost = true,
            loaded => loaded?,
        }
    }
    unreachable!("it returns at the latest after {TRIES} tries")
}

/// Loads the test helper in a fork of the worker. Meanwhile the worker may be asked for other things, and may be
/// reloaded: then this zygote is not used.
async fn load(warm: &Shared, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
    let since = Moment::now();
    let started = Instant::now();
    let (worker, generation, cut) = {
        let mut warm = warm.lock().await;
        let own = warm.during_loads.own();
        let Some(booted) = &mut warm.booted else { return Ok(()) };
        booted.drop_zygote().await;
        booted.pending = booted.pending.max(Effect::NewZygote);
        let files = booted.files(Effect::NewZygote, own);
        let (worker, generation) = (Arc::clone(&booted.worker), booted.generation());
        (worker, generation, warm.cut(prepared, std::future::ready(files)))
    };
    let cut = async {
        tokio::select! {
            cut = cut => cut,
            () = replaced(warm, generation) => Cut::Restarted,
        }
    };
    let loaded = load_unless(cut, &worker, setup).await;
    prepared.load += started.elapsed().as_secs_f64();
    let mut warm = warm.lock().await;
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(Cut::Restarted) => return Ok(()),
        Err(Cut::Unwanted) => return Err(unwanted(Outcome::LoadError)),
        Err(Cut::Outrun(changes)) => {
            prepared.outrun += 1;
            warm.during_loads.note(changes.into_iter().map(|change| change.path));
            return Ok(());
        }
    };
    match loaded {
        Ok(zygote) if warm.generation() == Some(generation) => {
            warm.install(zygote, setup, since).await;
            Ok(())
        }
        Ok(zygote) => {
            worker.end_fork(zygote.pid()).await;
            Ok(())
        }
        Err(broken) => {
            // That a helper can't be loaded says nothing of the worker, unless it is gone, too.
            if !worker.alive().await && warm.generation() == Some(generation) {
                warm.gone = Some("rebooted: the worker died while it forked".to_owned());
                drop(worker);
                warm.retire().await;
            }
            Err((Outcome::LoadError, broken))
        }
    }
}

/// The zygote, as far as there is one, or why it was not waited for.
async fn load_unless(
    cut: impl Future<Output = Cut>,
    worker: &Worker,
    setup: &Setup,
) -> std::result::Result<std::result::Result<Zygote, Broken>, Cut> {
    let (pid, pipes) = match worker.fork_zygote(setup.framework, &setup.config.preload).await {
        Ok(forked) => forked,
        Err(broken) => return Ok(Err(broken)),
    };
    tokio::select! {
        loaded = worker.zygote(pid, pipes, setup.boot_limit()) => Ok(loaded),
        cut = cut => {
            worker.end_fork(pid).await;
            Err(cut)
        }
    }
}

/// How often somebody who loads from a worker looks whether it is still the one.
const STILL_THERE: Duration = Duration::from_secs(1);

/// Returns when the tree is of another generation.
async fn replaced(warm: &Shared, generation: (u64, u64)) {
    loop {
        tokio::time::sleep(STILL_THERE).await;
        if warm.lock().await.generation() != Some(generation) {
            return;
        }
    }
}

/// A reader of an app that is no older than the files on disk at this moment. Leaves the test helper, the databases and
/// the run under way alone.
pub(super) async fn reader(warm: &mut Warm, setup: &Setup) -> std::result::Result<(Prepared, Asking), Problem> {
    let mut prepared = Prepared::default();
    let reader = match warm.fresh(setup, &mut prepared).await {
        Ok(_) => warm.reader().await,
        Err(failed) => Err(failed),
    };
    match reader {
        Ok(reader) => Ok((prepared, reader)),
        Err(failed) => Err(Problem::new(failed, prepared)),
    }
}

impl Warm {
    /// Made as fresh as the files, if that can be; and what is left to do then.
    pub(super) async fn freshened(&mut self, setup: &Setup) -> (Prepared, Option<Effect>) {
        let mut prepared = Prepared::default();
        let effect = self.fresh(setup, &mut prepared).await.ok();
        (prepared, effect)
    }

    pub(super) fn new(demand: Demand) -> Warm {
        Warm {
            demand,
            ..Warm::default()
        }
    }

    /// As at the start. What was warm ends by itself.
    pub fn forget(&mut self) {
        *self = Warm::new(self.demand.clone());
    }

    pub fn booted(&self) -> Option<&Booted> {
        self.booted.as_ref()
    }

    pub fn booted_mut(&mut self) -> Option<&mut Booted> {
        self.booted.as_mut()
    }

    /// What was done since it was last told, and why.
    pub fn news(&mut self) -> Option<String> {
        self.untold.take()
    }

    fn generation(&self) -> Option<(u64, u64)> {
        self.booted.as_ref().map(Booted::generation)
    }

    /// A worker that has loaded nothing older than the files on disk at this moment. What is left to do is a new zygote
    /// or nothing.
    async fn fresh(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<Effect, Failed> {
        let earlier = prepared.trigger.take();
        let fresh = self.try_fresh(setup, prepared).await;
        self.untold = prepared.trigger.clone().or(self.untold.take());
        prepared.trigger = prepared.trigger.take().or(earlier);
        fresh
    }

    async fn try_fresh(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<Effect, Failed> {
        let mut tries = 0;
        while tries < TRIES || self.booted.is_none() {
            tries += 1;
            self.drop_the_dead().await;
            match self.look(setup, prepared).await {
                Effect::Reload => self.reload(setup, prepared).await?,
                Effect::Reboot => self.boot(setup, prepared).await?,
                little => return Ok(little),
            }
        }
        Ok(Effect::NewZygote)
    }

    async fn reader(&mut self) -> std::result::Result<Asking, Failed> {
        let booted = self.booted.as_ref().expect("a fresh tree is booted");
        let reader = booted.reader().await;
        reader.map_err(|broken| (Outcome::BootFailed, broken))
    }

    /// Ends what has grown beyond `limit` bytes of memory; says whether it had.
    pub async fn recycle(&mut self, limit: u64) -> bool {
        let Some(booted) = &self.booted else { return false };
        let zygote = booted.zygote.as_ref().map(|zygote| zygote.pid());
        let pids: Vec<i32> = std::iter::once(booted.worker.pid).chain(zygote).collect();
        let used = usage::memory(&pids, limit);
        if used <= limit {
            return false;
        }
        self.gone = Some(format!(
            "rebooted: the warm processes had grown to {} MiB",
            used / (1024 * 1024)
        ));
        self.retire().await;
        true
    }

    /// Ends everything that no run is using.
    pub async fn retire(&mut self) {
        if let Some(booted) = self.booted.take() {
            booted::end(booted.worker).await;
        }
    }

    /// As somebody asked for; says which boot it was.
    pub async fn restart(&mut self) -> Option<u64> {
        let id = self.booted.as_ref().map(|booted| booted.id);
        self.demand.heed();
        self.gone = id.map(|_| "rebooted: a restart was asked for".to_owned());
        self.retire().await;
        id
    }

    /// A fresh process boots the app beside the warm one, and could not listen where that one does.
    pub async fn give_up_ports(&mut self) {
        let listening = self.booted.as_ref().map(|booted| booted.ready.listening.join(", "));
        if let Some(listening) = listening.filter(|listening| !listening.is_empty()) {
            self.gone = Some(format!("rebooted: a fresh process needed {listening} for itself"));
            self.retire().await;
        }
    }

    /// A zygote that proved unusable during a run.
    pub async fn drop_zygote(&mut self) {
        if let Some(booted) = &mut self.booted {
            booted.drop_zygote().await;
        }
    }

    /// What died or was stopped since the last use is noticed before it is asked for anything.
    async fn drop_the_dead(&mut self) {
        let Some(booted) = &mut self.booted else { return };
        let end = match now(booted.worker.ended()).await {
            None => booted.worker.impaired().map(str::to_owned),
            end => end,
        };
        if let Some(how) = end {
            self.gone = Some(format!("rebooted: the worker {how}"));
            self.retire().await;
            return;
        }
        if booted.zygote_is_gone().await {
            booted.drop_zygote().await;
        }
    }

    /// Compares the files and the settings with what the tree was made from.
    async fn look(&mut self, setup: &Setup, prepared: &mut Prepared) -> Effect {
        let Some(booted) = &mut self.booted else {
            prepared.trigger = prepared.trigger.take().or(self.gone.take());
            return Effect::Reboot;
        };
        let changes = booted.changes(setup).await;
        let settings = Change {
            path: setup.project.root.join(config::FILE),
            kind: ChangeKind::Modified,
        };
        let of_files = booted.watch.verdict(&changes);
        let of_settings = booted.made_with.effect(&Settings::of(setup));
        let (effect, change) = if of_settings > of_files.0 {
            (of_settings, Some(&settings))
        } else {
            of_files
        };
        if let Some(trigger) = change.and_then(|change| describe(effect, change, &setup.project.root)) {
            prepared.trigger = Some(trigger);
        }
        booted.pending = booted.pending.max(effect);
        booted.pending
    }

    async fn boot(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
        let started = Instant::now();
        let watch = match self.booted.take() {
            Some(booted) => {
                booted::end(booted.worker).await;
                booted.watch
            }
            None => Watch::before_boot(&setup.project.root, setup.test_dirs()),
        };
        let looking = Looking::begin(watch.targets());
        let booted = {
            let before = looking.clone();
            let own = self.during_boots.own();
            let files = async move {
                Files {
                    watch,
                    baseline: before.done().await.snapshot.clone(),
                    least: Effect::Reload,
                    own,
                }
            };
            let mut cut = pin!(self.cut(prepared, files));
            match start(setup, cut.as_mut()).await {
                // Nothing was run, and the app need not be to blame: once more, and then it is.
                Err(Unbooted::Broken(broken)) if broken.from_outside() => {
                    prepared.trigger = Some(format!("booted again: {}", broken.failure.message));
                    start(setup, cut).await
                }
                booted => booted,
            }
        };
        prepared.boot += started.elapsed().as_secs_f64();
        match booted {
            Ok((worker, ready)) => {
                let before = Arc::unwrap_or_clone(looking.done().await);
                self.settle(setup, before, worker, ready).await;
                Ok(())
            }
            Err(Unbooted::Broken(broken)) => Err((Outcome::BootFailed, broken)),
            Err(Unbooted::Cut(cut)) => self.begin_again(cut, setup, prepared).await,
        }
    }

    /// What was being booted or reloaded is not waited for, and goes.
    async fn begin_again(
        &mut self,
        cut: Cut,
        setup: &Setup,
        prepared: &mut Prepared,
    ) -> std::result::Result<(), Failed> {
        self.retire().await;
        match cut {
            Cut::Unwanted => {
                self.gone = Some("booted again: nobody waited for the last boot any more".to_owned());
                return Err(unwanted(Outcome::BootFailed));
            }
            Cut::Restarted => {
                self.demand.heed();
                prepared.trigger = Some("booted again: a restart was asked for".to_owned());
            }
            Cut::Outrun(changes) => {
                prepared.outrun += 1;
                prepared.trigger = changes.first().map(|change| outran(change, &setup.project.root));
                self.during_boots.note(changes.into_iter().map(|change| change.path));
            }
        }
        Ok(())
    }

    /// What ends a boot, a reload or a load before its time, by the files as they were before it.
    fn cut<F>(&self, prepared: &Prepared, files: F) -> impl Future<Output = Cut> + Send + use<F>
    where
        F: Future<Output = Files> + Send,
    {
        let demand = self.demand.clone();
        let patient = prepared.outrun >= OUTRUN;
        async move {
            let outrun = async {
                if patient {
                    std::future::pending::<()>().await;
                }
                files.await.outrun().await
            };
            cut(&demand, outrun).await
        }
    }

    /// Takes the baseline of a new worker. What changed during its boot may be in it in the old or in the new form, so
    /// its old form stays the baseline and the next look calls for another boot; unless it is the boot's own doing.
    async fn settle(&mut self, setup: &Setup, mut before: Before, worker: Worker, ready: Ready) {
        let watch = Watch::new(&setup.project.root, ready.inputs.clone(), setup.test_dirs());
        let targets = watch.targets();
        let (baseline, before, changed) = spawn_blocking(move || {
            let baseline = before.snapshot.retake(&targets);
            let changes = before.snapshot.diff(&Snapshot::look(&before.targets));
            let unknown = baseline.unknown_since(&before.snapshot, before.since.by_files());
            let unknown = unknown.into_iter().map(|path| Change {
                path,
                kind: ChangeKind::Created,
            });
            let changed: Vec<Change> = changes.into_iter().chain(unknown).collect();
            (baseline, before.snapshot, changed)
        })
        .await
        .unwrap_or_default();
        let costly = changed
            .into_iter()
            .filter(|change| watch.effect(change) > Effect::NewZygote && !ready.inputs.vouched.contains(&change.path))
            .map(|change| change.path);
        let Changed { own, others } = self.during_boots.note(costly);
        let baseline = baseline.with_older(&before, &others);
        self.boots += 1;
        self.gone = None;
        self.booted = Some(Booted {
            worker: Arc::new(worker),
            ready,
            id: self.boots,
            reloads: 0,
            since: Instant::now(),
            watch,
            made_with: Settings::of(setup),
            baseline,
            zygote: None,
            framework: None,
            readers: Idle::default(),
            rewritten: own,
            crashes: 0,
            pending: Effect::NewZygote,
        });
    }

    async fn reload(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
        let Some(booted) = &mut self.booted else { return Ok(()) };
        booted.drop_zygote().await;
        booted.drop_readers().await;
        let started = Instant::now();
        if !booted.worker.alive().await {
            return self.boot_instead(setup, prepared).await;
        }
        let since = Moment::now();
        let files = booted.files(Effect::Reload, self.during_boots.own());
        let worker = Arc::clone(&booted.worker);
        let reloaded = tokio::select! {
            reloaded = worker.reload(setup.boot_limit()) => Ok(reloaded),
            cut = self.cut(prepared, std::future::ready(files)) => Err(cut),
        };
        drop(worker);
        prepared.boot += started.elapsed().as_secs_f64();
        let reloaded = match reloaded {
            Ok(reloaded) => reloaded,
            // Half of it may be loaded.
            Err(cut) => return self.begin_again(cut, setup, prepared).await,
        };
        let Some(booted) = &mut self.booted else { return Ok(()) };
        match reloaded {
            // Two of a class, and both in use.
            Ok(Reloaded { held: Some(place), .. }) => {
                prepared.trigger = Some(format!("rebooted: {place} holds a class that was reloaded"));
                self.boot(setup, prepared).await
            }
            // What stays of old code may be in the way of the new: of a boot alone it is known whether the code is wrong.
            Ok(Reloaded {
                eager_load_error: Some(error),
                ..
            }) if booted.ready.eager_load_error.is_none() && error.class != "SyntaxError" => {
                prepared.trigger = Some(format!("rebooted: a reload failed with {}", error.class));
                self.boot(setup, prepared).await
            }
            Ok(reloaded) => {
                booted.watch = Watch::new(&setup.project.root, reloaded.inputs, setup.test_dirs());
                booted.ready.eager_load_error = reloaded.eager_load_error;
                booted.widen(since).await;
                booted.reloads += 1;
                booted.pending = Effect::NewZygote;
                Ok(())
            }
            // A boot loads the changed code just as well.
            Err(_) if !booted.worker.alive().await => self.boot_instead(setup, prepared).await,
            Err(_) => self.boot_after_reload(setup, prepared).await,
        }
    }

    /// A worker that does not answer is wedged: stopped, or spinning in something that the boot left running.
    async fn boot_instead(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
        prepared.trigger = Some("rebooted: the worker did not answer".to_owned());
        self.boot(setup, prepared).await
    }

    /// Half of the app may be loaded: nothing may ever be answered from it. And what failed may have been code that is not
    /// there any more, since Rails asks the classes that it lets go of. A boot knows the files as they are only.
    async fn boot_after_reload(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
        let trigger = "rebooted: the last reload failed";
        prepared.trigger = Some(trigger.to_owned());
        let booted = self.boot(setup, prepared).await;
        booted.map_err(|(_, broken)| {
            self.gone = Some(trigger.to_owned());
            (Outcome::ReloadFailed, broken)
        })
    }

    async fn install(&mut self, zygote: Zygote, setup: &Setup, since: Moment) {
        let Some(booted) = &mut self.booted else { return };
        booted.made_with = Settings::of(setup);
        booted.watch.loaded_by_zygote(&zygote.loaded);
        booted.zygote = Some(Arc::new(zygote));
        booted.framework = Some(setup.framework);
        let Changed { own, .. } = self.during_loads.note(booted.changed().await);
        booted.overlook(own).await;
        booted.widen(since).await;
        let outdated = booted.zygote.as_ref().is_some_and(|zygote| zygote.loaded.outdated);
        booted.pending = Effect::Nothing;
        if outdated {
            self.outdated(self.boots);
        }
    }

    /// The tables of a database are not what the code of this boot has seen.
    pub fn outdated(&mut self, boot_id: u64) {
        if let Some(booted) = self.booted.as_mut().filter(|booted| booted.id == boot_id) {
            booted.pending = booted.pending.max(Effect::Reload);
            self.untold = Some("reloaded: the tables of a database had been altered".to_owned());
        }
    }
}

async fn start(
    setup: &Setup,
    cut: Pin<&mut impl Future<Output = Cut>>,
) -> std::result::Result<(Worker, Ready), Unbooted> {
    let plan = setup.plan().map_err(|error| Broken::of_error(&error))?;
    let mut worker = Worker::start(&plan, setup.boot_limit()).await?;
    let Project { root, boot } = &setup.project;
    let booted = tokio::select! {
        booted = worker.boot(root, boot, setup.boot_limit()) => booted.map_err(Unbooted::Broken),
        cut = cut => Err(Unbooted::Cut(cut)),
    };
    match booted {
        Ok(ready) => Ok((worker, ready)),
        Err(unbooted) => {
            worker.end().await;
            Err(unbooted)
        }
    }
}

impl From<Broken> for Unbooted {
    fn from(broken: Broken) -> Self {
        Unbooted::Broken(broken)
    }
}

impl Problem {
    /// What was `prepared` was so in vain.
    fn new((outcome, broken): Failed, prepared: Prepared) -> Problem {
        Problem {
            outcome,
            broken,
            prepared,
        }
    }

    pub fn busy(taken: &Taken, prepared: Prepared) -> Problem {
        Problem::new((Outcome::DatabaseBusy, busy(taken)), prepared)
    }
}

fn busy(taken: &Taken) -> Broken {
    let who = taken.holder.as_deref().unwrap_or("another process");
    let message = format!("{who} was using {} until the deadline", taken.name);
    Broken::told(Failure {
        class: "DatabaseBusy".to_owned(),
        message,
        ..Failure::default()
    })
}

fn unwanted(outcome: Outcome) -> Failed {
    let failure = Failure {
        class: "Unwanted".to_owned(),
        message: "it was given up, since nobody waited for it any more".to_owned(),
        ..Failure::default()
    };
    (outcome, Broken::told(failure))
}

fn outran(change: &Change, root: &Path) -> String {
    let path = Paths::new(root, std::env::home_dir()).file(&change.path);
    format!("booted again: {path} was {} during the boot", change.kind.past())
}

fn describe(effect: Effect, change: &Change, root: &Path) -> Option<String> {
    let done = match effect {
        Effect::Nothing => return None,
        Effect::NewZygote => "helper loaded again",
        Effect::Reload => "reloaded",
        Effect::Reboot => "rebooted",
    };
    let path = Paths::new(root, std::env::home_dir()).file(&change.path);
    Some(format!("{done}: {path} was {}", change.kind.past()))
}
