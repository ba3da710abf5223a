//! Questions about the app while runs are under way: they don't wait, they are never answered from old code, and what
//! they make of a change leaves the run alone.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{App, Held, Server, eventually, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

fn routes(server: &Server) -> Value {
    let tool = "rails_routes";
    server
        .call(tool, json!({}))
        .wait()
        .success(&server.tool(tool)["outputSchema"])
}

fn reader(server: &Server) -> i32 {
    let processes = server.processes();
    let reader = processes
        .iter()
        .find(|process| process.command.starts_with("coatepec reader"));
    reader.expect("there is a reader").pid
}

#[test]
fn a_question_is_answered_while_a_run_is_under_way() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    assert!(has_text(&routes(&server), "widgets"));
    assert!(held.is_under_way());
    let report = held.release(&app, &server);
    assert_eq!(report["outcome"], "passed", "{report}");
    assert_eq!(server.run([SPEC])["outcome"], "passed");
    server.stop();
}

/// A child that closes whatever it has, or dies, has no connection of whoever reads the tables.
#[test]
fn tables_are_read_before_and_after_runs_that_end_well_or_badly() {
    let app = App::copy();
    let server = app.server();
    let tables = || server.ask("rails_schema", json!({ "detail": "names" }));
    let columns = || server.ask("rails_model", json!({ "name": "Widget", "fields": ["columns"] }));
    let before = (tables(), columns());
    let specs = [
        ("spec/models/widget_spec.rb", "passed"),
        ("spec/faults/kills_itself_kill_spec.rb", "crashed"),
    ];
    for (spec, outcome) in specs {
        let report = server.run([spec]);
        assert_eq!(report["outcome"], outcome, "{report}");
        assert_eq!((tables(), columns()), before, "{spec}");
    }
    server.stop();
}

/// What Rails can reload is reloaded below the run, whose process keeps what it was forked with.
#[test]
fn a_question_sees_what_was_saved_during_a_run() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let before = server.status();
    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        "root \"pages#home\"\n  get \"saved\", to: \"pages#home\"",
    );
    assert!(has_text(&routes(&server), "saved"));
    assert!(held.is_under_way());
    let report = held.release(&app, &server);
    assert_eq!(report["outcome"], "passed", "{report}");
    let next = server.run([SPEC]);
    assert_eq!(next["outcome"], "passed", "{next}");
    assert!(has_text(&next["trigger"], "config/routes.rb"), "{next}");
    assert_eq!(server.status()["worker_pid"], before["worker_pid"]);
    assert!(server.beside_the_warm_tree().is_empty());
    server.stop();
}

/// What takes a boot gets one beside the run, and the process of the old boot is gone with the run.
#[test]
fn a_question_that_needs_a_boot_leaves_the_run_alone() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let before = server.status();
    app.write("config/initializers/saved.rb", "SAVED = 1\n");
    assert!(has_text(&routes(&server), "widgets"));
    let booted = server.status();
    assert_ne!(booted["worker_pid"], before["worker_pid"]);
    assert_eq!(booted["state"], "running", "{booted}");
    assert!(held.is_under_way());
    let report = held.release(&app, &server);
    assert_eq!(report["outcome"], "passed", "{report}");
    server.ended(i32::try_from(before["worker_pid"].as_i64().unwrap()).unwrap());
    let next = server.run([SPEC]);
    assert_eq!(next["outcome"], "passed", "{next}");
    assert!(has_text(&next["trigger"], "saved.rb"), "{next}");
    assert_eq!(server.status()["worker_pid"], booted["worker_pid"]);
    server.stop();
}

#[test]
fn a_reader_that_is_lost_is_replaced() {
    let app = App::copy();
    let server = app.server();
    routes(&server);
    for signal in [Signal::SIGKILL, Signal::SIGSTOP] {
        let lost = reader(&server);
        server.signal_to(lost, signal);
        eventually("it is seen", || has_text(&routes(&server), "widgets").then_some(()));
        assert_ne!(reader(&server), lost);
    }
    assert_eq!(server.run([SPEC])["outcome"], "passed");
    server.stop();
}

