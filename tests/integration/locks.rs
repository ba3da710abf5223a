//! Runs that share a test database take turns, whoever starts them: another call, another server, another worktree.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, eventually, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Says where it stands in a directory that several apps know, and stays until it may go.
fn held_spec(app: &App, place: &str) {
    let text = format!(
        r#"
require "rails_helper"

RSpec.describe "A spec that holds the database" do
  it "waits" do
    File.write("{place}/held", Process.pid.to_s)
    sleep 0.01 until File.exist?("{place}/go")
  end
end
"#
    );
    app.write("spec/held_spec.rb", text);
}

/// Fails if another one is under way.
fn alone_spec(app: &App, place: &str) {
    let text = format!(
        r#"
require "rails_helper"

RSpec.describe "A spec that wants the database for itself" do
  it "is alone" do
    8.times do
      File.open("{place}/alone", File::CREAT | File::EXCL | File::WRONLY).close
      sleep 0.05
      File.delete("{place}/alone")
      sleep 0.02
    end
  end
end
"#
    );
    app.write("spec/alone_spec.rb", text);
}

/// A second checkout whose settings name the databases of the first, as worktrees on one machine do, in other words.
fn worktree_of(app: &App) -> App {
    let other = App::copy();
    std::os::unix::fs::symlink(app.path("storage"), other.path("shared")).expect("a link can be made");
    let storage = other.path("shared").display().to_string();
    let text = other
        .read("config/database.yml")
        .replace("storage/", &format!("{storage}/"));
    other.write("config/database.yml", text);
    other
}

fn place(app: &App) -> String {
    app.beside("tmp").display().to_string()
}

#[test]
fn runs_of_several_worktrees_and_modes_never_overlap() {
    let app = App::copy();
    let worktree = worktree_of(&app);
    for one in [&app, &worktree] {
        alone_spec(one, &place(&app));
    }
    let servers = [app.server(), app.server(), worktree.server()];
    // The databases are known by the boot; before it, nothing but the checkout is.
    for server in &servers {
        assert_eq!(server.run([SPEC])["outcome"], "passed");
    }
    let arguments = [json!({}), json!({"fork": "never"})];
    let calls: Vec<_> = servers
        .iter()
        .flat_map(|server| arguments.iter().map(move |arguments| (server, arguments)))
        .map(|(server, arguments)| (server, server.begin(["spec/alone_spec.rb"], arguments.clone())))
        .collect();
    let reports: Vec<Value> = calls.into_iter().map(|(server, call)| server.report(call)).collect();
    let mut wrong = Deviations::default();
    for report in &reports {
        wrong.check(report["outcome"] == "passed", || format!("they overlap: {report}"));
    }
    wrong.none();
    servers.into_iter().for_each(Server::end);
}

/// A fresh process before any boot knows no database, and so has its checkout for itself.
#[test]
fn a_fresh_process_without_a_warm_app_takes_turns_with_the_forks_of_another_server() {
    let app = App::copy();
    held_spec(&app, &place(&app));
    let servers = [app.server(), app.server()];
    let ways = [json!({"fork": "always"}), json!({"fork": "never"})];
    assert_eq!(servers[0].run([SPEC])["outcome"], "passed");
    let mut wrong = Deviations::default();
    for (holds, waits) in [(0, 1), (1, 0)] {
        let held = servers[holds].begin(["spec/held_spec.rb"], ways[holds].clone());
        eventually("it is under way", || app.beside("tmp/held").exists().then_some(()));
        let mut arguments = ways[waits].clone();
        arguments["timeout_seconds"] = json!(1);
        let busy = servers[waits].run_with([SPEC], arguments);
        wrong.equal("who waits", &busy["outcome"], "database_busy");
        fs::write(app.beside("tmp/go"), "").expect("it can be written");
        wrong.equal("who holds", &servers[holds].report(held)["outcome"], "passed");
        for file in ["tmp/go", "tmp/held"] {
            fs::remove_file(app.beside(file)).expect("it is there");
        }
    }
    wrong.none();
    servers.into_iter().for_each(Server::end);
}

