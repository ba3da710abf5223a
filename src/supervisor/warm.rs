//! The warm process tree of one project: booted on first need, checked against the files before each use, and
//! thrown away exactly as far as a change calls for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use tokio::task::spawn_blocking;

use super::lock::{Locks, Taken};
use super::rewrites::{Changed, Rewrites};
use crate::config::{self, Config};
use crate::error::Result;
use crate::process::usage;
use crate::project::changes::{self, Change, ChangeKind, Snapshot};
use crate::project::{Project, Rules};
use crate::run::denylist;
use crate::run::mode::{self, ForkFacts};
use crate::run::outcome::Outcome;
use crate::worker::environment::{self, Variables};
use crate::worker::freshness::{Effect, Watch};
use crate::worker::launch::Plan;
use crate::worker::protocol::{Facts, Failure, Framework, GemProbe, Ready, Reloaded, Versions};
use crate::worker::zygote::Zygote;
use crate::worker::{Broken, Worker, ruby};

/// A tree that changes its own inputs each time it is made is used as it is after this many tries. Most are known before
/// that (`rewrites`), after three boots and loads.
const TRIES: u32 = 8;

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
}

#[derive(Debug)]
pub struct Booted {
    pub worker: Worker,
    pub ready: Ready,
    pub id: u64,
    pub since: Instant,
    pub watch: Watch,
    made_with: Settings,
    baseline: Snapshot,
    pub zygote: Option<Zygote>,
    /// What the boot and the test helper write each time: no change.
    pub rewritten: BTreeSet<PathBuf>,
    /// Forked runs in a row that crashed.
    pub crashes: u32,
    /// What the changes so far call for and has not been done yet.
    pending: Effect,
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
}

/// Why there is no warm tree.
#[derive(Debug, Clone)]
pub struct Problem {
    pub outcome: Outcome,
    pub broken: Broken,
    pub prepared: Prepared,
}

/// The files before a boot.
#[derive(Debug)]
struct Before {
    since: SystemTime,
    targets: Vec<changes::Target>,
    snapshot: Snapshot,
}

impl Before {
    fn look(targets: Vec<changes::Target>) -> Self {
        Before {
            since: SystemTime::now(),
            snapshot: Snapshot::take(&targets),
            targets,
        }
    }
}

/// What the tree is made for.
#[derive(Debug, Clone)]
pub struct Setup {
    pub project: Project,
    pub config: Config,
    pub framework: Framework,
}

/// The settings that a tree is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Settings {
    boot: PathBuf,
    ruby_command: Option<Vec<String>>,
    preload: Vec<PathBuf>,
}

impl Settings {
    fn of(setup: &Setup) -> Self {
        Settings {
            boot: setup.project.boot.clone(),
            ruby_command: setup.config.ruby_command.clone(),
            preload: setup.config.preload.clone(),
        }
    }

    /// What a change to `others` calls for.
    fn effect(&self, others: &Settings) -> Effect {
        if (&self.boot, &self.ruby_command) != (&others.boot, &others.ruby_command) {
            Effect::Reboot
        } else if self.preload != others.preload {
            Effect::NewZygote
        } else {
            Effect::Nothing
        }
    }
}

impl Setup {
    fn boot_limit(&self) -> Duration {
        Duration::from_secs(self.config.boot_timeout_seconds)
    }

    fn test_dirs(&self) -> Vec<PathBuf> {
        Rules::new(&self.config.spec_roots).dirs(&self.project.root)
    }

    /// The command line and environment of a Ruby of this app, as the machine is at this moment.
    pub fn plan(&self) -> Result<Plan> {
        let env: Variables = environment::clean(std::env::vars_os());
        let ruby = ruby::resolve(&self.project.root, &env, self.config.ruby_command.as_deref())?;
        Ok(Plan {
            root: self.project.root.clone(),
            ruby,
            env,
        })
    }
}

impl Warm {
    pub fn booted(&self) -> Option<&Booted> {
        self.booted.as_ref()
    }

    pub fn booted_mut(&mut self) -> Option<&mut Booted> {
        self.booted.as_mut()
    }

