//! Which tests changed files concern: asks Git, the files and the records of earlier runs. Nothing is booted for it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::git::Git;
use super::setup::Setup;
use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::journal::touched::{TouchedStore, hash};
use crate::project::app_file::app_files;
use crate::project::changes::content;
use crate::project::concerned::{
    self, Because, Changed, Confidence, Known, Offers, Records, Row, Runs, SELECTORS, Sources, Subject, Texts,
    Unmatched, grouped, roots, surely,
};
use crate::project::diff::ChangedFile;
use crate::project::{Framework, Rules};

/// Files that a caller may name.
const NAMED: usize = 100;

/// Changed files that are looked at; more of them concern everything.
const CHANGED: usize = 1000;

/// Entries of each list besides the rows.
const LISTED: usize = 50;

/// What changes are told against, unless the caller says so.
const HEAD: &str = "HEAD";

#[derive(Debug, Clone, Default)]
pub struct ConcernArguments {
    /// Relative to the root.
    pub files: Vec<String>,
    pub since: Option<String>,
}

/// Which tests changed files concern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConcernReport {
    /// The commit whose changes these are, if Git was asked: all since the branch left it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Files that were looked at.
    pub files: usize,
    /// One for each framework that is concerned: a run is one framework's.
    pub runs: Vec<ConcernedRun>,
    /// Files for which nothing was found, with what to run instead. They are not in `runs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<Unmatched>,
    /// Files that no test can notice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub irrelevant: Vec<Because>,
    /// What this answer can't know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Entries that had no room, by list. `paths` is whole unless it is named here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<ConcernCut>,
}

/// Tests of one framework.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConcernedRun {
    pub framework: Framework,
    /// Everything has to be run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// The files that everything depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Because>,
    /// As `paths` of `rails_spec_run`.
    pub paths: Vec<String>,
    /// There were more tests than a call may name: directories stand for them, and for what else is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grouped: bool,
    /// How many tests are concerned, by name or reference.
    pub total: usize,
    /// The surest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Row>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConcernCut {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tests: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmatched: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub irrelevant: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub because: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warnings: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paths: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// # Errors
/// A file that is none of the app's; `GitUnavailable` or `RefNotFound` where Git has to be asked.
pub(super) async fn concern(setup: Setup, arguments: ConcernArguments) -> Result<ConcernReport> {
    let mut files = named(&setup, &arguments)?;
    let since = match (&arguments.since, files.is_empty()) {
        (Some(since), _) => Some(since.clone()),
        (None, true) => Some(HEAD.to_owned()),
        (None, false) => None,
    };
    if let Some(since) = &since {
        let git = Git::open(&setup).await?;
        files.extend(git.changed_files(&git.base(since).await?).await?);
    }
    files.sort();
    files.dedup_by(|one, other| one.path == other.path);
    let read = move || {
        let report = report(&setup, since, &files);
        within(report, setup.config.max_result_bytes)
    };
    spawn_blocking(read).await.map_err(super::panicked)
}

fn named(setup: &Setup, arguments: &ConcernArguments) -> Result<Vec<ChangedFile>> {
    if arguments.files.len() > NAMED {
        let message = format!("`files` names {} files, and may name {NAMED}", arguments.files.len());
        return Err(Error::new(Kind::InvalidArguments, message).hint("name fewer, or let Git say what was changed"));
    }
    let files = app_files(&setup.project.root, "files", &arguments.files)?;
    let changed = |file: crate::project::app_file::AppFile| ChangedFile {
        path: file.path,
        deleted: !file.exists,
    };
    Ok(files.into_iter().map(changed).collect())
}