/// Once it has run, it knows its databases, also those that it shares with another worktree.
#[test]
fn fresh_processes_of_two_worktrees_on_one_database_take_turns() {
    let app = App::copy();
    let worktree = worktree_of(&app);
    held_spec(&app, &place(&app));
    let servers = [app.server(), worktree.server()];
    let never = || json!({"fork": "never", "timeout_seconds": 20});
    for server in &servers {
        let report = server.run_with(["spec/models/tag_spec.rb"], never());
        assert_eq!(report["outcome"], "passed", "{report}");
    }
    let held = servers[0].begin(["spec/held_spec.rb"], never());
    eventually("it is under way", || app.beside("tmp/held").exists().then_some(()));
    let busy = servers[1].run_with([SPEC], json!({"fork": "never", "timeout_seconds": 1}));
    assert_eq!(busy["outcome"], "database_busy", "{busy}");
    fs::write(app.beside("tmp/go"), "").expect("it can be written");
    assert_eq!(servers[0].report(held)["outcome"], "passed");
    servers.into_iter().for_each(Server::end);
}

#[test]
fn a_call_that_waits_in_vain_names_who_holds_the_database_and_a_dead_holder_holds_nothing() {
    let app = App::copy();
    let place = place(&app);
    held_spec(&app, &place);
    let holder = app.server();
    let server = app.server();
    let _held = holder.begin(["spec/held_spec.rb"], json!({"timeout_seconds": 600}));
    eventually("the first is under way", || {
        app.beside("tmp/held").exists().then_some(())
    });
    let mut wrong = Deviations::default();
    let pid = format!("pid {}", holder.pid());
    for fork in ["auto", "never"] {
        let busy = server.run_with([SPEC], json!({"timeout_seconds": 1, "fork": fork}));
        wrong.equal(fork, &busy["outcome"], "database_busy");
        wrong.check(has_text(&busy["error"]["message"], &pid), || format!("who: {busy}"));
        // The other one waits for its boot first.
        let waited = fork == "auto" || busy["timing"]["wait"].as_f64() > Some(0.0);
        wrong.check(waited, || format!("its wait: {busy}"));
        wrong.check(busy["hint"].is_string() && busy.get("mode").is_none(), || {
            format!("{busy}")
        });
        wrong.equal("examples", &busy["summary"]["examples"], 0);
    }
    // Whoever gives up while it waits is no run, and the next call is served.
    let given_up = server.begin([SPEC], json!({"timeout_seconds": 600}));
    eventually("it is being served", || {
        (server.status()["state"] == "preparing").then_some(())
    });
    server.cancel(&given_up);
    eventually("it is over", || (server.status()["state"] == "ready").then_some(()));
    let outcomes = server.status()["runs"]["outcomes"].clone();
    wrong.equal("outcomes", outcomes, json!({"database_busy": 2}));

    let waiting = server.begin([SPEC], json!({"timeout_seconds": 600}));
    holder.signal(Signal::SIGKILL);
    let report = server.report(waiting);
    wrong.equal("after the holder was killed", &report["outcome"], "passed");
    wrong.check(report["timing"]["wait"].as_f64() > Some(0.0), || {
        format!("its wait: {report}")
    });
    wrong.none();
    holder.wait();
    fs::write(app.beside("tmp/go"), "").expect("it can be written");
    server.end();
}

/// A call is told its place: while it waits, by the status; when it ran, by its report.
#[test]
fn each_call_is_told_its_place_in_the_queue() {
    let app = App::copy();
    let place = place(&app);
    held_spec(&app, &place);
    let server = app.server();
    let held = server.begin(["spec/held_spec.rb"], json!({}));
    eventually("the first is under way", || {
        app.beside("tmp/held").exists().then_some(())
    });
    let calls: Vec<_> = (1..=5)
        .map(|place| {
            let call = server.begin([SPEC, "spec/lib/slugger_spec.rb"], json!({"seed": place}));
            eventually("it is queued", || (server.status()["queued"] == place).then_some(()));
            call
        })
        .collect();
    let mut wrong = Deviations::default();
    let status = server.status();
    let first = &status["queue"][0];
    wrong.equal("path", &first["path"], SPEC);
    wrong.equal("more", &first["more_paths"], 1);
    wrong.check(first["seconds"].is_f64(), || format!("since when: {status}"));
    wrong.equal("length", status["queue"].as_array().map(Vec::len), Some(5));
    let given_up = server.begin([SPEC], json!({}));
    eventually("it is queued", || (server.status()["queued"] == 6).then_some(()));
    server.cancel(&given_up);
    fs::write(app.beside("tmp/go"), "").expect("it can be written");
    let first = server.report(held);
    wrong.check(first.get("queued_behind").is_none(), || {
        format!("nobody was ahead: {first}")
    });
    for (ahead, call) in (1..).zip(calls) {
        let report = server.report(call);
        wrong.equal("outcome", &report["outcome"], "passed");
        wrong.equal("ahead", &report["queued_behind"], ahead);
        wrong.equal("seed", &report["seed"], ahead);
    }
    wrong.none();
    server.stop();
}