    /// A zygote that has loaded nothing older than the files on disk at this moment.
    /// Holds the locks of its databases before any test code is loaded.
    pub async fn ready(
        &mut self,
        setup: &Setup,
        locks: &mut Locks,
    ) -> std::result::Result<(Prepared, &mut Booted), Problem> {
        let mut prepared = Prepared::default();
        let mut lost = false;
        for _ in 0..TRIES {
            self.drop_the_dead().await;
            let effect = self.look(setup, &mut prepared).await;
            let applied = match self.lock(effect, &setup.project.root, locks).await {
                Ok(()) => self.apply(effect, setup, &mut prepared).await,
                Err(taken) => Err((Outcome::DatabaseBusy, taken)),
            };
            // A worker that is lost while it forks need not be the helper's doing. The second one is.
            if applied.is_err() && effect == Effect::NewZygote && self.booted.is_none() && !lost {
                lost = true;
                continue;
            }
            if let Err((outcome, broken)) = applied {
                return Err(Problem {
                    outcome,
                    broken,
                    prepared,
                });
            }
            if effect == Effect::Nothing {
                break;
            }
        }
        let booted = self.booted.as_mut().expect("a tree was just made or found");
        Ok((prepared, booted))
    }

    /// Ends what has grown beyond `limit` bytes of memory; says whether it had.
    pub async fn recycle(&mut self, limit: u64) -> bool {
        let Some(booted) = &self.booted else { return false };
        let zygote = booted.zygote.as_ref().map(|zygote| zygote.pid);
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

    /// Ends everything.
    pub async fn retire(&mut self) {
        if let Some(booted) = self.booted.take() {
            booted.worker.end().await;
        }
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
        let changes = booted.changes(setup.test_dirs()).await;
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

    /// Boots and reloads leave the database alone; the test helper and the tests do not.
    async fn lock(&self, effect: Effect, root: &Path, locks: &mut Locks) -> std::result::Result<(), Broken> {
        match &self.booted {
            Some(booted) if effect <= Effect::NewZygote => {
                let databases = Some(&booted.ready.databases[..]);
                locks.take(root, databases).await.map_err(|taken| busy(&taken))
            }
            _ => Ok(()),
        }
    }

    async fn apply(
        &mut self,
        effect: Effect,
        setup: &Setup,
        prepared: &mut Prepared,
    ) -> std::result::Result<(), (Outcome, Broken)> {
        match effect {
            Effect::Nothing => Ok(()),
            Effect::NewZygote => self.load(setup, prepared).await,
            Effect::Reload => self.reload(setup, prepared).await,
            Effect::Reboot => self.boot(setup, prepared).await,
        }
    }

    async fn boot(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), (Outcome, Broken)> {
        let started = Instant::now();
        let watch = match self.booted.take() {
            Some(booted) => {
                booted.worker.end().await;
                booted.watch
            }
            None => Watch::before_boot(&setup.project.root, setup.test_dirs()),
        };
        let targets = watch.targets();
        let before = spawn_blocking(move || Before::look(targets));
        let booted = self.start(setup).await;
        prepared.boot += started.elapsed().as_secs_f64();
        let (worker, ready) = booted.map_err(|broken| (Outcome::BootFailed, broken))?;
        self.settle(
            setup,
            before.await.unwrap_or_else(|_| Before::look(Vec::new())),
            worker,
            ready,
        )
        .await;
        Ok(())
    }

    async fn start(&mut self, setup: &Setup) -> std::result::Result<(Worker, Ready), Broken> {
        let plan = setup.plan().map_err(|error| Broken::of_error(&error))?;
        let mut worker = Worker::start(&plan, setup.boot_limit()).await?;
        let Project { root, boot } = &setup.project;
        match worker.boot(root, boot, setup.boot_limit()).await {
            Ok(ready) => Ok((worker, ready)),
            Err(broken) => {
                worker.end().await;
                Err(broken)
            }
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
            let unknown = baseline.unknown_since(&before.snapshot, before.since);
            let changed: Vec<PathBuf> = changes.into_iter().map(|change| change.path).chain(unknown).collect();
            (baseline, before.snapshot, changed)
        })
        .await
        .unwrap_or_default();
        let costly = changed
            .into_iter()
            .filter(|path| watch.effect(path) > Effect::NewZygote);
        let Changed { own, others } = self.during_boots.note(costly);
        let baseline = baseline.with_older(&before, &others);
        self.boots += 1;
        self.gone = None;
        let since = Instant::now();
        self.booted = Some(Booted {
            worker,
            ready,
            id: self.boots,
            since,
            watch,
            made_with: Settings::of(setup),
            baseline,
            zygote: None,
            rewritten: own,
            crashes: 0,
            pending: Effect::NewZygote,
        });
    }

    async fn reload(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), (Outcome, Broken)> {
        let Some(booted) = &mut self.booted else { return Ok(()) };
        booted.drop_zygote().await;
        let started = Instant::now();
        if !booted.worker.alive().await {
            return self.boot_instead(setup, prepared).await;
        }
        let since = SystemTime::now();
        let reloaded = booted.worker.reload(setup.boot_limit()).await;
        prepared.boot += started.elapsed().as_secs_f64();
        match reloaded {
            // Two of a class, and both in use.
            Ok(Reloaded { held: Some(place), .. }) => {
                prepared.trigger = Some(format!("rebooted: {place} holds a class that was reloaded"));
                self.boot(setup, prepared).await
            }
            Ok(reloaded) => {
                booted.watch = Watch::new(&setup.project.root, reloaded.inputs, setup.test_dirs());
                booted.ready.eager_load_error = reloaded.eager_load_error;
                booted.widen(since).await;
                booted.pending = Effect::NewZygote;
                Ok(())
            }
            // A boot loads the changed code just as well.
            Err(_) if !booted.worker.alive().await => self.boot_instead(setup, prepared).await,
            // Half of the app may be loaded: nothing may ever be answered from it.
            Err(broken) => {
                self.gone = Some("rebooted: the last reload failed".to_owned());
                self.retire().await;
                Err((Outcome::ReloadFailed, broken))
            }
        }
    }

    /// A worker that does not answer is wedged: stopped, or spinning in something that the boot left running.
    async fn boot_instead(
        &mut self,
        setup: &Setup,
        prepared: &mut Prepared,
    ) -> std::result::Result<(), (Outcome, Broken)> {
        prepared.trigger = Some("rebooted: the worker did not answer".to_owned());
        self.boot(setup, prepared).await
    }

    async fn load(&mut self, setup: &Setup, prepared: &mut Prepared) -> std::result::Result<(), (Outcome, Broken)> {
        let Some(booted) = &mut self.booted else { return Ok(()) };
        booted.drop_zygote().await;
        let started = Instant::now();
        let since = SystemTime::now();
        let loaded = booted
            .worker
            .zygote(setup.framework, &setup.config.preload, setup.boot_limit())
            .await;
        prepared.load += started.elapsed().as_secs_f64();
        match loaded {
            Ok(zygote) => {
                booted.made_with = Settings::of(setup);
                booted.watch.loaded_by_zygote(&zygote.loaded.features);
                booted.zygote = Some(zygote);
                let Changed { own, .. } = self.during_loads.note(booted.changed().await);
                booted.overlook(own).await;
                booted.widen(since).await;
                booted.pending = Effect::Nothing;
                Ok(())
            }
            Err(broken) => {
                // That a helper can't be loaded says nothing of the worker, unless it is gone, too.
                if !booted.worker.alive().await {
                    self.gone = Some("rebooted: the worker died while it forked".to_owned());
                    self.retire().await;
                }
                Err((Outcome::LoadError, broken))
            }
        }
    }
}

impl Booted {
    /// What decides whether the zygote may be forked at this moment; `None` when it doesn't answer.
    pub async fn fork_facts(&self, config: &Config) -> Option<ForkFacts> {
        let probes = probes(config);
        let Facts {
            threads,
            native,
            loaded,
            live,
        } = self.zygote.as_ref()?.facts(probes).await?;
        let (threads_after_boot, native_after_boot) = (self.ready.threads.clone(), self.ready.native.clone());
        Some(ForkFacts {
            threads,
            native,
            threads_after_boot,
            native_after_boot,
            loaded,
            live,
        })
    }

