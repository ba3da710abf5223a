//! The specification of the verdict: what a run told and how its process ended, and what that amounts to.

use coatepec::run::log::RunLog;
use coatepec::run::outcome::{End, Outcome, Stop, judge, unmatched_beside};
use coatepec::worker::protocol::{RunEvent, Started};

use crate::told::{
    PID, fails, finishes, goes_wrong_outside, leaves, log, passes, pends, said_by, says, selected, starts,
};

const A: &str = "./spec/a_spec.rb[1:1]";
const B: &str = "./spec/a_spec.rb[1:2]";

const SEGV: End = End::Signaled(11);
const KILL: End = End::Signaled(9);

/// All that a verdict depends on. The default one passed.
struct Run {
    speaker: i32,
    started: Option<Started>,
    examples: Vec<RunEvent>,
    finished: Option<RunEvent>,
    exit: Option<i32>,
    end: End,
    stop: Option<Stop>,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            speaker: PID,
            started: Some(selected(&[A, B])),
            examples: vec![starts(A), passes(A), starts(B), pends(B)],
            finished: Some(finishes(0)),
            exit: Some(0),
            end: End::Exited(0),
            stop: None,
        }
    }
}

impl Run {
    fn but(change: impl FnOnce(&mut Run)) -> Run {
        let mut run = Run::default();
        change(&mut run);
        run
    }

    /// Died, or was ended, within an example.
    fn within(end: End, stop: Option<Stop>) -> Run {
        Run {
            examples: vec![starts(A), passes(A), starts(B)],
            finished: None,
            exit: None,
            end,
            stop,
            ..Run::default()
        }
    }

    /// Came to this end without a word after its `hello`.
    fn silent(end: End, stop: Option<Stop>) -> Run {
        Run {
            started: None,
            examples: Vec::new(),
            ..Run::within(end, stop)
        }
    }

    fn started(&mut self) -> &mut Started {
        self.started.as_mut().unwrap()
    }

    fn log(&self) -> RunLog {
        let events = std::iter::once(RunEvent::Hello {})
            .chain(self.started.clone().map(RunEvent::Started))
            .chain(self.examples.iter().cloned())
            .chain(self.finished.clone())
            .chain(self.exit.map(leaves));
        let mut log = RunLog::of_child(PID);
        events.for_each(|event| log.apply(said_by(self.speaker, event)));
        log
    }
}

type Change = fn(&mut Run);

fn check(what: &str, run: &Run, outcome: Outcome, reason: &str) {
    let verdict = judge(&run.log(), run.end, run.stop);
    assert_eq!(verdict.outcome, outcome, "{what}: {verdict:?}");
    assert_eq!(verdict.reason.unwrap_or_default(), reason, "{what}");
}

#[test]
fn a_run_passes_when_everything_that_must_hold_holds() {
    check("nothing missing", &Run::default(), Outcome::Passed, "");
}

