//! Every spec in spec/faults, through a server: what the caller sees is true, the next run works, and nothing is left.

use crate::fault_suite::{FORKED, Fault, SPAWNED, Suite, fault};

const SPECS: Suite = Suite {
    dir: "spec/faults",
    ending: "_spec.rb",
    harmless: "spec/services/price_list_spec.rb",
    trick: |text| format!("RSpec.describe('a trick') {{ {text} }}\n"),
};

const PASSING: &[Fault] = &[
    fault("crashes_only_in_fork", "passed", [2, 0, 0, 0, 0], "spawn_after_crash"),
    fault("defines_exit", "passed", [1, 0, 0, 0, 0], ""),
    fault("double_forks", "passed", [2, 0, 0, 0, 0], "left 1 process"),
    fault("finalizer_segfaults", "passed", [1, 0, 0, 0, 0], ""),
    fault("floods_stderr", "passed", [2, 0, 0, 0, 0], "Köln"),
    fault("focus_filtered", "passed", [1, 0, 0, 0, 0], "2 examples were hidden"),
    fault("fork_bomb", "passed", [2, 0, 0, 0, 0], "left 30 process"),
    fault("leaks_fork_that_continues", "passed", [3, 0, 0, 0, 0], ""),
    fault("leaks_grandchild", "passed", [2, 0, 0, 0, 0], "sleep 600"),
    fault("leaks_thread", "passed", [2, 0, 0, 0, 0], ""),
    fault("leaves_temp_files", "passed", [1, 0, 0, 0, 0], ""),
    fault("minitest_autorun", "passed", [1, 0, 0, 0, 0], ""),
    fault("odd_metadata", "passed", [3, 0, 0, 0, 0], ""),
    fault("opens_port", "passed", [1, 0, 0, 0, 0], ""),
    fault("prints_seed", "passed", [1, 0, 0, 0, 0], ""),
    fault("raw_sqlite_handle", "passed", [2, 0, 0, 0, 0], ""),
    fault("reads_stdin", "passed", [3, 0, 0, 0, 0], ""),
    fault("retries", "passed", [1, 0, 0, 0, 0], ""),
    fault("runs_at_exit_in_a_fork", "passed", [1, 0, 0, 0, 0], ""),
    fault("slow_then_passes", "passed", [2, 0, 0, 0, 0], ""),
    fault("tag_excluded", "passed", [1, 0, 0, 0, 0], "1 example"),
    fault("uses_db_in_transaction", "passed", [2, 0, 0, 0, 0], ""),
    fault("waits_for_all_children", "passed", [1, 0, 0, 0, 0], ""),
    fault("writes_big_file", "passed", [2, 0, 0, 0, 0], ""),
];

