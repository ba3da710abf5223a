//! Several calls at a time: one run after the other, in the order of the calls; status and cancellation in between.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{App, Deviations, Held, Pending, Server, Setup, eventually};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Each run appends its name: what ran, and in which order.
fn tracing_spec(app: &App, name: &str) -> String {
    let path = format!("spec/trace/{name}_spec.rb");
    let text =
        format!("RSpec.describe('x') {{ it('traces') {{ File.write('tmp/trace', \"{name}\\n\", mode: 'a') }} }}\n");
    app.write(&path, text);
    path
}

#[test]
fn status_answers_while_a_run_is_under_way() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let queued = server.begin([SPEC], json!({}));
    let status = eventually("the second call is queued", || {
        let status = server.status();
        (status["queued"] == 1).then_some(status)
    });
    let mut wrong = Deviations::default();
    wrong.equal("state", &status["state"], "running");
    wrong.check(status["running"]["run_id"].is_string(), || {
        format!("which run: {status}")
    });
    wrong.check(status["worker_pid"].is_i64(), || format!("the warm process: {status}"));
    for _ in 0..50 {
        wrong.equal("state", &server.status()["state"], "running");
    }
    let refusal = server.begin(["nowhere_spec.rb"], json!({})).wait().refusal();
    wrong.equal(
        "a wrong call needs not wait either",
        &refusal["code"],
        "invalid_selector",
    );
    wrong.check(held.is_under_way(), || "the run is over already".into());
    wrong.equal("the run", &held.release(&app, &server)["outcome"], "passed");
    let next = server.report(queued);
    wrong.equal("the queued run", &next["outcome"], "passed");
    wrong.check(next["timing"]["wait"].as_f64() > Some(0.0), || {
        format!("its wait: {next}")
    });
    wrong.none();
    server.stop();
}

#[test]
fn forty_calls_at_once_run_in_order_and_the_queue_has_an_end() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let calls: Vec<(String, Pending)> = (0..40)
        .map(|number| {
            let name = format!("n{number:02}");
            let path = tracing_spec(&app, &name);
            // One after the other, since calls that are sent at once may be taken up in any order.
            let call = server.begin([path], json!({}));
            server.status();
            (name, call)
        })
        .collect();
    let queued = eventually("the queue is full", || {
        server.status()["queued"].as_u64().filter(|queued| *queued >= 32)
    });
    assert_eq!(queued, 32);
    let passed = held.release(&app, &server);
    assert_eq!(passed["outcome"], "passed", "{passed}");
    let schema = &server.tool("rails_spec_run")["outputSchema"];
    let mut ran = Vec::new();
    let mut busy = 0;
    for (name, call) in calls {
        let answer = call.wait();
        if answer.is_refusal() {
            assert_eq!(answer.refusal()["code"], "busy", "{name}");
            busy += 1;
        } else {
            assert_eq!(answer.success(schema)["outcome"], "passed", "{name}");
            ran.push(name);
        }
    }
    assert_eq!((ran.len(), busy), (32, 8));
    let trace = app.read("tmp/trace");
    assert_eq!(
        trace.lines().collect::<Vec<_>>(),
        ran,
        "each ran once, in the order of the calls"
    );
    let status = server.status();
    assert_eq!(
        (&status["queued"], &status["state"]),
        (&json!(0), &json!("ready")),
        "{status}"
    );
    server.stop();
}

#[test]
fn a_hundred_calls_at_once_are_answered_each_through_a_shared_server() {
    let app = App::copy();
    app.setting("idle_timeout_seconds: 0");
    let server = app.server_with(Setup::default().shared());
    let calls: Vec<(&str, Pending)> = (0..100)
        .map(|number| match number % 5 {
            0 => ("rails_spec_run", server.begin([SPEC], json!({"seed": number}))),
            1 | 2 => ("rails_routes", server.call("rails_routes", json!({"limit": 1}))),
            _ => ("rails_runtime_status", server.call("rails_runtime_status", json!({}))),
        })
        .collect();
    for (tool, call) in calls {
        let answer = call.wait().success(&server.tool(tool)["outputSchema"]);
        let expected = if tool == "rails_spec_run" { "passed" } else { "" };
        assert_eq!(answer["outcome"].as_str().unwrap_or_default(), expected, "{answer}");
    }
    let calls = server.status()["calls"].clone();
    assert_eq!(
        calls,
        json!({"rails_routes": 40, "rails_runtime_status": 40, "rails_spec_run": 20})
    );
    server.end();
}

