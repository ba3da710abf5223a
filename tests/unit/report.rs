//! What a caller sees of a run.

use std::path::{Path, PathBuf};

use coatepec::config::IncludeStdout;
use coatepec::process::kernel_view::KernelThread;
use coatepec::run::RunId;
use coatepec::run::blocked::Refusals;
use coatepec::run::log::RunLog;
use coatepec::run::outcome::{Outcome, Verdict};
use coatepec::run::output::Captured;
use coatepec::run::paths::Paths;
use coatepec::run::report::{Cut, ErrorReport, Facts, FailureReport, Mode, Report, Stream, Summary, Timing, View};
use coatepec::run::results::Results;
use coatepec::worker::protocol::{ExampleFinished, ExampleStatus, Failure, Location, RunEvent, Started, ThreadDump};

use crate::told::{end, fails, failure, goes_wrong_outside, hangs_at, log, passes, pends, selected, starts};

const A: &str = "./spec/a_spec.rb[1:1]";
const B: &str = "./spec/a_spec.rb[1:2]";
const C: &str = "./spec/a_spec.rb[1:3]";

/// Enough for everything.
const ROOMY: usize = 1024 * 1024;

pub(crate) fn facts(log: RunLog) -> Facts {
    Facts {
        id: RunId(7),
        mode: Mode::Fork,
        verdict: verdict(Outcome::Failed),
        log,
        stdout: nothing(),
        stderr: nothing(),
        timing: Timing::default(),
        command: "bundle exec rspec spec/a_spec.rb".to_owned(),
        error: None,
        kernel_threads: Vec::new(),
        leftovers: Vec::new(),
        warnings: Vec::new(),
        skipped: Vec::new(),
        hint: None,
        trigger: None,
        mode_reason: None,
        crashed_fork: None,
        sandbox: None,
        refused: Refusals::default(),
        held_back: Vec::new(),
        stood_for: Vec::new(),
        sandbox_at_least: coatepec::config::sandbox::Mode::Off,
        also_failed: None,
        also_last: None,
        ahead: 0,
        coverage: None,
    }
}

pub(crate) fn view(max_bytes: usize) -> View {
    View {
        include_passing: false,
        include_stdout: IncludeStdout::Failures,
        max_bytes,
    }
}

pub(crate) fn paths() -> Paths {
    Paths::new(Path::new("/srv/shop"), Some(PathBuf::from("/home/ada")))
}

pub(crate) fn wrote(text: &str) -> Captured {
    Captured {
        text: text.to_owned(),
        bytes: text.len() as u64,
        dropped: 0,
    }
}

fn nothing() -> Captured {
    wrote("")
}

fn verdict(outcome: Outcome) -> Verdict {
    Verdict { outcome, reason: None }
}

fn report(events: impl IntoIterator<Item = RunEvent>) -> Report {
    Report::new(&facts(log(events)), view(ROOMY), &paths())
}

fn fails_with(id: &str, failure: Failure) -> RunEvent {
    RunEvent::ExampleFinished(ExampleFinished {
        failure: Some(failure),
        ..end(id, ExampleStatus::Failed)
    })
}

fn with_frames(failure: Failure, frames: &[&str]) -> Failure {
    Failure {
        frames: frames.iter().map(ToString::to_string).collect(),
        ..failure
    }
}

/// The only failure of a run in which this happened.
fn only_failure(failure: Failure) -> FailureReport {
    let [ref only] = report([starts(A), fails_with(A, failure)]).failures[..] else {
        panic!("not one failure");
    };
    only.clone()
}

fn error(class: &str, message: &str) -> ErrorReport {
    ErrorReport {
        class: class.to_owned(),
        message: message.to_owned(),
        file: None,
        line: None,
        backtrace: Vec::new(),
    }
}

#[test]
fn a_failure_says_what_where_and_how_to_run_it_again() {
    let failure = with_frames(
        failure("KeyError", "\n  key not found: /srv/shop/config\n"),
        &[
            "/usr/lib/ruby/3.3.0/set.rb:1:in 'x'",
            "/srv/shop/app/cart.rb:7:in 'add'",
            "./spec/a_spec.rb:4",
        ],
    );
    let mut ended = end(A, ExampleStatus::Failed);
    ended.seconds = Some(0.123_456);
    ended.failure = Some(failure);
    let report = report([starts(A), RunEvent::ExampleFinished(ended)]);
    assert_eq!(
        report.failures,
        [FailureReport {
            number: None,
            id: "spec/a_spec.rb[1:1]".to_owned(),
            description: "does ./spec/a_spec.rb[1:1]".to_owned(),
            file: "spec/a_spec.rb".to_owned(),
            line: 3,
            rerun: "spec/a_spec.rb[1:1]".to_owned(),
            also: Vec::new(),
            class: "KeyError".to_owned(),
            message: "key not found: config".to_owned(),
            diff: None,
            backtrace: vec!["app/cart.rb:7:in 'add'".to_owned(), "spec/a_spec.rb:4".to_owned()],
            causes: Vec::new(),
            parts: Vec::new(),
            seconds: Some(0.123),
            pending_fixed: false,
        }]
    );
}

