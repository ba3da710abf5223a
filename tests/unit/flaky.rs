//! What fails now and then, and after what.

use std::collections::{BTreeMap, BTreeSet};

use coatepec::run::flaky::{Bisect, Rounds, Tally, around, tested};
use coatepec::run::outcome::Outcome;
use coatepec::run::report::Report;
use coatepec::run::results::{ExampleResult, Results};
use coatepec::supervisor::flaky::{Ended, FlakyOutcome, FlakyReport};
use coatepec::worker::protocol::ExampleStatus;
use proptest::collection::btree_set;
use proptest::prelude::*;
use serde_json::json;

fn round(seed: u32, examples: &[(&str, bool)]) -> Results {
    let example = |(id, passed): &(&str, bool)| ExampleResult {
        id: (*id).to_owned(),
        description: format!("does {id}"),
        status: Some(if *passed {
            ExampleStatus::Passed
        } else {
            ExampleStatus::Failed
        }),
        message: (!passed).then(|| format!("{id} with {seed}")),
    };
    Results {
        seed: Some(seed),
        examples: examples.iter().map(example).collect(),
        ..Results::default()
    }
}

/// As the run with this seed is reported, with these errors outside of its examples.
fn report(seed: u32, outcome: Outcome, outside: &[&str]) -> Report {
    let errors = outside.iter().map(|context| {
        let error = json!({"class": "RuntimeError", "message": format!("{context} with {seed}")});
        json!({"context": context, "error": error})
    });
    let report = json!({
        "run_id": "run-1", "outcome": outcome, "command": format!("bin/rails test --seed {seed}"), "reason": format!("why {seed}"),
        "summary": {"examples": 0, "failures": 0, "pending": 0, "errors_outside": outside.len(), "not_run": 0, "seconds": 0.0},
        "errors_outside": errors.collect::<Vec<_>>(), "timing": {"boot": 0.0, "wait": 0.0, "load": 0.0, "run": 0.0},
    });
    serde_json::from_value(report).unwrap()
}

fn add(rounds: &mut Rounds, seed: u32, examples: &[(&str, bool)]) {
    let red = examples.iter().any(|(_, passed)| !passed);
    let outcome = if red { Outcome::Failed } else { Outcome::Passed };
    rounds.add(&round(seed, examples), &report(seed, outcome, &[]));
}

/// Of many examples with long names, in an app where nothing works.
fn long_report(report: Option<Report>) -> FlakyReport {
    let tally = |number: usize| -> Tally {
        let id = format!("spec/models/widget_spec.rb[1:{number}]");
        let told = json!({"id": id, "description": "é".repeat(300), "failed": 3, "passed": 0, "message": "\u{1b}".repeat(400)});
        serde_json::from_value(told).unwrap()
    };
    FlakyReport {
        outcome: FlakyOutcome::ConsistentlyFailing,
        rounds: 3,
        rounds_planned: 10,
        changed: Vec::new(),
        warnings: Vec::new(),
        ended: Ended::Budget,
        inconsistent: (0..3).map(tally).collect(),
        consistently_failing: (0..5000).map(tally).collect(),
        bisect: None,
        command: Some("bundle exec rspec ".to_owned() + &"spec/a_spec.rb ".repeat(5000)),
        report: report.map(Box::new),
        seconds: 1.5,
        budget_seconds: 45,
        cut: BTreeMap::new(),
    }
}

#[test]
fn a_report_fits_into_an_answer_and_says_what_had_no_room() {
    let size = |told: &FlakyReport| serde_json::to_string(told).unwrap().len();
    for limit in [4 * 1024, 24 * 1024, 256 * 1024] {
        let contexts: Vec<String> = (0..500).map(|number| format!("a hook of group {number}")).collect();
        let contexts: Vec<&str> = contexts.iter().map(String::as_str).collect();
        for told in [None, Some(report(1, Outcome::Failed, &contexts))] {
            let whole = long_report(told.clone());
            let fitting = long_report(told.clone()).within(limit);
            assert!(
                size(&whole) > limit && size(&fitting) <= limit,
                "{limit}: {}",
                size(&fitting)
            );
            assert!(size(&fitting) > limit / 2, "{limit}: {} is little", size(&fitting));
            let listed = fitting.consistently_failing.len() as u64;
            assert_eq!(listed + fitting.cut["consistently_failing"], 5000, "{limit}");
            assert!(listed > 0 && !fitting.inconsistent.is_empty(), "{limit}: {fitting:?}");
            assert_eq!(fitting.report.is_some(), told.is_some());
            assert_eq!((fitting.rounds, fitting.seconds), (3, 1.5));
        }
    }
    let small = FlakyReport {
        consistently_failing: Vec::new(),
        command: None,
        ..long_report(None)
    };
    assert!(small.within(24 * 1024).cut.is_empty());
}

