//! Runs a selection several times, each in a fork of its own, and tells what fails only now and then; finds what has to
//! run before an example for it to fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::Supervisor;
use super::call::RunArguments;
use super::setup::Setup;
use super::{panicked, seconds_since};
use crate::config::{self, IncludeStdout};
use crate::error::{Error, Kind, Result};
use crate::project::Framework;
use crate::project::changes::{Snapshot, Target};
use crate::reading::budget;
use crate::run::TIMEOUT_SECONDS;
use crate::run::cause::{self, Answer, Became, BisectReport, Stop, Trial, Tried, Tries};
use crate::run::flaky::{self, Rounds, Tally};
use crate::run::outcome::Outcome;
use crate::run::paths::{Paths, selector};
use crate::run::report::Report;
use crate::run::results::{self, Results};
use crate::worker::freshness::{self, Watch};

/// Rounds: the least, the default and the most.
pub const ROUNDS: (u32, u32, u32) = (2, 10, 100);
/// Seconds for all of it: the least, the default (less than any client waits for an answer) and the most.
pub const BUDGET_SECONDS: (u64, u64, u64) = (1, 45, 900);

#[derive(Debug, Clone, Default)]
pub struct FlakyArguments {
    pub run: RunArguments,
    pub rounds: Option<u32>,
    pub budget_seconds: Option<u64>,
    pub bisect: bool,
    /// The selector of the example whose failure is to be explained.
    pub failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlakyOutcome {
    /// Something failed in some rounds and passed in others.
    Flaky,
    /// What failed did so in every round.
    ConsistentlyFailing,
    /// Nothing failed in any round.
    NeverFailed,
    /// A round tested nothing: `report` has why, or `changed`.
    NotRun,
}

/// Why the rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All that failed has passed as well.
    Proven,
    /// All were run.
    Rounds,
    /// The time was used up.
    Budget,
    /// One tested nothing.
    NotRun,
    /// Files changed: `changed` has which. The round or run meanwhile counts for nothing.
    Changed,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlakyReport {
    pub outcome: FlakyOutcome,
    pub rounds: u32,
    pub rounds_planned: u32,
    pub ended: Ended,
    /// What ended the check: "app/models/widget.rb was modified".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Of the selection, as a run of it has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inconsistent: Vec<Tally>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consistently_failing: Vec<Tally>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bisect: Option<BisectReport>,
    /// What a person would type to see the failure that `bisect` explains, or else the first inconsistent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Of the round that tested nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<Report>>,
    pub seconds: f64,
    pub budget_seconds: u64,
    /// How much had no room, by place: `consistently_failing` examples, characters of `bisect.command`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cut: BTreeMap<String, u64>,
}

impl FlakyReport {
    /// In at most `limit` bytes, half of them for `report` at the most.
    pub fn within(mut self, limit: usize) -> FlakyReport {
        let report = self.report.take().map(|report| Box::new(report.within(limit / 2)));
        let frame = r#","report":"#.len();
        let size = report.as_ref().map_or(0, |report| report.to_json().len() + frame);
        let told = serde_json::to_value(&self).unwrap_or_default();
        let fitting = serde_json::from_value(budget::within(told, limit - size.min(limit)));
        FlakyReport {
            report,
            ..fitting.unwrap_or(self)
        }
    }
}

/// One run of many.
struct Served {
    report: Report,
    results: Results,
}

/// One check under way.
struct Check<'a> {
    supervisor: &'a Supervisor,
    cancel: CancellationToken,
    run: RunArguments,
    until: Instant,
    files: Files,
    /// What changed since it began, once that is known.
    changed: OnceLock<Vec<String>>,
    /// Of the first run of all that is checked.
    warnings: OnceLock<Vec<String>>,
}

/// The rounds of a check.
struct Played {
    rounds: Rounds,
    ended: Ended,
    /// Of the round that tested nothing.
    idle: Option<Report>,
}