#[test]
fn a_diff_stands_apart_from_the_message() {
    let table = [
        ("expected 1\n     got 2\n", "expected 1\n     got 2", None),
        (
            "\nexpected: \"a\"\n     got: \"b\"\nDiff:\n@@ -1 +1 @@\n-a\n+b\n",
            "expected: \"a\"\n     got: \"b\"",
            Some("@@ -1 +1 @@\n-a\n+b"),
        ),
        ("x\nDiff:\n- in /srv/shop/a\n", "x", Some("- in a")),
        ("Diff: none", "Diff: none", None),
        ("\nDiff:\n", "", Some("")),
        (
            "--- expected\n+++ actual\n@@ -1 +1 @@\n-a\n+b\n",
            "Expected and actual differ.",
            Some("@@ -1 +1 @@\n-a\n+b"),
        ),
        ("\nDiff:\n-a\n+b", "Expected and actual differ.", Some("-a\n+b")),
        ("a\nDiff:\nb\nDiff:\nc", "a", Some("b\nDiff:\nc")),
    ];
    for (text, message, diff) in table {
        let shown = only_failure(failure("RSpec::Expectations::ExpectationNotMetError", text));
        assert_eq!(shown.message, message, "{text:?}");
        assert_eq!(shown.diff.as_deref(), diff, "{text:?}");
    }
}

#[test]
fn causes_and_the_parts_of_an_aggregated_failure_are_errors_of_their_own() {
    let cause = with_frames(failure("IOError", " closed\n"), &["/srv/shop/app/io.rb:9:in 'read'"]);
    let part = failure("ExpectationNotMetError", "expected 1");
    let shown = only_failure(Failure {
        causes: vec![cause],
        parts: vec![part.clone(), part],
        ..failure("MultipleExpectationsNotMetError", "two")
    });
    assert_eq!(
        shown.causes,
        [ErrorReport {
            file: Some("app/io.rb".to_owned()),
            line: Some(9),
            backtrace: vec!["app/io.rb:9:in 'read'".to_owned()],
            ..error("IOError", "closed")
        }]
    );
    assert_eq!(
        shown.parts,
        [
            error("ExpectationNotMetError", "expected 1"),
            error("ExpectationNotMetError", "expected 1")
        ]
    );
}

#[test]
fn a_failure_without_an_exception_is_still_a_failure() {
    let mut ended = end(A, ExampleStatus::Failed);
    (ended.failure, ended.seconds, ended.pending_fixed) = (None, None, Some(true));
    let shown = &report([RunEvent::ExampleFinished(ended)]).failures[0];
    assert_eq!(shown.class, "");
    assert_eq!((shown.seconds, shown.pending_fixed), (None, true));
}

#[test]
fn what_fails_in_the_same_way_again_is_told_once_with_the_names_of_all() {
    let no = || {
        with_frames(
            failure("RuntimeError", "no"),
            &["/srv/shop/app/cart.rb:7", "./spec/a_spec.rb:3"],
        )
    };
    let same = with_frames(no(), &["/srv/shop/app/cart.rb:7", "./spec/a_spec.rb:30"]);
    let another = fails_with("./spec/a_spec.rb[1:4]", failure("RuntimeError", "another"));
    let report = report([fails_with(A, no()), fails_with(B, same), fails_with(C, no()), another]);
    assert_eq!(report.summary.failures, 4);
    let [ref told, ref another] = report.failures[..] else {
        panic!("{:?}", report.failures)
    };
    // By what it was fetched while the run went on.
    assert_eq!((told.number, another.number), (None, Some(4)));
    assert_eq!((told.id.as_str(), told.message.as_str()), ("spec/a_spec.rb[1:1]", "no"));
    let also: Vec<(&str, &str)> = told
        .also
        .iter()
        .map(|example| (example.id.as_str(), example.description.as_str()))
        .collect();
    assert_eq!(
        also,
        [
            ("spec/a_spec.rb[1:2]", "does ./spec/a_spec.rb[1:2]"),
            ("spec/a_spec.rb[1:3]", "does ./spec/a_spec.rb[1:3]")
        ]
    );
}

