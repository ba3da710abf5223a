//! Which examples fail now and then, and which only after which others. Pure: results of runs in, what to run next out.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::results::{ExampleResult, Results};

/// What became of each example over several rounds.
#[derive(Debug, Default)]
pub struct Rounds {
    pub rounds: u32,
    /// By selector, in the order they were first seen.
    examples: Vec<Tally>,
    by_id: HashMap<String, usize>,
}

/// One example over several rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Tally {
    pub id: String,
    pub description: String,
    pub failed: u32,
    pub passed: u32,
    /// Of the first round in which it failed; with it the order is the same again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing_seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing_round: Option<u32>,
    /// Of its first failure, clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Tally {
    fn inconsistent(&self) -> bool {
        self.failed > 0 && self.passed > 0
    }

    fn add(&mut self, example: &ExampleResult, seed: Option<u32>, round: u32) {
        if !example.failed() {
            self.passed += 1;
            return;
        }
        self.failed += 1;
        if self.first_failing_round.is_none() {
            self.first_failing_round = Some(round);
            self.first_failing_seed = seed;
            self.message = Some(
                example
                    .message
                    .clone()
                    .unwrap_or_else(|| "never came to its end".to_owned()),
            );
        }
    }
}

impl Rounds {
    pub fn add(&mut self, results: &Results) {
        self.rounds += 1;
        for example in &results.examples {
            let next = self.examples.len();
            let at = *self.by_id.entry(example.id.clone()).or_insert(next);
            if at == next {
                self.examples.push(Tally {
                    id: example.id.clone(),
                    description: example.description.clone(),
                    ..Tally::default()
                });
            }
            self.examples[at].add(example, results.seed, self.rounds);
        }
    }

    pub fn inconsistent(&self) -> Vec<Tally> {
        self.those(Tally::inconsistent)
    }

    pub fn always_failing(&self) -> Vec<Tally> {
        self.those(|tally| tally.failed > 0 && tally.passed == 0)
    }

    /// Something is inconsistent, and nothing that failed may still turn out to be.
    pub fn is_proven(&self) -> bool {
        let mut failing = self.examples.iter().filter(|tally| tally.failed > 0).peekable();
        failing.peek().is_some() && failing.all(Tally::inconsistent)
    }

    fn those(&self, which: impl Fn(&Tally) -> bool) -> Vec<Tally> {
        self.examples.iter().filter(|tally| which(tally)).cloned().collect()
    }
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
