//! Where the time of a run went: the slowest examples, and what all of it cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::rounded;
use crate::run::log::RunLog;
use crate::run::paths::{Paths, selector};
use crate::worker::protocol::{Cost, ExampleFinished, Expense, FactoryUse, ProfileTotal, QueryUse, none};

/// Examples that are told.
const SLOWEST: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// At most 10, the slowest first.
    pub slowest: Vec<SlowExample>,
    /// Queries of Active Record, without Rails' own for schemas and transactions. Absent where the app has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<SqlProfile>,
    /// Absent where the app has no FactoryBot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factories: Option<FactoryProfile>,
    /// Absent when the run was killed before it could tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc: Option<GcProfile>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowExample {
    pub id: String,
    pub description: String,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<Expense>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factories: Option<Expense>,
    pub gc_seconds: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SqlProfile {
    /// Those that failed included.
    pub count: u64,
    pub seconds: f64,
    #[serde(default, skip_serializing_if = "none")]
    pub failed: u64,
    /// Answered by the query cache; not among `count`.
    pub cached: u64,
    /// Different ones, apart from their values.
    pub statements: u64,
    /// Those that took longest and those that came most often, without values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QueryUse>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FactoryProfile {
    /// Objects that were made, those that others needed included.
    pub count: u64,
    /// Each moment once.
    pub seconds: f64,
    /// How often one raised and made nothing; its time is among `seconds`.
    #[serde(default, skip_serializing_if = "none")]
    pub raised: u64,
    /// Different factories.
    pub names: u64,
    /// At most 20, those that took longest by themselves first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_name: Vec<FactoryUse>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcProfile {
    pub runs: u64,
    pub major: u64,
    pub seconds: f64,
    /// Objects.
    pub allocated: u64,
}

impl Profile {
    /// Of a run that was asked for it, if it came to its first example.
    pub(super) fn of(log: &RunLog, paths: &Paths) -> Option<Profile> {
        let mut ended: Vec<(&ExampleFinished, &Cost)> =
            log.ended().filter_map(|end| Some((end, end.cost.as_ref()?))).collect();
        if ended.is_empty() && log.profile.is_none() {
            return None;
        }
        let seconds = |end: &ExampleFinished| end.seconds.unwrap_or(0.0);
        ended.sort_by(|(one, _), (other, _)| seconds(other).total_cmp(&seconds(one)));
        let slowest = ended.into_iter().take(SLOWEST);
        let total = log.profile.clone().unwrap_or_default();
        Some(Profile {
            slowest: slowest.map(|(end, cost)| slow(end, cost)).collect(),
            ..Profile::from_total(total, paths)
        })
    }

    fn from_total(total: ProfileTotal, paths: &Paths) -> Profile {
        let query = |query: QueryUse| QueryUse {
            sql: paths.text(&query.sql),
            seconds: finely(query.seconds),
            ..query
        };
        let factory = |factory: FactoryUse| FactoryUse {
            seconds: finely(factory.seconds),
            own: finely(factory.own),
            ..factory
        };
        Profile {
            slowest: Vec::new(),
            sql: total.sql.map(|sql| SqlProfile {
                count: sql.count,
                seconds: finely(sql.seconds),
                failed: sql.failed,
                cached: sql.cached,
                statements: sql.statements,
                queries: sql.queries.into_iter().map(query).collect(),
            }),
            factories: total.factories.map(|factories| FactoryProfile {
                count: factories.count,
                seconds: finely(factories.seconds),
                raised: factories.raised,
                names: factories.names,
                by_name: factories.by_name.into_iter().map(factory).collect(),
            }),
            gc: total.gc.map(|gc| GcProfile {
                runs: gc.runs,
                major: gc.major,
                seconds: finely(gc.seconds),
                allocated: gc.allocated,
            }),
        }
    }

    /// With so many entries of each list, and how many are left out.
    pub(super) fn first(&self, entries: usize) -> (Profile, usize) {
        let mut shown = self.clone();
        let mut left_out = cut(&mut shown.slowest, entries);
        left_out += shown.sql.as_mut().map_or(0, |sql| cut(&mut sql.queries, entries));
        let factories = shown.factories.as_mut();
        left_out += factories.map_or(0, |factories| cut(&mut factories.by_name, entries));
        (shown, left_out)
    }
}

fn slow(end: &ExampleFinished, cost: &Cost) -> SlowExample {
    let expense = |expense: Option<Expense>| {
        expense.map(|Expense { count, seconds }| Expense {
            count,
            seconds: finely(seconds),
        })
    };
    SlowExample {
        id: selector(&end.example.id),
        description: end.example.description.clone(),
        seconds: rounded(end.seconds.unwrap_or(0.0)),
        sql: expense(cost.sql),
        factories: expense(cost.factories),
        gc_seconds: finely(cost.gc_seconds),
    }
}

fn cut<T>(list: &mut Vec<T>, entries: usize) -> usize {
    let left_out = list.len().saturating_sub(entries);
    list.truncate(entries);
    left_out
}

/// To a tenth of a millisecond: a single query takes less than one.
fn finely(seconds: f64) -> f64 {
    (seconds * 10_000.0).round() / 10_000.0
}