#[test]
fn failures_that_differ_in_anything_that_matters_are_not_rolled_up() {
    let first = || with_frames(failure("RuntimeError", "no\nDiff:\n-a"), &["/srv/shop/app/cart.rb:7"]);
    let others = [
        Failure {
            class: "KeyError".to_owned(),
            ..first()
        },
        Failure {
            message: "yes\nDiff:\n-a".to_owned(),
            ..first()
        },
        Failure {
            message: "no\nDiff:\n-b".to_owned(),
            ..first()
        },
        Failure {
            parts: vec![failure("RuntimeError", "a part")],
            ..first()
        },
        with_frames(first(), &["/srv/shop/app/cart.rb:8"]),
        with_frames(first(), &[]),
    ];
    for other in others {
        let failures = report([fails_with(A, first()), fails_with(B, other.clone())]).failures;
        assert_eq!(failures.len(), 2, "{other:?}");
    }
}

#[test]
fn passing_examples_are_told_if_asked_for() {
    let events = || [passes(A), fails(B), pends(C)];
    assert!(report(events()).passing.is_empty());
    let view = View {
        include_passing: true,
        ..view(ROOMY)
    };
    let passing = Report::new(&facts(log(events())), view, &paths()).passing;
    assert_eq!(passing.len(), 1);
    assert_eq!(passing[0].id, "spec/a_spec.rb[1:1]");
    assert_eq!(passing[0].description, "does ./spec/a_spec.rb[1:1]");
    assert_eq!(passing[0].seconds, Some(0.25));
}

#[test]
fn stdout_is_shown_as_asked_for_and_stderr_whenever_there_is_any() {
    let table = [
        (IncludeStdout::Always, Outcome::Passed, true),
        (IncludeStdout::Always, Outcome::Failed, true),
        (IncludeStdout::Never, Outcome::Passed, false),
        (IncludeStdout::Never, Outcome::Crashed, false),
        (IncludeStdout::Failures, Outcome::Passed, false),
        (IncludeStdout::Failures, Outcome::Failed, true),
        (IncludeStdout::Failures, Outcome::Incomplete, true),
        (IncludeStdout::Failures, Outcome::NoExamples, true),
    ];
    for (include_stdout, outcome, shown) in table {
        let facts = Facts {
            verdict: verdict(outcome),
            stdout: wrote("in /srv/shop/app\n"),
            stderr: wrote("warning"),
            ..facts(log([]))
        };
        let report = Report::new(
            &facts,
            View {
                include_stdout,
                ..view(ROOMY)
            },
            &paths(),
        );
        let stream = |text: &str, bytes| Stream {
            text: text.to_owned(),
            bytes,
            dropped: 0,
        };
        assert_eq!(
            report.stdout,
            shown.then(|| stream("in app\n", 17)),
            "{include_stdout:?} {outcome:?}"
        );
        assert_eq!(report.stderr, Some(stream("warning", 7)));
    }
}

#[test]
fn streams_without_a_byte_are_left_out() {
    let view = View {
        include_stdout: IncludeStdout::Always,
        ..view(ROOMY)
    };
    let report = Report::new(&facts(log([])), view, &paths());
    assert_eq!((report.stdout, report.stderr), (None, None));
}

#[test]
fn what_kept_everything_from_being_loaded_stands_alone() {
    let facts = Facts {
        error: Some(with_frames(
            failure("NameError", "uninitialized constant Foo\n"),
            &[
                "/usr/lib/ruby/3.3.0/set.rb:1",
                "/srv/shop/config/initializers/x.rb:2:in '<main>'",
            ],
        )),
        ..facts(log([]))
    };
    let report = Report::new(&facts, view(ROOMY), &paths());
    assert_eq!(report.mode, None);
    assert_eq!(
        report.error,
        Some(ErrorReport {
            file: Some("config/initializers/x.rb".to_owned()),
            line: Some(2),
            backtrace: vec!["config/initializers/x.rb:2:in '<main>'".to_owned()],
            ..error("NameError", "uninitialized constant Foo")
        })
    );
}

/// The stack of a SyntaxError is that of `require`.
#[test]
fn a_syntax_error_is_where_it_says_it_is() {
    let at = |line| {
        let error = Failure {
            location: Some(Location {
                file: "/srv/shop/app/cart.rb".to_owned(),
                line,
            }),
            ..with_frames(
                failure("SyntaxError", "unexpected end"),
                &["/srv/shop/config/environment.rb:5"],
            )
        };
        Report::new(
            &Facts {
                error: Some(error),
                ..facts(log([]))
            },
            view(ROOMY),
            &paths(),
        )
        .error
        .unwrap()
    };
    assert_eq!(
        at(12),
        ErrorReport {
            file: Some("app/cart.rb".to_owned()),
            line: Some(12),
            ..error("SyntaxError", "unexpected end")
        }
    );
    assert_eq!(at(0).line, None);
}

