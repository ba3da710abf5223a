//! `--watch`: runs again what a save concerns.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use notify::event::EventKind;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Job, exit};
use crate::error::{Error, Kind, Result};
use crate::project::concerned;

/// An editor saves in several steps, and a checkout changes many files: how long it must be quiet.
const QUIET: Duration = Duration::from_millis(100);

/// Directories that are large or written by runs, and of which no save concerns a test.
const LEFT_OUT: [&str; 8] = [
    "log",
    "tmp",
    "storage",
    "coverage",
    "node_modules",
    "public",
    "vendor",
    ".git",
];

/// Until Ctrl-C; the exit code is that of the last run.
pub(super) async fn watch(job: Job<'_>, selectors: Vec<String>) -> Result<ExitCode> {
    let terminal = job.context.terminal;
    let (saves, _watcher) = listen(job.root)?;
    let mut saves = Saves { saves, root: job.root };
    let mut next = selectors.clone();
    loop {
        let last = match job.once(&next).await {
            Ok(outcome) => exit::exit_code(outcome),
            // Nobody is there any more who could run anything, or nobody wants it.
            Err(error) if [Kind::ServerLost, Kind::Cancelled].contains(&error.kind) => return Err(error),
            // A broken file or configuration is mended by the next save.
            Err(error) => {
                terminal.complain(&error);
                error.kind.exit_code()
            }
        };
        if last == 130 {
            return Ok(ExitCode::from(last));
        }
        terminal.remark(&terminal.err.dim("\nwaiting for a save; Ctrl-C ends\n"));
        next = loop {
            let changed = tokio::select! {
                changed = saves.next() => changed,
                () = job.interrupts.next() => return Ok(ExitCode::from(last)),
            };
            let exists = |path: &str| job.root.join(path).is_file();
            if let Some(next) = concerned::concerned(&changed, &selectors, &exists) {
                terminal.remark(&terminal.err.dim(&format!("changed: {}\n", changed.join(", "))));
                break next;
            }
        };
    }
}

fn listen(root: &Path) -> Result<(UnboundedReceiver<Vec<PathBuf>>, RecommendedWatcher)> {
    let failed = |error: notify::Error| Error::internal("failed to watch the files of the app").source(error);
    let (tell, saves) = unbounded_channel();
    let hear = move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && !matches!(event.kind, EventKind::Access(_))
        {
            let _ = tell.send(event.paths);
        }
    };
    let mut watcher =
        RecommendedWatcher::new(hear, notify::Config::default().with_follow_symlinks(false)).map_err(failed)?;
    watcher.watch(root, RecursiveMode::NonRecursive).map_err(failed)?;
    for entry in root.read_dir()?.flatten() {
        let left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
        if entry.file_type()?.is_dir() && !left_out {
            watcher.watch(&entry.path(), RecursiveMode::Recursive).map_err(failed)?;
        }
    }
    Ok((saves, watcher))
}

struct Saves<'a> {
    saves: UnboundedReceiver<Vec<PathBuf>>,
    root: &'a Path,
}

impl Saves<'_> {
    /// What was saved, once it has been quiet: paths relative to the root.
    async fn next(&mut self) -> Vec<String> {
        let mut paths: BTreeSet<PathBuf> = match self.saves.recv().await {
            Some(first) => first.into_iter().collect(),
            None => std::future::pending().await,
        };
        while let Ok(Some(more)) = tokio::time::timeout(QUIET, self.saves.recv()).await {
            paths.extend(more);
        }
        let relative = |path: &PathBuf| Some(path.strip_prefix(self.root).ok()?.to_str()?.to_owned());
        paths.iter().filter_map(relative).collect()
    }
}