/// Writes that it hangs, and does.
const HANGING: &str = r#"
class Hanging < ApplicationRecord
  def self.validators
    File.write(Rails.root.join("tmp/hanging.txt"), ".", mode: "a")
    sleep
  end
end
"#;

fn hanging(app: &App) -> usize {
    std::fs::read(app.path("tmp/hanging.txt")).map_or(0, |marks| marks.len())
}

fn readers(server: &Server) -> usize {
    let processes = server.processes();
    let readers = processes
        .iter()
        .filter(|one| one.command.starts_with("coatepec reader"));
    readers.count()
}

/// Nor does one whose caller is gone keep a process.
#[test]
fn a_question_that_hangs_keeps_no_other_waiting() {
    let app = App::copy();
    app.write("app/models/hanging.rb", HANGING);
    let server = app.server();
    let hang = || server.call("rails_model", json!({"name": "Hanging"}));
    let first = hang();
    eventually("it hangs", || (hanging(&app) == 1).then_some(()));
    assert!(has_text(&routes(&server), "widgets"));
    assert!(first.is_unanswered());
    server.cancel(&first);
    eventually("its process is gone", || (readers(&server) == 1).then_some(()));
    // When all processes hang, one of them makes room.
    let all: Vec<_> = (0..4).map(|_| hang()).collect();
    eventually("all hang", || (hanging(&app) == 5).then_some(()));
    assert!(has_text(&routes(&server), "widgets"));
    eventually("one has left", || all.iter().find(|call| !call.is_unanswered()));
    all.iter().for_each(|call| server.cancel(call));
    assert_eq!(server.run([SPEC])["outcome"], "passed");
    server.stop();
}

/// Rails asks the classes that it lets go of for their names: nobody has to let go of any.
#[test]
fn a_class_that_can_not_be_let_go_of_is_gone_with_the_next_call() {
    let app = App::copy();
    let server = app.server();
    let hostile = "class Hostile < ApplicationRecord\n  def self.name = raise(\"nameless\")\nend\n";
    for mended in [None, Some("class Hostile < ApplicationRecord\nend\n")] {
        app.write("app/models/hostile.rb", hostile);
        assert!(has_text(&routes(&server), "widgets"));
        match mended {
            Some(text) => app.write("app/models/hostile.rb", text),
            None => app.remove("app/models/hostile.rb"),
        }
        assert!(has_text(&routes(&server), "widgets"), "at once");
        assert!(has_text(
            &server.status()["last_trigger"],
            "reloaded: app/models/hostile.rb"
        ));
    }
    server.stop();
}

#[test]
fn a_list_of_examples_waits_for_no_run_unless_a_file_writes_as_it_is_loaded() {
    let app = App::copy();
    app.write(
        "spec/models/writing_spec.rb",
        "Tag.create!(label: \"loaded\")\nRSpec.describe(Tag) { it(\"is\") { expect(Tag.count).to be >= 0 } }\n",
    );
    let server = app.server();
    let list = |path: &str| server.call("rails_spec_list", json!({ "paths": [path] }));
    let held = Held::hold(&app, &server);
    let listed = list(SPEC).wait().success(&json!({}));
    assert!(
        listed["total"].as_u64().unwrap() > 0 && listed.get("report").is_none(),
        "{listed}"
    );
    assert!(held.is_under_way());
    let writing = list("spec/models/writing_spec.rb");
    let report = held.release(&app, &server);
    assert_eq!(report["outcome"], "passed", "{report}");
    let writing = writing.wait().success(&json!({}));
    assert_eq!(
        (&writing["total"], writing.get("report")),
        (&json!(1), None),
        "{writing}"
    );
    server.stop();
}