const FAILING: &[Fault] = &[
    fault("allocates_endlessly", "failed", [3, 1, 0, 0, 0], "nobody stopped me"),
    fault("anonymous_exception", "failed", [2, 1, 0, 0, 0], "anonymous"),
    fault(
        "changes_directory",
        "failed",
        [2, 1, 0, 0, 0],
        "spec/faults/changes_directory_spec.rb[1:2]",
    ),
    fault("clears_env", "failed", [2, 1, 0, 0, 0], "/bin"),
    fault("closes_stdout", "failed", [3, 1, 0, 0, 0], "expected: 2"),
    fault("duplicate_descriptions", "failed", [4, 2, 0, 0, 0], ""),
    fault(
        "fail_fast_configured",
        "failed",
        [2, 1, 0, 0, 2],
        "stopped at the first failure",
    ),
    fault("fails", "failed", [8, 7, 0, 0, 0], ""),
    fault("fails_35_times", "failed", [35, 35, 0, 0, 0], ""),
    fault("fails_in_after_context", "failed", [1, 0, 0, 1, 0], "after(:context)"),
    fault("fails_in_after_suite", "failed", [1, 0, 0, 1, 0], "after(:suite)"),
    fault("fails_in_around", "failed", [2, 1, 1, 0, 0], "too late"),
    fault("fails_in_before", "failed", [3, 2, 0, 0, 0], ""),
    fault("fails_in_before_context", "failed", [2, 2, 0, 0, 0], ""),
    fault("fails_in_before_suite", "failed", [0, 0, 0, 1, 1], "before(:suite)"),
    fault("failure_exit_code_zero", "failed", [2, 1, 0, 0, 0], ""),
    fault("floods_stdout", "failed", [2, 1, 0, 0, 0], "jaźń"),
    fault("generated_descriptions", "failed", [4, 1, 1, 0, 0], ""),
    fault("huge_backtrace", "failed", [2, 1, 0, 0, 0], ""),
    fault("inspect_raises", "failed", [3, 1, 0, 0, 0], ""),
    fault("invalid_bytes", "failed", [4, 2, 0, 0, 0], ""),
    fault("long_message", "failed", [3, 2, 0, 0, 0], "a long story"),
    // Whether the third one can still load its matcher depends on what was loaded before.
    Fault {
        name: "low_fd_limit",
        outcome: "failed",
        counts: None,
        says: "Too many open files",
    },
    fault(
        "message_raises",
        "failed",
        [3, 1, 0, 0, 0],
        "#message of the exception raised",
    ),
    fault("nested_describe_run", "failed", [3, 1, 0, 0, 0], "the inner one"),
    fault("odd_descriptions", "failed", [6, 4, 0, 0, 0], ""),
    fault("overflows_stack", "failed", [2, 1, 0, 0, 0], "SystemStackError"),
    fault("pending_fixed", "failed", [2, 1, 1, 0, 0], "PendingExampleFixedError"),
    fault("prints_fake_summary", "failed", [2, 1, 0, 0, 0], ""),
    fault("prints_json", "failed", [2, 1, 0, 0, 0], ""),
    fault("raises_bare_exception", "failed", [2, 1, 0, 0, 0], "\"Exception\""),
    fault("redefines_for_good", "failed", [2, 1, 0, 0, 0], "expected: 2"),
    fault("reopens_stdout", "failed", [2, 1, 0, 0, 0], "expected: 2"),
    fault("replays_a_pass", "failed", [2, 1, 0, 0, 0], "expected: 2"),
    fault("stubs_everything", "failed", [3, 1, 0, 0, 0], "expected: 2"),
    fault("throws", "failed", [2, 1, 0, 0, 0], "UncaughtThrowError"),
    fault("travels_time", "failed", [3, 1, 0, 0, 0], "expected: 2"),
    fault("uses_many_fds", "failed", [2, 1, 0, 0, 0], "expected: 513"),
];

const NEITHER: &[Fault] = &[
    fault("aborts", "crashed", [2, 0, 0, 0, 1], "SIGABRT"),
    fault(
        "aborts_at_load",
        "load_error",
        [0, 0, 0, 1, 0],
        "aborts_at_load_spec.rb",
    ),
    fault("aborts_midway", "incomplete", [2, 0, 0, 0, 1], "[1:2]"),
    fault("all_tag_excluded", "no_examples", [0, 0, 0, 0, 0], "none of 2 examples"),
    fault("background_thread_exits", "incomplete", [2, 0, 0, 0, 1], "status 0 in"),
    // It closes our pipe, too: not all can be known then, and it must not look green.
    Fault {
        name: "closes_fds",
        outcome: "incomplete",
        counts: None,
        says: "status 1",
    },
    fault("turns_dry_run_on", "dry_run", [1, 0, 0, 0, 0], "dry run"),
    fault("dry_run", "dry_run", [2, 0, 0, 0, 0], "dry run"),
    fault("empty_file", "no_examples", [0, 0, 0, 0, 0], "no examples"),
    fault("exit_in_at_exit", "failed_at_exit", [1, 0, 0, 0, 0], "status to 3"),
    fault(
        "exit_in_before_suite",
        "incomplete",
        [0, 0, 0, 0, 1],
        "between examples",
    ),
    fault("exits_at_load", "load_error", [0, 0, 0, 1, 0], "exits_at_load_spec.rb"),
    fault("exits_bang_midway", "incomplete", [2, 0, 0, 0, 1], "status 0 in"),
    fault("exits_midway", "incomplete", [2, 0, 0, 0, 1], "status 0 in"),
    fault("interrupts_itself", "crashed", [2, 0, 0, 0, 1], "SIGINT"),
    fault("killed_while_it_is_told", "crashed", [2, 0, 0, 0, 1], "SIGTERM"),
    fault("kills_its_group", "crashed", [2, 0, 0, 0, 1], "SIGTERM"),
    fault("kills_itself_kill", "crashed", [2, 0, 0, 0, 1], "SIGKILL"),
    fault("kills_itself_term", "crashed", [2, 0, 0, 0, 1], "SIGTERM"),
    fault("missing_require", "load_error", [0, 0, 0, 1, 0], "LoadError"),
    fault("name_error_at_load", "load_error", [0, 0, 0, 1, 0], "NameError"),
    fault(
        "nested_run_hides_one",
        "incomplete",
        [2, 0, 0, 0, 1],
        "spec/faults/nested_run_hides_one_spec.rb[1:2]",
    ),
    fault("no_examples", "no_examples", [0, 0, 0, 0, 0], "no examples"),
    fault("raises_interrupt", "crashed", [2, 0, 0, 0, 1], "SIGINT"),
    fault("raises_no_memory", "incomplete", [2, 0, 0, 0, 1], "NoMemoryError"),
    fault("segfaults", "crashed", [2, 0, 0, 0, 1], "SIGSEGV"),
    fault("skips", "all_pending", [5, 0, 5, 0, 0], ""),
    fault("syntax_error", "load_error", [0, 0, 0, 1, 0], "SyntaxError"),
];

