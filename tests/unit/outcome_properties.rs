//! Whatever a run tells, in whatever order and whoever says it: a pass is never given away.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use coatepec::run::log::RunLog;
use coatepec::run::outcome::{End, Outcome, Stop, judge};
use coatepec::worker::protocol::{ExampleStatus, Record, RunEvent, Started};

use crate::told::{
    PID, end, finishes, goes_wrong_outside, hangs_at, leaves, passes, pends, said_by, says, selected, starts,
};

const IDS: [&str; 3] = ["./spec/a_spec.rb[1:1]", "./spec/a_spec.rb[1:2]", "./spec/b_spec.rb[1]"];

/// Of a group that an example defines and runs itself.
const OTHER: &str = "./spec/a_spec.rb[2:1]";

/// Mostly what is harmless, so that passes are among what comes out.
fn event() -> impl Strategy<Value = RunEvent> {
    let id = || select([&IDS[..], &[OTHER]].concat());
    let status = prop_oneof![
        12 => Just(ExampleStatus::Passed),
        3 => Just(ExampleStatus::Pending),
        1 => Just(ExampleStatus::Failed),
    ];
    prop_oneof![
        1 => Just(RunEvent::Hello {}),
        4 => started().prop_map(RunEvent::Started),
        1 => vec(select(IDS.to_vec()), 0..3).prop_map(|ids| RunEvent::Selected {
            ids: ids.iter().map(ToString::to_string).collect(),
        }),
        4 => id().prop_map(starts),
        12 => (id(), status).prop_map(|(id, status)| RunEvent::ExampleFinished(end(id, status))),
        1 => Just(says("…")),
        1 => Just(goes_wrong_outside("after(:suite)")),
        4 => (zero(), unlikely()).prop_map(|(status, quit)| RunEvent::Finished { status, quit, dry_run: false, outside: 0 }),
        4 => zero().prop_map(leaves),
        1 => Just(hangs_at(&["spec/a_spec.rb:3"])),
    ]
}

/// At times not all ids are told.
fn started() -> impl Strategy<Value = Started> {
    let untold = prop_oneof![5 => Just(0), 1 => 1..3usize];
    (0..4u32, untold, unlikely(), unlikely()).prop_map(|(selected, untold, dry_run, outside)| Started {
        selected,
        loaded: 3,
        ids: IDS
            .iter()
            .take(selected as usize)
            .skip(untold)
            .map(ToString::to_string)
            .collect(),
        dry_run,
        outside: u32::from(outside),
        ..Started::default()
    })
}

fn zero() -> impl Strategy<Value = i32> {
    prop_oneof![7 => Just(0), 1 => any::<i32>()]
}

fn unlikely() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.1)
}

fn record() -> impl Strategy<Value = Record> {
    let pid = prop_oneof![9 => Just(PID), 1 => Just(PID + 1)];
    (pid, event()).prop_map(|(pid, event)| said_by(pid, event))
}

/// Noise, or a whole run with records taken away, added and in other places.
fn records() -> impl Strategy<Value = Vec<Record>> {
    let place = any::<Index>;
    let changed = (
        unlikely(),
        vec(place(), 0..3),
        vec((place(), record()), 0..3),
        vec((place(), place()), 0..3),
    );
    prop_oneof![
        1 => vec(record(), 0..14),
        4 => changed.prop_map(|(skipped, gone, added, moved)| {
            let mut records = whole(if skipped { pends } else { passes });
            let len = records.len();
            moved.iter().for_each(|(one, other)| records.swap(one.index(len), other.index(len)));
            gone.iter().for_each(|at| drop(records.remove(at.index(records.len()))));
            added.into_iter().for_each(|(at, record)| records.insert(at.index(records.len() + 1), record));
            records
        }),
    ]
}

/// A run in which every example comes to this end.
fn whole(end: fn(&str) -> RunEvent) -> Vec<Record> {
    let examples = IDS.iter().flat_map(|id| [starts(id), end(id)]);
    let all = std::iter::once(RunEvent::Started(selected(&IDS)))
        .chain(examples)
        .chain([finishes(0), leaves(0)]);
    all.map(|event| said_by(PID, event)).collect()
}

fn how_it_ended() -> impl Strategy<Value = (End, Option<Stop>)> {
    let end = prop_oneof![
        4 => Just(End::Exited(0)),
        1 => any::<i32>().prop_map(End::Exited),
        1 => (1..32).prop_map(End::Signaled),
        1 => Just(End::Unknown),
    ];
    let stop = prop_oneof![
        12 => Just(None),
        1 => Just(Some(Stop::Deadline)),
        1 => Just(Some(Stop::Cancelled)),
        1 => any::<u64>().prop_map(|bytes| Some(Stop::Memory(bytes))),
        1 => any::<u64>().prop_map(|bytes| Some(Stop::OutOfMemory(bytes))),
        1 => any::<usize>().prop_map(|count| Some(Stop::Processes(count))),
    ];
    (end, stop)
}