fn report(setup: &Setup, since: Option<String>, files: &[ChangedFile]) -> ConcernReport {
    let (root, rules) = (&setup.project.root, rules(&setup.config));
    let sources = Sources::read(root, &rules);
    let changed = changed(root, &rules, &files[..files.len().min(CHANGED)]);
    let records = records(root, &changed);
    let answer = concerned::answer(&changed, &sources.tests, &sources.code, &records, &rules);
    let all: Vec<String> = sources.tests.iter().map(|test| test.path.clone()).collect();
    let named = since.is_none();
    let missing = files.iter().filter(|file| file.deleted && named);
    let missing = missing.map(|file| format!("there is no `{}`: it was taken for a file that is gone", file.path));
    let unread = (sources.unread > 0).then(|| format!("{} files were too many to be read", sources.unread));
    let more = files.len().saturating_sub(CHANGED);
    let more = (more > 0).then(|| format!("{more} more files were changed, too many to be looked at: run everything"));
    let runs = answer.runs.into_iter().map(|runs| run(runs, &all, &rules));
    ConcernReport {
        since,
        files: files.len(),
        runs: runs.collect(),
        unmatched: answer.unmatched,
        irrelevant: answer.nothing,
        warnings: missing.take(LISTED).chain(unread).chain(more).collect(),
        cut: None,
    }
}

fn rules(config: &Config) -> Rules {
    Rules::new(&config.spec_roots)
}

fn changed(root: &Path, rules: &Rules, files: &[ChangedFile]) -> Vec<Changed> {
    let mut texts = Texts::new(root);
    let mut changed = |file: &ChangedFile| {
        let defines = matches!(Subject::of(&file.path, rules), Subject::Support(_) | Subject::Factories);
        Changed {
            path: file.path.clone(),
            gone: file.deleted,
            offers: if defines {
                Offers::of(&texts.text(&file.path))
            } else {
                Offers::default()
            },
        }
    };
    files.iter().map(&mut changed).collect()
}

/// What earlier runs told of these files, and whether it still holds.
fn records(root: &Path, changed: &[Changed]) -> Records {
    let kept = TouchedStore::find(root).map_or(Vec::new(), |store| store.read());
    let mut hashes: HashMap<String, Option<String>> = HashMap::new();
    let mut differs = |path: &str, then: &str| {
        let now = hashes.entry(path.to_owned());
        let now = now.or_insert_with(|| content(&root.join(path)).map(|bytes| hash(&bytes)));
        now.as_deref() != Some(then)
    };
    let wanted: HashSet<&str> = changed.iter().map(|changed| changed.path.as_str()).collect();
    let mut records = Records::default();
    for record in kept {
        let test_changed = differs(&record.test, &record.hash);
        if record.whole && !test_changed {
            records.whole.insert(record.test.clone());
        }
        for file in record.files.iter().filter(|file| wanted.contains(file.path.as_str())) {
            records.known.push(Known {
                test: record.test.clone(),
                file: file.path.clone(),
                time: record.time.clone(),
                test_changed,
                file_changed: differs(&file.path, &file.hash),
            });
        }
    }
    records
}

fn run(runs: Runs, all: &[String], rules: &Rules) -> ConcernedRun {
    let Runs {
        framework,
        all_because,
        tests,
    } = runs;
    let every = !all_because.is_empty();
    let of = |path: &&String| Framework::of_file(path) == Some(framework);
    let (paths, grouped) = match every {
        // One directory each, if there are not too many of them.
        true => (roots(all.iter().filter(of), rules), false),
        false => {
            let tests: Vec<String> = tests.iter().map(|row| row.path.clone()).collect();
            grouped(&tests, rules, SELECTORS)
        }
    };
    ConcernedRun {
        framework,
        all: every,
        because: all_because,
        paths,
        grouped,
        total: tests.len(),
        tests,
    }
}

/// Leaves this many entries of one of the lists, and counts the others.
type Shorten = fn(&mut ConcernReport, &mut ConcernCut, usize);

/// What goes first where there is no room: the rows of which the least is known. Without its selectors it is of no use.
const SHORTEN: [Shorten; 6] = [
    |report, cut, most| cut.tests += of_runs(report, |run| keep(&mut run.tests, most)),
    |report, cut, most| cut.irrelevant += keep(&mut report.irrelevant, most),
    |report, cut, most| cut.because += of_runs(report, |run| keep(&mut run.because, most)),
    |report, cut, most| cut.unmatched += keep(&mut report.unmatched, most),
    |report, cut, most| cut.warnings += keep(&mut report.warnings, most),
    |report, cut, most| cut.paths += of_runs(report, |run| keep(&mut run.paths, most)),
];

fn of_runs(report: &mut ConcernReport, shorten: impl Fn(&mut ConcernedRun) -> usize) -> usize {
    report.runs.iter_mut().map(shorten).sum()
}