/// These have to be ended. `says` is where they hang, as far as Ruby can tell.
const HANGING: &[Fault] = &[
    fault("busy_loops", "timed_out", [2, 0, 0, 0, 1], "busy_loops_spec.rb:4"),
    fault("deadlocks", "timed_out", [1, 0, 0, 0, 1], "deadlocks_spec.rb:7"),
    fault("hangs", "timed_out", [2, 0, 0, 0, 1], "hangs_spec.rb:6"),
    fault("hangs_at_exit", "timed_out", [1, 0, 0, 0, 0], "after the last example"),
    fault(
        "hangs_at_load",
        "timed_out",
        [0, 0, 0, 0, 0],
        "while files were being loaded",
    ),
    fault("hangs_in_c", "timed_out", [2, 0, 0, 0, 1], "[1:2]"),
    fault("hangs_in_c_with_the_lock", "timed_out", [2, 0, 0, 0, 1], "[1:2]"),
    fault("ignores_term", "timed_out", [2, 0, 0, 0, 1], "ignores_term_spec.rb:7"),
    fault(
        "ignores_term_and_setsid",
        "timed_out",
        [2, 0, 0, 0, 1],
        "ignores_term_and_setsid_spec.rb:11",
    ),
    fault("stops_itself", "timed_out", [2, 0, 0, 0, 1], "[1:2]"),
];

/// Their outcome is a matter of chance, and tested elsewhere or by its kind only.
const BY_CHANCE: &[&str] = &["flaky", "kills_its_parent", "locks_database", "order_dependent"];

fn rows() -> impl Iterator<Item = &'static Fault> {
    [PASSING, FAILING, NEITHER, HANGING].into_iter().flatten()
}

fn chosen(names: &[&str]) -> Vec<&'static Fault> {
    let found: Vec<_> = rows().filter(|fault| names.contains(&fault.name)).collect();
    assert_eq!(found.len(), names.len(), "each has a row");
    found
}

#[test]
fn every_fault_has_its_row() {
    SPECS.each_has_a_row(|name| rows().any(|fault| fault.name == name) || BY_CHANCE.contains(&name));
}

#[test]
fn what_passes_in_spite_of_its_faults_passes_in_a_fork() {
    SPECS.forked(PASSING, 60);
}

#[test]
fn what_fails_in_odd_ways_fails_in_a_fork() {
    SPECS.forked(FAILING, 60);
}

#[test]
fn what_neither_passes_nor_fails_has_a_name_of_its_own_in_a_fork() {
    SPECS.forked(NEITHER, 60);
}

#[test]
fn what_hangs_is_ended_and_says_where_it_hung_in_a_fork() {
    SPECS.forked(HANGING, FORKED);
}