    /// Ruby and Rails as booted; the test framework only once a zygote has loaded it.
    pub fn versions(&self) -> Versions {
        self.zygote
            .as_ref()
            .map_or_else(|| self.ready.versions.clone(), |zygote| zygote.loaded.versions.clone())
    }

    /// What changed since it was last asked, or since it was loaded. Whoever asks acts on it, by way of `pending`: the
    /// baseline takes these changes as known before the files are read again, so that a later edit is a change.
    async fn changes(&mut self, test_dirs: Vec<PathBuf>) -> Vec<Change> {
        self.watch.set_test_dirs(test_dirs);
        let targets = self.watch.targets();
        self.on_baseline(move |baseline| {
            let changes = baseline.diff(&Snapshot::look(&targets));
            baseline.refresh(changes.iter().map(|change| &change.path));
            changes
        })
        .await
    }

    /// What has changed since and has an effect; it stays a change.
    async fn changed(&mut self) -> Vec<PathBuf> {
        let targets = self.watch.targets();
        let changes = self
            .on_baseline(move |baseline| baseline.diff(&Snapshot::look(&targets)))
            .await;
        let paths = changes.into_iter().map(|change| change.path);
        paths.filter(|path| self.watch.effect(path) > Effect::Nothing).collect()
    }

    /// These files are no change, as they are now.
    async fn overlook(&mut self, own: BTreeSet<PathBuf>) {
        self.rewritten.extend(own.iter().cloned());
        self.on_baseline(move |baseline| baseline.refresh(&own)).await;
    }

