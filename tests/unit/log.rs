//! What is made of the records of a run.

use coatepec::run::log::{Finish, RunLog};
use coatepec::worker::protocol::{ExampleStatus, Identity, RunEvent, Started};

use crate::told::{
    PID, end, fails, failure, finishes, goes_wrong_outside, hangs_at, identity, leaves, log, passes, pends, said_by,
    says, selected, starts,
};

const A: &str = "./spec/a_spec.rb[1:1]";
const B: &str = "./spec/a_spec.rb[1:2]";
const C: &str = "./spec/a_spec.rb[1:3]";

fn ids<'a>(examples: impl Iterator<Item = &'a Identity>) -> Vec<&'a str> {
    examples.map(|example| example.id.as_str()).collect()
}

/// How many examples never started, and which.
fn not_run(log: &RunLog) -> (u32, Vec<&str>) {
    (log.not_run(), log.not_run_ids().map(String::as_str).collect())
}

/// How many passed, failed and are pending.
fn counts(log: &RunLog) -> [u32; 3] {
    [ExampleStatus::Passed, ExampleStatus::Failed, ExampleStatus::Pending].map(|status| log.count(status))
}

#[test]
fn a_whole_run_is_known_by_its_records() {
    let log = log([
        RunEvent::Hello {},
        RunEvent::Started(selected(&[A, B, C])),
        says("Run options: …"),
        starts(A),
        passes(A),
        starts(B),
        fails(B),
        starts(C),
        pends(C),
        goes_wrong_outside("after(:suite)"),
        finishes(1),
        leaves(3),
    ]);
    assert_eq!(log.started, Some(selected(&[A, B, C])));
    assert_eq!(ids(log.examples.iter().map(|example| &example.identity)), [A, B, C]);
    assert_eq!(counts(&log), [1, 1, 1]);
    assert_eq!(log.unfinished().count(), 0);
    assert_eq!(log.not_run(), 0);
    assert_eq!(log.messages, ["Run options: …"]);
    assert_eq!(log.outside.len(), 1);
    assert_eq!(log.outside[0].context, "after(:suite)");
    assert_eq!(log.outside[0].failure, failure("RuntimeError", "no"));
    assert_eq!(
        log.finished,
        Some(Finish {
            status: 1,
            quit: false,
            outside: 0
        })
    );
    assert_eq!(log.exit, Some(3));
    assert_eq!(log.threads, None);
    assert_eq!(log.ignored, 0);
}

#[test]
fn nothing_told_is_nothing_known() {
    let log = log([]);
    assert!(log.started.is_none() && log.finished.is_none() && log.exit.is_none() && log.examples.is_empty());
    assert_eq!((not_run(&log), log.ignored), ((0, Vec::new()), 0));
}

/// A `fork` in a spec goes on with the run in a copy that holds the same pipe.
#[test]
fn records_of_other_processes_are_counted_and_not_believed() {
    let mut log = log([RunEvent::Started(selected(&[A])), starts(A)]);
    let strange = [
        passes(A),
        starts(B),
        goes_wrong_outside("…"),
        says("…"),
        finishes(0),
        leaves(0),
        hangs_at(&[]),
    ];
    for event in strange {
        log.apply(said_by(PID + 1, event));
    }
    assert_eq!(log.ignored, 7);
    assert_eq!(ids(log.unfinished()), [A]);
    assert_eq!(log.examples.len(), 1);
    assert!(log.outside.is_empty() && log.messages.is_empty() && log.threads.is_none());
    assert!(log.finished.is_none() && log.exit.is_none());
}

#[test]
fn of_a_fork_only_the_process_that_was_forked_counts_even_if_another_speaks_first() {
    let mut log = RunLog::of_child(PID);
    log.apply(said_by(PID + 1, leaves(0)));
    log.apply(said_by(PID, leaves(4)));
    assert_eq!((log.exit, log.ignored), (Some(4), 1));
}

/// A version manager may stand between the process that was started and the one that speaks.
#[test]
fn of_a_fresh_process_the_first_to_speak_counts() {
    let mut log = RunLog::of_fresh_process();
    log.apply(said_by(PID + 5, RunEvent::Hello {}));
    log.apply(said_by(PID, leaves(0)));
    log.apply(said_by(PID + 5, leaves(4)));
    assert_eq!((log.exit, log.ignored), (Some(4), 1));
}

#[test]
fn lines_that_are_no_records_are_counted() {
    let mut log = log([starts(A)]);
    log.ignore_line();
    log.ignore_line();
    assert_eq!(log.ignored, 2);
}

#[test]
fn a_retried_example_counts_once_and_its_last_end_wins() {
    let retried = log([starts(A), fails(A), starts(A), fails(A), starts(A), passes(A)]);
    assert_eq!(counts(&retried), [1, 0, 0]);
    assert_eq!(retried.examples.len(), 1);

    let worse = log([starts(A), passes(A), starts(A), fails(A)]);
    assert_eq!(counts(&worse), [0, 1, 0]);

    let without_a_try = log([starts(A), fails(A), passes(A)]);
    assert_eq!(counts(&without_a_try), [0, 1, 0]);
}

#[test]
fn an_example_that_began_again_and_never_finished_has_no_end() {
    let log = log([starts(A), passes(A), starts(A)]);
    assert_eq!(counts(&log), [0, 0, 0]);
    assert_eq!(ids(log.unfinished()), [A]);
}