/// The first promise, read from the records themselves: what keeps this run from having passed.
fn wanting(records: &[Record], stop: Option<Stop>) -> Vec<&'static str> {
    let told: Vec<&RunEvent> = records
        .iter()
        .filter(|record| record.pid == PID)
        .map(|record| &record.e)
        .collect();
    let last = |pick: fn(&RunEvent) -> Option<bool>| told.iter().rev().find_map(|event| pick(event)).unwrap_or(false);
    let started = told.iter().rev().find_map(|event| match event {
        RunEvent::Started(started) => Some(started.clone()),
        _ => None,
    });
    let mut examples: BTreeMap<&str, Option<ExampleStatus>> = BTreeMap::new();
    for event in &told {
        match event {
            RunEvent::ExampleStarted(example) => drop(examples.insert(&example.id, None)),
            RunEvent::ExampleFinished(end) => {
                let status = examples.entry(&end.example.id).or_default();
                // A failure is taken back by another try only.
                if *status != Some(ExampleStatus::Failed) {
                    *status = Some(end.status);
                }
            }
            _ => {}
        }
    }
    let expected: BTreeSet<&str> = told
        .iter()
        .flat_map(|event| match event {
            RunEvent::Started(Started { ids, .. }) | RunEvent::Selected { ids } => &ids[..],
            _ => &[],
        })
        .map(String::as_str)
        .collect();
    let others = examples.keys().filter(|id| !expected.contains(*id)).count();
    let statuses: Vec<Option<ExampleStatus>> = examples.values().copied().collect();
    let conditions = [
        ("was not ended by us", stop.is_none()),
        ("told of its start", started.is_some()),
        (
            "was no dry run",
            started.as_ref().is_some_and(|started| !started.dry_run),
        ),
        (
            "selected something",
            started.as_ref().is_some_and(|started| started.selected > 0),
        ),
        (
            "loaded its files",
            started.as_ref().is_some_and(|started| started.outside == 0),
        ),
        (
            "ran each example that was selected",
            expected.iter().all(|id| examples.contains_key(id)),
        ),
        (
            "ran as many as were selected, where not all of them were named",
            started
                .as_ref()
                .is_some_and(|started| started.selected as usize <= expected.len() + others),
        ),
        ("finished each example", !statuses.contains(&None)),
        ("had no failure", !statuses.contains(&Some(ExampleStatus::Failed))),
        ("tested something", statuses.contains(&Some(ExampleStatus::Passed))),
        (
            "had no error outside of examples",
            !told.iter().any(|event| matches!(event, RunEvent::OutsideError { .. })),
        ),
        (
            "came to the framework's end with status 0",
            last(|event| match event {
                RunEvent::Finished { status, quit, .. } => Some(*status == 0 && !quit),
                _ => None,
            }),
        ),
        (
            "left with status 0",
            last(|event| match event {
                RunEvent::Exit { status } => Some(*status == 0),
                _ => None,
            }),
        ),
    ];
    conditions
        .iter()
        .filter(|(_, holds)| !holds)
        .map(|(what, _)| *what)
        .collect()
}

fn heard(records: &[Record]) -> RunLog {
    let mut log = RunLog::of_child(PID);
    records.iter().cloned().for_each(|record| log.apply(record));
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn a_run_passes_if_and_only_if_nothing_is_wanting(records in records(), (end, stop) in how_it_ended()) {
        let wanting = wanting(&records, stop);
        let verdict = judge(&heard(&records), end, stop);
        prop_assert_eq!(verdict.outcome == Outcome::Passed, wanting.is_empty(), "{:?} {:?}", verdict, wanting);
    }

    #[test]
    fn every_other_verdict_than_a_plain_one_has_a_reason(records in records(), (end, stop) in how_it_ended()) {
        let verdict = judge(&heard(&records), end, stop);
        let plain = matches!(verdict.outcome, Outcome::Passed | Outcome::Failed);
        prop_assert!(plain || verdict.reason.is_some_and(|reason| !reason.trim().is_empty()));
    }

    #[test]
    fn what_other_processes_say_changes_nothing(
        records in records(),
        strange in vec((any::<Index>(), event()), 0..6),
        (end, stop) in how_it_ended(),
    ) {
        let mut mixed = records.clone();
        for (at, event) in strange {
            mixed.insert(at.index(mixed.len() + 1), said_by(PID + 2, event));
        }
        prop_assert_eq!(judge(&heard(&mixed), end, stop), judge(&heard(&records), end, stop));
    }
}

/// The properties above would hold of a judge that never lets anything pass, and say little if only few things did.
#[test]
fn the_records_made_here_do_pass_at_times() {
    let mut runner = TestRunner::deterministic();
    let outcomes: BTreeSet<String> = (0..8_000)
        .map(|_| {
            let (records, (end, stop)) = (records(), how_it_ended()).new_tree(&mut runner).unwrap().current();
            format!("{:?}", judge(&heard(&records), end, stop).outcome)
        })
        .collect();
    let seen = [
        "Passed",
        "Failed",
        "NoExamples",
        "AllPending",
        "FailedAtExit",
        "TimedOut",
        "Cancelled",
        "Crashed",
    ];
    for outcome in seen.iter().chain(&[
        "Incomplete",
        "LoadError",
        "DryRun",
        "MemoryExceeded",
        "TooManyProcesses",
    ]) {
        assert!(outcomes.contains(*outcome), "{outcome} is not among {outcomes:?}");
    }
}