#[test]
fn errors_outside_of_examples_name_their_context() {
    let report = report([goes_wrong_outside(
        "\nAn error occurred while loading /srv/shop/spec/a_spec.rb.\n",
    )]);
    assert_eq!(report.errors_outside.len(), 1);
    assert_eq!(
        report.errors_outside[0].context,
        "An error occurred while loading spec/a_spec.rb."
    );
    assert_eq!(report.errors_outside[0].error, error("RuntimeError", "no"));
    assert_eq!(report.summary.errors_outside, 1);
}

#[test]
fn what_did_not_finish_and_what_never_started_are_named() {
    let report = report([RunEvent::Started(selected(&[A, B, C])), starts(A), passes(A), starts(B)]);
    assert_eq!(report.unfinished.len(), 1);
    assert_eq!(report.unfinished[0].id, "spec/a_spec.rb[1:2]");
    assert_eq!(report.unfinished[0].seconds, None);
    assert_eq!(report.not_run, ["spec/a_spec.rb[1:3]"]);
}

#[test]
fn pending_examples_give_their_reason() {
    let mut ended = end(A, ExampleStatus::Pending);
    ended.reason = Some("later".to_owned());
    let pending = report([RunEvent::ExampleFinished(ended), pends(B)]).pending;
    assert_eq!(
        (pending[0].id.as_str(), pending[0].reason.as_str()),
        ("spec/a_spec.rb[1:1]", "later")
    );
    assert_eq!(pending[1].reason, "");
}

#[test]
fn the_summary_counts_everything() {
    let started = Started {
        selected: 6,
        ..selected(&[A, B, C])
    };
    let events = [
        RunEvent::Started(started),
        fails(A),
        passes(B),
        pends(C),
        starts("./spec/a_spec.rb[1:4]"),
    ];
    assert_eq!(
        report(events).summary,
        Summary {
            examples: 4,
            failures: 1,
            pending: 1,
            errors_outside: 0,
            not_run: 2,
            assertions: None,
            seconds: 0.75
        }
    );
}

#[test]
fn threads_are_named_and_cleaned() {
    let dump = |name: Option<&str>, main| ThreadDump {
        name: name.map(ToOwned::to_owned),
        main,
        status: "sleep".to_owned(),
        frames: vec![
            "/usr/lib/ruby/3.3.0/set.rb:1".to_owned(),
            "/srv/shop/app/cart.rb:7".to_owned(),
        ],
    };
    let threads = vec![
        dump(Some("hidden"), true),
        dump(Some("worker"), false),
        dump(None, false),
    ];
    let threads = report([RunEvent::Threads { threads }]).threads;
    assert_eq!(
        threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(),
        ["main", "worker", "(unnamed)"]
    );
    assert!(
        threads
            .iter()
            .all(|thread| thread.backtrace == ["app/cart.rb:7"] && thread.status == "sleep")
    );
}

#[test]
fn where_ruby_can_not_tell_the_kernel_does() {
    let kernel = |name: &str, main| KernelThread {
        name: name.to_owned(),
        main,
        doing: "sleeping in futex".to_owned(),
    };
    let seen = |events: Vec<RunEvent>| {
        let facts = Facts {
            kernel_threads: vec![kernel("ruby", true), kernel("vips worker", false)],
            ..facts(log(events))
        };
        let threads = Report::new(&facts, view(ROOMY), &paths()).threads;
        threads
            .into_iter()
            .map(|thread| (thread.name, thread.status))
            .collect::<Vec<_>>()
    };
    let told = |name: &str, status: &str| (name.to_owned(), status.to_owned());
    assert_eq!(
        seen(vec![]),
        [
            told("main", "sleeping in futex"),
            told("vips worker", "sleeping in futex")
        ]
    );
    assert_eq!(seen(vec![hangs_at(&[])]), [told("main", "sleep")]);
}

