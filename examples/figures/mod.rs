//! What was measured, against what was aimed at.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The cases in the order of the table, and what each one is.
const CASES: [(&str, &str); 18] = [
    ("rspec", "`bundle exec rspec FILE` in a shell"),
    ("first", "the first call of a session: boots the app"),
    ("warm", "the same call again"),
    ("warm_confined", "the same, beside the next one in turn"),
    ("warm_unconfined", "the same without the sandbox"),
    ("after_model_idle", "after saving a model, and 1 s of idle"),
    ("after_model", "at once after saving a model"),
    ("after_spec", "at once after saving the spec"),
    ("after_initializer", "at once after saving an initializer"),
    ("status_during_run", "the status, while a run works"),
    ("routes", "`rails_routes`, the first page"),
    ("controller", "`rails_controller` of one controller"),
    ("model", "`rails_model` of one model with all its fields"),
    ("schema", "`rails_schema`, all tables in summary"),
    ("job", "`rails_job`, the list"),
    ("check", "`rails_check`, all codes"),
    ("floor", "a bare fork of a warm process: no supervision"),
    ("initialize", "from the start of the server to its answer"),
];

/// Memory in MB of 1,000,000 bytes.
const MEMORY: [&str; 4] = ["supervisor_rss_mb", "worker_pss_mb", "zygote_pss_mb", "child_pss_mb"];

#[derive(Default)]
pub(crate) struct Figures {
    /// Milliseconds.
    cases: BTreeMap<&'static str, Vec<f64>>,
    phases: BTreeMap<String, Vec<f64>>,
    memory: BTreeMap<&'static str, f64>,
}

impl Figures {
    pub(crate) fn add(&mut self, case: &'static str, took: Duration) {
        self.cases.entry(case).or_default().push(took.as_secs_f64() * 1000.0);
    }

    /// Where a warm call's time goes, by its own `timing`.
    pub(crate) fn add_phases(&mut self, timing: &Value) {
        for (phase, seconds) in timing.as_object().into_iter().flatten() {
            let milliseconds = seconds.as_f64().unwrap_or_default() * 1000.0;
            self.phases.entry(phase.clone()).or_default().push(milliseconds);
        }
    }

    pub(crate) fn memory(&mut self, name: &'static str, kilobytes: f64) {
        self.memory.insert(name, kilobytes * 1024.0 / 1_000_000.0);
    }

    pub(crate) fn json(&self) -> Value {
        let cases = CASES.iter().map(|(name, _)| {
            let (median, p95) = (rounded(self.median(name)), rounded(self.p95(name)));
            ((*name).to_owned(), json!({ "median_ms": median, "p95_ms": p95 }))
        });
        let memory = MEMORY
            .iter()
            .map(|name| ((*name).to_owned(), json!(rounded(self.used(name)))));
        json!({ "cases": cases.collect::<Map<_, _>>(), "memory": memory.collect::<Map<_, _>>() })
    }

    pub(crate) fn table(&self) -> String {
        let mut table = format!("\n{:<18} {:>4} {:>10} {:>10}\n", "case", "runs", "median", "p95");
        for (name, what) in CASES {
            let (runs, median, p95) = (self.all(name).len(), self.median(name), self.p95(name));
            let _ = writeln!(table, "{name:<18} {runs:>4} {median:>7.1} ms {p95:>7.1} ms  {what}");
        }
        let _ = writeln!(table, "\nof a warm call: {}\n", self.breakdown());
        for name in MEMORY {
            let _ = writeln!(table, "{name:<18} {:>9.1}", self.used(name));
        }
        let _ = writeln!(table, "\ntargets\n{}", self.targets());
        table
    }

    /// What is not in a phase is spent before the run begins and after it has ended.
    fn breakdown(&self) -> String {
        let phases: Vec<(&String, f64)> = self.phases.iter().map(|(name, times)| (name, median(times))).collect();
        let rest = self.median("warm") - phases.iter().map(|(_, time)| time).sum::<f64>();
        let mut words: Vec<String> = phases
            .iter()
            .map(|(name, time)| format!("{name} {time:.1} ms"))
            .collect();
        words.push(format!("everything else {rest:.1} ms"));
        words.join(", ")
    }

    fn targets(&self) -> String {
        let warm = self.median("warm");
        let targets = [
            (
                "warm is faster than rspec, times",
                self.median("rspec") / warm,
                Limit::AtLeast(20.0),
            ),
            ("warm / floor", warm / self.median("floor"), Limit::AtMost(1.25)),
            (
                "warm_confined / warm_unconfined",
                self.by_pairs("warm_confined", "warm_unconfined"),
                Limit::AtMost(1.03),
            ),
            (
                "after_model_idle / warm",
                self.median("after_model_idle") / warm,
                Limit::AtMost(1.5),
            ),
            (
                "after_spec / warm",
                self.median("after_spec") / warm,
                Limit::AtMost(1.1),
            ),
            (
                "status_during_run, ms",
                self.median("status_during_run"),
                Limit::AtMost(5.0),
            ),
            ("initialize, ms", self.median("initialize"), Limit::AtMost(50.0)),
            ("supervisor_rss_mb", self.used("supervisor_rss_mb"), Limit::AtMost(20.0)),
        ];
        targets
            .iter()
            .map(|(what, value, limit)| limit.line(what, *value))
            .collect()
    }

    fn all(&self, case: &str) -> &[f64] {
        self.cases.get(case).map_or(&[], Vec::as_slice)
    }

    fn median(&self, case: &str) -> f64 {
        median(self.all(case))
    }

    /// The median of what each pair of times says.
    fn by_pairs(&self, one: &str, other: &str) -> f64 {
        let pairs = self.all(one).iter().zip(self.all(other));
        median(&pairs.map(|(one, other)| one / other).collect::<Vec<f64>>())
    }

    fn p95(&self, case: &str) -> f64 {
        percentile(self.all(case), 0.95)
    }

    fn used(&self, name: &str) -> f64 {
        self.memory.get(name).copied().unwrap_or(f64::NAN)
    }
}

enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Limit {
    fn line(&self, what: &str, value: f64) -> String {
        let (met, target) = match self {
            Limit::AtLeast(limit) => (value >= *limit, format!("at least {limit}")),
            Limit::AtMost(limit) => (value <= *limit, format!("at most {limit}")),
        };
        let mark = if met { "met" } else { "not met" };
        format!("{mark:<8} {what:<34} {value:>7.2}  ({target})\n")
    }
}

fn median(times: &[f64]) -> f64 {
    let times = sorted(times);
    match times.len() {
        0 => f64::NAN,
        count => f64::midpoint(times[(count - 1) / 2], times[count / 2]),
    }
}

/// The smallest of the times that is not below the given share of them.
fn percentile(times: &[f64], share: f64) -> f64 {
    let rank = (share * times.len() as f64).ceil() as usize;
    sorted(times).get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times
}

/// To the hundredth.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