#[test]
fn a_running_call_that_is_cancelled_ends_with_all_its_processes() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (path, fork) in [
        ("spec/faults/ignores_term_and_setsid_spec.rb", "always"),
        ("spec/faults/hangs_in_c_with_the_lock_spec.rb", "always"),
        ("spec/faults/stops_itself_spec.rb", "always"),
        ("spec/faults/ignores_term_and_setsid_spec.rb", "never"),
    ] {
        let call = server.begin([path], json!({"fork": fork, "timeout_seconds": 600}));
        eventually("it runs", || (server.status()["state"] == "running").then_some(()));
        server.cancel(&call);
        eventually("the run is over", || {
            (server.status()["state"] != "running").then_some(())
        });
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("{path} {fork}: {left:?}"));
        let next = server.run([SPEC]);
        wrong.check(next["outcome"] == "passed", || format!("after {path} {fork}: {next}"));
    }
    let outcomes = server.at_rest()["runs"]["outcomes"].clone();
    wrong.equal("cancelled runs", &outcomes["cancelled"], 4);
    wrong.none();
    server.stop();
}

#[test]
fn a_queued_call_that_is_cancelled_never_runs_and_makes_room() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let path = tracing_spec(&app, "cancelled");
    // The very same call would wait for the first one's run.
    let calls = (0..32).map(|seed| server.begin([&path], json!({ "seed": seed })));
    let calls: Vec<Pending> = calls.collect();
    eventually("all are queued", || (server.status()["queued"] == 32).then_some(()));
    calls.iter().for_each(|call| server.cancel(call));
    eventually("none is queued any more", || {
        (server.status()["queued"] == 0).then_some(())
    });
    let path = tracing_spec(&app, "kept");
    let kept = server.begin([path], json!({}));
    eventually("there is room again", || (server.status()["queued"] == 1).then_some(()));
    assert_eq!(held.release(&app, &server)["outcome"], "passed");
    assert_eq!(server.report(kept)["outcome"], "passed");
    assert_eq!(app.read("tmp/trace"), "kept\n", "what was cancelled ran");
    server.stop();
}

/// A call that waits for a boot it no longer wants.
#[test]
fn a_call_that_is_cancelled_while_the_app_boots_lets_the_next_one_have_it() {
    let app = App::copy();
    app.write(
        "config/initializers/slow.rb",
        "File.write('tmp/booting', \"boot\\n\", mode: 'a'); sleep 0.01 until File.exist?('tmp/go')\n",
    );
    let server = app.server();
    let path = tracing_spec(&app, "cancelled");
    let call = server.begin([path], json!({}));
    eventually("the app boots", || app.path("tmp/booting").exists().then_some(()));
    let next = server.begin([SPEC], json!({}));
    eventually("the next call waits", || (server.status()["queued"] == 1).then_some(()));
    server.cancel(&call);
    server.status();
    app.write("tmp/go", "");
    let next = server.report(next);
    assert_eq!(next["outcome"], "passed", "{next}");
    assert!(!app.path("tmp/trace").exists(), "what was cancelled ran");
    assert_eq!(app.read("tmp/booting"), "boot\n", "it is the same boot");
    server.stop();
}

/// Two servers on one app share its databases, so their runs take turns.
#[test]
fn runs_of_two_servers_on_one_database_never_overlap() {
    let app = App::copy();
    app.write(
        "spec/alone_spec.rb",
        r#"
require "rails_helper"

RSpec.describe "A spec that wants the database for itself" do
  it "is alone" do
    10.times do
      File.open("tmp/lock", File::CREAT | File::EXCL | File::WRONLY).close
      sleep 0.05
      File.delete("tmp/lock")
      sleep 0.02
    end
  end
end
"#,
    );
    let servers = [app.server(), app.server()];
    let arguments = [json!({}), json!({"fork": "never"}), json!({})];
    let calls: Vec<_> = servers
        .iter()
        .flat_map(|server| arguments.iter().map(move |arguments| (server, arguments)))
        .map(|(server, arguments)| (server, server.begin(["spec/alone_spec.rb"], arguments.clone())))
        .collect();
    let mut wrong = Deviations::default();
    for (server, call) in calls {
        let report = server.report(call);
        wrong.check(report["outcome"] == "passed", || format!("they overlap: {report}"));
    }
    wrong.none();
    servers.into_iter().for_each(Server::end);
}

/// A client that is slow to read must not be able to wedge the server, nor one that goes away while it is answered.
#[test]
fn a_client_that_vanishes_in_the_middle_leaves_nothing() {
    let app = App::copy();
    let server = app.server();
    let _calls: Vec<Pending> = (0..10)
        .map(|_| server.begin(["spec/faults/fork_bomb_spec.rb"], json!({})))
        .collect();
    eventually("the first runs", || {
        (server.status()["state"] == "running").then_some(())
    });
    server.signal(Signal::SIGKILL);
    server.nothing_is_left();
}
