//! Every test in test/faults, through a server: as the specs in spec/faults, with Minitest.

use serde_json::json;

use crate::fault_suite::{FORKED, Fault, SPAWNED, Suite, fault};
use crate::support::{App, Deviations};

const TESTS: Suite = Suite {
    dir: "test/faults",
    ending: "_test.rb",
    harmless: "packs/catalog/test/models/catalog/shelf_test.rb",
    trick: |text| format!("require 'test_helper'\nclass TrickTest < InOrder\n {text}\nend\n"),
};

const PASSING: &[Fault] = &[
    fault("asks_for_autorun", "passed", [1, 0, 0, 0, 0], "\"assertions\":1"),
    fault("crashes_only_in_fork", "passed", [2, 0, 0, 0, 0], "spawn_after_crash"),
    fault("leaks_fork_that_continues", "passed", [3, 0, 0, 0, 0], ""),
    fault("leaks_grandchild", "passed", [2, 0, 0, 0, 0], "sleep 600"),
    fault("leaks_thread", "passed", [2, 0, 0, 0, 0], ""),
    fault("nested_run", "passed", [2, 0, 0, 0, 0], ""),
    fault("odd_assertions", "passed", [3, 0, 0, 0, 0], ""),
    fault("requires_benchmark", "passed", [1, 0, 0, 0, 0], ""),
    fault("parallelizes", "passed", [8, 0, 0, 0, 0], ""),
    fault("prints_after_run", "passed", [1, 0, 0, 0, 0], ""),
    fault("reads_stdin", "passed", [1, 0, 0, 0, 0], ""),
    fault("runs_at_exit_in_a_fork", "passed", [1, 0, 0, 0, 0], ""),
    fault("uses_database", "passed", [2, 0, 0, 0, 0], ""),
    fault("double_forks", "passed", [2, 0, 0, 0, 0], "left 1 process"),
    fault("finalizer_segfaults", "passed", [1, 0, 0, 0, 0], ""),
    fault("floods_stderr", "passed", [2, 0, 0, 0, 0], "Köln"),
    fault("fork_bomb", "passed", [2, 0, 0, 0, 0], "left 30 process"),
    fault("leaves_temp_files", "passed", [1, 0, 0, 0, 0], ""),
    fault("opens_port", "passed", [1, 0, 0, 0, 0], ""),
    fault("prints_seed", "passed", [1, 0, 0, 0, 0], ""),
    fault("raw_sqlite_handle", "passed", [2, 0, 0, 0, 0], ""),
    fault("retries", "passed", [1, 0, 0, 0, 0], ""),
    fault("slow_then_passes", "passed", [2, 0, 0, 0, 0], ""),
    fault("waits_for_all_children", "passed", [1, 0, 0, 0, 0], ""),
    fault("writes_big_file", "passed", [2, 0, 0, 0, 0], ""),
];

const FAILING: &[Fault] = &[
    fault("breaks_a_reporter", "failed", [1, 0, 0, 1, 0], "the reporter broke"),
    fault(
        "changes_directory",
        "failed",
        [2, 1, 0, 0, 0],
        "test/faults/changes_directory_test.rb",
    ),
    fault("closes_stdout", "failed", [3, 1, 0, 0, 0], "Expected: 2"),
    fault("fails", "failed", [7, 6, 0, 0, 0], "broken"),
    fault("fails_35_times", "failed", [35, 35, 0, 0, 0], ""),
    fault("fails_in_setup", "failed", [2, 2, 0, 0, 0], "in setup"),
    fault("fails_in_teardown", "failed", [3, 3, 0, 0, 0], "in teardown"),
    fault("floods_stdout", "failed", [2, 1, 0, 0, 0], "jaźń"),
    fault("huge_backtrace", "failed", [2, 1, 0, 0, 0], "found it"),
    fault("inspect_raises", "failed", [3, 1, 0, 0, 0], "do not look"),
    fault("invalid_bytes", "failed", [4, 2, 0, 0, 0], "is closed"),
    fault("isolates", "failed", [2, 1, 0, 0, 0], "Expected: 2"),
    fault("long_message", "failed", [2, 1, 0, 0, 0], "a long story"),
    fault(
        "message_raises",
        "failed",
        [3, 1, 0, 0, 0],
        "#message of the exception raised",
    ),
    fault("odd_names", "failed", [6, 3, 0, 0, 0], "OddNamesTest#test: 1[1:2]"),
    fault("overflows_stack", "failed", [2, 1, 0, 0, 0], "SystemStackError"),
    fault("prints_fake_summary", "failed", [2, 1, 0, 0, 0], ""),
    fault("raises_bare_exception", "failed", [3, 2, 0, 0, 0], "\"Exception\""),
    fault("redefines_for_good", "failed", [2, 1, 0, 0, 0], "Expected: 2"),
    fault("travels_time", "failed", [2, 1, 0, 0, 0], "Expected: 2"),
    fault(
        "unmarshalable_exception",
        "failed",
        [2, 1, 0, 0, 0],
        "UnmarshalableExceptionTest::Held",
    ),
    fault("allocates_endlessly", "failed", [3, 1, 0, 0, 0], "nobody stopped me"),
    fault("anonymous_exception", "failed", [2, 1, 0, 0, 0], "anonymous"),
    fault("clears_env", "failed", [2, 1, 0, 0, 0], "/bin"),
    fault("exits_with_zero", "failed", [2, 1, 0, 0, 0], "Expected: 2"),
    fault("fails_around", "failed", [2, 1, 0, 0, 0], "too late"),
    fault("generated_names", "failed", [5, 2, 1, 0, 0], "comes from one line"),
    // Whether what comes after it can be loaded depends on what was loaded before.
    Fault {
        name: "low_fd_limit",
        outcome: "failed",
        counts: None,
        says: "Too many open files",
    },
    fault("prints_json", "failed", [2, 1, 0, 0, 0], "Expected: 2"),
    fault("reopens_stdout", "failed", [2, 1, 0, 0, 0], "Expected: 2"),
    fault("stubs_everything", "failed", [3, 1, 0, 0, 0], "Expected: 2"),
    fault("throws", "failed", [2, 1, 0, 0, 0], "UncaughtThrowError"),
    fault("uses_many_fds", "failed", [2, 1, 0, 0, 0], "Expected: 513"),
];

