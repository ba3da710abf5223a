//! The keeper itself is killed or stopped: the server notices, ends what is left, and goes on with another one.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, eventually};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Leaves itself a daemon that has left its session and ignores TERM, tells that, and hangs or waits for its end.
const HELD: &str = r#"
RSpec.describe "A held spec" do
  it("passes") { expect(1).to eq(1) }

  it "waits" do
    trap("TERM", "IGNORE")
    middle = fork do
      Process.setsid
      fork { ENV.clear; loop { sleep 1 } }
      exit!(0)
    end
    Process.wait(middle)
    File.write("tmp/held", "")
    sleep 0.01 until File.exist?("tmp/go")
  end
end
"#;

/// A stopped keeper sees nothing. What it has left to do when it is the only one left, it does all the same.
#[test]
fn a_keeper_that_is_stopped_when_its_server_is_killed_ends_all_the_same() {
    for fork in ["always", "never"] {
        let (app, server) = held_app();
        let _call = server.begin(["spec/held_spec.rb"], json!({"fork": fork, "timeout_seconds": 600}));
        held(&app);
        for keeper in keepers(&server) {
            server.signal_to(keeper, Signal::SIGSTOP);
        }
        eventually("they are stopped", || {
            let mut keepers = server
                .processes()
                .into_iter()
                .filter(|proc| proc.command.contains("__jail"));
            keepers.all(|keeper| keeper.state == 'T').then_some(())
        });
        server.signal(Signal::SIGKILL);
        server.nothing_is_left();
    }
}

/// The kernel ends the worker, the zygote and the run with it, and the server what had left them.
#[test]
fn a_keeper_that_is_killed_takes_its_run_with_it_and_leaves_nothing() {
    let (app, server) = held_app();
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        passes(&mut wrong, &server, &format!("before {fork}"));
        let call = server.begin(["spec/held_spec.rb"], json!({"fork": fork, "timeout_seconds": 600}));
        held(&app);
        // Of a fresh process, its own: the newest.
        let keeper = *keepers(&server).last().expect("there is one");
        server.signal_to(keeper, Signal::SIGKILL);
        let report = server.report(call);
        wrong.equal(fork, &report["outcome"], "incomplete");
        wrong.equal(fork, &report["unfinished"][0]["id"], "spec/held_spec.rb[1:2]");
        wrong.equal(fork, &report["summary"]["examples"], 2);
        passes(&mut wrong, &server, &format!("after {fork}"));
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("{fork}: left: {left:?}"));
    }
    wrong.none();
    server.stop();
}

/// It can neither tell of the end of the run nor clear up after it, until it is woken.
#[test]
fn a_keeper_that_is_stopped_during_a_run_changes_nothing() {
    let (app, server) = held_app();
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        passes(&mut wrong, &server, &format!("before {fork}"));
        let call = server.begin(["spec/held_spec.rb"], json!({"fork": fork, "timeout_seconds": 600}));
        held(&app);
        let keeper = *keepers(&server).last().expect("there is one");
        server.signal_to(keeper, Signal::SIGSTOP);
        app.write("tmp/go", "");
        let report = server.report(call);
        app.remove("tmp/go");
        wrong.equal(fork, &report["outcome"], "passed");
        wrong.equal(fork, report["leftovers"].as_array().map(Vec::len), Some(1));
        passes(&mut wrong, &server, &format!("after {fork}"));
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("{fork}: left: {left:?}"));
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_run_that_hangs_below_a_keeper_that_was_stopped_is_ended() {
    let (app, server) = held_app();
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        let call = server.begin(["spec/held_spec.rb"], json!({"fork": fork, "timeout_seconds": 10}));
        held(&app);
        let keeper = *keepers(&server).last().expect("there is one");
        server.signal_to(keeper, Signal::SIGSTOP);
        let report = server.report(call);
        wrong.equal(fork, &report["outcome"], "timed_out");
        passes(&mut wrong, &server, &format!("after {fork}"));
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("{fork}: left: {left:?}"));
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_keeper_that_is_lost_between_runs_is_replaced() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for how in [Signal::SIGKILL, Signal::SIGSTOP] {
        passes(&mut wrong, &server, &format!("before {how}"));
        let [keeper] = keepers(&server)[..] else {
            panic!("one keeper: {:?}", server.processes())
        };
        server.signal_to(keeper, how);
        eventually("it is gone or stopped", || {
            let keeper = server.processes().into_iter().find(|proc| proc.pid == keeper);
            keeper.is_none_or(|keeper| keeper.state == 'T').then_some(())
        });
        let report = passes(&mut wrong, &server, &format!("after {how}"));
        wrong.check(
            report["trigger"]
                .as_str()
                .is_some_and(|why| why.starts_with("rebooted: the worker ")),
            || format!("{how}: not told: {report}"),
        );
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("{how}: left: {left:?}"));
    }
    wrong.none();
    server.stop();
}

fn held_app() -> (App, Server) {
    let app = App::copy();
    app.write("spec/held_spec.rb", HELD);
    let server = app.server();
    (app, server)
}

fn held(app: &App) {
    eventually("the run is under way", || app.path("tmp/held").exists().then_some(()));
    app.remove("tmp/held");
}

/// Oldest first.
fn keepers(server: &Server) -> Vec<i32> {
    let all = server.processes().into_iter();
    let mut keepers: Vec<i32> = all
        .filter(|proc| proc.command.contains("__jail"))
        .map(|proc| proc.pid)
        .collect();
    keepers.sort_unstable();
    keepers
}

fn passes(wrong: &mut Deviations, server: &Server, when: &str) -> Value {
    let report = server.run([SPEC]);
    wrong.check(report["outcome"] == "passed", || format!("{when}: {report}"));
    report
}
