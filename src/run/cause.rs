//! Why an example fails: for what runs before it, for what does not, for its seed, or by chance. Asks for runs, and knows
//! nothing of how they are made.

use std::collections::HashMap;
use std::future::Future;

use serde::{Deserialize, Serialize};

use super::flaky::Bisect;
use crate::error::{Error, Result};

/// How often both sides of a claim must hold before it is made: for a coin they do once in a thousand times.
const AGAIN: u32 = 5;

/// And before a search, which of a coin would find anything.
const FIRST: u32 = 3;

/// Seeds that are tried for what was found, where its own does not show it with fewer files.
const SEEDS: u32 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It fails after the other examples of `minimal`, and not without them.
    Order,
    /// It passes after the other examples of `minimal`, and fails without them.
    NeedsAnother,
    /// With this seed it fails alone, too, and with others it does not: what is random decides.
    Alone,
    /// It fails alone, whatever the seed.
    Always,
    /// With the same seed and the same examples it failed and passed.
    Chance,
    /// It did not fail in any round.
    NeverFailed,
    /// The time was used up before it could be told, or files changed; or, if the search was complete, no fewer examples
    /// show it.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BisectReport {
    pub failure: String,
    pub cause: Cause,
    /// In the order they run; the last one is what fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minimal: Vec<String>,
    /// No single one of them can be left out. Otherwise the budget was used up, or files changed.
    pub complete: bool,
    pub runs: u32,
    /// In how many of these runs it failed.
    #[serde(default)]
    pub failed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl BisectReport {
    pub fn never_failed(failure: String) -> BisectReport {
        BisectReport {
            complete: true,
            ..BisectReport::unknown(failure)
        }
        .because(Cause::NeverFailed)
    }

    fn unknown(failure: String) -> BisectReport {
        BisectReport {
            failure,
            cause: Cause::Unknown,
            minimal: Vec::new(),
            complete: false,
            runs: 0,
            failed: 0,
            seed: None,
            command: None,
        }
    }

    fn because(self, cause: Cause) -> BisectReport {
        BisectReport { cause, ..self }
    }
}

/// What became of the example in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    Failed,
    Passed,
    /// It did not run.
    Absent,
}

/// What came before an example in a round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    pub seed: Option<u32>,
    pub ids: Vec<String>,
    /// Of the round.
    pub command: String,
}

/// The example, and what is known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    pub id: String,
    pub failing: Before,
    /// Of a round in which it passed.
    pub passing: Option<Before>,
}

/// One run to be made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Trial {
    /// What is selected beside the example; `None`: all that the rounds had.
    pub before: Option<Vec<String>>,
    pub seed: Option<u32>,
    /// Whether the files of all are loaded: the order of Minitest's tests depends on it.
    pub all_loaded: bool,
}

impl Trial {
    fn whole(seed: Option<u32>) -> Trial {
        Trial {
            before: None,
            seed,
            all_loaded: true,
        }
    }

    fn after(before: Vec<String>, seed: Option<u32>) -> Trial {
        Trial {
            before: Some(before),
            ..Trial::whole(seed)
        }
    }

    fn alone(seed: Option<u32>) -> Trial {
        Trial::after(Vec::new(), seed)
    }
}

#[derive(Debug, Clone)]
pub struct Tried {
    pub became: Became,
    /// What a person would type.
    pub command: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Stop {
    TimeUp,
    /// What the runs are of is not what it was: the next ones would tell of something else.
    Changed,
    Broken(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Broken(error)
    }
}

pub type Answer<T> = std::result::Result<T, Stop>;

/// Whoever makes the runs.
pub trait Tries: Send {
    fn again(&mut self, trial: &Trial) -> impl Future<Output = Answer<Tried>> + Send;
}

/// # Errors
/// Of a run that could not be made.
pub async fn explain(case: &Case, tries: &mut impl Tries) -> Result<BisectReport> {
    let mut inquiry = Inquiry {
        tries,
        case,
        seen: HashMap::new(),
        found: BisectReport::unknown(case.id.clone()),
    };
    inquiry.begin();
    match inquiry.look().await {
        Ok(()) | Err(Stop::TimeUp | Stop::Changed) => Ok(inquiry.found),
        Err(Stop::Broken(error)) => Err(error),
    }
}

struct Inquiry<'a, T> {
    tries: &'a mut T,
    case: &'a Case,
    seen: HashMap<Trial, Seen>,
    /// As far as it is known.
    found: BisectReport,
}

/// What became of it in runs that were all the same.
#[derive(Default)]
struct Seen {
    failed: u32,
    passed: u32,
    command: String,
}

impl Seen {
    fn add(&mut self, tried: Tried) {
        match tried.became {
            Became::Failed => self.failed += 1,
            Became::Passed => self.passed += 1,
            Became::Absent => {}
        }
        self.command = tried.command;
    }
}

