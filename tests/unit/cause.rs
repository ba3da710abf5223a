//! Why an example fails: what is claimed of runs that follow a rule, and what of runs that follow none.

use coatepec::run::cause::{Answer, Became, Before, BisectReport, Case, Cause, Stop, Trial, Tried, Tries, explain};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

const FAILING: Option<u32> = Some(1);
const PASSING: Option<u32> = Some(2);

/// Is only in the whole of a round.
const LATER: &str = "later";

/// Whether the example fails after these, with this seed.
struct App<'a> {
    fails: &'a mut (dyn FnMut(&[String], Option<u32>) -> bool + Send),
    case: &'a Case,
    budget: u32,
}

impl Tries for App<'_> {
    async fn again(&mut self, trial: &Trial) -> Answer<Tried> {
        self.budget = self.budget.checked_sub(1).ok_or(Stop::TimeUp)?;
        let passing = self.case.passing.iter().find(|round| round.seed == trial.seed);
        let whole = &passing.unwrap_or(&self.case.failing).ids;
        let whole = [whole.as_slice(), &names(&[LATER])].concat();
        let before = trial.before.as_ref().unwrap_or(&whole);
        let became = match (self.fails)(before, trial.seed) {
            true => Became::Failed,
            false => Became::Passed,
        };
        let command = format!("run {} {:?}", before.join(" "), trial.seed);
        Ok(Tried { became, command })
    }
}

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

/// It failed after some of its fellows, and passed after others.
fn case(failing: &[&str], passing: Option<&[&str]>) -> Case {
    let before = |seed, ids: &[&str]| Before {
        seed,
        ids: names(ids),
        command: format!("round {seed:?}"),
    };
    Case {
        id: "x".to_owned(),
        failing: before(FAILING, failing),
        passing: passing.map(|ids| before(PASSING, ids)),
    }
}

fn explained(case: &Case, budget: u32, fails: &mut (dyn FnMut(&[String], Option<u32>) -> bool + Send)) -> BisectReport {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime
        .block_on(explain(case, &mut App { fails, case, budget }))
        .unwrap()
}

fn has(before: &[String], name: &str) -> bool {
    before.iter().any(|one| one == name)
}

#[test]
fn what_must_run_before_it_is_found() {
    let case = case(&["a", "p", "b", "q", "c"], Some(&["a"]));
    let report = explained(&case, 1000, &mut |before, _| has(before, "p") && has(before, "q"));
    assert_eq!((report.cause, report.complete), (Cause::Order, true), "{report:?}");
    assert_eq!(report.minimal, names(&["p", "q", "x"]));
    assert_eq!(report.command.as_deref(), Some("run p q Some(1)"));
}

#[test]
fn what_it_can_not_do_without_is_found() {
    let case = case(&["a", "b"], Some(&["a", "b", "setter", "c"]));
    let report = explained(&case, 1000, &mut |before, _| !has(before, "setter"));
    assert_eq!(
        (report.cause, report.complete),
        (Cause::NeedsAnother, true),
        "{report:?}"
    );
    assert_eq!(report.minimal, names(&["setter", "x"]));
    assert_eq!(report.seed, PASSING);
    assert_eq!(report.command.as_deref(), Some("run setter Some(2)"));
}

#[test]
fn a_seed_that_decides_is_told_from_what_always_fails() {
    let flaky = case(&["a"], Some(&["a"]));
    let report = explained(&flaky, 1000, &mut |_, seed| seed == FAILING);
    assert_eq!((report.cause, report.complete), (Cause::Alone, true), "{report:?}");
    let red = case(&["a"], None);
    let report = explained(&red, 1000, &mut |_, _| true);
    assert_eq!((report.cause, report.complete), (Cause::Always, true), "{report:?}");
    let report = explained(&red, 1000, &mut |_, seed| seed != Some(4));
    assert_eq!(
        report.cause,
        Cause::Alone,
        "no round had a seed with which it passes: {report:?}"
    );
    let report = explained(&red, 1000, &mut |before, _| has(before, "a"));
    assert_eq!(report.cause, Cause::Order, "{report:?}");
}

#[test]
fn of_pure_chance_nothing_else_is_claimed() {
    let mut coin = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let case = case(&["a", "b", "c", "d", "e", "f"], Some(&["a", "b", "c"]));
    for of_four in 1..4 {
        let mut told = |_| explained(&case, 1000, &mut |_, _| coin.next_u32() % 4 < of_four).cause;
        let told: Vec<Cause> = (0..1000).map(&mut told).collect();
        let count = |cause| told.iter().filter(|told| **told == cause).count();
        let (chance, unknown) = (count(Cause::Chance), count(Cause::Unknown));
        assert!(chance > 980, "{of_four} of 4: {chance}");
        assert!(
            chance + unknown > 997,
            "{of_four} of 4: {chance}, and {unknown} unknown"
        );
    }
}

#[test]
fn chance_is_told_with_its_rate() {
    let case = case(&["a"], Some(&[]));
    let mut runs = 0;
    let report = explained(&case, 1000, &mut |_, _| {
        runs += 1;
        runs < 3
    });
    assert_eq!(report.cause, Cause::Chance, "{report:?}");
    assert_eq!((report.failed, report.runs > report.failed), (2, true), "{report:?}");
    assert_eq!(report.minimal, names(&[]));
    assert_eq!(
        report.command.as_deref().map(|command| command.starts_with("run a")),
        Some(true)
    );
}

/// Such as what an example after it does, or a file that is loaded with all only.
#[test]
fn what_no_fewer_show_is_not_explained() {
    let case = case(&["a", "b"], Some(&[]));
    let report = explained(&case, 1000, &mut |before, _| has(before, LATER));
    assert_eq!((report.cause, report.complete), (Cause::Unknown, true), "{report:?}");
    assert_eq!(report.minimal, names(&[]));
}

#[test]
fn when_the_time_is_used_up_no_more_is_told_than_was_found() {
    let all: Vec<String> = (0..40).map(|number| format!("n{number}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let case = case(&all, Some(&[]));
    let mut before = None;
    for budget in 0..60 {
        let report = explained(&case, budget, &mut |before, _| has(before, "n7") && has(before, "n31"));
        let told = matches!(report.cause, Cause::Order);
        assert!(told || report.cause == Cause::Unknown, "{report:?}");
        assert_eq!(told, !report.minimal.is_empty(), "{report:?}");
        assert!(report.runs <= budget, "{report:?}");
        if report.complete {
            assert_eq!(report.minimal, names(&["n7", "n31", "x"]));
        }
        let size = report.minimal.len();
        assert!(before.is_none_or(|before| before == 0 || size <= before), "{report:?}");
        before = Some(size);
    }
    assert_eq!(
        explained(&case, 0, &mut |_, _| true).command.as_deref(),
        Some("round Some(1)")
    );
}