    /// Files that came to be watched by what was loaded `since` join the baseline.
    async fn widen(&mut self, since: SystemTime) {
        let targets = self.watch.targets();
        self.on_baseline(move |baseline| baseline.add_missing(baseline.retake(&targets), since))
            .await;
    }

    /// The disk is slow to some: never on the thread that answers.
    async fn on_baseline<T, F>(&mut self, work: F) -> T
    where
        T: Default + Send + 'static,
        F: FnOnce(&mut Snapshot) -> T + Send + 'static,
    {
        let mut baseline = std::mem::take(&mut self.baseline);
        let worked = spawn_blocking(move || {
            let result = work(&mut baseline);
            (baseline, result)
        });
        // Without a baseline everything is new, and the next look calls for a boot.
        let (baseline, result) = worked.await.unwrap_or_default();
        self.baseline = baseline;
        result
    }

    async fn zygote_is_gone(&self) -> bool {
        match &self.zygote {
            Some(zygote) => zygote.is_stopped() || now(zygote.exited()).await.is_some(),
            None => false,
        }
    }

    async fn drop_zygote(&mut self) {
        let Some(zygote) = self.zygote.take() else { return };
        self.pending = self.pending.max(Effect::NewZygote);
        self.worker.end_zygote(zygote.pid).await;
    }
}

fn probes(config: &Config) -> Vec<GemProbe> {
    let built_in = denylist::BUILT_IN.iter();
    let built_in = built_in.map(|entry| GemProbe {
        gem: entry.gem.to_owned(),
        constant: Some(entry.constant.to_owned()),
    });
    let own = mode::project_gems(config, cfg!(target_os = "macos")).map(|gem| GemProbe {
        gem: gem.clone(),
        constant: None,
    });
    built_in.chain(own).collect()
}

impl Problem {
    pub fn busy(taken: &Taken, prepared: Prepared) -> Problem {
        Problem {
            outcome: Outcome::DatabaseBusy,
            broken: busy(taken),
            prepared,
        }
    }
}

fn busy(taken: &Taken) -> Broken {
    let who = taken.holder.as_deref().unwrap_or("another process");
    let message = format!("{who} was using {} until the deadline", taken.name);
    Broken {
        failure: Failure {
            class: "DatabaseBusy".to_owned(),
            message,
            ..Failure::default()
        },
        stderr: String::new(),
    }
}

/// The value of a future that is ready at this moment.
async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = std::future::ready(()) => None,
    }
}

fn describe(effect: Effect, change: &Change, root: &Path) -> Option<String> {
    let done = match effect {
        Effect::Nothing => return None,
        Effect::NewZygote => "helper loaded again",
        Effect::Reload => "reloaded",
        Effect::Reboot => "rebooted",
    };
    let path = change.path.strip_prefix(root).unwrap_or(&change.path);
    Some(format!("{done}: {} was {}", path.display(), change.kind.past()))
}
