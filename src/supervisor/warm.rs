//! The warm process tree of one project: booted on first need, checked against the files before each use, and
//! thrown away exactly as far as a change calls for.
//!
//! Runs and questions share it. Each holds it only while it looks and prepares: a run then has a lease, a question a
//! reader. So neither waits for the other's end, and a change found by one is done for both.

use std::collections::BTreeSet;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::booted::{self, Before, Booted, Looking};
use super::cut::{Cut, Files, cut};
use super::demand::Demand;
use super::lease::Lease;
use super::lock::{Locks, Taken};
use super::readers::{Asking, Idle};
use super::rewrites::{Changed, QUIET, Rewrites};
use super::setup::{Settings, Setup};
use crate::config;
use crate::process::usage;
use crate::project::Project;
use crate::project::changes::{Change, ChangeKind, Snapshot};
use crate::project::since::Moment;
use crate::run::outcome::Outcome;
use crate::run::paths::Paths;
use crate::worker::app::{self, App};
use crate::worker::freshness::{Effect, Watch};
use crate::worker::protocol::Failure;
use crate::worker::zygote::Zygote;
use crate::worker::{Base, Broken, Worker};

/// A tree that changes its own inputs each time it is made is used as it is after this many tries. Most are known before
/// that (`rewrites`), after five boots and loads.
const TRIES: u32 = 8;

/// How often something is begun again, for one call, because files have changed while it was loaded; then it is waited for.
const OUTRUN: u32 = 2;

/// Why another app is loaded though nothing has changed.
const APP_DIED: &str = "loaded again: the process that has the app's classes had died";

pub type Shared = Arc<Mutex<Warm>>;

/// The state of the tree and how it came to it.
#[derive(Debug, Default)]
pub struct Warm {
    booted: Option<Booted>,
    boots: u64,
    /// Files that changed during boots, during loads of the app, and during those of the test helper.
    during_boots: Rewrites,
    during_apps: Rewrites,
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
    /// A worker was lost while the app was loaded: once that need not be the app's doing.
    lost: bool,
}

/// Why there is no warm tree.
#[derive(Debug, Clone)]
pub struct Problem {
    pub outcome: Outcome,
    pub broken: Broken,
    pub prepared: Prepared,
}

/// A load of the test helper that is under way.
struct Load {
    app: Arc<App>,
    /// Of the tree when it began.
    generation: (u64, u64),
    since: Moment,
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
            let (booted, app) = warm.fresh_app();
            let databases = app.ready.databases.clone();
            let foreign = booted.is_of_another(setup.framework);
            if foreign {
                let name = setup.framework.name();
                prepared.trigger = Some(format!("helper loaded: the last run was not {name}'s"));
            }
            // Its own loads may change what it is made of, again and again.
            let good = !foreign && (effect == Effect::Nothing || tried > TRIES);
            (databases, booted.lease().filter(|_| good))
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
            Err(_) if !lost && warm.lock().await.generation().is_none() => lost = true,
            loaded => loaded?,
        }
    }
    unreachable!("it returns at the latest after {TRIES} tries")
}

/// Loads the test helper in a fork of the app. Meanwhile the app may be asked for other things, and may be replaced: then
/// this zygote is not used.
async fn load(warm: &Shared, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
    let since = Moment::now();
    let started = Instant::now();
    let (load, cut) = {
        let mut warm = warm.lock().await;
        let own = warm.during_loads.own();
        let Some(booted) = &mut warm.booted else { return Ok(()) };
        booted.drop_zygote().await;
        booted.pending = booted.pending.max(Effect::NewZygote);
        let files = booted.files(Effect::NewZygote, own);
        let generation = booted.generation();
        let Some(app) = booted.app.clone() else { return Ok(()) };
        let load = Load { app, generation, since };
        (load, warm.cut(prepared, std::future::ready(files)))
    };
    let cut = async {
        tokio::select! {
            cut = cut => cut,
            () = replaced(warm, load.generation) => Cut::Restarted,
        }
    };
    let loaded = load_unless(cut, &load.app, setup).await;
    prepared.load += started.elapsed().as_secs_f64();
    let mut warm = warm.lock().await;
    let done = match loaded {
        Ok(loaded) => warm.loaded(loaded, &load, setup).await,
        Err(Cut::Restarted) => Ok(()),
        Err(Cut::Unwanted) => Err(unwanted(Outcome::LoadError)),
        Err(Cut::Outrun(changes)) => {
            prepared.outrun += 1;
            warm.during_loads
                .note_in_vain(changes.into_iter().map(|change| change.path));
            Ok(())
        }
    };
    drop(warm);
    app::release(load.app).await;
    done
}

