//! One booted worker, the app that was forked from it, and the files that they were made from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::cut::Files;
use super::lease::Lease;
use super::readers::{Asking, Idle};
use super::setup::{Settings, Setup};
use crate::project::Framework;
use crate::project::changes::{self, Change, Snapshot};
use crate::project::since::Moment;
use crate::sandbox::Kind;
use crate::sandbox::grants::Disk;
use crate::sandbox::rules::Grantable;
use crate::worker::app::{self, App};
use crate::worker::freshness::{Effect, Watch};
use crate::worker::protocol::Versions;
use crate::worker::reader::Reader;
use crate::worker::zygote::Zygote;
use crate::worker::{Broken, Worker};

/// What is shared may be in use by a run or a question; it ends when its last user lets go of it.
#[derive(Debug)]
pub struct Booted {
    pub worker: Arc<Worker>,
    /// Seconds that the boot of the worker took.
    pub seconds: f64,
    /// None before it is loaded, and when it can't be.
    pub app: Option<Arc<App>>,
    pub id: u64,
    /// Counts up with each app of this boot.
    pub(super) loads: u64,
    pub since: Instant,
    pub watch: Watch,
    pub(super) made_with: Settings,
    /// What the sandbox could grant when it was put on.
    pub(super) grantable: BTreeSet<Grantable>,
    pub(super) baseline: Snapshot,
    pub zygote: Option<Arc<Zygote>>,
    /// The one that the zygote has loaded, or the last one had: one is warm at a time.
    pub framework: Option<Framework>,
    pub(super) readers: Idle,
    /// What the boot and the test helper write each time: no change.
    pub rewritten: BTreeSet<PathBuf>,
    /// All that they wrote.
    pub(super) written: BTreeSet<PathBuf>,
    /// Forked runs in a row that crashed.
    pub crashes: u32,
    /// What the changes so far call for and has not been done yet.
    pub(super) pending: Effect,
}

/// The files before a boot.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub(super) since: Moment,
    pub(super) targets: Vec<changes::Target>,
    pub(super) snapshot: Snapshot,
}

impl Before {
    pub(super) fn look(targets: Vec<changes::Target>) -> Self {
        Before {
            since: Moment::now(),
            snapshot: Snapshot::take(&targets),
            targets,
        }
    }
}

/// A look at the files that goes on beside the boot.
#[derive(Debug, Clone)]
pub(super) struct Looking(watch::Receiver<Option<Arc<Before>>>);

impl Looking {
    pub(super) fn begin(targets: Vec<changes::Target>) -> Self {
        let (tell, hear) = watch::channel(None);
        spawn_blocking(move || tell.send_replace(Some(Arc::new(Before::look(targets)))));
        Looking(hear)
    }

    /// What it saw, once it has seen all.
    pub(super) async fn done(mut self) -> Arc<Before> {
        let before = self.0.wait_for(Option::is_some).await;
        let before = before.ok().and_then(|before| before.clone());
        before.unwrap_or_else(|| Arc::new(Before::look(Vec::new())))
    }
}

impl Booted {
    /// Ruby and Rails as booted; the test framework only once a zygote has loaded it.
    pub fn versions(&self) -> Versions {
        let of_app = || self.app.as_ref().map(|app| app.ready.versions.clone());
        let of_zygote = self.zygote.as_ref().map(|zygote| zygote.loaded.versions.clone());
        of_zygote.or_else(of_app).unwrap_or_default()
    }

    /// Whether there is a zygote, and no run of this framework can be forked from it.
    pub(super) fn is_of_another(&self, framework: Framework) -> bool {
        self.zygote.is_some() && self.framework != Some(framework)
    }

    /// What a run is forked from, kept for it until it is over.
    pub(super) fn lease(&self) -> Option<Lease> {
        Some(Lease {
            boot_id: self.id,
            app: Arc::clone(self.app.as_ref()?),
            zygote: Arc::clone(self.zygote.as_ref()?),
            crashes: self.crashes,
        })
    }

    /// A reader for one question, forked now if there is none that lives and has nothing to do.
    pub(super) async fn reader(&self, app: &Arc<App>) -> Result<Asking, Broken> {
        let reader = match self.readers.take() {
            Some(reader) if reader.can_run() => reader,
            lost => {
                end_reader(app, lost).await;
                app.reader().await?
            }
        };
        Ok(Asking {
            reader,
            app: Arc::clone(app),
            idle: self.readers.clone(),
        })
    }

