//! What fails now and then, and after what.

use std::collections::BTreeSet;

use coatepec::run::flaky::{Bisect, Rounds, Tally};
use coatepec::run::results::{ExampleResult, Results};
use coatepec::worker::protocol::ExampleStatus;
use proptest::collection::btree_set;
use proptest::prelude::*;

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

fn ids(tallies: &[Tally]) -> Vec<&str> {
    tallies.iter().map(|tally| tally.id.as_str()).collect()
}

#[test]
fn what_fails_now_and_then_is_told_from_what_always_fails() {
    let mut rounds = Rounds::default();
    rounds.add(&round(1, &[("a", true), ("b", false), ("c", true)]));
    assert!(!rounds.is_proven(), "b may always fail");
    rounds.add(&round(2, &[("c", false), ("b", false), ("a", true)]));
    assert!(!rounds.is_proven(), "b may pass one day");
    rounds.add(&round(3, &[("c", false), ("b", false)]));
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
    assert!(!rounds.is_proven());
    rounds.add(&round(1, &[("a", true), ("b", true)]));
    assert!(!rounds.is_proven(), "nothing failed");
    rounds.add(&round(2, &[("a", false), ("b", true)]));
    assert!(rounds.is_proven());
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
