//! What ends a boot, a reload or a load of the test helper before it ends by itself, or hangs until its limit.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::demand::Demand;
use crate::project::changes::{Change, Snapshot};
use crate::worker::freshness::{Effect, Watch};

/// How often the files are looked at meanwhile.
const LOOK: Duration = Duration::from_secs(1);

/// What has not ended by itself this long after a change of its files may hang by what was just mended, and has to be done
/// again in any case.
const GRACE: Duration = Duration::from_secs(5);

/// Why it is not waited for any longer.
#[derive(Debug)]
pub(super) enum Cut {
    /// Nobody wants it any more.
    Unwanted,
    /// Somebody wants it made anew, or has made it anew.
    Restarted,
    /// These files have changed, at least one.
    Outrun(Vec<Change>),
}

/// Files that something is loaded from, as they were before.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) watch: Watch,
    pub(super) baseline: Snapshot,
    /// What a change must call for to count.
    pub(super) least: Effect,
    /// What each load writes itself.
    pub(super) own: BTreeSet<PathBuf>,
}

/// Returns when one of the reasons is there.
pub(super) async fn cut(demand: &Demand, outrun: impl Future<Output = Vec<Change>>) -> Cut {
    tokio::select! {
        () = demand.none() => Cut::Unwanted,
        () = demand.restart() => Cut::Restarted,
        changes = outrun => Cut::Outrun(changes),
    }
}

impl Files {
    /// Returns what has changed, some time after something has. May be dropped at any moment.
    pub(super) async fn outrun(mut self) -> Vec<Change> {
        loop {
            sleep(LOOK).await;
            let look = move || {
                let changes = self.look();
                (self, changes)
            };
            let Ok((files, changes)) = spawn_blocking(look).await else {
                return std::future::pending().await;
            };
            if !changes.is_empty() {
                sleep(GRACE).await;
                return changes;
            }
            self = files;
        }
    }

    fn look(&mut self) -> Vec<Change> {
        let changes = self.baseline.diff(&Snapshot::look(&self.watch.targets()));
        let counts = |change: &Change| {
            self.watch.effect(change) >= self.least && !self.own.contains(&change.path) && !of_bundler(change)
        };
        changes.into_iter().filter(counts).collect()
    }
}

/// Bundler writes the lock at the beginning of a boot whose Gemfile asks for more than it holds, and boots by it.
fn of_bundler(change: &Change) -> bool {
    let name = change.path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".lock") || name.ends_with(".locked")
}