/// # Errors
/// As of [`Supervisor::run`], and what is wrong with the numbers or with `failure`.
pub(super) async fn check(
    supervisor: &Supervisor,
    arguments: FlakyArguments,
    cancel: CancellationToken,
) -> Result<FlakyReport> {
    let started = Instant::now();
    let planned = within("rounds", arguments.rounds, ROUNDS)?;
    let budget_seconds = within("budget_seconds", arguments.budget_seconds, BUDGET_SECONDS)?;
    needs_bisect(&arguments)?;
    let setup = supervisor.setup().await?;
    let limit = setup.config.max_result_bytes;
    let check = Check {
        supervisor,
        cancel,
        run: quiet(arguments.run),
        until: started + Duration::from_secs(budget_seconds),
        files: Files::of(setup).await?,
        changed: OnceLock::new(),
        warnings: OnceLock::new(),
    };
    let (named, played) = check.played(planned, arguments.failure.as_deref()).await?;
    let Played { rounds, ended, idle } = played;
    let bisect = match ended {
        Ended::NotRun | Ended::Changed => None,
        _ if arguments.bisect => check.bisect(&rounds, named.as_ref()).await?,
        _ => None,
    };
    let report = FlakyReport {
        outcome: outcome(&rounds, idle.is_some() || rounds.rounds == 0),
        rounds: rounds.rounds,
        rounds_planned: planned,
        ended,
        changed: check.changed.into_inner().unwrap_or_default(),
        // A round that tested nothing tells them itself.
        warnings: check
            .warnings
            .into_inner()
            .filter(|_| idle.is_none())
            .unwrap_or_default(),
        inconsistent: rounds.inconsistent(),
        consistently_failing: rounds.always_failing(),
        bisect,
        command: rounds.command(named.as_ref().map(Named::ids)),
        report: idle.map(Box::new),
        seconds: seconds_since(started),
        budget_seconds,
        cut: BTreeMap::new(),
    };
    Ok(report.within(limit))
}

/// What `failure` stands for.
struct Named {
    given: String,
    ids: Vec<String>,
}

impl Named {
    fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Of the first round.
    fn must_be_in(&self, results: &Results) -> Result<()> {
        let ran = results.examples.iter().map(|example| &example.id);
        let mut there = ran.chain(&results.not_run);
        if there.any(|id| self.ids.contains(id)) {
            return Ok(());
        }
        Err(self.none())
    }

    fn none(&self) -> Error {
        let message = format!("`{}` is none of the examples that were run", self.given);
        Error::new(Kind::InvalidSelector, message).hint("name a failure of this selection, or none")
    }
}

fn needs_bisect(arguments: &FlakyArguments) -> Result<()> {
    if arguments.bisect || arguments.failure.is_none() {
        return Ok(());
    }
    let message = "`failure` says what `bisect` is to explain, and `bisect` was not asked for";
    Err(Error::new(Kind::InvalidArguments, message).hint("add `bisect: true`, or leave `failure` out"))
}

