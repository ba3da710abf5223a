//! Which examples fail now and then, and which only after which others. Pure: results of runs in, what to run next out.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::cause::{Before, Case};
use super::outcome::Outcome;
use super::report::Report;
use super::results::{self, ExampleResult, Results};

/// What became of each example over several rounds, and of what is around them.
#[derive(Debug, Default)]
pub struct Rounds {
    pub rounds: u32,
    /// By selector, in the order they were first seen.
    examples: Vec<Tally>,
    by_id: HashMap<String, usize>,
    /// What went wrong outside of the examples, by its description.
    around: Vec<Tally>,
    /// Rounds that came to their end.
    ended: u32,
    told: Vec<Round>,
}

#[derive(Debug)]
struct Round {
    seed: Option<u32>,
    command: String,
    /// Which examples ran, in their order.
    order: Vec<usize>,
}

/// One example over several rounds, or what failed outside of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Tally {
    /// Absent if it is no example.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub description: String,
    pub failed: u32,
    pub passed: u32,
    /// Of the first round in which it failed; with it the order is the same again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing_seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing_round: Option<u32>,
    #[serde(skip)]
    first_passing_round: Option<u32>,
    /// Of its first failure, clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Tally {
    fn inconsistent(&self) -> bool {
        self.failed > 0 && self.passed > 0
    }

    fn add(&mut self, example: &ExampleResult, seed: Option<u32>, round: u32) {
        if example.failed() {
            let message = example.message.clone();
            self.fails(seed, round, || {
                message.unwrap_or_else(|| "never came to its end".to_owned())
            });
        } else {
            self.passed += 1;
            self.first_passing_round.get_or_insert(round);
        }
    }

    fn fails(&mut self, seed: Option<u32>, round: u32, message: impl FnOnce() -> String) {
        self.failed += 1;
        if self.first_failing_round.is_none() {
            self.first_failing_round = Some(round);
            self.first_failing_seed = seed;
            self.message = Some(message());
        }
    }
}

impl Rounds {
    pub fn add(&mut self, results: &Results, report: &Report) {
        self.rounds += 1;
        let order = results
            .examples
            .iter()
            .map(|example| self.example(example, results.seed));
        let order = order.collect();
        self.add_around(results, report);
        self.told.push(Round {
            seed: results.seed,
            command: report.command.clone(),
            order,
        });
    }

    pub fn inconsistent(&self) -> Vec<Tally> {
        self.those(Tally::inconsistent)
    }

    pub fn always_failing(&self) -> Vec<Tally> {
        self.those(|tally| tally.failed > 0 && tally.passed == 0)
    }

    /// Something is inconsistent, and nothing that failed may still turn out to be; of the examples that are `named`, one.
    pub fn is_proven(&self, named: Option<&[String]>) -> bool {
        let mut failing = self.all().filter(|tally| tally.failed > 0).peekable();
        failing.peek().is_some()
            && failing.all(Tally::inconsistent)
            && (named.is_none() || self.failure(named).is_some_and(Tally::inconsistent))
    }

    /// The example whose failure is told first, of all or of those that are named: the first inconsistent one, or else the
    /// first that always fails.
    pub fn failure(&self, named: Option<&[String]>) -> Option<&Tally> {
        let of_interest = |tally: &&Tally| named.is_none_or(|named| named.contains(&tally.id));
        self.first_of(self.examples.iter().filter(of_interest))
    }

    /// What a person would type to see the first round again in which it failed; of any, the first inconsistent one.
    pub fn command(&self, named: Option<&[String]>) -> Option<String> {
        let tally = self
            .failure(named)
            .filter(|tally| named.is_some() || tally.inconsistent());
        let tally = tally.or_else(|| self.first_of(self.all()))?;
        Some(self.round(tally.first_failing_round)?.command.clone())
    }

    /// What is known of an example that failed.
    pub fn case(&self, tally: &Tally) -> Option<Case> {
        let failing = self.round(tally.first_failing_round)?;
        let passing = self.round(tally.first_passing_round);
        Some(Case {
            id: tally.id.clone(),
            failing: self.before(tally, failing),
            passing: passing.map(|round| self.before(tally, round)),
        })
    }

    /// The selectors of all examples that ran.
    pub fn ids(&self) -> impl Iterator<Item = &String> {
        self.examples.iter().map(|tally| &tally.id)
    }

    fn example(&mut self, example: &ExampleResult, seed: Option<u32>) -> usize {
        let next = self.examples.len();
        let at = *self.by_id.entry(example.id.clone()).or_insert(next);
        if at == next {
            self.examples.push(Tally {
                id: example.id.clone(),
                description: example.description.clone(),
                ..Tally::default()
            });
        }
        self.examples[at].add(example, seed, self.rounds);
        at
    }

    /// A round that came to its end has shown of all else that it need not fail.
    fn add_around(&mut self, results: &Results, report: &Report) {
        let failed = around(results, report);
        let comes_to_its_end = matches!(
            report.outcome,
            Outcome::Passed | Outcome::AllPending | Outcome::Failed | Outcome::FailedAtExit
        );
        if comes_to_its_end {
            let others = self.around.iter_mut();
            let others = others.filter(|tally| failed.iter().all(|(what, _)| *what != tally.description));
            others.for_each(|tally| tally.passed += 1);
        }
        for (what, message) in failed {
            let known = self.around.iter().position(|tally| tally.description == what);
            let at = known.unwrap_or_else(|| {
                self.around.push(Tally {
                    description: what,
                    passed: self.ended,
                    ..Tally::default()
                });
                self.around.len() - 1
            });
            self.around[at].fails(results.seed, self.rounds, || message);
        }
        self.ended += u32::from(comes_to_its_end);
    }

