//! `coatepec run` as a person sees it.

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::Value;

use crate::process_support::send;
use crate::support::{App, eventually};

const PASSES: &str = "spec/models/widget_spec.rb";
const FAILS: &str = "spec/faults/fails_spec.rb";

#[test]
fn a_run_that_passes_says_so_in_one_line() {
    let app = App::copy();
    let ran = app.coatepec(&["run", PASSES]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("passed: 10 examples in "), "{ran:?}");
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    assert_eq!(ran.err, "", "{ran:?}");
}

#[test]
fn a_failure_is_told_once_with_diff_source_and_rerun() {
    let app = App::copy();
    let ran = app.coatepec(&["run", FAILS]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for part in [
        "-2\n",
        "+two",
        "▸ 16 │",
        "rerun: coatepec run 'spec/faults/fails_spec.rb[1:2]'",
        "failed: 8 examples",
    ] {
        assert_eq!(ran.out.matches(part).count(), 1, "{part}:\n{}", ran.out);
    }
    assert_eq!(ran.err, "");
    assert!(!ran.out.contains('\x1b'), "{ran:?}");
}

/// Fails, and then waits until it is let go.
const FAILS_AND_WAITS: &str = r#"
RSpec.describe "Fails", order: :defined do
  it("at once") { expect("one\ntwo\n").to eq("one\n2\n") }
  it("waits") { sleep 0.01 until File.exist?("tmp/go") }
  it("again") { expect("one\ntwo\n").to eq("one\n2\n") }
  it("later") { raise "late" }
end
"#;

#[test]
fn a_failure_is_told_in_full_while_the_others_run_and_the_run_is_one_call() {
    let app = App::copy();
    app.write("spec/live_spec.rb", FAILS_AND_WAITS);
    let mut command = app.command(env!("CARGO_BIN_EXE_coatepec"));
    command.args(["run", "spec/live_spec.rb"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut live = String::new();
    while !live.contains("rerun:") {
        assert!(out.read_line(&mut live).unwrap() > 0, "{live}");
    }
    for part in [
        "1. Fails at once\n",
        "+two\n",
        "▸ 3 │",
        "rerun: coatepec run 'spec/live_spec.rb[1:1]'",
    ] {
        assert!(live.contains(part), "{part} is missing:\n{live}");
    }
    assert!(!app.path("tmp/go").exists());
    app.write("tmp/go", "");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(!rest.contains("Fails at once\n   spec"), "told twice:\n{rest}");
    for part in [
        "2. Fails again\n",
        "3. Fails later\n",
        "RuntimeError: late",
        "failed: 4 examples, 3 failed",
    ] {
        assert!(rest.contains(part), "{part} is missing:\n{rest}");
    }
    let status = app.coatepec_shared(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    assert_eq!(status["calls"], serde_json::json!({"rails_spec_run": 1}), "{status}");
    app.coatepec_shared(&["stop"]);
}

/// Does not let itself be ended, and tells if it was left alone for long.
const STAYS: &str = r#"
RSpec.describe "Stays" do
  it "ignores TERM" do
    trap("TERM") { File.write("tmp/asked", "") }
    File.write("tmp/started", "")
    sleep 0.05 until File.exist?("tmp/asked")
    sleep 45
    File.write("tmp/left_alone", "")
  end
end
"#;

#[test]
fn interrupted_twice_the_run_is_killed_without_grace_by_the_shared_server_too() {
    let app = App::copy();
    app.write(".coatepec.yml", "grace_seconds: 60\n");
    app.write("spec/stays_spec.rb", STAYS);
    let mut command = app.command(env!("CARGO_BIN_EXE_coatepec"));
    command.args(["run", "spec/stays_spec.rb"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    eventually("the spec runs", || app.path("tmp/started").exists().then_some(()));
    send(pid, Signal::SIGINT);
    eventually("it was asked to end", || app.path("tmp/asked").exists().then_some(()));
    send(pid, Signal::SIGINT);
    let ended = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert_eq!(ended.status.code(), Some(130), "{out}{err}");
    assert!(err.contains("killing it"), "{err}");
    assert!(out.contains("cancelled: "), "{out}{err}");
    assert!(!app.path("tmp/left_alone").exists(), "it had all of its grace");
    app.coatepec_shared(&["stop"]);
}

#[test]
fn json_is_the_result_of_the_tool_and_nothing_else() {
    let app = App::copy();
    let ran = app.coatepec(&["run", "--json", "--seed", "7", "--junit", "junit.xml", FAILS]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["outcome"], "failed");
    assert_eq!(report["seed"], 7);
    assert_eq!(ran.err, "", "{ran:?}");
    let xml = app.read("junit.xml");
    assert!(xml.contains("<failure "), "{xml}");
}

#[test]
fn on_a_terminal_there_are_colours_and_a_line_that_is_drawn_over() {
    let app = App::copy();
    let ran = app.coatepec_on_a_terminal(&["run", FAILS]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("\r\x1b[2K⠋"), "{ran:?}");
    assert!(ran.out.contains("\x1b[31m"), "{ran:?}");
}

#[test]
fn a_flag_that_is_none_is_refused_as_everything_else_is() {
    let app = App::bare();
    let refused = app.coatepec(&["run", "--sed", "7"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert_eq!(
        refused.err,
        "error: there is no flag `--sed` here [invalid_arguments]\nhint: did you mean `--seed`?\n"
    );
}

#[test]
fn what_is_wrong_with_a_call_has_status_2_and_what_tests_nothing_status_3() {
    let app = App::copy();
    let refused = app.coatepec(&["run", "spec/none_spec.rb", "../x_spec.rb"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("  spec/none_spec.rb: "), "{refused:?}");
    assert!(refused.err.contains("  ../x_spec.rb: "), "{refused:?}");
    let nothing = app.coatepec(&["run", PASSES, "-e", "no such text"]);
    assert_eq!(nothing.code, Some(3), "{nothing:?}");
    assert!(nothing.out.contains("no examples: "), "{nothing:?}");
}

#[test]
fn interrupted_once_the_run_is_ended_and_still_told() {
    let app = App::copy();
    app.write(
        "spec/waits_spec.rb",
        "RSpec.describe(\"Waits\") { it(\"long\") { File.write(\"tmp/started\", \"\"); sleep } }\n",
    );
    let mut command = app.command(env!("CARGO_BIN_EXE_coatepec"));
    command.args(["--no-share", "run", "spec/waits_spec.rb"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the spec runs", || app.path("tmp/started").exists().then_some(()));
    send(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT);
    let ended = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert_eq!(ended.status.code(), Some(130), "{out}{err}");
    assert!(err.contains("stopping the run"), "{err}");
    assert!(out.contains("cancelled: "), "{out}");
    assert!(
        out.contains("spec/waits_spec.rb:1:in "),
        "where it was, as Ruby says: {out}"
    );
}

/// `coatepec run --watch` while it goes on.
struct Watching {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    err: Lines<BufReader<ChildStderr>>,
}

impl Watching {
    fn begin(app: &App, arguments: &[&str]) -> Watching {
        let mut command = app.command(env!("CARGO_BIN_EXE_coatepec"));
        let command = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Watching {
            out: BufReader::new(child.stdout.take().unwrap()).lines(),
            err: BufReader::new(child.stderr.take().unwrap()).lines(),
            child,
        }
    }

    /// The next run ends so.
    fn runs(&mut self, expected: &str) {
        let line = self
            .out
            .find(|line| line.as_ref().is_ok_and(|line| line.contains("example")));
        let line = line.unwrap().unwrap();
        assert!(line.starts_with(expected), "{line}");
    }

    fn hears(&mut self, expected: &str) {
        assert!(self.err.any(|line| line.unwrap().contains(expected)), "{expected}");
    }

    fn interrupt(mut self) -> Option<i32> {
        send(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT);
        self.child.wait().unwrap().code()
    }
}

#[test]
fn watching_runs_again_what_a_save_concerns() {
    let app = App::copy();
    app.write(
        "spec/a_spec.rb",
        "RSpec.describe(\"A\") { it(\"a\") { expect(1).to eq 1 } }\n",
    );
    let mut watching = Watching::begin(&app, &["--no-share", "run", "--watch", "spec/a_spec.rb", PASSES]);
    assert!(watching.out.next().unwrap().unwrap().starts_with("passed: 11 examples"));
    watching.hears("waiting for a save");
    app.edit("spec/a_spec.rb", "eq 1", "eq 2");
    let again = watching
        .out
        .find(|line| line.as_ref().is_ok_and(|line| line.starts_with("failed: ")));
    assert!(again.unwrap().unwrap().starts_with("failed: 1 example, 1 failed"));
    assert_eq!(watching.interrupt(), Some(1), "the status is that of the last run");
}

#[test]
fn watching_runs_and_names_the_only_test_that_is_known_to_describe_what_was_saved() {
    let app = App::copy();
    app.write("app/services/pricing.rb", "class Pricing; def self.of(n) = n; end\n");
    for (file, body) in [
        (
            "spec/watched/a_spec.rb",
            "RSpec.describe(Pricing) { it(\"a\") { expect(Pricing.of(1)).to eq 1 } }\n",
        ),
        ("spec/watched/b_spec.rb", "RSpec.describe(\"B\") { it(\"b\") {} }\n"),
    ] {
        app.write(file, format!("require \"rails_helper\"\n{body}"));
    }
    let mut watching = Watching::begin(&app, &["--no-share", "run", "--watch", "spec/watched"]);
    watching.runs("passed: 2 examples");
    watching.hears("waiting for a save");
    app.write(
        "app/services/pricing.rb",
        "class Pricing; def self.of(n) = n + 0; end\n",
    );
    watching.hears("changed: app/services/pricing.rb; of these tests it concerns spec/watched/a_spec.rb");
    watching.runs("passed: 1 example ");
    watching.hears("waiting for a save");
    app.write("lib/unheard_of.rb", "UNHEARD_OF = 1\n");
    watching.runs("passed: 2 examples");
    assert_eq!(watching.interrupt(), Some(0));
}

/// A directory that is made later, a file that no test loads, and a server that is killed meanwhile.
#[test]
fn watching_goes_on_whatever_happens_beside_it() {
    let app = App::copy();
    app.setting("idle_timeout_seconds: 0");
    app.write(
        "spec/a_spec.rb",
        "RSpec.describe(\"A\") { it(\"a\") { expect(1).to eq 1 } }\n",
    );
    let mut watching = Watching::begin(&app, &["run", "--watch", "spec/a_spec.rb"]);
    watching.runs("passed: 1 example");
    watching.hears("waiting for a save");
    app.write("README.md", "More.\n");
    watching.hears("changed: README.md; it concerns none of these tests");
    app.write("extras/deep/tool.rb", "TOOL = 1\n");
    watching.hears("changed: extras/deep/tool.rb\n".trim_end());
    watching.runs("passed: 1 example");
    watching.hears("waiting for a save");
    app.write("extras/deep/tool.rb", "TOOL = 2\n");
    watching.runs("passed: 1 example");
    watching.hears("waiting for a save");
    let killed = app.daemons().remove(0);
    send(Pid::from_raw(killed.pid), Signal::SIGKILL);
    eventually("it is gone", || app.daemons().is_empty().then_some(()));
    app.edit("spec/a_spec.rb", "eq 1", "eq 2");
    watching.runs("failed: 1 example, 1 failed");
    watching.hears("waiting for a save");
    assert_eq!(watching.interrupt(), Some(1));
    eventually("nothing is left", || app.daemons().is_empty().then_some(()));
}

#[test]
fn the_second_run_is_warm_and_stop_ends_what_is_warm() {
    let app = App::copy();
    let first = app.coatepec_shared(&["run", PASSES]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let worker = || -> Value {
        let status = app.coatepec_shared(&["status", "--json"]);
        serde_json::from_str::<Value>(&status.out).unwrap()["worker_pid"].clone()
    };
    let warm = worker();
    assert!(warm.is_number(), "{warm}");
    let second = app.coatepec_shared(&["run", PASSES]);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(worker(), warm);
    let stopped = app.coatepec_shared(&["stop"]);
    assert!(stopped.out.starts_with("stopped the server (pid "), "{stopped:?}");
    let nothing = app.coatepec_shared(&["stop"]);
    assert_eq!(nothing.out, "nothing was running\n");
}

#[test]
fn without_names_all_roots_of_all_frameworks_run_one_after_the_other() {
    let app = App::copy();
    app.remove_tests();
    app.write("spec/spec_helper.rb", "");
    app.write("packs/new/spec/a_spec.rb", "RSpec.describe('A') { it('passes') {} }\n");
    app.write(
        "test/b_test.rb",
        "require 'minitest'\nclass BTest < Minitest::Test\ndef test_fails = flunk\nend\n",
    );
    let ran = app.coatepec(&["run", "--json", "--junit", "tmp/all.xml"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let reports: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcomes: Vec<&Value> = reports.iter().map(|report| &report["outcome"]).collect();
    assert_eq!(outcomes, ["passed", "failed"], "{ran:?}");
    let xml = std::fs::read_to_string(app.path("tmp/all.xml")).unwrap();
    assert_eq!(xml.matches("<testsuite ").count(), 2, "{xml}");
}

#[test]
fn failed_stands_for_the_failures_of_both_frameworks() {
    let app = App::bare();
    app.write("spec/a_spec.rb", "RSpec.describe(\"A\") { it(\"breaks\") { raise } }\n");
    app.write(
        "test/b_test.rb",
        "require 'minitest'\nclass BTest < Minitest::Test\ndef test_breaks = flunk\nend\n",
    );
    let both = app.coatepec_shared(&["run", "test/b_test.rb", "spec/a_spec.rb"]);
    assert_eq!(both.code, Some(1), "{both:?}");
    for _ in 0..2 {
        let again = app.coatepec_shared(&["run", "@failed", "--json"]);
        assert_eq!(again.code, Some(1), "{again:?}");
        let reports: Vec<Value> = again
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut failed: Vec<&str> = reports
            .iter()
            .map(|report| report["failures"][0]["id"].as_str().unwrap())
            .collect();
        failed.sort_unstable();
        assert_eq!(failed, ["spec/a_spec.rb[1:1]", "test/b_test.rb#BTest#test_breaks"]);
    }
    let listed = app.coatepec_shared(&["list", "@failed"]);
    for id in ["spec/a_spec.rb[1:1]", "test/b_test.rb#BTest#test_breaks"] {
        assert!(listed.out.contains(id), "{listed:?}");
    }
}

#[test]
fn of_a_selection_of_both_frameworks_each_part_is_accounted_for() {
    let app = App::bare();
    app.write("spec/a_spec.rb", "RSpec.describe(\"A\") { it(\"passes\") {} }\n");
    app.write(
        "spec/bad_spec.rb",
        "RSpec.describe(\"Bad\") { it(\"breaks\") { raise } }\n",
    );
    app.write(
        "test/b_test.rb",
        "require 'minitest'\nclass BTest < Minitest::Test\ndef test_passes = pass\nend\n",
    );
    // What was named and is not there is no success.
    let nothing = app.coatepec_shared(&["run", "spec/a_spec.rb", "test/b_test.rb#nope"]);
    assert_eq!(nothing.code, Some(3), "{nothing:?}");
    let last = nothing.out.lines().last().unwrap();
    assert_eq!(
        last,
        "together: passed in spec/a_spec.rb; no examples in test/b_test.rb#nope"
    );
    // `@last` is all of it.
    let both = app.coatepec_shared(&["run", "spec/a_spec.rb", "test/b_test.rb"]);
    assert_eq!(both.code, Some(0), "{both:?}");
    for _ in 0..2 {
        let again = app.coatepec_shared(&["run", "@last"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        let last = again.out.lines().last().unwrap();
        assert_eq!(last, "together: passed in @last; passed in @last:minitest", "{again:?}");
    }
    // What is not run any more is named.
    let stopped: [&[&str]; 2] = [&[], &["--json"]];
    for as_json in stopped {
        let words = [
            "run",
            "--fail-fast",
            "--junit",
            "tmp/all.xml",
            "spec/bad_spec.rb",
            "test/b_test.rb",
        ];
        let stopped = app.coatepec_shared(&[&words, as_json].concat());
        assert_eq!(stopped.code, Some(1), "{stopped:?}");
        let last = stopped.out.lines().last().unwrap();
        let told = match as_json {
            [] => "together: failed in spec/bad_spec.rb; not run: test/b_test.rb",
            _ => r#"{"left_out":["test/b_test.rb"]}"#,
        };
        assert_eq!(last, told, "{stopped:?}");
        let xml = std::fs::read_to_string(app.path("tmp/all.xml")).unwrap();
        assert!(xml.contains(r#"name="test/b_test.rb"><skipped"#), "{xml}");
    }
    app.coatepec_shared(&["stop"]);
}

/// RSpec runs the examples of the other files then.
#[test]
fn what_failed_beside_a_file_that_is_no_ruby_is_run_again_by_failed_and_not_denied() {
    let app = App::bare();
    app.write(
        "spec/bad_spec.rb",
        "RSpec.describe(\"Bad\") { it(\"breaks\") { raise } }\n",
    );
    app.write("spec/broken_spec.rb", "RSpec.describe(\"A\") do\n");
    let ran = app.coatepec_shared(&["run", "spec"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    if ran.out.contains("1 failed") {
        assert!(!ran.out.contains("no example"), "{ran:?}");
        let again = app.coatepec_shared(&["run", "@failed"]);
        assert_eq!(again.code, Some(1), "{again:?}");
    }
    app.coatepec_shared(&["stop"]);
}
