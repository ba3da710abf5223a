//! `--watch`: runs again what a save concerns.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::Job;
use crate::cli::session::ask;
use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::project::concerned::Saved;
use crate::project::{Rules, concerned};
use crate::supervisor::concern::ConcernReport;

/// An editor saves in several steps, and a checkout changes many files: how long it must be quiet.
const QUIET: Duration = Duration::from_millis(100);

/// Files that are named of one save.
const NAMED: usize = 5;

/// Files of one save that are looked into; a checkout changes many, and may concern everything.
const ASKED: usize = 5;

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

/// Files of one directory that came to be with all that is in it.
const FILES: usize = 1000;

/// Until Ctrl-C; the exit code is that of the last run.
pub(super) async fn watch(job: &mut Job<'_>, parts: Vec<Vec<String>>) -> Result<ExitCode> {
    let terminal = job.context.terminal;
    let mut saves = Saves::listen(job.root)?;
    let selectors = parts.concat();
    let mut next = parts.clone();
    loop {
        let last = match again(job, &next).await {
            Ok(code) => code,
            // Nobody wants it.
            Err(error) if error.kind == Kind::Cancelled => return Err(error),
            // A broken file or configuration is mended by the next save; a server that went away is replaced then.
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
            if changed.is_empty() {
                continue;
            }
            let exists = |path: &str| job.root.join(path).is_file();
            let rules = Rules::new(&Config::load(job.root).unwrap_or_default().spec_roots);
            let saved = concerned::saved(&changed, &selectors, &rules, &exists);
            let next = concerned_by(job, saved, &selectors).await;
            let stands = |path: &str| path.starts_with('@') || job.root.join(path).exists();
            let (next, gone) = match next {
                Some(next) => {
                    let (there, gone) = concerned::there(&next, &stands);
                    (Some(there).filter(|there| !there.is_empty()), gone)
                }
                None => (None, Vec::new()),
            };
            let left_out = match gone.is_empty() {
                true => String::new(),
                false => format!("; left out, since there is no such file: {}", named(&gone)),
            };
            let meant = match &next {
                None if gone.is_empty() => "; it concerns none of these tests".to_owned(),
                None => String::new(),
                Some(all) if *all == selectors => String::new(),
                Some(some) => format!("; of these tests it concerns {}", named(some)),
            };
            terminal.remark(
                &terminal
                    .err
                    .dim(&format!("changed: {}{meant}{left_out}\n", named(&changed))),
            );
            if let Some(next) = next {
                break split(&next, &parts);
            }
        };
    }
}

/// What is to be run after a save, if anything: all of it where nobody knows better for sure.
async fn concerned_by(job: &Job<'_>, saved: Saved, selected: &[String]) -> Option<Vec<String>> {
    let mut run = saved.tests;
    if saved.others.len() > ASKED {
        return Some(selected.to_vec());
    }
    for file in &saved.others {
        match narrowed(job, file, selected).await {
            Some(tests) => run.extend(tests),
            None => return Some(selected.to_vec()),
        }
    }
    run.sort();
    run.dedup();
    (!run.is_empty()).then_some(run)
}

/// As `coatepec for` has it.
async fn narrowed(job: &Job<'_>, file: &str, selected: &[String]) -> Option<Vec<String>> {
    let answer = ask(&job.client, "rails_spec_for", json!({ "files": [file] }))
        .await
        .ok()?;
    let report: ConcernReport = serde_json::from_value(answer).ok()?;
    report.narrowed(selected)
}

/// What is to be run, in the runs that it belongs to.
fn split(next: &[String], parts: &[Vec<String>]) -> Vec<Vec<String>> {
    let [_, _, ..] = parts else {
        return vec![next.to_vec()];
    };
    let belongs = |selector: &String, part: &[String]| {
        let above = |dir: &String| selector.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        part.contains(selector) || part.iter().any(above)
    };
    let of = |part: &Vec<String>| {
        next.iter()
            .filter(|one| belongs(one, part))
            .cloned()
            .collect::<Vec<_>>()
    };
    parts.iter().map(of).filter(|run| !run.is_empty()).collect()
}

/// With the server that is there, or with another one when that has gone away in the meantime.
async fn again(job: &mut Job<'_>, parts: &[Vec<String>]) -> Result<u8> {
    if job.client.is_lost() {
        job.client = job.server.connect().await?;
    }
    job.each(parts).await
}

/// The first of them; a checkout saves many.
fn named(changed: &[String]) -> String {
    let shown = changed
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match changed.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What the system tells of a change.
struct Heard {
    paths: Vec<PathBuf>,
    /// They came to be, or have another name now.
    new: bool,
}

struct Saves<'a> {
    heard: UnboundedReceiver<Heard>,
    watcher: RecommendedWatcher,
    root: &'a Path,
}

impl<'a> Saves<'a> {
    fn listen(root: &'a Path) -> Result<Saves<'a>> {
        let (tell, heard) = unbounded_channel();
        let hear = move |event: notify::Result<Event>| {
            if let Ok(Event { kind, paths, .. }) = event
                && !matches!(kind, EventKind::Access(_))
            {
                let new = matches!(kind, EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)));
                let _ = tell.send(Heard { paths, new });
            }
        };
        let settings = notify::Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(hear, settings).map_err(failed)?;
        let mut saves = Saves { heard, watcher, root };
        saves.watcher.watch(root, RecursiveMode::NonRecursive).map_err(failed)?;
        for entry in root.read_dir()?.flatten() {
            if entry.file_type()?.is_dir() {
                saves.watch_below(&entry.path())?;
            }
        }
        Ok(saves)
    }

    /// A directory directly in the root.
    fn watch_below(&mut self, dir: &Path) -> Result<()> {
        match LEFT_OUT.iter().any(|name| dir.file_name() == Some(OsStr::new(name))) {
            true => Ok(()),
            false => self.watcher.watch(dir, RecursiveMode::Recursive).map_err(failed),
        }
    }

    /// What was saved, once it has been quiet: paths relative to the root.
    async fn next(&mut self) -> Vec<String> {
        let mut paths = BTreeSet::new();
        match self.heard.recv().await {
            Some(first) => self.take(first, &mut paths),
            None => std::future::pending().await,
        }
        while let Ok(Some(more)) = timeout(QUIET, self.heard.recv()).await {
            self.take(more, &mut paths);
        }
        let relative = |path: &PathBuf| Some(path.strip_prefix(self.root).ok()?.to_str()?.to_owned());
        let paths = paths.iter().filter_map(relative);
        paths.filter(|path| concerned::is_edit(path)).collect()
    }

    /// Of a directory that is new, what is in it was not told, or only in part.
    fn take(&mut self, Heard { paths: heard, new }: Heard, paths: &mut BTreeSet<PathBuf>) {
        for path in heard {
            let dir = new && path.symlink_metadata().is_ok_and(|found| found.is_dir());
            if dir && path.parent() == Some(self.root) {
                // Gone again by now, at worst.
                let _ = self.watch_below(&path);
            }
            match dir {
                true => paths.extend(files_below(&path)),
                false => _ = paths.insert(path),
            }
        }
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let (mut dirs, mut files) = (vec![dir.to_owned()], Vec::new());
    while let Some(dir) = dirs.pop().filter(|_| files.len() < FILES) {
        for entry in dir.read_dir().into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

fn failed(error: notify::Error) -> Error {
    Error::internal("failed to watch the files of the app").source(error)
}