fn ids(tallies: &[Tally]) -> Vec<&str> {
    tallies.iter().map(|tally| tally.id.as_str()).collect()
}

#[test]
fn what_fails_now_and_then_is_told_from_what_always_fails() {
    let mut rounds = Rounds::default();
    add(&mut rounds, 1, &[("a", true), ("b", false), ("c", true)]);
    assert!(!rounds.is_proven(None), "b may always fail");
    add(&mut rounds, 2, &[("c", false), ("b", false), ("a", true)]);
    assert!(!rounds.is_proven(None), "b may pass one day");
    add(&mut rounds, 3, &[("c", false), ("b", false)]);
    let (flaky, always) = (rounds.inconsistent(), rounds.always_failing());
    assert_eq!((ids(&flaky), ids(&always)), (vec!["c"], vec!["b"]));
    let c = &flaky[0];
    assert_eq!((c.failed, c.passed), (2, 1));
    assert_eq!((c.first_failing_seed, c.first_failing_round), (Some(2), Some(2)));
    assert_eq!(c.message.as_deref(), Some("c with 2"));
}

#[test]
fn it_is_proven_once_nothing_that_failed_is_in_doubt() {
    let mut rounds = Rounds::default();
    assert!(!rounds.is_proven(None));
    add(&mut rounds, 1, &[("a", true), ("b", true)]);
    assert!(!rounds.is_proven(None), "nothing failed");
    add(&mut rounds, 2, &[("a", false), ("b", true)]);
    assert!(rounds.is_proven(None));
}

#[test]
fn what_fails_around_the_examples_is_told_with_its_rate() {
    let green = [("a", true)];
    let mut rounds = Rounds::default();
    rounds.add(&round(1, &green), &report(1, Outcome::Passed, &[]));
    rounds.add(
        &round(2, &green),
        &report(2, Outcome::Failed, &["an `after(:suite)` hook"]),
    );
    assert!(rounds.is_proven(None), "it failed, and passed before");
    rounds.add(&round(3, &green), &report(3, Outcome::FailedAtExit, &[]));
    rounds.add(&round(4, &green), &report(4, Outcome::TimedOut, &[]));
    let told: Vec<_> = rounds
        .inconsistent()
        .into_iter()
        .map(|tally| {
            (
                tally.id,
                tally.description,
                (tally.failed, tally.passed),
                tally.first_failing_seed,
                tally.message,
            )
        })
        .collect();
    let row = |what: &str, rate, seed, message: &str| {
        (
            String::new(),
            what.to_owned(),
            rate,
            Some(seed),
            Some(message.to_owned()),
        )
    };
    assert_eq!(
        told,
        [
            row(
                "an `after(:suite)` hook",
                (1, 2),
                2,
                "RuntimeError: an `after(:suite)` hook with 2"
            ),
            row("outside of the examples: failed_at_exit", (1, 2), 3, "why 3"),
            row("outside of the examples: timed_out", (1, 3), 4, "why 4"),
        ]
    );
    assert_eq!(rounds.command(None).as_deref(), Some("bin/rails test --seed 2"));
    assert!(rounds.failure(None).is_none(), "no example failed");
}

#[test]
fn what_fails_around_the_examples_in_each_round_is_consistent() {
    let mut rounds = Rounds::default();
    for seed in 1..4 {
        rounds.add(&round(seed, &[("a", true)]), &report(seed, Outcome::TimedOut, &[]));
    }
    assert!(!rounds.is_proven(None));
    assert_eq!(rounds.inconsistent(), []);
    let always = rounds.always_failing();
    assert_eq!((always[0].failed, always[0].passed), (3, 0));
}