    fn all(&self) -> impl Iterator<Item = &Tally> {
        self.examples.iter().chain(&self.around)
    }

    fn those(&self, which: impl Fn(&Tally) -> bool) -> Vec<Tally> {
        self.all().filter(|tally| which(tally)).cloned().collect()
    }

    fn first_of<'a>(&'a self, tallies: impl Iterator<Item = &'a Tally>) -> Option<&'a Tally> {
        let failing = tallies.filter(|tally| tally.failed > 0);
        failing.min_by_key(|tally| {
            let at = self
                .round(tally.first_failing_round)
                .map(|round| self.place(tally, round));
            (!tally.inconsistent(), tally.first_failing_round, at)
        })
    }

    fn round(&self, number: Option<u32>) -> Option<&Round> {
        self.told.get(number?.checked_sub(1)? as usize)
    }

    fn before(&self, tally: &Tally, round: &Round) -> Before {
        let before = &round.order[..self.place(tally, round)];
        Before {
            seed: round.seed,
            ids: before.iter().map(|at| self.examples[*at].id.clone()).collect(),
            command: round.command.clone(),
        }
    }

    /// How many examples ran before it; of what is no example, all.
    fn place(&self, tally: &Tally, round: &Round) -> usize {
        let at = self.by_id.get(&tally.id);
        let place = round.order.iter().position(|other| Some(other) == at);
        place.unwrap_or(round.order.len())
    }
}

/// What went wrong in a run outside of its examples: where, and what. That an example never came to its end is its own
/// failure.
pub fn around(results: &Results, report: &Report) -> Vec<(String, String)> {
    let mut errors: Vec<(String, String)> = Vec::new();
    for outside in &report.errors_outside {
        let what = outside.context.trim_end_matches(['.', ':']).to_owned();
        if errors.iter().all(|(known, _)| *known != what) {
            let message = format!("{}: {}", outside.error.class, outside.error.message);
            errors.push((what, results::clipped(&message)));
        }
    }
    let failed = results.examples.iter().any(ExampleResult::failed);
    let unfinished = results.examples.iter().any(|example| example.status.is_none());
    let is_told = match report.outcome {
        Outcome::Passed | Outcome::AllPending => true,
        Outcome::Failed => failed && report.summary.errors_outside == 0 || !errors.is_empty(),
        _ => unfinished,
    };
    if !is_told {
        let message = report.reason.clone().unwrap_or_default();
        errors.push((format!("outside of the examples: {}", name(report.outcome)), message));
    }
    errors
}

fn name(outcome: Outcome) -> String {
    let value = serde_json::to_value(outcome).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether the first round of this outcome has tested something.
pub fn tested(outcome: Outcome) -> bool {
    outcome != Outcome::AllPending && results::tells_of_examples(outcome)
}

/// Searches the smallest part of a list that still makes something happen, by halves, then quarters, and so on, until
/// no single one can be left out.
#[derive(Debug, Clone)]
pub struct Bisect<T> {
    needed: Vec<T>,
    parts: usize,
    /// The part that is tried, or left out; `2 * parts` when all were.
    at: usize,
    done: bool,
}

impl<T: Clone> Bisect<T> {
    /// `all` of them are known to make it happen, and none of them is known not to.
    pub fn new(all: Vec<T>) -> Self {
        let done = all.len() < 2;
        Bisect {
            needed: all,
            parts: 2,
            at: 0,
            done,
        }
    }

    /// What to try next; nothing once `needed` is as small as can be.
    pub fn next(&self) -> Option<Vec<T>> {
        if self.done {
            return None;
        }
        let part = |index: usize| {
            let len = self.needed.len();
            index * len / self.parts..(index + 1) * len / self.parts
        };
        // First each part alone, then each without one: with two parts that is the same.
        Some(match self.at.checked_sub(self.parts) {
            None => self.needed[part(self.at)].to_vec(),
            Some(left_out) => {
                let range = part(left_out);
                [&self.needed[..range.start], &self.needed[range.end..]].concat()
            }
        })
    }

    /// Whether it happened with what was tried.
    pub fn heard(&mut self, happened: bool) {
        let Some(tried) = self.next() else { return };
        if happened {
            self.parts = if self.at < self.parts {
                2
            } else {
                (self.parts - 1).max(2)
            };
            self.needed = tried;
            self.at = 0;
            self.done = self.needed.len() < 2;
            return;
        }
        self.at += 1;
        let all = if self.parts == 2 { 2 } else { 2 * self.parts };
        if self.at < all {
            return;
        }
        self.done = self.parts >= self.needed.len();
        self.parts = (2 * self.parts).min(self.needed.len());
        self.at = 0;
    }

    /// The smallest list so far.
    pub fn needed(&self) -> &[T] {
        &self.needed
    }
}