impl Check<'_> {
    /// Nothing if it was not of the same files as those before it.
    async fn run(&self, arguments: RunArguments) -> Answer<Served> {
        let of_all = !arguments.list && arguments.paths == self.run.paths && arguments.example == self.run.example;
        let over = self.supervisor.served(arguments, &self.cancel).await;
        let own = self.supervisor.written_by_app().await;
        let changed = self.files.changes(own).await?;
        if !changed.is_empty() && !self.cancel.is_cancelled() {
            self.changed.get_or_init(|| changed);
            return Err(Stop::Changed);
        }
        let over = over?;
        let report = over.report();
        if of_all {
            self.warnings.get_or_init(|| report.warnings.clone());
        }
        Ok(Served {
            report,
            results: over.results(),
        })
    }

    /// Nothing if the time is used up, or was before the run came to its end: what an example did is not known then.
    async fn within_budget(&self, arguments: RunArguments) -> Answer<Served> {
        let now = Instant::now();
        let left = self.until.saturating_duration_since(now).as_secs();
        let own = arguments.timeout_seconds;
        if now >= self.until {
            return Err(Stop::TimeUp);
        }
        let (least, usual, _) = TIMEOUT_SECONDS;
        let shortened = left.max(least);
        let cut = shortened < own.unwrap_or(usual);
        let served = self
            .run(RunArguments {
                timeout_seconds: if cut { Some(shortened) } else { own },
                ..arguments
            })
            .await?;
        match served.report.outcome {
            Outcome::TimedOut if cut => Err(Stop::TimeUp),
            _ => Ok(served),
        }
    }

    /// The rounds, and what `failure` stands for.
    async fn played(&self, planned: u32, failure: Option<&str>) -> Result<(Option<Named>, Played)> {
        let named = match failure {
            Some(failure) => self.named(failure).await.map(Some),
            None => Ok(None),
        };
        let mut rounds = Rounds::default();
        let (named, end) = match named {
            Ok(named) => {
                let end = self.play(&mut rounds, planned, named.as_ref()).await;
                (named, end)
            }
            Err(stop) => (None, Err(stop)),
        };
        let (ended, idle) = match end {
            Ok(end) => end,
            Err(Stop::TimeUp) => (Ended::Budget, None),
            Err(Stop::Changed) => (Ended::Changed, None),
            Err(Stop::Broken(error)) => return Err(error),
        };
        Ok((named, Played { rounds, ended, idle }))
    }

    /// The framework itself says which examples it takes `failure` for.
    async fn named(&self, failure: &str) -> Answer<Named> {
        let listing = RunArguments {
            paths: vec![failure.to_owned()],
            example: None,
            list: true,
            ..self.run.clone()
        };
        let Served { report, results } = self.run(listing).await?;
        let listed = results.listed.iter().map(|listed| selector(&listed.example.id));
        let named = Named {
            given: failure.to_owned(),
            ids: listed.chain([failure.to_owned()]).collect(),
        };
        match report.outcome {
            Outcome::NoExamples => Err(named.none().into()),
            _ => Ok(named),
        }
    }

    /// Why they ended, and the report of the one that tested nothing.
    async fn play(&self, rounds: &mut Rounds, planned: u32, named: Option<&Named>) -> Answer<(Ended, Option<Report>)> {
        while rounds.rounds < planned {
            let Served { report, results } = match rounds.rounds {
                0 => self.run(self.run.clone()).await?,
                _ => self.within_budget(self.run.clone()).await?,
            };
            let tells = match rounds.rounds {
                // What was named and is not there may be the very example that is wanted.
                0 => flaky::tested(report.outcome) && !results.unmatched,
                _ => results::tells_of_examples(report.outcome),
            };
            if !tells {
                return Ok((Ended::NotRun, Some(report)));
            }
            if let (0, Some(named)) = (rounds.rounds, named) {
                named.must_be_in(&results)?;
            }
            rounds.add(&results, &report);
            if rounds.is_proven(named.map(Named::ids)) {
                return Ok((Ended::Proven, None));
            }
        }
        Ok((Ended::Rounds, None))
    }

    /// Nothing if no example failed, and none was named.
    async fn bisect(&self, rounds: &Rounds, named: Option<&Named>) -> Result<Option<BisectReport>> {
        let failure = rounds.failure(named.map(Named::ids));
        let Some(case) = failure.and_then(|tally| rounds.case(tally)) else {
            return Ok(named.map(|named| BisectReport::never_failed(named.given.clone())));
        };
        let mut again = Again {
            check: self,
            id: &case.id,
            files: files(rounds.ids()),
        };
        cause::explain(&case, &mut again).await.map(Some)
    }
}

/// What all runs of a check are to be of: code, tests and settings, as they were when it began. What tests write beside
/// that is their own.
struct Files {
    root: PathBuf,
    targets: Vec<Target>,
    then: Arc<Mutex<Snapshot>>,
}