#[test]
fn a_retried_example_keeps_its_place() {
    let log = log([starts(A), fails(A), starts(B), passes(B), starts(A), passes(A)]);
    assert_eq!(ids(log.examples.iter().map(|example| &example.identity)), [A, B]);
    assert_eq!(ids(log.ended().map(|end| &end.example)), [A, B]);
}

/// Skipped examples are not always announced.
#[test]
fn an_example_that_finished_without_a_start_has_run() {
    let log = log([RunEvent::Started(selected(&[A, B])), pends(A)]);
    assert_eq!(counts(&log), [0, 0, 1]);
    assert_eq!(log.unfinished().count(), 0);
    assert_eq!(not_run(&log), (1, vec![B]));
}

#[test]
fn examples_of_the_same_description_are_two() {
    let twin = |id: &str, status| {
        let mut end = end(id, status);
        end.example = Identity {
            description: "works".to_owned(),
            ..identity(id)
        };
        RunEvent::ExampleFinished(end)
    };
    let log = log([twin(A, ExampleStatus::Passed), twin(B, ExampleStatus::Failed)]);
    assert_eq!(counts(&log), [1, 1, 0]);
}

#[test]
fn what_never_started_is_counted_and_named() {
    let table: &[(&[RunEvent], &[&str])] = &[
        (&[], &[A, B, C]),
        (&[starts(B)], &[A, C]),
        (&[starts(B), passes(B), starts(C)], &[A]),
        (&[passes(A), fails(B), pends(C)], &[]),
        (&[starts(A), starts(A), passes(A)], &[B, C]),
    ];
    for (events, names) in table {
        let log = log(std::iter::once(RunEvent::Started(selected(&[A, B, C]))).chain(events.iter().cloned()));
        let count = u32::try_from(names.len()).unwrap();
        assert_eq!(not_run(&log), (count, names.to_vec()), "{events:?}");
    }
}

/// Of a large selection only the first ids are told beforehand.
#[test]
fn what_never_started_is_counted_beyond_the_names() {
    let started = Started {
        selected: 5000,
        ..selected(&[A, B])
    };
    let log = log([RunEvent::Started(started), starts(A), passes(A)]);
    assert_eq!(not_run(&log), (4999, vec![B]));
}

/// A group that an example defines and runs itself.
#[test]
fn what_was_not_selected_stands_in_for_nothing() {
    let log = log([RunEvent::Started(selected(&[A, B])), passes(A), passes(C)]);
    assert_eq!(not_run(&log), (1, vec![B]));
}

#[test]
fn ids_come_in_several_lines_when_there_are_many() {
    let started = Started {
        selected: 3,
        ..selected(&[A])
    };
    let more = |ids: &[&str]| RunEvent::Selected {
        ids: ids.iter().map(ToString::to_string).collect(),
    };
    let log = log([RunEvent::Started(started), more(&[B]), more(&[B, C]), passes(B)]);
    assert_eq!(not_run(&log), (2, vec![A, C]));
}

#[test]
fn more_examples_than_were_selected_are_no_negative_number() {
    let log = log([RunEvent::Started(selected(&[A])), passes(A), passes(B)]);
    assert_eq!(log.not_run(), 0);
}

#[test]
fn of_endless_messages_only_the_first_are_kept() {
    let log = log((0..1000).map(|n| says(&n.to_string())));
    assert!((1..100).contains(&log.messages.len()));
    assert_eq!(log.messages[0], "0");
}

#[test]
fn where_it_hangs_is_what_was_told_last() {
    let log = log([hangs_at(&["spec/a_spec.rb:1"]), hangs_at(&["spec/a_spec.rb:2"])]);
    assert_eq!(log.threads.unwrap()[0].frames, ["spec/a_spec.rb:2"]);
}

#[test]
fn that_a_fork_found_other_tables_is_known() {
    assert!(!log([]).outdated);
    assert!(log([RunEvent::Outdated {}]).outdated);
}

#[test]
fn that_coverage_was_silenced_is_known() {
    assert!(!log([]).coverage_skipped);
    assert!(log([RunEvent::CoverageSkipped {}]).coverage_skipped);
}

/// A run that never ends must not fill the supervisor.
#[test]
fn of_endless_failures_the_first_keep_their_details_and_all_are_counted() {
    let large = |n: u32| {
        let mut end = end(&format!("./spec/a_spec.rb[1:{n}]"), ExampleStatus::Failed);
        end.failure = Some(failure("RuntimeError", &"x".repeat(1024 * 1024)));
        RunEvent::ExampleFinished(end)
    };
    let log = log((1..=40).map(large));
    let kept = log.ended().filter(|end| end.failure.is_some()).count();
    assert_eq!(counts(&log), [0, 40, 0]);
    assert!((1..40).contains(&kept), "{kept}");
    assert_eq!(log.stripped, 40 - kept as u64);
    assert!(
        log.ended().take(kept).all(|end| end.failure.is_some()),
        "the first keep them"
    );
}

#[test]
fn an_error_outside_of_examples_is_one_without_its_details_too() {
    let large = |n: usize| RunEvent::OutsideError {
        context: format!("hook {n}"),
        failure: failure("RuntimeError", &"x".repeat(1024 * 1024)),
    };
    let log = log((1..=40).map(large));
    assert_eq!(log.outside.len(), 40);
    let last = log.outside.last().unwrap();
    assert_eq!(
        (last.context.as_str(), &last.failure),
        ("hook 40", &failure("RuntimeError", ""))
    );
}