/// The zygote, as far as there is one, or why it was not waited for.
async fn load_unless(
    cut: impl Future<Output = Cut>,
    app: &App,
    setup: &Setup,
) -> std::result::Result<std::result::Result<Zygote, Broken>, Cut> {
    let (pid, pipes) = match app.fork_zygote(setup.framework, &setup.config.preload).await {
        Ok(forked) => forked,
        Err(broken) => return Ok(Err(broken)),
    };
    tokio::select! {
        loaded = app.zygote(pid, pipes, setup.boot_limit()) => Ok(loaded),
        cut = cut => {
            app.end_fork(pid).await;
            Err(cut)
        }
    }
}

/// How often somebody who loads from an app looks whether it is still the one.
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
        let booted = self.booted.as_ref()?;
        booted.app.is_some().then(|| booted.generation())
    }

    /// Of a tree that is fresh.
    fn fresh_app(&self) -> (&Booted, &Arc<App>) {
        let booted = self.booted.as_ref().expect("a fresh tree is booted");
        (booted, booted.app.as_ref().expect("a fresh tree has an app"))
    }

    /// An app that has loaded nothing older than the files on disk at this moment. What is left to do is a new zygote
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
        while tries < TRIES || self.generation().is_none() {
            self.drop_the_dead().await;
            let known = self.generation().is_some();
            match self.look(setup, prepared).await {
                Effect::Reload => self.load_app(setup, prepared).await?,
                Effect::Reboot => self.boot(setup, prepared).await?,
                little => return Ok(little),
            }
            // A boot and the app that follows it are one try.
            tries += u32::from(known);
        }
        Ok(Effect::NewZygote)
    }

    async fn reader(&mut self) -> std::result::Result<Asking, Failed> {
        let (booted, app) = self.fresh_app();
        let reader = booted.reader(app).await;
        reader.map_err(|broken| (Outcome::BootFailed, broken))
    }

    /// Ends what has grown beyond `limit` bytes of memory; says whether it had.
    pub async fn recycle(&mut self, limit: u64) -> bool {
        let Some(booted) = &self.booted else { return false };
        let app = booted.app.as_ref().map(|app| app.pid());
        let zygote = booted.zygote.as_ref().map(|zygote| zygote.pid());
        let pids: Vec<i32> = std::iter::once(booted.worker.pid).chain(app).chain(zygote).collect();
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

    /// Says why there is to be an app, before there was any.
    pub fn begin(&mut self, why: Option<String>) {
        self.gone = why;
    }

    /// Ends everything that no run is using.
    pub async fn retire(&mut self) {
        if let Some(booted) = self.booted.take() {
            booted::end(booted).await;
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
        let app = self.booted.as_ref().and_then(|booted| booted.app.as_ref());
        let listening = app.map(|app| app.ready.listening.join(", "));
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
        if let Some(how) = booted.worker.impaired().await {
            self.gone = Some(format!("rebooted: the worker {how}"));
            self.retire().await;
            return;
        }
        if booted.app_is_gone() {
            booted.drop_app().await;
            self.gone = Some(APP_DIED.to_owned());
        } else if booted.zygote_is_gone() {
            booted.drop_zygote().await;
        }
    }

    /// Compares the files and the settings with what the tree was made from.
    async fn look(&mut self, setup: &Setup, prepared: &mut Prepared) -> Effect {
        if self.generation().is_none() {
            prepared.trigger = prepared.trigger.take().or(self.gone.take());
        }
        let Some(booted) = &mut self.booted else {
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
        if booted.pending < Effect::Reboot
            && let Some(path) = booted.shut_out(setup).await
        {
            let path = Paths::new(&setup.project.root, std::env::home_dir()).file(&path);
            prepared.trigger = Some(format!(
                "rebooted: {path} is new, and the sandbox grants what is there at the boot"
            ));
            booted.pending = Effect::Reboot;
        }
        booted.pending
    }

    async fn boot(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
        let started = Instant::now();
        let watch = match self.booted.take() {
            Some(booted) => booted::end(booted).await,
            None => Watch::before_boot(&setup.project.root, setup.test_dirs()),
        };
        let looking = Looking::begin(watch.targets());
        let to_confine = setup.clone();
        let grantable = spawn_blocking(move || to_confine.grantable()).await.unwrap_or_default();
        let booted = {
            let before = looking.clone();
            let own = self.during_boots.own();
            let files = async move {
                Files {
                    watch,
                    baseline: before.done().await.snapshot.clone(),
                    least: Effect::Reboot,
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
            Ok((worker, base)) => {
                let before = Arc::unwrap_or_clone(looking.done().await);
                self.settle(setup, before, worker, base).await;
                if let Some(booted) = &mut self.booted {
                    booted.grantable = grantable;
                }
                Ok(())
            }
            Err(Unbooted::Broken(broken)) => Err((Outcome::BootFailed, broken)),
            Err(Unbooted::Cut(cut)) => {
                let changes = self.begin_again(cut, setup, prepared).await?;
                self.during_boots
                    .note_in_vain(changes.into_iter().map(|change| change.path));
                Ok(())
            }
        }
    }

    /// What was being booted, or loaded on top of that, was not waited for; tells which files have changed.
    async fn begin_again(
        &mut self,
        cut: Cut,
        setup: &Setup,
        prepared: &mut Prepared,
    ) -> std::result::Result<Vec<Change>, Failed> {
        match cut {
            Cut::Unwanted => {
                self.gone = Some("booted again: nobody waited for the last boot any more".to_owned());
                Err(unwanted(Outcome::BootFailed))
            }
            Cut::Restarted => {
                self.retire().await;
                self.demand.heed();
                prepared.trigger = Some("booted again: a restart was asked for".to_owned());
                Ok(Vec::new())
            }
            Cut::Outrun(changes) => {
                prepared.outrun += 1;
                prepared.trigger = changes.first().map(|change| outran(change, &setup.project.root));
                Ok(changes)
            }
        }
    }

    /// What ends a boot or a load before its time, by the files as they were before it.
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
    async fn settle(&mut self, setup: &Setup, mut before: Before, worker: Worker, base: Base) {
        let Base { seconds, inputs } = base;
        let (vouched, written) = (inputs.vouched.clone(), inputs.boot_traces.written.clone());
        let since = before.since.by_files();
        let watch = Watch::new(&setup.project.root, inputs, setup.test_dirs());
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
            .filter(|change| watch.effect(change) == Effect::Reboot && !vouched.contains(&change.path))
            .map(|change| change.path);
        let quiet = |path: &Path| quiet(&before, path, since);
        let Changed { own, others } = self.during_boots.note(costly, &written, quiet);
        let baseline = baseline.with_older(&before, &others);
        self.boots += 1;
        self.gone = None;
        self.booted = Some(Booted {
            worker: Arc::new(worker),
            seconds,
            app: None,
            id: self.boots,
            loads: 0,
            since: Instant::now(),
            watch,
            made_with: Settings::of(setup),
            grantable: BTreeSet::new(),
            baseline,
            zygote: None,
            framework: None,
            readers: Idle::default(),
            rewritten: own,
            written: written.into_iter().collect(),
            crashes: 0,
            pending: Effect::Reload,
        });
    }

    /// Loads the rest of the app in a fork of the worker, which has nothing of it.
    async fn load_app(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), Failed> {
        let Some(booted) = &mut self.booted else { return Ok(()) };
        booted.drop_app().await;
        let (started, since) = (Instant::now(), Moment::now());
        let files = booted.files(Effect::Reload, self.during_apps.own());
        let worker = Arc::clone(&booted.worker);
        let loaded = {
            let mut cut = pin!(self.cut(prepared, std::future::ready(files)));
            match whole_app(&worker, setup, cut.as_mut()).await {
                // As of a boot: once more, and then the app is to blame.
                Err(Unbooted::Broken(broken)) if broken.from_outside() && worker.impaired().await.is_none() => {
                    prepared.trigger = Some(format!("loaded again: {}", broken.failure.message));
                    whole_app(&worker, setup, cut).await
                }
                loaded => loaded,
            }
        };
        prepared.boot += started.elapsed().as_secs_f64();
        match loaded {
            Ok(app) => {
                self.take(app, setup, since).await;
                Ok(())
            }
            // It is wedged: stopped, or spinning in something that the boot left running.
            Err(Unbooted::Broken(_)) if !prepared.lost && !worker.alive().await => {
                prepared.lost = true;
                self.gone = Some("rebooted: the worker did not answer".to_owned());
                drop(worker);
                self.retire().await;
                Ok(())
            }
            Err(Unbooted::Broken(broken)) => Err((self.loading(), broken)),
            Err(Unbooted::Cut(cut)) => {
                drop(worker);
                let changes = self.begin_again(cut, setup, prepared).await?;
                self.during_apps
                    .note_in_vain(changes.into_iter().map(|change| change.path));
                Ok(())
            }
        }
    }

    /// What it is that fails when the app can't be loaded.
    fn loading(&self) -> Outcome {
        match self.booted.as_ref().map(|booted| booted.loads) {
            None | Some(0) => Outcome::BootFailed,
            Some(_) => Outcome::ReloadFailed,
        }
    }

    async fn take(&mut self, app: App, setup: &Setup, since: Moment) {
        let Some(booted) = &mut self.booted else { return };
        booted.watch = Watch::new(&setup.project.root, app.ready.inputs.clone(), setup.test_dirs());
        let written = app.ready.inputs.class_traces.written.clone();
        booted.app = Some(Arc::new(app));
        booted.loads += 1;
        booted.pending = Effect::NewZygote;
        let changed = booted.changed(Effect::Reload).await;
        booted.written.extend(written.iter().cloned());
        let quiet = |path: &Path| quiet(&booted.baseline, path, since.by_files());
        let Changed { own, .. } = self.during_apps.note(changed, &written, quiet);
        booted.overlook(own).await;
        booted.widen(since).await;
        self.gone = None;
    }

    /// A zygote has loaded the helper, or can't.
    async fn loaded(
        &mut self,
        loaded: std::result::Result<Zygote, Broken>,
        load: &Load,
        setup: &Setup,
    ) -> std::result::Result<(), Failed> {
        let Load { app, generation, since } = load;
        let current = self.generation() == Some(*generation);
        match loaded {
            Ok(zygote) if current => self.install(zygote, setup, *since).await,
            Ok(zygote) => _ = app.end_fork(zygote.pid()).await,
            Err(broken) => {
                // That a helper can't be loaded says nothing of the app, unless it is gone, too.
                if current && !app.alive().await {
                    self.gone = Some(APP_DIED.to_owned());
                    if let Some(booted) = &mut self.booted {
                        booted.drop_app().await;
                    }
                }
                return Err((Outcome::LoadError, broken));
            }
        }
        Ok(())
    }

    async fn install(&mut self, zygote: Zygote, setup: &Setup, since: Moment) {
        let Some(booted) = &mut self.booted else { return };
        booted.made_with = Settings::of(setup);
        booted.watch.loaded_by_zygote(&zygote.loaded);
        let written = zygote.loaded.traces.written.clone();
        booted.zygote = Some(Arc::new(zygote));
        booted.framework = Some(setup.framework);
        let changed = booted.changed(Effect::NewZygote).await;
        booted.written.extend(written.iter().cloned());
        let quiet = |path: &Path| quiet(&booted.baseline, path, since.by_files());
        let Changed { own, .. } = self.during_loads.note(changed, &written, quiet);
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
            let (effect, done) = match booted.watch.worker_asks_tables() {
                true => (Effect::Reboot, "rebooted"),
                false => (Effect::Reload, "reloaded"),
            };
            booted.pending = booted.pending.max(effect);
            self.untold = Some(format!("{done}: the tables of a database had been altered"));
        }
    }
}

/// Whether nobody can have saved it shortly before.
fn quiet(known: &Snapshot, path: &Path, since: SystemTime) -> bool {
    let saved = known.fingerprint(path).map(|found| found.mtime_ns);
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    saved.is_some_and(|saved| saved + QUIET.as_nanos() as i128 <= since.as_nanos() as i128)
}

async fn start(
    setup: &Setup,
    cut: Pin<&mut impl Future<Output = Cut>>,
) -> std::result::Result<(Worker, Base), Unbooted> {
    let plan = setup.plan().map_err(|error| Broken::of_error(&error))?;
    let mut worker = Worker::start(&plan, setup.boot_limit()).await?;
    let Project { root, boot } = &setup.project;
    let booted = tokio::select! {
        booted = worker.boot(root, boot, setup.boot_limit()) => booted.map_err(Unbooted::Broken),
        cut = cut => Err(Unbooted::Cut(cut)),
    };
    match booted {
        Ok(base) => Ok((worker, base)),
        Err(unbooted) => {
            worker.end().await;
            Err(unbooted)
        }
    }
}

/// One that has loaded all of its classes; or, where that fails, none: half of a class, loaded again, is none that a
/// fresh process has.
async fn whole_app(
    worker: &Arc<Worker>,
    setup: &Setup,
    mut cut: Pin<&mut impl Future<Output = Cut>>,
) -> std::result::Result<App, Unbooted> {
    let app = fork_app(worker, setup, None, cut.as_mut()).await?;
    let Some(error) = app.ready.eager_load_error.clone() else {
        return Ok(app);
    };
    // What the classes read is known from this one.
    let inputs = app.ready.inputs.clone();
    app::release(Arc::new(app)).await;
    let mut lazy = fork_app(worker, setup, Some(error), cut).await?;
    lazy.ready.inputs = inputs;
    Ok(lazy)
}

async fn fork_app(
    worker: &Arc<Worker>,
    setup: &Setup,
    eager_load_error: Option<Failure>,
    cut: Pin<&mut impl Future<Output = Cut>>,
) -> std::result::Result<App, Unbooted> {
    let (pid, pipes) = worker.fork_app(eager_load_error).await?;
    tokio::select! {
        app = App::load(worker, pid, pipes, setup.boot_limit()) => app.map_err(Unbooted::Broken),
        cut = cut => {
            worker.end_fork(pid).await;
            Err(Unbooted::Cut(cut))
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