impl Files {
    async fn of(setup: Setup) -> Result<Files> {
        let root = setup.project.root.clone();
        let code = Watch::before_boot(&root, setup.test_dirs()).targets();
        let more = [
            Target::File(root.join(config::FILE)),
            Target::Tree {
                dir: root.join("app"),
                extensions: None,
                exclude: Vec::new(),
                links: true,
            },
        ];
        let targets: Vec<Target> = code.into_iter().chain(more).collect();
        let look = targets.clone();
        let then = spawn_blocking(move || Snapshot::take(&look)).await.map_err(panicked)?;
        Ok(Files {
            root,
            targets,
            then: Arc::new(Mutex::new(then)),
        })
    }

    /// Since then, each in words, but for those that the app's boot wrote.
    async fn changes(&self, own: BTreeSet<PathBuf>) -> Result<Vec<String>> {
        let (then, targets) = (Arc::clone(&self.then), self.targets.clone());
        let look = move || {
            let now = Snapshot::look(&targets);
            then.lock().unwrap_or_else(PoisonError::into_inner).diff(&now)
        };
        let changes = spawn_blocking(look).await.map_err(panicked)?;
        let paths = Paths::new(&self.root, std::env::home_dir());
        let saved = |path: &Path| !own.contains(path) && !freshness::of_an_editor(path);
        let changes = changes.iter().filter(|change| saved(&change.path));
        Ok(changes
            .map(|change| format!("{} was {}", paths.file(&change.path), change.kind.past()))
            .collect())
    }
}

/// Runs an example again, with others or without.
struct Again<'a> {
    check: &'a Check<'a>,
    id: &'a String,
    /// All that were loaded in the rounds.
    files: Vec<String>,
}

impl Again<'_> {
    fn arguments(&self, trial: &Trial) -> RunArguments {
        let whole = RunArguments {
            seed: trial.seed,
            keep_order: true,
            ..self.check.run.clone()
        };
        let Some(before) = &trial.before else { return whole };
        RunArguments {
            paths: before.iter().chain([self.id]).cloned().collect(),
            example: None,
            told: true,
            beside: self.files.iter().filter(|_| trial.all_loaded).cloned().collect(),
            ..whole
        }
    }

    fn became(&self, results: &Results) -> Became {
        match results.examples.iter().find(|example| example.id == *self.id) {
            None => Became::Absent,
            Some(example) if example.failed() => Became::Failed,
            Some(_) => Became::Passed,
        }
    }
}

impl Tries for Again<'_> {
    async fn again(&mut self, trial: &Trial) -> Answer<Tried> {
        let served = self.check.within_budget(self.arguments(trial)).await?;
        Ok(Tried {
            became: self.became(&served.results),
            command: served.report.command,
        })
    }
}

/// The files of these selectors, each once, in their order; of RSpec's none is needed.
fn files<'a>(ids: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let ending = format!("{}#", Framework::Minitest.ending());
    for id in ids {
        let Some(at) = id.find(&ending) else { continue };
        let file = &id[..at + ending.len() - 1];
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    files.sort();
    files
}

/// Of the rounds only what became of the examples is wanted.
fn quiet(run: RunArguments) -> RunArguments {
    RunArguments {
        aside: true,
        fail_fast: Some(false),
        include_passing: Some(false),
        include_stdout: Some(IncludeStdout::Never),
        ..run
    }
}

fn outcome(rounds: &Rounds, idle: bool) -> FlakyOutcome {
    match (rounds.inconsistent().is_empty(), rounds.always_failing().is_empty()) {
        _ if idle => FlakyOutcome::NotRun,
        (false, _) => FlakyOutcome::Flaky,
        (true, false) => FlakyOutcome::ConsistentlyFailing,
        (true, true) => FlakyOutcome::NeverFailed,
    }
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(name: &str, value: Option<T>, range: (T, T, T)) -> Result<T> {
    let (least, default, most) = range;
    let value = value.unwrap_or(default);
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let message = format!("`{name}` is {value}, and must be {least} to {most}");
    Err(Error::new(Kind::InvalidArguments, message).hint("leave it out for the default"))
}