impl<T: Tries> Inquiry<'_, T> {
    /// The rounds were runs as well.
    fn begin(&mut self) {
        let passing = self.case.passing.iter().map(|round| (round, Became::Passed));
        for (round, became) in passing.chain([(&self.case.failing, Became::Failed)]) {
            let command = round.command.clone();
            let seen = self.seen.entry(Trial::whole(round.seed)).or_default();
            seen.add(Tried { became, command });
        }
        self.so_far(Cause::Unknown, &self.case.failing, Vec::new());
    }

    async fn look(&mut self) -> Answer<()> {
        let whole = Trial::whole(self.case.failing.seed);
        let alone = Trial::alone(self.case.failing.seed);
        match self.ask(&whole).await? {
            Became::Failed => {}
            Became::Passed => {
                self.say(Cause::Chance, &whole);
                return Ok(());
            }
            Became::Absent => {
                self.say(Cause::Unknown, &whole);
                return Ok(());
            }
        }
        match self.ask(&alone).await? {
            Became::Failed => self.without_others(alone).await,
            Became::Passed | Became::Absent => self.search(&self.case.failing, Became::Failed).await,
        }
    }

    /// It failed alone: for its seed, for want of another one, or in any case.
    async fn without_others(&mut self, alone: Trial) -> Answer<()> {
        let Some(passing) = &self.case.passing else {
            return self.whatever_the_seed(alone).await;
        };
        let other = Trial::alone(passing.seed);
        match self.ask(&other).await? {
            Became::Failed => self.search(passing, Became::Passed).await,
            Became::Passed | Became::Absent => self.for_the_seed(alone, other).await,
        }
    }

    async fn whatever_the_seed(&mut self, alone: Trial) -> Answer<()> {
        let seed = alone.seed.unwrap_or(0);
        for more in 1..=AGAIN {
            let other = Trial::alone(Some(seed.wrapping_add(more)));
            if self.ask(&other).await? != Became::Failed {
                return self.for_the_seed(alone, other).await;
            }
        }
        self.say(Cause::Always, &alone);
        Ok(())
    }

    async fn for_the_seed(&mut self, fails: Trial, passes: Trial) -> Answer<()> {
        if !self.holds(&fails, &passes, Became::Failed, AGAIN).await? {
            return self.doubt(&[&fails, &passes]).await;
        }
        self.say(Cause::Alone, &fails);
        Ok(())
    }

    /// The fewest that ran before it in a round with which it becomes what it does not become without them.
    async fn search(&mut self, round: &Before, wanted: Became) -> Answer<()> {
        let cause = match wanted {
            Became::Failed => Cause::Order,
            Became::Passed | Became::Absent => Cause::NeedsAnother,
        };
        let after = |ids: &[String]| Trial::after(ids.to_vec(), round.seed);
        let (all, alone) = (after(&round.ids), after(&[]));
        if !self.holds(&all, &alone, wanted, FIRST).await? {
            return self.doubt(&[&all, &alone]).await;
        }
        let mut search = Bisect::new(round.ids.clone());
        self.so_far(cause, round, round.ids.clone());
        while let Some(some) = search.next() {
            let happened = self.ask(&after(&some)).await? == wanted;
            search.heard(happened);
            if happened {
                self.so_far(cause, round, some);
            }
        }
        let minimal = after(search.needed());
        if !self.holds(&minimal, &alone, wanted, AGAIN).await? {
            return self.doubt(&[&minimal, &alone]).await;
        }
        self.say(cause, &minimal);
        self.with_fewer_files(&minimal, wanted).await
    }

    /// The same with no other file loaded, with the first seed that shows it.
    async fn with_fewer_files(&mut self, minimal: &Trial, wanted: Became) -> Answer<()> {
        let cause = self.found.cause;
        for seed in minimal.seed.into_iter().chain(0..SEEDS) {
            let trial = Trial {
                seed: Some(seed),
                all_loaded: false,
                ..minimal.clone()
            };
            if self.ask(&trial).await? == wanted {
                self.say(cause, &trial);
                break;
            }
        }
        Ok(())
    }

    /// Whether it becomes this with the one and the opposite with the other, as often as that.
    async fn holds(&mut self, with: &Trial, without: &Trial, wanted: Became, times: u32) -> Answer<bool> {
        let opposite = match wanted {
            Became::Failed => Became::Passed,
            Became::Passed | Became::Absent => Became::Failed,
        };
        for _ in 0..times {
            if self.ask(with).await? != wanted || self.ask(without).await? != opposite {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Something was not as it should have been: is it ever so, and ever not?
    async fn doubt(&mut self, trials: &[&Trial]) -> Answer<()> {
        let whole = Trial::whole(self.case.failing.seed);
        self.so_far(Cause::Unknown, &self.case.failing, Vec::new());
        for _ in 0..AGAIN {
            for trial in trials.iter().copied().chain([&whole]) {
                if self.by_chance() {
                    self.say(Cause::Chance, &whole);
                    return Ok(());
                }
                self.ask(trial).await?;
            }
        }
        let cause = if self.by_chance() {
            Cause::Chance
        } else {
            Cause::Unknown
        };
        self.say(cause, &whole);
        Ok(())
    }

    fn by_chance(&self) -> bool {
        self.seen.values().any(|seen| seen.failed > 0 && seen.passed > 0)
    }

    async fn ask(&mut self, trial: &Trial) -> Answer<Became> {
        let tried = self.tries.again(trial).await?;
        let became = tried.became;
        self.found.runs += 1;
        self.found.failed += u32::from(became == Became::Failed);
        self.seen.entry(trial.clone()).or_default().add(tried);
        Ok(became)
    }

    /// What is told if the time is used up now. The whole round shows it as well, and its command is short.
    fn so_far(&mut self, cause: Cause, round: &Before, before: Vec<String>) {
        self.say(cause, &Trial::whole(round.seed));
        self.found.minimal = self.minimal(before);
        self.found.complete = false;
    }

    /// `shows`: a run that shows it.
    fn say(&mut self, cause: Cause, shows: &Trial) {
        self.found.cause = cause;
        self.found.seed = shows.seed;
        self.found.command = self.seen.get(shows).map(|seen| seen.command.clone());
        self.found.minimal = self.minimal(shows.before.clone().unwrap_or_default());
        self.found.complete = true;
    }

    /// Nothing where nothing is known that shows it.
    fn minimal(&self, before: Vec<String>) -> Vec<String> {
        match self.found.cause {
            Cause::Chance | Cause::Unknown | Cause::NeverFailed => Vec::new(),
            _ => before.into_iter().chain([self.case.id.clone()]).collect(),
        }
    }
}