#[test]
fn each_condition_of_a_pass_is_needed() {
    let table: &[(&str, Change, Outcome, &str)] = &[
        (
            "another process told all of it",
            |run| run.speaker = PID + 1,
            Outcome::LoadError,
            "the process exited with status 0 while files were being loaded",
        ),
        (
            "no record of the end",
            |run| run.exit = None,
            Outcome::Incomplete,
            "the process left with status 0 from an exit handler, after the last example",
        ),
        (
            "the framework's runner never came back",
            |run| run.finished = None,
            Outcome::Incomplete,
            "the process exited with status 0 between examples",
        ),
        (
            "nothing told of the start",
            |run| run.started = None,
            Outcome::LoadError,
            "the process exited with status 0 while files were being loaded",
        ),
        (
            "an example never finished",
            |run| run.examples.truncate(3),
            Outcome::Incomplete,
            "the test framework was stopped before its end in spec/a_spec.rb[1:2]; 0 not run",
        ),
        (
            "an example never started",
            |run| run.examples.truncate(2),
            Outcome::Incomplete,
            "the test framework came to its end, and 1 of the selected examples never ran",
        ),
        (
            "the framework was told to quit",
            |run| {
                run.finished = Some(RunEvent::Finished {
                    status: 0,
                    quit: true,
                    dry_run: false,
                    outside: 0,
                });
            },
            Outcome::Incomplete,
            "the test framework was stopped before its end after the last example; 0 not run",
        ),
        (
            "an example failed",
            |run| run.examples[3] = fails(B),
            Outcome::Failed,
            "",
        ),
        (
            "a hook outside of the examples failed",
            |run| run.examples.push(goes_wrong_outside("after(:suite)")),
            Outcome::Failed,
            "an error occurred outside of the examples",
        ),
        (
            "a hook outside of the examples failed, and its record was lost",
            |run| {
                run.finished = Some(RunEvent::Finished {
                    status: 0,
                    quit: false,
                    dry_run: false,
                    outside: 1,
                });
            },
            Outcome::Failed,
            "an error occurred outside of the examples",
        ),
        (
            "a file could not be loaded",
            |run| run.started().outside = 1,
            Outcome::LoadError,
            "an error occurred while loading; only examples of the other files were run",
        ),
        (
            "a file could not be loaded, and there was no other",
            |run| {
                run.started().outside = 1;
                run.examples.clear();
            },
            Outcome::LoadError,
            "an error occurred while loading, so no example was run",
        ),
        (
            "a dry run",
            |run| run.started().dry_run = true,
            Outcome::DryRun,
            "the project configures a dry run: examples are listed and not run",
        ),
        (
            "no example was there",
            |run| {
                run.started = Some(selected(&[]));
                run.examples.clear();
            },
            Outcome::NoExamples,
            "the files define no examples",
        ),
        (
            "no example was tested",
            |run| run.examples[1] = pends(A),
            Outcome::AllPending,
            "every selected example is pending or skipped",
        ),
        (
            "the framework's own status says no",
            |run| run.finished = Some(finishes(3)),
            Outcome::Failed,
            "no example failed, but the test framework ended with status 3",
        ),
        (
            "an exit handler says no",
            |run| run.exit = Some(2),
            Outcome::FailedAtExit,
            "every example passed, then an exit handler set the status to 2",
        ),
        (
            "its time was up",
            |run| run.stop = Some(Stop::Deadline),
            Outcome::TimedOut,
            "the deadline passed after the last example",
        ),
        (
            "it used too much memory",
            |run| run.stop = Some(Stop::Memory(5 << 30)),
            Outcome::MemoryExceeded,
            "its processes used 5120 MiB of memory after the last example",
        ),
        (
            "it used too much memory, and the kernel was faster than we",
            |run| run.stop = Some(Stop::OutOfMemory(5 << 30)),
            Outcome::MemoryExceeded,
            "the kernel ended it: its processes used 5120 MiB of memory after the last example",
        ),
        (
            "it had too many processes",
            |run| run.stop = Some(Stop::Processes(513)),
            Outcome::TooManyProcesses,
            "it had 513 processes after the last example",
        ),
        (
            "it was taken back",
            |run| run.stop = Some(Stop::Cancelled),
            Outcome::Cancelled,
            "the caller cancelled the run",
        ),
    ];
    for (what, change, outcome, reason) in table {
        check(what, &Run::but(*change), *outcome, reason);
    }
}

/// Finalizers of C libraries, and whatever else comes after the last record, have no say.
#[test]
fn after_the_last_record_the_end_of_the_process_changes_nothing() {
    for end in [End::Exited(0), End::Exited(1), SEGV, KILL, End::Unknown] {
        check("passed", &Run::but(|run| run.end = end), Outcome::Passed, "");
        let failed = Run::but(|run| {
            run.examples[1] = fails(A);
            run.finished = Some(finishes(1));
            run.exit = Some(1);
            run.end = end;
        });
        check("failed", &failed, Outcome::Failed, "");
    }
}

/// `judge` is told of a stop only if it began before the last record was heard.
#[test]
fn a_run_that_had_to_be_ended_is_called_so_whatever_it_said_and_however_it_died() {
    for end in [End::Exited(0), End::Exited(1), KILL, SEGV, End::Unknown] {
        for (stop, outcome) in [
            (Stop::Deadline, Outcome::TimedOut),
            (Stop::Cancelled, Outcome::Cancelled),
            (Stop::Memory(5 << 30), Outcome::MemoryExceeded),
            (Stop::OutOfMemory(5 << 30), Outcome::MemoryExceeded),
            (Stop::Processes(513), Outcome::TooManyProcesses),
        ] {
            for run in [
                Run::but(|run| (run.end, run.stop) = (end, Some(stop))),
                Run::within(end, Some(stop)),
                Run::silent(end, Some(stop)),
            ] {
                assert_eq!(judge(&run.log(), end, Some(stop)).outcome, outcome, "{stop:?} {end:?}");
            }
        }
    }
}

