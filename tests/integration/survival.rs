//! Whatever happens to the warm processes: the run at hand has a true outcome, and the next call works.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, eventually};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Signals where it is, and passes when it is told to go on.
const PATIENT: &str = r#"
require "rails_helper"

RSpec.describe "A patient spec" do
  it("passes") { expect(create(:widget)).to be_persisted }

  it "waits" do
    File.write("tmp/started", Process.pid.to_s)
    sleep 0.01 until File.exist?("tmp/go")
  end

  it("passes, too") { expect(1).to eq(1) }
end
"#;

const WHO: [&str; 3] = ["worker", "app", "zygote"];
const HOW: [Signal; 3] = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGSEGV];

#[test]
fn a_warm_process_that_dies_between_runs_is_replaced() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for who in WHO {
        for how in HOW {
            let what = format!("{who} {how}");
            passes(&mut wrong, &server, &format!("before {what}"));
            let pid = warm(&server, who);
            server.signal_to(pid, how);
            server.ended(pid);
            passes(&mut wrong, &server, &format!("after {what}"));
        }
    }
    keeper(&server, Signal::SIGKILL);
    passes(&mut wrong, &server, "after the keeper was killed");
    let left = server.beside_the_warm_tree();
    wrong.check(left.is_empty(), || format!("left: {left:?}"));
    wrong.none();
    server.stop();
}

/// It does not die and does not answer.
#[test]
fn a_warm_process_that_is_stopped_is_replaced() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for who in WHO {
        passes(&mut wrong, &server, &format!("before {who} is stopped"));
        hit(&server, who, Signal::SIGSTOP);
        passes(&mut wrong, &server, &format!("after {who} was stopped"));
        // A stopped worker is noticed when it is needed.
        app.append("app/models/widget.rb", "# changed\n");
        passes(
            &mut wrong,
            &server,
            &format!("after {who} was stopped, and code changed"),
        );
    }
    let left = server.beside_the_warm_tree();
    wrong.check(left.is_empty(), || format!("left: {left:?}"));
    wrong.none();
    server.stop();
}

/// The run goes on as long as its own process does. If that is ended with the others, the outcome says so.
#[test]
fn a_warm_process_that_is_hit_during_a_run_makes_no_run_green() {
    let app = App::copy();
    app.write("spec/patient_spec.rb", PATIENT);
    let server = app.server();
    let mut wrong = Deviations::default();
    for (who, how) in [
        ("worker", Signal::SIGKILL),
        ("app", Signal::SIGKILL),
        ("zygote", Signal::SIGKILL),
        ("worker", Signal::SIGSTOP),
        ("app", Signal::SIGSTOP),
        ("zygote", Signal::SIGSTOP),
    ] {
        passes(&mut wrong, &server, &format!("before {who} {how}"));
        let what = format!("{who} {how} during a run");
        let pid = warm(&server, who);
        let report = during(&app, &server, || server.signal_to(pid, how));
        true_outcome(&mut wrong, &what, &report);
        passes(&mut wrong, &server, &format!("after {what}"));
    }
    let report = during(&app, &server, || keeper(&server, Signal::SIGKILL));
    true_outcome(&mut wrong, "keeper", &report);
    passes(&mut wrong, &server, "after the keeper was killed during a run");
    let left = server.beside_the_warm_tree();
    wrong.check(left.is_empty(), || format!("left: {left:?}"));
    wrong.none();
    server.stop();
}

/// Somebody else kills the run itself.
#[test]
fn a_run_that_is_killed_from_outside_has_crashed() {
    let app = App::copy();
    app.write("spec/patient_spec.rb", PATIENT);
    let server = app.server();
    let mut wrong = Deviations::default();
    for (fork, how) in [
        ("always", Signal::SIGKILL),
        ("always", Signal::SIGTERM),
        ("never", Signal::SIGKILL),
    ] {
        let call = server.begin(
            ["spec/patient_spec.rb"],
            json!({"fork": fork, "seed": 1, "timeout_seconds": 100}),
        );
        let pid = started(&app);
        server.signal_to(pid, how);
        let report = server.report(call);
        app.remove("tmp/started");
        let what = format!("{fork} {how}");
        wrong.equal(&what, &report["outcome"], "crashed");
        wrong.check(
            report["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(how.as_str())),
            || format!("{what}: {report}"),
        );
        wrong.check(report["unfinished"][0]["id"] == "spec/patient_spec.rb[1:2]", || {
            format!("{what}: {report}")
        });
        passes(&mut wrong, &server, &format!("after {what}"));
    }
    wrong.none();
    server.stop();
}

/// Whether it dies of that or not.
fn hit(server: &Server, who: &str, how: Signal) {
    server.signal_to(warm(server, who), how);
}

fn warm(server: &Server, who: &str) -> i32 {
    server.at_rest();
    pid(server, &format!("coatepec {who}"))
}

/// Of the process of that name.
fn pid(server: &Server, name: &str) -> i32 {
    let all = server.processes();
    let found = all.iter().find(|process| process.command.contains(name));
    found.unwrap_or_else(|| panic!("no {name} in {all:?}")).pid
}

fn keeper(server: &Server, how: Signal) {
    let keeper = pid(server, "__jail");
    server.signal_to(keeper, how);
    // Or the next call might find it alive for the last time.
    server.ended(keeper);
}

fn passes(wrong: &mut Deviations, server: &Server, when: &str) {
    let report = server.run([SPEC]);
    wrong.check(report["outcome"] == "passed", || format!("{when}: {report}"));
}

/// Does something to the run that is under way, and lets it go on.
fn during(app: &App, server: &Server, hit: impl FnOnce()) -> Value {
    let call = server.begin(["spec/patient_spec.rb"], json!({"timeout_seconds": 100}));
    started(app);
    hit();
    app.write("tmp/go", "");
    let report = server.report(call);
    app.remove("tmp/go");
    app.remove("tmp/started");
    report
}

fn started(app: &App) -> i32 {
    eventually("the run has begun", || {
        app.path("tmp/started")
            .exists()
            .then(|| app.read("tmp/started").parse().ok())?
    })
}

fn true_outcome(wrong: &mut Deviations, what: &str, report: &Value) {
    let summary = &report["summary"];
    let outcome = report["outcome"].as_str().unwrap_or("");
    match outcome {
        // Only if all of it was run.
        "passed" => wrong.check(summary["examples"] == 3 && summary["not_run"] == 0, || {
            format!("{what}: {report}")
        }),
        "crashed" | "incomplete" => {
            wrong.check(report["reason"].is_string(), || format!("{what}: no reason: {report}"));
        }
        _ => wrong.check(false, || format!("{what}: {report}")),
    }
}