#[test]
fn each_outcome_but_a_pass_is_the_failure_of_an_example_or_of_what_is_around_them() {
    let mut unfinished = round(1, &[("a", true), ("b", false)]);
    unfinished.examples[1].status = None;
    for outcome in [
        Outcome::FailedAtExit,
        Outcome::TimedOut,
        Outcome::MemoryExceeded,
        Outcome::TooManyProcesses,
        Outcome::FileTooLarge,
        Outcome::Crashed,
        Outcome::Incomplete,
    ] {
        let report = report(1, outcome, &[]);
        assert_eq!(around(&round(1, &[("a", true)]), &report).len(), 1, "{outcome:?}");
        assert_eq!(around(&round(1, &[("a", false)]), &report).len(), 1, "{outcome:?}");
        assert_eq!(around(&unfinished, &report), [], "{outcome:?}");
    }
    let failed = report(1, Outcome::Failed, &[]);
    assert_eq!(around(&round(1, &[("a", false)]), &failed), []);
    assert_eq!(
        around(&round(1, &[("a", true)]), &failed).len(),
        1,
        "by the status of the framework"
    );
    let both = report(1, Outcome::Failed, &["x", "y", "x"]);
    assert_eq!(around(&round(1, &[("a", false)]), &both).len(), 2, "beside an example");
    assert_eq!(around(&round(1, &[("a", true)]), &report(1, Outcome::Passed, &[])), []);
    for nothing in [
        Outcome::AllPending,
        Outcome::NoExamples,
        Outcome::DryRun,
        Outcome::LoadError,
    ] {
        assert!(!tested(nothing), "{nothing:?}");
    }
}

#[test]
fn the_failure_to_explain_is_the_first_that_is_inconsistent_or_the_one_that_is_named() {
    let mut rounds = Rounds::default();
    add(
        &mut rounds,
        1,
        &[("always", false), ("b", true), ("c", true), ("never", true)],
    );
    assert_eq!(
        rounds.failure(None).map(|tally| tally.id.as_str()),
        Some("always"),
        "there is no other"
    );
    add(&mut rounds, 2, &[("c", false), ("always", false), ("b", false)]);
    add(&mut rounds, 3, &[("b", true), ("always", false), ("c", false)]);
    let told = |names: &[&str]| {
        let named: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let named = Some(named.as_slice()).filter(|named| !named.is_empty());
        let failure = rounds.failure(named).map(|tally| tally.id.clone());
        (failure, rounds.command(named), rounds.is_proven(named))
    };
    let row = |id: &str, seed: u32| {
        (
            Some(id.to_owned()),
            Some(format!("bin/rails test --seed {seed}")),
            false,
        )
    };
    assert_eq!(told(&[]), row("c", 2));
    assert_eq!(told(&["always", "b"]), row("b", 2));
    assert_eq!(told(&["always"]), row("always", 1));
    assert_eq!(told(&["never"]).0, None);
    let case = rounds.case(rounds.failure(None).unwrap()).unwrap();
    assert_eq!((case.failing.seed, case.failing.ids), (Some(2), vec![]));
    let passing = case.passing.unwrap();
    assert_eq!(
        (passing.seed, passing.ids),
        (Some(1), vec!["always".to_owned(), "b".to_owned()])
    );
}

#[test]
fn rounds_go_on_until_what_is_named_is_proven() {
    let mut rounds = Rounds::default();
    add(&mut rounds, 1, &[("a", true), ("b", true)]);
    add(&mut rounds, 2, &[("a", false), ("b", true)]);
    assert!(rounds.is_proven(None));
    assert!(!rounds.is_proven(Some(&["b".to_owned()])));
    assert!(rounds.is_proven(Some(&["b".to_owned(), "a".to_owned()])));
}

/// What is needed, and in how many tries.
fn search(all: u32, needed: &[u32]) -> (Vec<u32>, u32) {
    let mut search = Bisect::new((0..all).collect());
    let mut tries = 0;
    while let Some(some) = search.next() {
        tries += 1;
        assert!(tries < 10_000, "it never ends");
        search.heard(needed.iter().all(|one| some.contains(one)));
    }
    (search.needed().to_vec(), tries)
}

#[test]
fn one_among_many_is_found_by_halves() {
    for polluter in [0, 1, 499, 998, 999] {
        let (found, tries) = search(1000, &[polluter]);
        assert_eq!(found, [polluter]);
        assert!(tries <= 20, "{tries} tries");
    }
    assert_eq!(search(1, &[0]), (vec![0], 0));
    assert_eq!(search(2, &[1]).0, [1]);
}

proptest! {
    #[test]
    fn all_that_are_needed_are_found_in_their_order_and_no_other(all in 1..60_u32, picks in btree_set(0..60_u32, 1..5)) {
        let needed: BTreeSet<u32> = picks.into_iter().map(|pick| pick % all).collect();
        let needed: Vec<u32> = needed.into_iter().collect();
        prop_assert_eq!(search(all, &needed).0, needed);
    }
}