#[test]
fn the_same_is_true_of_fresh_processes() {
    let names = [
        "aborts",
        "aborts_at_load",
        "background_thread_exits",
        "clears_env",
        "closes_fds",
        "closes_stdout",
        "double_forks",
        "dry_run",
        "exit_in_at_exit",
        "exits_bang_midway",
        "fails_in_after_suite",
        "fails_in_before_suite",
        "finalizer_segfaults",
        "floods_stdout",
        "fork_bomb",
        "interrupts_itself",
        "invalid_bytes",
        "kills_itself_term",
        "leaks_fork_that_continues",
        "leaks_grandchild",
        "message_raises",
        "minitest_autorun",
        "prints_json",
        "reads_stdin",
        "redefines_for_good",
        "runs_at_exit_in_a_fork",
        "stubs_everything",
        "syntax_error",
        "travels_time",
    ];
    SPECS.spawned(&chosen(&names), 60);
}

#[test]
fn a_fresh_process_that_hangs_is_ended_as_well() {
    SPECS.spawned(
        &chosen(&[
            "hangs",
            "hangs_in_c_with_the_lock",
            "ignores_term_and_setsid",
            "stops_itself",
        ]),
        SPAWNED,
    );
}

/// A lock on the database in one run is no business of the next; that one fails by Rails' own timeout.
#[test]
fn a_database_that_is_locked_fails_that_run_only() {
    SPECS.a_locked_database("spec/models/widget_spec.rb");
}

/// Eight coins, and each side has its name.
#[test]
fn a_flaky_spec_is_green_or_red_and_nothing_else() {
    SPECS.a_matter_of_chance();
}

/// What it was forked from takes it along, unless it was faster.
#[test]
fn a_run_that_kills_what_it_was_forked_from_is_green_only_if_it_came_to_its_end() {
    SPECS.a_parent_that_is_killed();
}

/// A run that becomes another process, or leaves its own, in few lines each.
const TRICKS: &[(&str, &str, &str)] = &[
    ("it('x') { Process.daemon(true, true) }", "incomplete", "status 0 in"),
    ("it('x') { exec 'true' }", "incomplete", "status 0 in"),
    ("it('x') { exec 'false' }", "incomplete", "status 1 in"),
    (
        "it('x') { Thread.new { exit!(0) }; sleep }",
        "incomplete",
        "status 0 in",
    ),
    (
        "it('x') { Thread.main.raise(SystemExit) ; sleep }",
        "incomplete",
        "status 0 in",
    ),
    (
        "it('x') { fork { exit!(0) }; Process.wait; exit!(0) }",
        "incomplete",
        "status 0 in",
    ),
    ("it('x') { Process.kill(:QUIT, $$); sleep 0.1 }", "passed", ""),
    ("it('x') { Process.kill(:USR1, $$); sleep }", "crashed", "SIGUSR1"),
    (
        "it('x') { trap('TERM') { exit!(0) }; Process.kill(:TERM, $$); sleep }",
        "incomplete",
        "status 0 in",
    ),
    ("after(:suite_of_none) { } rescue nil; it('x') { }", "passed", ""),
    (
        "RSpec.configure { |c| c.after(:suite) { exit!(0) } }; it('x') { }",
        "incomplete",
        "status 0",
    ),
    (
        "RSpec.configure { |c| c.after(:suite) { exit(0) } }; it('x') { }",
        "incomplete",
        "status 0",
    ),
    ("at_exit { exit!(0) }; it('x') { }", "incomplete", "exit handler"),
    ("at_exit { raise 'late' }; it('x') { }", "failed_at_exit", "status to 1"),
    ("at_exit { abort 'late' }; it('x') { }", "failed_at_exit", "late"),
    ("at_exit { exit 0 }; it('x') { raise 'no' }", "failed", "no"),
    (
        "RSpec.world.wants_to_quit = true; it('x') { }",
        "incomplete",
        "1 not run",
    ),
    (
        "it('x') { RSpec.world.wants_to_quit = true }; it('y') { }",
        "incomplete",
        "1 not run",
    ),
    (
        "RSpec.configure { |c| c.dry_run = true }; it('x') { raise }",
        "dry_run",
        "",
    ),
    (
        "RSpec.configure { |c| c.error_exit_code = 0 }; it('x') { }; raise 'at load'",
        "load_error",
        "at load",
    ),
    ("it('x') { Process.setrlimit(:CPU, 0, 0); loop { } }", "crashed", "SIG"),
];

#[test]
fn no_trick_makes_a_run_green_that_did_not_come_to_its_end() {
    SPECS.tricks(TRICKS);
}
