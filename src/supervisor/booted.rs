//! One booted worker, what was forked from it, and the files that it was made from.

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
use crate::worker::freshness::{Effect, Watch};
use crate::worker::protocol::{Ready, Versions};
use crate::worker::reader::Reader;
use crate::worker::zygote::Zygote;
use crate::worker::{Broken, Worker};

/// What is shared may be in use by a run or a question; it ends when its last user lets go of it.
#[derive(Debug)]
pub struct Booted {
    pub worker: Arc<Worker>,
    pub ready: Ready,
    pub id: u64,
    /// Counts up with each reload of this boot.
    pub(super) reloads: u64,
    pub since: Instant,
    pub watch: Watch,
    pub(super) made_with: Settings,
    pub(super) baseline: Snapshot,
    pub zygote: Option<Arc<Zygote>>,
    /// The one that the zygote has loaded, or the last one had: one is warm at a time.
    pub framework: Option<Framework>,
    pub(super) readers: Idle,
    /// What the boot and the test helper write each time: no change.
    pub rewritten: BTreeSet<PathBuf>,
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
        self.zygote
            .as_ref()
            .map_or_else(|| self.ready.versions.clone(), |zygote| zygote.loaded.versions.clone())
    }

    /// Whether there is a zygote, and no run of this framework can be forked from it.
    pub(super) fn is_of_another(&self, framework: Framework) -> bool {
        self.zygote.is_some() && self.framework != Some(framework)
    }

    /// What a run is forked from, kept for it until it is over.
    pub(super) fn lease(&self) -> Option<Lease> {
        Some(Lease {
            boot_id: self.id,
            worker: Arc::clone(&self.worker),
            zygote: Arc::clone(self.zygote.as_ref()?),
            threads_after_boot: self.ready.threads.clone(),
            native_after_boot: self.ready.native.clone(),
            crashes: self.crashes,
        })
    }

    /// A reader for one question, forked now if there is none that lives and has nothing to do.
    pub(super) async fn reader(&self) -> Result<Asking, Broken> {
        let reader = match self.readers.take() {
            Some(reader) if !reader.is_stopped() && now(reader.exited()).await.is_none() => reader,
            lost => {
                self.end(lost).await;
                self.worker.reader().await?
            }
        };
        Ok(Asking {
            reader,
            worker: Arc::clone(&self.worker),
            idle: self.readers.clone(),
        })
    }

    /// Which code it is that the forks of this worker have.
    pub(super) fn generation(&self) -> (u64, u64) {
        (self.id, self.reloads)
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

    /// What has changed since and has an effect; it stays a change.
    pub(super) async fn changed(&mut self) -> Vec<PathBuf> {
        let targets = self.watch.targets();
        let changes = self
            .on_baseline(move |baseline| baseline.diff(&Snapshot::look(&targets)))
            .await;
        let costly = changes
            .into_iter()
            .filter(|change| self.watch.effect(change) > Effect::Nothing);
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

    pub(super) async fn zygote_is_gone(&self) -> bool {
        match &self.zygote {
            Some(zygote) => zygote.is_stopped() || now(zygote.exited()).await.is_some(),
            None => false,
        }
    }

    /// One that a run is using is ended when that run is over ([`Lease::give_back`]).
    pub(super) async fn drop_zygote(&mut self) {
        let Some(zygote) = self.zygote.take() else { return };
        self.pending = self.pending.max(Effect::NewZygote);
        if let Ok(zygote) = Arc::try_unwrap(zygote) {
            self.worker.end_fork(zygote.pid()).await;
        }
    }

    /// A question under way is answered as it was asked, and its reader ends then.
    pub(super) async fn drop_readers(&mut self) {
        let idle = std::mem::take(&mut self.readers).close();
        self.end(idle).await;
    }

    async fn end(&self, reader: Option<Reader>) {
        if let Some(reader) = reader {
            self.worker.end_fork(reader.pid()).await;
        }
    }
}

/// Ends all of it; at once, unless a run is using it.
pub(super) async fn end(worker: Arc<Worker>) {
    if let Ok(worker) = Arc::try_unwrap(worker) {
        worker.end().await;
    }
}

/// The value of a future that is ready at this moment.
pub(super) async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = std::future::ready(()) => None,
    }
}