const NEITHER: &[Fault] = &[
    fault("aborts", "crashed", [2, 0, 0, 0, 1], "SIGABRT"),
    fault(
        "aborts_at_load",
        "load_error",
        [0, 0, 0, 0, 0],
        "while files were being loaded",
    ),
    fault("aborts_midway", "incomplete", [2, 0, 0, 0, 1], "#test_2"),
    fault("background_thread_exits", "incomplete", [2, 0, 0, 0, 1], "#test_2"),
    fault("empty_file", "no_examples", [0, 0, 0, 0, 0], "no examples"),
    fault("exit_in_at_exit", "failed_at_exit", [1, 0, 0, 0, 0], "status to 3"),
    fault("exits_at_load", "load_error", [0, 0, 0, 0, 0], "status 0"),
    fault("exits_bang_midway", "incomplete", [2, 0, 0, 0, 1], "status 0 in"),
    fault("exits_midway", "incomplete", [2, 0, 0, 0, 1], "status 0 in"),
    fault("interrupts_itself", "incomplete", [2, 0, 0, 0, 1], "#test_2"),
    fault("kills_itself_kill", "crashed", [2, 0, 0, 0, 1], "SIGKILL"),
    fault("kills_itself_term", "crashed", [2, 0, 0, 0, 1], "SIGTERM"),
    fault("missing_require", "load_error", [0, 0, 0, 1, 0], "LoadError"),
    fault("name_error_at_load", "load_error", [0, 0, 0, 1, 0], "NameError"),
    fault("no_tests", "no_examples", [0, 0, 0, 0, 0], "no examples"),
    fault("raises_after_run", "failed_at_exit", [1, 0, 0, 0, 0], "after the run"),
    fault("raises_no_memory", "incomplete", [2, 0, 0, 0, 1], "NoMemoryError"),
    fault("segfaults", "crashed", [2, 0, 0, 0, 1], "SIGSEGV"),
    fault("skips", "all_pending", [3, 0, 3, 0, 0], "in setup"),
    fault("syntax_error", "load_error", [0, 0, 0, 1, 0], "SyntaxError"),
    // It closes our pipe, too: not all can be known then, and it must not look green.
    Fault {
        name: "closes_fds",
        outcome: "incomplete",
        counts: None,
        says: "status 1",
    },
    fault("kills_its_group", "crashed", [2, 0, 0, 0, 1], "SIGTERM"),
    fault(
        "nested_run_hides_one",
        "incomplete",
        [2, 0, 0, 0, 1],
        "fails_if_it_is_run",
    ),
    fault("raises_interrupt", "incomplete", [2, 0, 0, 0, 1], "#test_2"),
];

const HANGING: &[Fault] = &[
    fault("busy_loops", "timed_out", [2, 0, 0, 0, 1], "busy_loops_test.rb:"),
    fault("hangs", "timed_out", [2, 0, 0, 0, 1], "hangs_test.rb:"),
    fault("hangs_at_exit", "timed_out", [1, 0, 0, 0, 0], "after the last example"),
    fault(
        "hangs_at_load",
        "timed_out",
        [0, 0, 0, 0, 0],
        "while files were being loaded",
    ),
    fault("hangs_in_teardown", "timed_out", [1, 0, 0, 0, 1], "#test_1"),
    fault("ignores_term", "timed_out", [2, 0, 0, 0, 1], "ignores_term_test.rb:"),
    fault("stops_itself", "timed_out", [2, 0, 0, 0, 1], "#test_2"),
    fault("deadlocks", "timed_out", [2, 0, 0, 0, 1], "deadlocks_test.rb:"),
    fault("hangs_in_c", "timed_out", [2, 0, 0, 0, 1], "#test_2"),
    fault("hangs_in_c_with_the_lock", "timed_out", [2, 0, 0, 0, 1], "#test_2"),
    fault(
        "ignores_term_and_setsid",
        "timed_out",
        [2, 0, 0, 0, 1],
        "ignores_term_and_setsid_test.rb:",
    ),
];

