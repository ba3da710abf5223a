//! What hangs, is stopped or dies while the app is made warm: it is noticed, it leaves nothing, and the next call works.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{App, Deviations, Pending, Server, eventually, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Says which process loads it, and waits until it may go on.
const GATE: &str = r#"
unless File.exist?("tmp/go")
  File.write("tmp/part", Process.pid.to_s)
  File.rename("tmp/part", "tmp/waiting")
  sleep 0.01 until File.exist?("tmp/go")
end
"#;

#[test]
fn a_helper_that_can_not_be_loaded_leaves_no_process() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    passes(&mut wrong, &server, "at first");
    let worker = pid(&server.at_rest()["worker_pid"]);
    app.setting("boot_timeout_seconds: 5");
    for (kind, text) in [
        ("raises", "raise 'no'"),
        ("leaves", "exit!(0)"),
        ("hangs", "trap('TERM', 'IGNORE'); sleep"),
    ] {
        app.write("spec/support/broken.rb", text);
        for _ in 0..2 {
            let report = server.run([SPEC]);
            wrong.equal(kind, &report["outcome"], "load_error");
            wrong.equal(kind, server.beside_the_warm_tree(), []);
            wrong.equal(kind, children(worker), 1);
        }
    }
    app.remove("spec/support/broken.rb");
    passes(&mut wrong, &server, "at the end");
    wrong.equal("the same worker", pid(&server.at_rest()["worker_pid"]), worker);
    wrong.none();
    server.stop();
}

/// Neither a process nor a descriptor, however often it is tried.
#[test]
fn a_boot_that_fails_leaves_nothing() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    app.write("config/initializers/broken.rb", "fork { sleep 600 }\nraise 'no'");
    let mut descriptors = Vec::new();
    for _ in 0..6 {
        wrong.equal("outcome", &server.run([SPEC])["outcome"], "boot_failed");
        server.at_rest();
        let path = format!("/proc/{}/fd", server.pid());
        descriptors.push(fs::read_dir(path).map_or(0, Iterator::count));
        wrong.equal("processes", server.processes(), []);
    }
    wrong.check(descriptors[1..].iter().all(|many| *many <= descriptors[0]), || {
        format!("descriptors: {descriptors:?}")
    });
    app.remove("config/initializers/broken.rb");
    passes(&mut wrong, &server, "once it is mended");
    wrong.none();
    server.stop();
}

/// Nothing was run yet, so that a new one can do it as well.
#[test]
fn an_app_that_is_lost_as_it_is_loaded_is_loaded_again_within_the_call() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for how in [Signal::SIGSTOP, Signal::SIGKILL] {
        passes(&mut wrong, &server, &format!("before {how}"));
        app.write("app/models/gate.rb", format!("{GATE}\nclass Gate; end\n"));
        let call = server.begin([SPEC], json!({}));
        let lost = waiting(&app);
        let worker = pid(&server.status()["worker_pid"]);
        wrong.check(worker != lost, || "it is not the worker".into());
        server.signal_to(lost, how);
        app.write("tmp/go", "");
        let report = server.report(call);
        wrong.check(report["outcome"] == "passed", || format!("{how}: {report}"));
        wrong.check(
            report["trigger"]
                .as_str()
                .is_some_and(|why| why.starts_with("loaded again: the app was")),
            || format!("{how}: {report}"),
        );
        app.remove("app/models/gate.rb");
        app.remove("tmp/go");
        nothing_else(&mut wrong, &server, how.as_ref());
    }
    wrong.none();
    server.stop();
}

/// Nothing was run yet, and somebody else may be to blame: once more, and then it is told.
#[test]
fn a_zygote_that_is_lost_while_it_loads_the_helper_is_replaced_once_and_then_named() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (how, says) in [(Signal::SIGSTOP, "was stopped"), (Signal::SIGKILL, "killed by SIGKILL")] {
        passes(&mut wrong, &server, &format!("before {how}"));
        for times in [1, 2] {
            // Another text each time, or there would be nothing to load.
            app.write("spec/support/gate.rb", format!("{GATE}# {how} {times}\n"));
            let call: Pending = server.begin([SPEC], json!({}));
            for _ in 0..times {
                server.signal_to(waiting(&app), how);
            }
            // The next one is let through.
            app.write("tmp/go", "");
            let report = server.report(call);
            let (outcome, told) = match times {
                1 => ("passed", &report["trigger"]),
                _ => ("load_error", &report["error"]["message"]),
            };
            wrong.check(report["outcome"] == outcome && has_text(told, says), || {
                format!("{how}, {times}: {report}")
            });
            passes(&mut wrong, &server, &format!("after {how}"));
            app.remove("tmp/go");
            nothing_else(&mut wrong, &server, how.as_ref());
        }
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_worker_that_is_lost_in_a_boot_is_replaced_once_and_then_named() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    app.write("config/initializers/gate.rb", GATE);
    for times in [2, 1] {
        let call: Pending = server.begin([SPEC], json!({}));
        for _ in 0..times {
            server.signal_to(waiting(&app), Signal::SIGKILL);
        }
        if times == 1 {
            app.write("tmp/go", "");
        }
        let report = server.report(call);
        let (outcome, told) = match times {
            1 => ("passed", &report["trigger"]),
            _ => ("boot_failed", &report["error"]["message"]),
        };
        wrong.check(
            report["outcome"] == outcome && has_text(told, "killed by SIGKILL"),
            || format!("{times}: {report}"),
        );
        nothing_else(&mut wrong, &server, &times.to_string());
    }
    wrong.none();
    server.stop();
}

fn passes(wrong: &mut Deviations, server: &Server, when: &str) {
    let report = server.run([SPEC]);
    wrong.check(report["outcome"] == "passed", || format!("{when}: {report}"));
}

fn nothing_else(wrong: &mut Deviations, server: &Server, what: &str) {
    let left = server.beside_the_warm_tree();
    wrong.check(left.is_empty(), || format!("{what}: left: {left:?}"));
}

/// The process that waits at the gate.
fn waiting(app: &App) -> i32 {
    let path = app.path("tmp/waiting");
    let pid = eventually("somebody waits at the gate", || {
        path.exists().then(|| app.read("tmp/waiting").parse().ok())?
    });
    app.remove("tmp/waiting");
    pid
}

fn pid(value: &Value) -> i32 {
    value.as_i64().and_then(|pid| i32::try_from(pid).ok()).expect("a pid")
}

/// Of a process, the dead that nobody has reaped included.
fn children(of: i32) -> usize {
    let children = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let tasks = fs::read_dir(format!("/proc/{of}/task")).expect("it lives").flatten();
    tasks.map(|task| children(task).split_whitespace().count()).sum()
}