#[test]
fn a_run_out_of_time_is_named_by_where_it_was() {
    let late = |run: Run, reason| check("late", &run, Outcome::TimedOut, reason);
    let stop = Some(Stop::Deadline);
    late(
        Run::silent(KILL, stop),
        "the deadline passed while files were being loaded",
    );
    late(Run::within(KILL, stop), "the deadline passed in spec/a_spec.rb[1:2]");
    let between = Run {
        examples: vec![starts(A), passes(A)],
        ..Run::within(KILL, stop)
    };
    late(between, "the deadline passed between examples");
    let after = Run::but(|run| (run.exit, run.stop) = (None, stop));
    late(after, "the deadline passed after the last example");
}

/// Also with status 0: leaving is not passing.
#[test]
fn a_process_that_leaves_early_is_incomplete() {
    for status in [0, 1, 99] {
        let exits = End::Exited(status);
        check(
            "exit! in an example",
            &Run::within(exits, None),
            Outcome::Incomplete,
            &format!("the process exited with status {status} in spec/a_spec.rb[1:2]"),
        );
        let handled = Run {
            exit: Some(status),
            ..Run::within(exits, None)
        };
        check(
            "exit in an example",
            &handled,
            Outcome::Incomplete,
            &format!("the process exited with status {status} in spec/a_spec.rb[1:2]"),
        );
        let after = Run::but(|run| (run.exit, run.end) = (None, exits));
        check(
            "exit! in an exit handler",
            &after,
            Outcome::Incomplete,
            &format!("the process left with status {status} from an exit handler, after the last example"),
        );
    }
    check(
        "nobody could wait for it",
        &Run::within(End::Unknown, None),
        Outcome::Incomplete,
        "the process is gone in spec/a_spec.rb[1:2]",
    );
}

#[test]
fn a_process_that_leaves_before_the_first_example_was_chosen_is_a_load_error() {
    for exit in [None, Some(0), Some(1)] {
        let run = Run {
            exit,
            ..Run::silent(End::Exited(1), None)
        };
        let status = exit.unwrap_or(1);
        check(
            "exit while loading",
            &run,
            Outcome::LoadError,
            &format!("the process exited with status {status} while files were being loaded"),
        );
        let told = Run {
            examples: vec![goes_wrong_outside(
                "\nAn error occurred while loading ./spec/a_spec.rb.\n",
            )],
            ..run
        };
        check(
            "with an error",
            &told,
            Outcome::LoadError,
            "An error occurred while loading ./spec/a_spec.rb.",
        );
    }
}

#[test]
fn a_signal_that_is_not_ours_is_a_crash_and_has_a_name() {
    let table = [
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (15, "SIGTERM"),
        (40, "signal 40"),
    ];
    for (signal, name) in table {
        let end = End::Signaled(signal);
        check(
            name,
            &Run::within(end, None),
            Outcome::Crashed,
            &format!("the process was killed by {name} in spec/a_spec.rb[1:2]"),
        );
        check(
            name,
            &Run::silent(end, None),
            Outcome::Crashed,
            &format!("the process was killed by {name} while files were being loaded"),
        );
        let after = Run::but(|run| (run.exit, run.end) = (None, end));
        check(
            name,
            &after,
            Outcome::Crashed,
            &format!("the process was killed by {name} after the last example"),
        );
    }
}

#[test]
fn a_signal_for_a_file_that_grew_too_large_is_called_so() {
    check(
        "XFSZ",
        &Run::within(End::Signaled(25), None),
        Outcome::FileTooLarge,
        "a file grew beyond what is allowed in spec/a_spec.rb[1:2]",
    );
}

/// Ruby turns TERM into an exception: exit handlers run and tell a status before the process dies of the signal.
#[test]
fn a_signal_that_ruby_handled_is_still_a_crash() {
    let run = Run {
        exit: Some(128 + 15),
        ..Run::within(End::Signaled(15), None)
    };
    check(
        "TERM",
        &run,
        Outcome::Crashed,
        "the process was killed by SIGTERM in spec/a_spec.rb[1:2]",
    );
}