#[test]
fn an_app_that_can_not_be_asked_says_why_until_it_is_mended() {
    let app = App::copy();
    let server = app.server();
    app.write("config/initializers/broken.rb", "def\n");
    for _ in 0..2 {
        let refusal = server.call("rails_routes", json!({})).wait().refusal();
        assert_eq!(refusal["code"], "boot_failed", "{refusal}");
        assert!(has_text(&refusal["at"], "config/initializers/broken.rb:"), "{refusal}");
        assert!(!refusal["hint"].is_null(), "{refusal}");
    }
    app.remove("config/initializers/broken.rb");
    assert!(has_text(&routes(&server), "widgets"));
    let good = app.read("config/routes.rb");
    app.write("config/routes.rb", "Rails.application.routes.draw do");
    let refusal = server.call("rails_routes", json!({})).wait().refusal();
    assert_eq!(refusal["code"], "reload_failed", "{refusal}");
    assert!(has_text(&refusal["at"], "config/routes.rb:"), "{refusal}");
    app.write("config/routes.rb", good);
    assert!(has_text(&routes(&server), "widgets"));
    server.stop();
}

/// What its files say by themselves is told all the same.
#[test]
fn the_schema_of_an_app_that_does_not_boot_comes_from_its_files() {
    let app = App::copy();
    let server = app.server();
    app.write(
        "config/initializers/broken.rb",
        "raise \"out of order: #{Object.new.inspect}\"\n",
    );
    let listed = server.ask("rails_spec_list", json!({"paths": ["spec/services"]}));
    assert_eq!(listed["report"]["outcome"], "boot_failed", "{listed}");
    assert!(has_text(&listed["files"], SPEC), "{listed}");
    let tool = "rails_schema";
    let told = server.call(tool, json!({"table": "makers"})).wait();
    let told = told.success(&server.tool(tool)["outputSchema"]);
    assert_eq!(told["source"], "schema_file", "{told}");
    assert_eq!(told["tables"][0]["name"], "makers", "{told}");
    assert!(has_text(&told["instead"], "out of order: #<Object:0x…>"), "{told}");
    app.remove("config/initializers/broken.rb");
    let told = server.call(tool, json!({"table": "makers"})).wait();
    let told = told.success(&server.tool(tool)["outputSchema"]);
    assert_ne!(told["source"], "schema_file", "{told}");
    assert!(told.get("instead").is_none(), "{told}");
    app.remove("db/schema.rb");
    app.remove("db/audit_schema.rb");
    app.write("config/initializers/broken.rb", "raise 'out of order'\n");
    assert_eq!(server.call(tool, json!({})).wait().refusal()["code"], "boot_failed");
    server.stop();
}

#[test]
fn a_restart_boots_anew_and_leaves_a_run_alone() {
    let app = App::copy();
    let server = app.server();
    let restart = || {
        server
            .call("rails_runtime_restart", json!({}))
            .wait()
            .success(&json!({}))
    };
    assert!(restart().get("ended_boot_id").is_none());
    let held = Held::hold(&app, &server);
    let before = server.status();
    assert_eq!(restart()["ended_boot_id"], before["boot_id"]);
    assert!(held.is_under_way());
    assert_eq!(held.release(&app, &server)["outcome"], "passed");
    let next = server.run([SPEC]);
    assert_eq!(next["outcome"], "passed", "{next}");
    assert!(has_text(&next["trigger"], "restart"), "{next}");
    assert_ne!(server.status()["worker_pid"], before["worker_pid"]);
    server.stop();
}

#[test]
fn status_boots_the_app_when_it_is_asked_to() {
    let app = App::copy();
    let server = app.server();
    let tool = "rails_runtime_status";
    let asked = |boot: bool| {
        let answer = server.call(tool, json!({ "boot": boot })).wait();
        answer.success(&server.tool(tool)["outputSchema"])
    };
    assert_eq!(asked(false)["state"], "absent");
    let booted = asked(true);
    assert!(booted["worker_pid"].is_number(), "{booted}");
    assert_eq!(booted["boot_id"], 1);
    server.stop();
}

#[test]
fn a_boot_that_is_asked_for_after_a_restart_is_waited_for() {
    let app = App::copy();
    let server = app.server();
    assert_eq!(server.run(["spec/services/price_list_spec.rb"])["outcome"], "passed");
    server
        .call("rails_runtime_restart", json!({}))
        .wait()
        .success(&server.tool("rails_runtime_restart")["outputSchema"]);
    let status = server.ask("rails_runtime_status", json!({"boot": true}));
    assert_eq!(status["state"], "ready", "{status}");
    server.stop();
}
