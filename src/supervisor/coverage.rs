//! Which lines a run shall be asked for, and what is kept of what it told.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use tokio::task::spawn_blocking;

use super::call::{Checked, RunArguments};
use super::git::Git;
use super::setup::Setup;
use crate::config::{Config, Fork};
use crate::error::{Error, Kind, Result};
use crate::journal::time;
use crate::journal::touched::{TestRecord, TouchedFile, TouchedStore, hash};
use crate::project::app_file::app_files;
use crate::project::changes::content;
use crate::project::diff::ChangedLines;
use crate::project::roots::Place;
use crate::project::since::file_time;
use crate::project::{Filter, Rules};
use crate::run::coverage::{CoverageLog, CoverageReport, Target, Targets, Unmeasured};
use crate::run::log::RunLog;

/// Files that a caller may name.
const NAMED: usize = 100;

/// Changed files of which lines are told.
const CHANGED: usize = 500;

/// What changes are told against.
const HEAD: &str = "HEAD";

/// Of which files lines are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those that differ from the last commit, and their lines that do.
    Changed,
    /// These, relative to the root.
    Files(Vec<String>),
}

/// A run that is measured.
#[derive(Debug, Clone)]
pub(super) struct Measuring {
    targets: Targets,
    begun: SystemTime,
}

/// What a caller asks for, checked.
///
/// # Errors
/// `InvalidArguments`: a file that is none of the app's, too many of them, or a fork, which can't be measured.
pub(super) fn scope(root: &Path, arguments: &RunArguments) -> Result<Option<Scope>> {
    let Some(scope) = &arguments.coverage else {
        return Ok(None);
    };
    if arguments.fork == Some(Fork::Always) {
        let message = "`coverage` can't be had with `fork: \"always\"`: a warm process has loaded the code before";
        return Err(Error::new(Kind::InvalidArguments, message).hint("leave out one of them"));
    }
    let Scope::Files(named) = scope else {
        return Ok(Some(Scope::Changed));
    };
    if named.len() > NAMED {
        let message = format!("`coverage_files` names {} files, and may name {NAMED}", named.len());
        return Err(Error::new(Kind::InvalidArguments, message).hint("name fewer files"));
    }
    let files = app_files(root, "coverage_files", named)?;
    if let Some(missing) = files.iter().find(|file| !file.exists) {
        let message = format!("`coverage_files` names `{}`, which is not there", missing.path);
        return Err(Error::new(Kind::InvalidArguments, message).hint("name files of the app, relative to its root"));
    }
    Ok(Some(Scope::Files(files.into_iter().map(|file| file.path).collect())))
}

impl Measuring {
    /// What is to be measured, as the files are now.
    pub(super) async fn of(setup: &Setup, scope: &Scope) -> Measuring {
        let targets = match scope {
            Scope::Files(files) => named(files),
            Scope::Changed => changed(setup).await,
        };
        Measuring {
            targets,
            begun: file_time(),
        }
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.targets.paths()
    }

    pub(super) fn report(&self, root: &Path, log: &CoverageLog) -> CoverageReport {
        CoverageReport::new(&self.targets, log, &|path| saved(&root.join(path), self.begun))
    }

    /// Keeps which files of the app each test file ran lines of. Whatever goes wrong with it, no call notices it.
    pub(super) async fn learn(&self, call: &Checked, log: &RunLog) {
        let mut touched: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (test, file) in &log.coverage.touched {
            touched.entry(test.clone()).or_default().push(file.clone());
        }
        let (root, begun) = (call.root().clone(), self.begun);
        let (ended, parts) = (
            log.finished.is_some_and(|finish| !finish.quit) && log.not_run() == 0,
            parts(call),
        );
        let whole = move |test: &String| ended && !parts.contains(test);
        let learnt = spawn_blocking(move || {
            let records = touched.into_iter().filter_map(|(test, files)| {
                let whole = whole(&test);
                record(&root, test, files, begun).map(|record| TestRecord { whole, ..record })
            });
            TouchedStore::find(&root)?.learn(records.collect())
        });
        if let Ok(Err(error)) = learnt.await {
            tracing::warn!(%error, "failed to keep what a run with coverage has told");
        }
    }
}

/// Test files of which not everything was asked for.
fn parts(call: &Checked) -> Vec<String> {
    let named = call.arguments.example.is_some();
    let selectors = call.selection.selectors.iter();
    let parts = selectors.filter(|selector| named || selector.filter != Filter::All);
    parts.map(|selector| selector.path.clone()).collect()
}

/// None if its file is not what ran any more.
fn record(root: &Path, test: String, files: Vec<String>, begun: SystemTime) -> Option<TestRecord> {
    let hash_of = |path: &str| {
        let at = root.join(path);
        let bytes = content(&at).filter(|_| !saved(&at, begun))?;
        Some(hash(&bytes))
    };
    let touched = files.into_iter().filter_map(|path| {
        let hash = hash_of(&path)?;
        Some(TouchedFile { path, hash })
    });
    Some(TestRecord {
        hash: hash_of(&test)?,
        time: time::utc(SystemTime::now()),
        whole: false,
        files: touched.collect(),
        test,
    })
}

fn saved(path: &Path, since: SystemTime) -> bool {
    let modified = fs::metadata(path).and_then(|found| found.modified());
    modified.is_ok_and(|modified| modified > since)
}

fn named(files: &[String]) -> Targets {
    let target = |path: &String| Target {
        path: path.clone(),
        lines: None,
    };
    Targets {
        files: files.iter().map(target).collect(),
        ..Targets::default()
    }
}

async fn changed(setup: &Setup) -> Targets {
    match changed_lines(setup).await {
        Ok(changed) => of_changed(&setup.config, changed),
        Err(error) => Targets {
            since: Some(HEAD.to_owned()),
            error: Some(error),
            ..Targets::default()
        },
    }
}

async fn changed_lines(setup: &Setup) -> Result<Vec<ChangedLines>> {
    let git = Git::open(setup).await?;
    git.changed_lines(&git.base(HEAD).await?).await
}

/// The app's own: tests are what runs them.
fn of_changed(config: &Config, changed: Vec<ChangedLines>) -> Targets {
    let rules = Rules::new(&config.spec_roots);
    let of_app = changed
        .into_iter()
        .filter(|file| rules.place(&file.path) != Place::Within);
    let (ruby, others): (Vec<_>, Vec<_>) = of_app.partition(|file| is_ruby(&file.path));
    let unmeasured = |path: &String, reason: &str| Unmeasured {
        path: path.clone(),
        reason: reason.to_owned(),
    };
    let others = others
        .iter()
        .map(|file| unmeasured(&file.path, "lines are known of Ruby files only"));
    let too_many = ruby.iter().skip(CHANGED);
    let too_many = too_many.map(|file| unmeasured(&file.path, "too many files were changed"));
    let target = |file: &ChangedLines| Target {
        path: file.path.clone(),
        lines: Some(file.lines.clone()),
    };
    Targets {
        since: Some(HEAD.to_owned()),
        unmeasured: others.chain(too_many).collect(),
        files: ruby.iter().take(CHANGED).map(target).collect(),
        error: None,
    }
}

fn is_ruby(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".rb", ".rake", ".ru"].iter().any(|ending| name.ends_with(ending)) || name == "Rakefile"
}