/// The first that applies wins: what kept examples from running, then what failed, then what is missing.
#[test]
fn of_several_things_wrong_the_weightiest_is_named() {
    let table: &[(&str, Change, Outcome)] = &[
        (
            "a dry run with a load error",
            |run| (run.started().dry_run, run.started().outside) = (true, 1),
            Outcome::DryRun,
        ),
        (
            "a load error and a failure",
            |run| {
                run.started().outside = 1;
                run.examples[1] = fails(A);
            },
            Outcome::LoadError,
        ),
        (
            "stopped at the first failure",
            |run| run.examples = vec![starts(A), fails(A)],
            Outcome::Failed,
        ),
        (
            "a failure, and an example that never finished",
            |run| run.examples = vec![starts(A), fails(A), starts(B)],
            Outcome::Failed,
        ),
        (
            "a failure that the exit handlers make up for",
            |run| {
                run.examples[1] = fails(A);
                run.finished = Some(finishes(0));
                run.exit = Some(0);
            },
            Outcome::Failed,
        ),
        (
            "stopped, and a bad status",
            |run| {
                run.examples.truncate(2);
                run.finished = Some(finishes(1));
                run.exit = Some(1);
            },
            Outcome::Incomplete,
        ),
        (
            "all pending, and a bad status at exit",
            |run| {
                run.examples[1] = pends(A);
                run.exit = Some(2);
            },
            Outcome::FailedAtExit,
        ),
        (
            "no examples, which the project calls a failure",
            |run| {
                run.started = Some(selected(&[]));
                run.examples.clear();
                run.finished = Some(finishes(1));
                run.exit = Some(1);
            },
            Outcome::NoExamples,
        ),
    ];
    for (what, change, outcome) in table {
        let run = Run::but(*change);
        assert_eq!(judge(&run.log(), run.end, run.stop).outcome, *outcome, "{what}");
    }
}

#[test]
fn a_selector_that_matched_nothing_is_named_whatever_the_others_did() {
    let but = |unmatched: &[&str], change: fn(&mut Run)| {
        let mut run = Run::but(|_| {});
        let unmatched = unmatched.iter().map(ToString::to_string).collect();
        run.started = run.started.map(|started| Started { unmatched, ..started });
        change(&mut run);
        run
    };
    let gone = ["test/a_test.rb#x", "test/a_test.rb:1"];
    let reason = "`test/a_test.rb#x`, `test/a_test.rb:1` matched nothing; the other 2 examples passed";
    check("two of them", &but(&gone, |_| {}), Outcome::NoExamples, reason);
    let many = ["1", "2", "3", "4", "5", "6", "7"];
    let reason = "`1`, `2`, `3`, `4`, `5` and 2 more matched nothing; the other 2 examples passed";
    check("many", &but(&many, |_| {}), Outcome::NoExamples, reason);
    let failed = but(&gone, |run| run.examples[1] = fails(A));
    assert_eq!(judge(&failed.log(), failed.end, failed.stop).outcome, Outcome::Failed);
    let beside = |run: &Run| unmatched_beside(&run.log(), &judge(&run.log(), run.end, run.stop));
    let named = "`test/a_test.rb#x`, `test/a_test.rb:1` matched nothing";
    assert_eq!(beside(&failed).as_deref(), Some(named));
    assert_eq!(beside(&but(&gone, |_| {})), None, "it is the reason");
    assert_eq!(beside(&but(&[], |run| run.examples[1] = fails(A))), None);
    let dies = but(&gone, |run| {
        (run.finished, run.exit, run.end) = (None, None, SEGV);
    });
    assert_eq!(beside(&dies).as_deref(), Some(named));
    let unloaded = but(&gone, |run| run.started.as_mut().unwrap().outside = 1);
    assert_eq!(beside(&unloaded), None, "nobody knows");
}

#[test]
fn no_examples_says_whether_a_filter_hid_them() {
    let none = |loaded: u32, messages: &[&str]| {
        Run::but(|run| {
            run.started = Some(Started {
                loaded,
                ..Started::default()
            });
            run.examples = messages.iter().map(|message| says(message)).collect();
        })
    };
    let table = [
        (none(0, &[]), "the files define no examples"),
        (none(0, &["\nRun options"]), "the files define no examples"),
        (none(4, &[]), "none of 4 examples matched"),
        (
            none(4, &["Run options: …", "\nAll examples were filtered out\n"]),
            "none of 4 examples matched (All examples were filtered out)",
        ),
    ];
    for (run, reason) in table {
        check(reason, &run, Outcome::NoExamples, reason);
    }
}

#[test]
fn nothing_told_at_all_is_no_pass() {
    for end in [End::Exited(0), End::Unknown, SEGV] {
        let verdict = judge(&log([]), end, None);
        assert_ne!(verdict.outcome, Outcome::Passed);
        assert!(verdict.reason.is_some(), "{end:?}");
    }
}