/// In so many bytes.
fn within(mut report: ConcernReport, most: usize) -> ConcernReport {
    let mut cut = ConcernCut {
        unmatched: keep(&mut report.unmatched, LISTED),
        irrelevant: keep(&mut report.irrelevant, LISTED),
        because: of_runs(&mut report, |run| keep(&mut run.because, LISTED)),
        ..ConcernCut::default()
    };
    let fits = |report: &mut ConcernReport, cut: &ConcernCut| {
        report.cut = (*cut != ConcernCut::default()).then(|| cut.clone());
        serde_json::to_string(report).map_or(0, |text| text.len()) <= most
    };
    let rows = report.runs.iter().map(|run| run.tests.len()).max().unwrap_or(0);
    for shorten in SHORTEN {
        let mut entries = rows.max(SELECTORS);
        while !fits(&mut report, &cut) && entries > 0 {
            entries = entries * 3 / 4;
            shorten(&mut report, &mut cut, entries);
        }
    }
    report
}

/// The first ones; says how many were left out.
fn keep<T>(list: &mut Vec<T>, most: usize) -> usize {
    let more = list.len().saturating_sub(most);
    list.truncate(most);
    more
}

impl ConcernReport {
    /// The tests among `selected` that are concerned, if it is sure enough to leave out the others ([`surely`]).
    pub fn narrowed(&self, selected: &[String]) -> Option<Vec<String>> {
        let is_whole = self.unmatched.is_empty() && self.warnings.is_empty() && self.cut.is_none();
        if !is_whole || self.runs.iter().any(|run| run.all) {
            return None;
        }
        let rows: Vec<&Row> = self.runs.iter().flat_map(|run| &run.tests).collect();
        surely(&rows, selected)
    }
}

impl ConcernedRun {
    /// How many of the rows that are told are as sure as that.
    pub fn sure(&self, confidence: Confidence) -> usize {
        self.tests.iter().filter(|row| row.confidence == confidence).count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Because, ConcernReport, ConcernedRun, Confidence, Framework, Row, Unmatched, within};

    fn report(unmatched: usize, tests: usize) -> ConcernReport {
        let long = |n: usize| format!("app/{n}{}.rb", "x".repeat(200));
        let because = |n: usize| Because {
            path: long(n),
            reason: "no test can notice it".to_owned(),
        };
        let test = |n: usize| Row {
            path: long(n),
            confidence: Confidence::Low,
            reasons: vec![long(n)],
        };
        let unmatched = (0..unmatched).map(|n| Unmatched {
            path: long(n),
            reason: "no test was seen".to_owned(),
            run: vec!["spec".to_owned()],
        });
        let unmatched: Vec<_> = unmatched.collect();
        ConcernReport {
            since: None,
            files: unmatched.len(),
            runs: vec![ConcernedRun {
                framework: Framework::Rspec,
                all: false,
                because: (0..tests).map(because).collect(),
                paths: (0..tests).map(long).collect(),
                grouped: false,
                total: tests,
                tests: (0..tests).map(test).collect(),
            }],
            irrelevant: (0..unmatched.len()).map(because).collect(),
            warnings: (0..unmatched.len()).map(long).collect(),
            unmatched,
            cut: None,
        }
    }

    #[test]
    fn an_answer_is_within_its_bytes_and_counts_what_is_not_in_it() {
        for (unmatched, tests) in [(100, 0), (0, 100), (40, 40), (1, 1000)] {
            for most in [4096, 24 * 1024] {
                let told = within(report(unmatched, tests), most);
                let (run, cut) = (&told.runs[0], told.cut.clone().unwrap_or_default());
                assert!(serde_json::to_string(&told).unwrap().len() <= most, "{most} {cut:?}");
                assert_eq!(told.unmatched.len() + cut.unmatched, unmatched);
                assert_eq!(told.irrelevant.len() + cut.irrelevant, unmatched);
                assert_eq!(told.warnings.len() + cut.warnings, unmatched);
                assert_eq!(run.tests.len() + cut.tests, tests);
                assert_eq!(run.because.len() + cut.because, tests);
                assert_eq!(run.paths.len() + cut.paths, tests);
            }
        }
        assert_eq!(within(report(40, 40), usize::MAX).cut, None);
    }
}