    /// Which code it is that the forks of the app have.
    pub(super) fn generation(&self) -> (u64, u64) {
        (self.id, self.loads)
    }

    /// The files as they are known, to see whether they change while something is loaded from them.
    pub(super) fn files(&self, least: Effect, own: BTreeSet<PathBuf>) -> Files {
        Files {
            watch: self.watch.clone(),
            baseline: self.baseline.clone(),
            least,
            own: own.into_iter().chain(self.rewritten.iter().cloned()).collect(),
        }
    }

    /// What changed since it was last asked, or since it was loaded. Whoever asks acts on it, by way of `pending`: the
    /// baseline takes these changes as known before the files are read again, so that a later edit is a change.
    pub(super) async fn changes(&mut self, setup: &Setup) -> Vec<Change> {
        self.watch.set_test_dirs(setup.test_dirs());
        let targets = self.watch.targets();
        self.on_baseline(move |baseline| {
            let changes = baseline.diff(&Snapshot::look(&targets));
            baseline.refresh(changes.iter().map(|change| &change.path));
            changes
        })
        .await
    }

    /// A place that came after the boot: the sandbox would grant it to an app that is booted now.
    pub(super) async fn shut_out(&self, setup: &Setup) -> Option<PathBuf> {
        let setup = setup.clone();
        let now = spawn_blocking(move || setup.grantable()).await.unwrap_or_default();
        let granted = self.worker.kept().granted();
        let has = |place: &Grantable| {
            let kind = if place.written { Kind::Write } else { Kind::Read };
            place.inode == 0 && granted.is_some_and(|granted| granted.allows(kind, &place.path, &Disk))
        };
        let mut new = now.difference(&self.grantable).filter(|place| !has(place));
        new.next().map(|place| place.path.clone())
    }

    /// What has changed since and calls for that much at least; it stays a change.
    pub(super) async fn changed(&mut self, least: Effect) -> Vec<PathBuf> {
        let targets = self.watch.targets();
        let changes = self
            .on_baseline(move |baseline| baseline.diff(&Snapshot::look(&targets)))
            .await;
        let costly = changes.into_iter().filter(|change| self.watch.effect(change) >= least);
        costly.map(|change| change.path).collect()
    }

    /// These files are no change, as they are now.
    pub(super) async fn overlook(&mut self, own: BTreeSet<PathBuf>) {
        self.rewritten.extend(own.iter().cloned());
        self.on_baseline(move |baseline| baseline.refresh(&own)).await;
    }

    /// Files that came to be watched by what was loaded `since` join the baseline.
    pub(super) async fn widen(&mut self, since: Moment) {
        let targets = self.watch.targets();
        self.on_baseline(move |baseline| baseline.add_missing(baseline.retake(&targets), since.by_files()))
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

    pub(super) fn zygote_is_gone(&self) -> bool {
        self.zygote.as_ref().is_some_and(|zygote| !zygote.can_run())
    }

    pub(super) fn app_is_gone(&self) -> bool {
        self.app.as_ref().is_some_and(|app| !app.can_run())
    }

    /// One that a run is using is ended when that run is over ([`Lease::give_back`]).
    pub(super) async fn drop_zygote(&mut self) {
        let (Some(zygote), Some(app)) = (self.zygote.take(), &self.app) else {
            return;
        };
        self.pending = self.pending.max(Effect::NewZygote);
        if let Ok(zygote) = Arc::try_unwrap(zygote) {
            app.end_fork(zygote.pid()).await;
        }
    }

    /// With all that was forked from it, but for what a run or a question is using: it ends with its last user.
    pub(super) async fn drop_app(&mut self) {
        self.drop_zygote().await;
        let idle = std::mem::take(&mut self.readers).close();
        let Some(app) = self.app.take() else { return };
        self.pending = self.pending.max(Effect::Reload);
        end_reader(&app, idle).await;
        app::release(app).await;
    }
}

async fn end_reader(app: &App, reader: Option<Reader>) {
    if let Some(reader) = reader {
        app.end_fork(reader.pid()).await;
    }
}

/// Ends all of it, and says what was watched for it; at once, unless a run is using it.
pub(super) async fn end(booted: Booted) -> Watch {
    let Booted { worker, app, watch, .. } = booted;
    drop(app);
    if let Ok(worker) = Arc::try_unwrap(worker) {
        worker.end().await;
    }
    watch
}
