//! Runs a selection several times, each in a fork of its own, and tells what fails only now and then; finds what has to
//! run before an example for it to fail.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::Supervisor;
use super::call::RunArguments;
use super::seconds_since;
use crate::config::IncludeStdout;
use crate::error::{Error, Kind, Result};
use crate::project::Framework;
use crate::run::TIMEOUT_SECONDS;
use crate::run::flaky::{Bisect, Rounds, Tally};
use crate::run::outcome::Outcome;
use crate::run::report::Report;
use crate::run::results::{self, Results};

/// Rounds: the least, the default and the most.
pub const ROUNDS: (u32, u32, u32) = (2, 10, 100);
/// Seconds for all of it: the least, the default (less than any client waits for an answer) and the most.
pub const BUDGET_SECONDS: (u64, u64, u64) = (1, 45, 900);

/// Seeds that are tried for the order that was found, where its own does not give it to fewer files.
const SEEDS: u32 = 20;

/// Examples told of each kind.
const TOLD: usize = 50;

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
    /// An example failed in some rounds and passed in others.
    Flaky,
    /// What failed did so in every round.
    ConsistentlyFailing,
    /// Nothing failed in any round.
    NeverFailed,
    /// A round said nothing of its examples: `report` has why.
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
    /// One said nothing of its examples.
    NotRun,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlakyReport {
    pub outcome: FlakyOutcome,
    pub rounds: u32,
    pub rounds_planned: u32,
    pub ended: Ended,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inconsistent: Vec<Tally>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consistently_failing: Vec<Tally>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bisect: Option<BisectReport>,
    /// What a person would type to see the first inconsistent example fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Of the round that said nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<Report>>,
    pub seconds: f64,
    pub budget_seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It fails after the other examples of `minimal`, and not without them.
    Order,
    /// With this seed it fails alone, too: what is random decides, not the others.
    Alone,
    /// With the same seed and the same examples it did not fail again.
    Chance,
    /// The time was used up before it could be told.
    Unknown,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BisectReport {
    pub failure: String,
    pub cause: Cause,
    /// In the order they run; the last one is what fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minimal: Vec<String>,
    /// No single one of them can be left out. Otherwise the budget was used up.
    pub complete: bool,
    pub runs: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
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
    runs: u32,
}

/// # Errors
/// As of [`Supervisor::run`], and what is wrong with the numbers.
pub(super) async fn check(
    supervisor: &Supervisor,
    arguments: FlakyArguments,
    cancel: CancellationToken,
) -> Result<FlakyReport> {
    let started = Instant::now();
    let planned = within("rounds", arguments.rounds, ROUNDS)?;
    let budget_seconds = within("budget_seconds", arguments.budget_seconds, BUDGET_SECONDS)?;
    let mut check = Check {
        supervisor,
        cancel,
        run: quiet(arguments.run),
        until: started + Duration::from_secs(budget_seconds),
        runs: 0,
    };
    let mut rounds = Rounds::default();
    let mut first_failing: Option<Served> = None;
    let mut ended = Ended::Rounds;
    while rounds.rounds < planned {
        let served = match rounds.rounds {
            0 => Some(check.run(check.run.clone()).await?),
            _ => check.within_budget(check.run.clone()).await?,
        };
        let Some(served) = served else {
            ended = Ended::Budget;
            break;
        };
        if !results::tells_of_examples(served.report.outcome) {
            return Ok(not_run(served, &rounds, planned, budget_seconds, started));
        }
        rounds.add(&served.results);
        let of_interest = |served: &Served| {
            served.results.examples.iter().any(|example| {
                example.failed() && arguments.failure.as_ref().is_none_or(|failure| *failure == example.id)
            })
        };
        if first_failing.is_none() && of_interest(&served) {
            first_failing = Some(served);
        }
        if rounds.is_proven() {
            ended = Ended::Proven;
            break;
        }
    }
    let bisect = match &first_failing {
        Some(served) if arguments.bisect => Some(check.bisect(served, arguments.failure.as_deref(), &rounds).await?),
        _ => None,
    };
    Ok(FlakyReport {
        outcome: outcome(&rounds),
        rounds: rounds.rounds,
        rounds_planned: planned,
        ended,
        inconsistent: first(rounds.inconsistent()),
        consistently_failing: first(rounds.always_failing()),
        bisect,
        command: first_failing.map(|served| served.report.command),
        report: None,
        seconds: seconds_since(started),
        budget_seconds,
    })
}

impl Check<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    async fn run(&mut self, arguments: RunArguments) -> Result<Served> {
        self.runs += 1;
        let over = self.supervisor.served(arguments, &self.cancel).await?;
        Ok(Served {
            report: over.report(),
            results: Results::of(&over.facts.log),
        })
    }

    /// Nothing if the time is used up, or was before the run came to its end: what an example did is not known then.
    async fn within_budget(&mut self, arguments: RunArguments) -> Result<Option<Served>> {
        let left = self.until.saturating_duration_since(Instant::now()).as_secs();
        let own = arguments.timeout_seconds;
        if self.is_over() {
            return Ok(None);
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
        Ok(Some(served).filter(|served| !cut || served.report.outcome != Outcome::TimedOut))
    }

    /// What made the example fail in `served`.
    async fn bisect(&mut self, served: &Served, failure: Option<&str>, rounds: &Rounds) -> Result<BisectReport> {
        self.runs = 0;
        let Results { seed, examples, .. } = &served.results;
        let flaky = rounds.inconsistent();
        let is_flaky = |id: &str| flaky.iter().any(|tally| tally.id == id);
        let failed = examples.iter().enumerate().filter(|(_, example)| example.failed());
        let target = failed
            .filter(|(_, example)| failure.is_none_or(|failure| failure == example.id))
            .max_by_key(|(at, example)| (is_flaky(&example.id), std::cmp::Reverse(*at)));
        let (at, target) = target.expect("a round with a failure was kept");
        let before: Vec<String> = examples[..at].iter().map(|example| example.id.clone()).collect();
        let mut probe = Probe {
            target: target.id.clone(),
            seed: *seed,
            beside: files(examples.iter().map(|example| &example.id)),
        };
        let again = RunArguments {
            seed: *seed,
            ..self.run.clone()
        };
        let Some(again) = self.within_budget(again).await? else {
            return Ok(probe.unknown(self.runs, served.report.command.clone()));
        };
        if !probe.fails_in(&again.results) {
            return Ok(probe.report(Cause::Chance, Vec::new(), self.runs, again.report.command));
        }
        let Some((alone, command)) = self.probe(&probe, &[]).await? else {
            return Ok(probe.unknown(self.runs, again.report.command));
        };
        if alone {
            return Ok(probe.report(Cause::Alone, vec![probe.target.clone()], self.runs, command));
        }
        let mut search = Bisect::new(before);
        while let Some(some) = search.next() {
            let Some((fails, _)) = self.probe(&probe, &some).await? else {
                break;
            };
            search.heard(fails);
        }
        let minimal = search.needed().to_vec();
        let command = self.shown(&mut probe, &minimal, again.report.command).await?;
        let all = minimal.into_iter().chain([probe.target.clone()]).collect();
        let mut report = probe.report(Cause::Order, all, self.runs, command);
        report.complete = search.next().is_none();
        Ok(report)
    }

    /// Whether the target fails after these, and the command of that run; nothing once the time is used up.
    async fn probe(&mut self, probe: &Probe, before: &[String]) -> Result<Option<(bool, String)>> {
        let served = self.within_budget(probe.arguments(&self.run, before)).await?;
        Ok(served.map(|served| (probe.fails_in(&served.results), served.report.command)))
    }

    /// The command that shows it with no other file loaded, with the first seed that does; `whole` is what shows it in any
    /// case.
    async fn shown(&mut self, probe: &mut Probe, minimal: &[String], whole: String) -> Result<String> {
        let own = probe.seed;
        let Some((_, command)) = self.probe(probe, minimal).await? else {
            return Ok(whole);
        };
        let beside = std::mem::take(&mut probe.beside);
        for seed in own.into_iter().chain(0..SEEDS) {
            probe.seed = Some(seed);
            match self.probe(probe, minimal).await? {
                Some((true, command)) => return Ok(command),
                Some((false, _)) => {}
                None => break,
            }
        }
        (probe.seed, probe.beside) = (own, beside);
        Ok(command)
    }
}

/// What is tried again and again.
struct Probe {
    target: String,
    seed: Option<u32>,
    /// What was loaded when it failed: the order of Minitest's tests depends on it.
    beside: Vec<String>,
}

impl Probe {
    fn arguments(&self, run: &RunArguments, before: &[String]) -> RunArguments {
        RunArguments {
            paths: before.iter().chain([&self.target]).cloned().collect(),
            example: None,
            seed: self.seed,
            told: true,
            beside: self.beside.clone(),
            ..run.clone()
        }
    }

    fn fails_in(&self, results: &Results) -> bool {
        let target = results.examples.iter().find(|example| example.id == self.target);
        target.is_some_and(results::ExampleResult::failed)
    }

    /// `command`: what is known to show it.
    fn unknown(&self, runs: u32, command: String) -> BisectReport {
        BisectReport {
            complete: false,
            ..self.report(Cause::Unknown, Vec::new(), runs, command)
        }
    }

    fn report(&self, cause: Cause, minimal: Vec<String>, runs: u32, command: String) -> BisectReport {
        BisectReport {
            failure: self.target.clone(),
            cause,
            minimal,
            complete: true,
            runs,
            seed: self.seed,
            command: Some(command),
        }
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

fn outcome(rounds: &Rounds) -> FlakyOutcome {
    match (rounds.inconsistent().is_empty(), rounds.always_failing().is_empty()) {
        (false, _) => FlakyOutcome::Flaky,
        (true, false) => FlakyOutcome::ConsistentlyFailing,
        (true, true) => FlakyOutcome::NeverFailed,
    }
}

fn not_run(served: Served, rounds: &Rounds, planned: u32, budget_seconds: u64, started: Instant) -> FlakyReport {
    FlakyReport {
        outcome: FlakyOutcome::NotRun,
        rounds: rounds.rounds,
        rounds_planned: planned,
        ended: Ended::NotRun,
        inconsistent: first(rounds.inconsistent()),
        consistently_failing: first(rounds.always_failing()),
        bisect: None,
        command: None,
        report: Some(Box::new(served.report)),
        seconds: seconds_since(started),
        budget_seconds,
    }
}

fn first(mut tallies: Vec<Tally>) -> Vec<Tally> {
    tallies.truncate(TOLD);
    tallies
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