/// Their outcome is a matter of chance.
const BY_CHANCE: &[&str] = &["flaky", "kills_its_parent", "locks_database", "order_dependent"];

fn rows() -> impl Iterator<Item = &'static Fault> {
    [PASSING, FAILING, NEITHER, HANGING].into_iter().flatten()
}

#[test]
fn every_fault_of_minitest_has_its_row() {
    TESTS.each_has_a_row(|name| rows().any(|fault| fault.name == name) || BY_CHANCE.contains(&name));
}

#[test]
fn what_passes_in_spite_of_its_faults_passes_with_minitest() {
    TESTS.forked(PASSING, 60);
}

#[test]
fn what_fails_in_odd_ways_fails_with_minitest() {
    TESTS.forked(FAILING, 60);
}

#[test]
fn what_neither_passes_nor_fails_has_a_name_of_its_own_with_minitest() {
    TESTS.forked(NEITHER, 60);
}

#[test]
fn what_hangs_is_ended_and_says_where_it_hung_with_minitest() {
    TESTS.forked(HANGING, FORKED);
}

#[test]
fn the_same_is_true_of_fresh_processes_with_minitest() {
    let names = [
        "aborts_at_load",
        "asks_for_autorun",
        "clears_env",
        "closes_fds",
        "double_forks",
        "exit_in_at_exit",
        "exits_midway",
        "fails_in_teardown",
        "finalizer_segfaults",
        "fork_bomb",
        "interrupts_itself",
        "invalid_bytes",
        "isolates",
        "leaks_fork_that_continues",
        "message_raises",
        "parallelizes",
        "raises_after_run",
        "skips",
        "stubs_everything",
        "syntax_error",
        "travels_time",
        "uses_database",
    ];
    let chosen: Vec<&Fault> = rows().filter(|fault| names.contains(&fault.name)).collect();
    assert_eq!(chosen.len(), names.len(), "each has a row");
    TESTS.spawned(&chosen, 60);
    TESTS.spawned(
        &rows().filter(|fault| fault.name == "hangs").collect::<Vec<_>>(),
        SPAWNED,
    );
}

/// The suite must run once: whoever asks for `autorun` gets it from us.
#[test]
fn what_is_to_run_after_all_tests_runs_once_and_is_heard() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        let arguments = json!({"fork": fork, "include_stdout": "always"});
        let report = server.run_with(["test/faults/prints_after_run_test.rb"], arguments);
        wrong.check(report["stdout"]["text"] == "after the run\n", || {
            format!("{fork}: {report}")
        });
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_flaky_test_is_green_or_red_and_nothing_else() {
    TESTS.a_matter_of_chance();
}

#[test]
fn a_database_that_is_locked_fails_that_run_of_minitest_only() {
    TESTS.a_locked_database("test/models/widget_test.rb");
}

#[test]
fn a_run_of_minitest_that_kills_what_it_was_forked_from_is_green_only_if_it_came_to_its_end() {
    TESTS.a_parent_that_is_killed();
}

/// A run that becomes another process, or leaves its own, in few lines each.
const TRICKS: &[(&str, &str, &str)] = &[
    ("def test_x = Process.daemon(true, true)", "incomplete", "status 0 in"),
    ("def test_x = exec('true')", "incomplete", "status 0 in"),
    (
        "def test_x = (Thread.main.raise(SystemExit); sleep)",
        "incomplete",
        "status 0 in",
    ),
    ("def test_x = (Process.kill(:QUIT, $$); sleep 0.1)", "passed", ""),
    ("def test_x = (Process.kill(:USR1, $$); sleep)", "crashed", "SIGUSR1"),
    ("def test_x = nil; at_exit { exit!(0) }", "incomplete", "exit handler"),
    (
        "def test_x = nil; at_exit { raise 'late' }",
        "failed_at_exit",
        "status to 1",
    ),
    ("def test_x = raise('no'); at_exit { exit 0 }", "failed", "no"),
    (
        "def test_x = nil; Minitest.after_run { exit!(0) }",
        "incomplete",
        "exit handler",
    ),
    (
        "def test_x = nil; def self.run_one_method(*) = nil; def self.run(*) = nil; def self.run_suite(*) = nil",
        "incomplete",
        "never ran: TrickTest has a `run` of its own, in test/",
    ),
    (
        "def test_x = raise(Interrupt); def test_y = nil",
        "incomplete",
        "1 not run",
    ),
    ("def test_x = Minitest::Runnable.reset", "passed", ""),
];

#[test]
fn no_trick_makes_a_run_of_minitest_green_that_did_not_come_to_its_end() {
    TESTS.tricks(TRICKS);
}