#[test]
fn what_the_supervisor_knows_is_passed_on() {
    let report = Report::new(
        &Facts {
            mode: Mode::SpawnFallback,
            verdict: Verdict {
                outcome: Outcome::Crashed,
                reason: Some("killed in /srv/shop/spec/a_spec.rb".to_owned()),
            },
            hint: Some("see `stderr`".to_owned()),
            trigger: Some("rebooted: Gemfile changed".to_owned()),
            warnings: vec!["one".to_owned()],
            timing: Timing {
                boot: 1.000_4,
                wait: 0.000_6,
                load: 0.1,
                run: 2.0,
            },
            ..facts(log([RunEvent::Started(Started {
                seed: Some(4711),
                ..selected(&[A])
            })]))
        },
        view(ROOMY),
        &paths(),
    );
    assert_eq!(
        (report.run_id.as_str(), report.mode),
        ("run-7", Some(Mode::SpawnFallback))
    );
    assert_eq!(
        (report.outcome, report.reason.as_deref()),
        (Outcome::Crashed, Some("killed in spec/a_spec.rb"))
    );
    assert_eq!(report.hint.as_deref(), Some("see `stderr`"));
    assert_eq!(report.trigger.as_deref(), Some("rebooted: Gemfile changed"));
    assert_eq!(report.warnings, ["one"]);
    assert_eq!(
        (report.seed, report.command.as_str()),
        (Some(4711), "bundle exec rspec spec/a_spec.rb")
    );
    assert_eq!(
        report.timing,
        Timing {
            boot: 1.0,
            wait: 0.001,
            load: 0.1,
            run: 2.0
        }
    );
    assert_eq!(report.cut, None);
}

/// What was cut off told no time of its own.
#[test]
fn the_time_of_a_run_that_was_cut_short_is_all_of_it() {
    let seconds = |outcome| {
        let facts = Facts {
            verdict: verdict(outcome),
            timing: Timing {
                run: 2.0,
                ..Timing::default()
            },
            ..facts(log([RunEvent::Started(selected(&[A, B])), passes(A), starts(B)]))
        };
        Report::new(&facts, view(ROOMY), &paths()).summary.seconds
    };
    let cases = [
        (Outcome::Passed, 0.25),
        (Outcome::Failed, 0.25),
        (Outcome::TimedOut, 2.0),
        (Outcome::Cancelled, 2.0),
        (Outcome::Crashed, 2.0),
    ];
    for (outcome, expected) in cases {
        assert_eq!(seconds(outcome), expected, "{outcome:?}");
    }
}

#[test]
fn messages_of_the_results_have_short_paths() {
    let said = RunEvent::ExampleFinished(ExampleFinished {
        failure: Some(failure("IOError", "no /srv/shop/tmp/a, no /home/ada/b")),
        ..end(A, ExampleStatus::Failed)
    });
    let results = Results::of(&log([said]), &paths());
    assert_eq!(results.examples[0].message.as_deref(), Some("no tmp/a, no ~/b"));
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let ids: Vec<String> = (1..=250).map(|n| format!("./spec/a_spec.rb[1:{n}]")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (pending, never) = ids.split_at(120);
    let started = RunEvent::Started(selected(&ids));
    let report = report(std::iter::once(started).chain(pending.iter().map(|id| pends(id))));
    assert_eq!((report.pending.len(), report.not_run.len()), (100, 100));
    assert_eq!(
        report.cut,
        Some(Cut {
            pending: 20,
            not_run: 30,
            ..Cut::default()
        })
    );
    assert_eq!(
        (report.summary.pending, report.summary.not_run),
        (120, u32::try_from(never.len()).unwrap())
    );
}

#[test]
fn what_is_empty_takes_no_place_in_the_json() {
    let json: serde_json::Value = serde_json::from_str(&report([passes(A)]).to_json()).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["run_id", "outcome", "mode", "summary", "command", "timing"]);
}

#[test]
fn names_in_the_json_are_those_of_the_documentation() {
    let failing = [
        RunEvent::Started(Started {
            seed: Some(4711),
            ..selected(&[A, B, C, "./spec/b_spec.rb[1]"])
        }),
        fails(A),
        pends(B),
        starts(C),
        goes_wrong_outside("…"),
        hangs_at(&[]),
    ];
    let facts = Facts {
        stdout: wrote("out"),
        stderr: wrote("err"),
        ..facts(log(failing))
    };
    let json: serde_json::Value = serde_json::from_str(&Report::new(&facts, view(ROOMY), &paths()).to_json()).unwrap();
    for pointer in [
        "/summary/errors_outside",
        "/failures/0/rerun",
        "/errors_outside/0/error/class",
        "/unfinished/0/id",
        "/threads/0/name",
        "/not_run/0",
        "/pending/0/reason",
        "/stdout/text",
        "/stderr/dropped",
        "/seed",
    ] {
        assert!(json.pointer(pointer).is_some(), "no {pointer} in {json}");
    }
    assert_eq!(json["outcome"], "failed");
    assert_eq!(json["mode"], "fork");
}
