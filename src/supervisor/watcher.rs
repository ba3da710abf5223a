//! Hears of saves while nothing runs, so that the tree is fresh again before the next call. A help and not a judge:
//! whether something changed is looked up on disk before each use, however much was heard.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::project::changes::{Change, ChangeKind, Target};
use crate::worker::freshness::{Effect, Watch};

/// An editor saves in several steps, and a checkout changes many files: how long it must be quiet before we act.
const QUIET: Duration = Duration::from_millis(50);

/// Ends when it is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    /// Of the boot whose files these are.
    pub(super) boot_id: u64,
    _native: RecommendedWatcher,
    heard: Arc<Notify>,
}

impl Watcher {
    /// `None` where the system can't watch (too many files, no inotify): then calls do the work themselves.
    pub(super) fn start(boot_id: u64, watch: &Watch) -> Option<Watcher> {
        let heard = Arc::new(Notify::new());
        let (tell, of) = (Arc::clone(&heard), watch.clone());
        let hear = move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| matters(&of, &event)) {
                tell.notify_one();
            }
        };
        let mut native = RecommendedWatcher::new(hear, notify::Config::default().with_follow_symlinks(false))
            .map_err(|error| warn(&error))
            .ok()?;
        for (dir, mode) in directories(&watch.targets()) {
            native.watch(&dir, mode).map_err(|error| warn(&error)).ok()?;
        }
        Some(Watcher {
            boot_id,
            _native: native,
            heard,
        })
    }

    /// Returns when something was saved and it has been quiet since.
    pub(super) async fn changed(&self) {
        self.heard.notified().await;
        while tokio::time::timeout(QUIET, self.heard.notified()).await.is_ok() {}
    }
}

/// A lost event may have been anything.
fn matters(watch: &Watch, event: &notify::Event) -> bool {
    let kind = match event.kind {
        EventKind::Access(_) => return event.need_rescan(),
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => ChangeKind::Modified,
        _ => ChangeKind::Created,
    };
    let change = |path: &PathBuf| Change {
        path: path.clone(),
        kind,
    };
    event.need_rescan()
        || event
            .paths
            .iter()
            .any(|path| watch.effect(&change(path)) > Effect::Nothing)
}

/// Trees with all below, and the directories of single files alone: a file that is replaced has another inode, so that
/// watching the file itself would miss it.
fn directories(targets: &[Target]) -> HashMap<PathBuf, RecursiveMode> {
    let mut directories = HashMap::new();
    for target in targets {
        match target {
            Target::Tree { dir, .. } if dir.is_dir() => _ = directories.insert(dir.clone(), RecursiveMode::Recursive),
            Target::File(path) => {
                if let Some(dir) = path.parent().filter(|dir| dir.is_dir()) {
                    beside(&mut directories, dir);
                }
            }
            Target::Named { dir, .. } => beside(&mut directories, dir),
            // A wide listing from the root down would mean to watch everything: then calls notice by themselves.
            Target::Listing { glob, exclude }
                if glob.dir.is_dir() && !(glob.is_deep() && contains(&glob.dir, exclude)) =>
            {
                if glob.is_deep() {
                    directories.insert(glob.dir.clone(), RecursiveMode::Recursive);
                } else {
                    beside(&mut directories, &glob.dir);
                }
            }
            Target::Tree { .. } | Target::Listing { .. } => {}
        }
    }
    directories
}

fn contains(dir: &Path, others: &[PathBuf]) -> bool {
    others.iter().any(|other| other.starts_with(dir))
}

fn beside(directories: &mut HashMap<PathBuf, RecursiveMode>, dir: &Path) {
    let watched = dir
        .ancestors()
        .any(|above| directories.get(above) == Some(&RecursiveMode::Recursive));
    if !watched {
        directories.entry(dir.to_owned()).or_insert(RecursiveMode::NonRecursive);
    }
}

fn warn(error: &notify::Error) {
    tracing::warn!(%error, "failed to watch the files of the app; saves are noticed at the next call");
}
