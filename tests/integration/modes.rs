//! Fork or fresh process: what decides it, and that the reason is told.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

fn check(wrong: &mut Deviations, what: &str, report: &Value, mode: &str, reason: &str) {
    wrong.check(report["outcome"] == "passed", || format!("{what}: {report}"));
    wrong.check(report["mode"] == mode, || {
        format!(
            "{what}: mode {}, should be {mode}: {}",
            report["mode"], report["mode_reason"]
        )
    });
    wrong.check(reason.is_empty() || has_text(&report["mode_reason"], reason), || {
        format!("{what}: no `{reason}` in {}", report["mode_reason"])
    });
}

#[test]
fn threads_that_came_after_the_boot_are_named_and_not_forked() {
    let app = App::copy();
    app.write(
        "config/initializers/poller.rb",
        "Thread.new { sleep }.name = 'of the boot'\nrequire 'timeout'\nTimeout.timeout(60) { 1 }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    check(
        &mut wrong,
        "threads of the boot are known",
        &server.run([SPEC]),
        "fork",
        "",
    );
    app.write("spec/support/poller.rb", "Thread.new { sleep }.name = 'price poller'\n");
    check(
        &mut wrong,
        "a thread of the helper",
        &server.run([SPEC]),
        "spawn_fallback",
        "price poller",
    );
    let forking = server.status()["forking"].clone();
    wrong.equal("safe to fork", &forking["safe"], false);
    wrong.equal("the extra thread", &forking["extra_threads"], &json!(["price poller"]));
    let always = server.run_with([SPEC], json!({"fork": "always"}));
    check(&mut wrong, "whoever asks for a fork gets one", &always, "fork", "");
    app.write("spec/support/poller.rb", "Thread.new { sleep }\n");
    check(
        &mut wrong,
        "a nameless one is told by its place",
        &server.run([SPEC]),
        "spawn_fallback",
        "spec/support/poller.rb:1",
    );
    app.remove("spec/support/poller.rb");
    check(&mut wrong, "without it", &server.run([SPEC]), "fork", "");
    wrong.none();
    server.stop();
}

#[test]
fn a_gem_that_does_not_survive_a_fork_is_known_by_its_loaded_code() {
    let app = App::copy();
    app.write(
        "gems/grpc/grpc.gemspec",
        "Gem::Specification.new { |s| s.name = 'grpc'; s.version = '1.0'; s.authors = ['x']; s.summary = 'a stub' }\n",
    );
    app.write("gems/grpc/lib/grpc.rb", "module GRPC\nend\n");
    app.append("Gemfile", "gem 'grpc', path: 'gems/grpc', require: false\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    check(&mut wrong, "merely in the bundle", &server.run([SPEC]), "fork", "");
    app.append("spec/rails_helper.rb", "require 'grpc'\n");
    check(&mut wrong, "loaded", &server.run([SPEC]), "spawn_fallback", "grpc");
    app.edit("spec/rails_helper.rb", "require 'grpc'\n", "");
    check(&mut wrong, "not loaded any more", &server.run([SPEC]), "fork", "");
    app.setting("fork_unsafe_gems: [money_math]");
    check(
        &mut wrong,
        "one of the project's own",
        &server.run([SPEC]),
        "spawn_fallback",
        "money_math",
    );
    wrong.none();
    server.stop();
}

#[test]
fn three_crashes_of_forks_in_a_row_end_forking_for_that_boot() {
    let app = App::copy();
    let server = app.server();
    let crash = || server.run(["spec/faults/crashes_only_in_fork_spec.rb"]);
    let mut wrong = Deviations::default();
    for _ in 0..2 {
        let report = crash();
        check(&mut wrong, "a crash in a fork only", &report, "spawn_after_crash", "");
        wrong.check(has_text(&report["crashed_fork"], "SIGSEGV"), || {
            format!("which crash: {report}")
        });
        let said = report["crashed_fork"]["stderr"].as_str().map_or(0, str::len);
        wrong.check((1..=4096).contains(&said), || format!("{said} bytes of its last words"));
    }
    check(&mut wrong, "two are no reason", &server.run([SPEC]), "fork", "");
    for _ in 0..3 {
        check(&mut wrong, "a crash in a fork only", &crash(), "spawn_after_crash", "");
    }
    check(
        &mut wrong,
        "after the third",
        &server.run([SPEC]),
        "spawn_fallback",
        "crashed",
    );
    app.append("config/initializers/inflections.rb", "# a new boot\n");
    check(&mut wrong, "a new boot begins anew", &server.run([SPEC]), "fork", "");
    // What crashes everywhere has crashed, and is not run a third time.
    let report = server.run(["spec/faults/segfaults_spec.rb"]);
    wrong.equal("a crash everywhere", &report["outcome"], "crashed");
    wrong.none();
    server.stop();
}

/// What was printed and written by an example before it crashed happened twice then; what never started happens once.
#[test]
fn only_a_crash_is_tried_again() {
    let app = App::copy();
    let text = |ending: &str| {
        format!("RSpec.describe('x') {{ it('counts') {{ File.write('tmp/count', '.', mode: 'a'); {ending} }} }}\n")
    };
    let server = app.server();
    let mut wrong = Deviations::default();
    for (ending, outcome, times) in [
        ("exit!(0)", "incomplete", 1),
        ("exit", "incomplete", 1),
        ("raise 'no'", "failed", 1),
        ("Process.kill(:KILL, Process.pid); sleep", "crashed", 1),
        ("Process.kill(:TERM, Process.pid); sleep", "crashed", 1),
        ("Process.kill(:ABRT, Process.pid); sleep", "crashed", 2),
    ] {
        app.write("tmp/count", "");
        app.write("spec/counts_spec.rb", text(ending));
        let report = server.run(["spec/counts_spec.rb"]);
        wrong.equal(ending, &report["outcome"], outcome);
        wrong.equal(ending, app.read("tmp/count").len(), times);
    }
    wrong.none();
    server.stop();
}

/// Whatever was printed before: the beginning of what Ruby says, or what the system says that ends it.
#[test]
fn what_a_fork_said_when_it_crashed_is_kept_and_understood() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let mut crash = |dying: &str| {
        let text = format!(
            "RSpec.describe('x') {{ it('y') {{ next if ENV['COATEPEC_MODE'] != 'fork'; warn 'noise ' * 2000; {dying}; sleep }} }}\n"
        );
        app.write("spec/dying_spec.rb", text);
        let report = server.run(["spec/dying_spec.rb"]);
        check(&mut wrong, dying, &report, "spawn_after_crash", "");
        report
    };
    let segv = crash("Process.kill(:SEGV, $$)");
    let objc = "objc[7]: +[NSNumber initialize] may have been in progress in another thread when fork() was called.";
    let objc = crash(&format!("warn '{objc}'; Process.kill(:ABRT, $$)"));
    let said = segv["crashed_fork"]["stderr"].as_str().unwrap_or_default();
    wrong.check(
        said.contains("[BUG] Segmentation fault") && !said.contains("noise noise noise"),
        || format!("SEGV: {said}"),
    );
    wrong.check(segv.get("warnings").is_none(), || format!("SEGV: {segv}"));
    wrong.check(has_text(&objc["crashed_fork"]["stderr"], "NSNumber"), || {
        format!("ABRT: {objc}")
    });
    wrong.check(
        has_text(&objc["warnings"], "OBJC_DISABLE_INITIALIZE_FORK_SAFETY"),
        || format!("ABRT: {objc}"),
    );
    wrong.none();
    server.stop();
}

/// What a fork must not have from the process that it came from.
#[test]
fn a_fork_inherits_nothing_half_done() {
    let app = App::copy();
    app.write(
        "config/initializers/half_done.rb",
        r#"
require "socket"
$stdout.sync = false
$stdout.print "of the boot-"
$listening = TCPServer.new("127.0.0.1", 0)
trap("TERM") { File.write("tmp/term_of_the_boot", "") }
at_exit { File.write("tmp/exit_of_the_boot", Process.pid.to_s) }
Rails.application.config.after_initialize do
  ActiveRecord::Base.connection.execute("BEGIN IMMEDIATE")
end
"#,
    );
    app.write(
        "spec/support/half_done.rb",
        "$stdout.sync = false\nprint 'of the helper-'\nat_exit { puts 'exit of the helper' }\n",
    );
    app.write(
        "spec/heir_spec.rb",
        r#"
require "rails_helper"

RSpec.describe "An heir" do
  it("has no arguments of ours") { expect(ARGV).to eq([]) }
  it("reads nothing") { expect($stdin.read).to eq("") }
  it("leads its own session") { expect(Process.getsid).to eq(Process.pid) }
  it("leads its own group") { expect(Process.getpgrp).to eq(Process.pid) }
  it("can write to the database") { expect { Widget.create!(name: "Heir") }.to change(Widget, :count).by(1) }
  it("has the default signals") { expect(trap("TERM", "DEFAULT")).to eq("DEFAULT") }
  it("has no variable of ours") { expect(ENV.keys.grep(/COATEPEC/) - ["COATEPEC_MODE", "COATEPEC_LOG"]).to eq([]) }
  it("is where the app is") { expect(Dir.pwd).to eq(Rails.root.to_s) }

  it "holds no port" do
    port = $listening.local_address.ip_port rescue next
    expect { TCPServer.new("127.0.0.1", port) }.to raise_error(Errno::EADDRINUSE)
    expect(Dir.children("/proc/self/fd").filter_map { |fd| File.readlink("/proc/self/fd/#{fd}") rescue nil }
      .grep(/socket/)).to eq([])
  end
end
"#,
    );
    let server = app.server();
    let arguments = json!({"fork": "always", "include_stdout": "always"});
    let report = server.run_with(["spec/heir_spec.rb"], arguments.clone());
    let mut wrong = Deviations::default();
    wrong.check(report["outcome"] == "passed", || format!("{report}"));
    let said = report["stdout"]["text"].as_str().unwrap_or_default();
    wrong.check(!said.contains("of the boot"), || {
        format!("what was buffered before is said again: {said}")
    });
    wrong.check(!said.contains("of the helper-"), || {
        format!("what was buffered before is said again: {said}")
    });
    wrong.equal(
        "exit handlers of the helper run once",
        said.matches("exit of the helper").count(),
        1,
    );
    wrong.check(!app.path("tmp/exit_of_the_boot").exists(), || {
        "exit handlers of the boot ran in the fork".into()
    });
    let again = server.run_with(["spec/heir_spec.rb"], arguments);
    wrong.check(again["outcome"] == "passed", || format!("the second one: {again}"));
    wrong.none();
    server.stop();
    assert!(
        !app.path("tmp/term_of_the_boot").exists(),
        "a handler of the boot ran in a fork"
    );
}

/// One run's environment, directory and constants are no other's.
#[test]
fn one_run_leaves_nothing_for_the_next() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for path in [
        "spec/faults/changes_directory_spec.rb",
        "spec/faults/clears_env_spec.rb",
        "spec/faults/redefines_for_good_spec.rb",
        "spec/faults/travels_time_spec.rb",
        "spec/faults/uses_many_fds_spec.rb",
        "spec/faults/low_fd_limit_spec.rb",
    ] {
        wrong.check(server.run([path])["outcome"] == "failed", || {
            format!("{path} does not fail")
        });
        let next = server.run(["spec/models/widget_spec.rb"]);
        wrong.check(next["outcome"] == "passed", || format!("after {path}: {next}"));
        let same = next["mode"] == "fork" && next["timing"]["boot"] == 0.0;
        wrong.check(same, || format!("after {path}: something was thrown away: {next}"));
    }
    wrong.none();
    server.stop();
}

/// Such a database does not survive a fork, nor does it outlive a process.
#[test]
fn databases_in_memory_are_made_again_in_each_fork() {
    let app = App::copy();
    app.edit(
        "config/database.yml",
        "storage/test<%= ENV[\"TEST_ENV_NUMBER\"] %>.sqlite3",
        "\":memory:\"",
    );
    app.edit(
        "config/database.yml",
        "storage/audit_test<%= ENV[\"TEST_ENV_NUMBER\"] %>.sqlite3",
        "\":memory:\"",
    );
    // The usual way with such databases.
    let schema = "ActiveRecord::Schema.verbose = false
  load Rails.root.join('db/schema.rb')
  ActiveRecord::Tasks::DatabaseTasks.define_singleton_method(:migration_class) { Event }
  load Rails.root.join('db/audit_schema.rb')
  ActiveRecord::Tasks::DatabaseTasks.singleton_class.remove_method(:migration_class)";
    app.edit(
        "spec/rails_helper.rb",
        "ActiveRecord::Migration.maintain_test_schema!",
        schema,
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    for fork in ["never", "always", "always"] {
        let report = server.run_with(
            ["spec/models/widget_spec.rb", "spec/models/event_spec.rb"],
            json!({"fork": fork}),
        );
        wrong.check(report["outcome"] == "passed", || format!("{fork}: {report}"));
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_database_in_memory_may_have_its_structure_in_sql() {
    let app = App::copy();
    app.edit(
        "config/database.yml",
        "storage/test<%= ENV[\"TEST_ENV_NUMBER\"] %>.sqlite3",
        "\":memory:\"",
    );
    app.write("config/initializers/sql.rb", "ActiveRecord.schema_format = :sql\n");
    app.write(
        "db/structure.sql",
        "CREATE TABLE boxes (id integer PRIMARY KEY, name varchar);\nCREATE TABLE lids (id integer PRIMARY KEY);\n",
    );
    app.edit(
        "spec/rails_helper.rb",
        "ActiveRecord::Migration.maintain_test_schema!",
        "nil",
    );
    app.write(
        "spec/boxes_spec.rb",
        "require 'rails_helper'\nRSpec.describe('boxes') { it('are there') { expect(ActiveRecord::Base.connection.tables.sort).to eq(%w[boxes lids]) } }\n",
    );
    let server = app.server();
    for _ in 0..2 {
        let report = server.run_with(["spec/boxes_spec.rb"], json!({"fork": "always"}));
        assert_eq!(report["outcome"], "passed", "{report}");
    }
    server.stop();
}

/// It would measure the little that was not loaded before it, and spoil the figures of the last honest run.
#[test]
fn coverage_is_silent_in_a_fork_and_whole_in_a_fresh_process() {
    let app = App::copy();
    app.write("spec/support/coverage_stub.rb", COVERAGE);
    app.write("coverage/.resultset.json", "{}");
    let server = app.server();
    let mut wrong = Deviations::default();
    let forked = server.run_with([SPEC], json!({"fork": "always"}));
    wrong.check(forked["outcome"] == "passed", || format!("{forked}"));
    wrong.check(has_text(&forked["warnings"], "overage"), || {
        format!("nothing tells of it: {forked}")
    });
    wrong.equal("the last figures", app.read("coverage/.resultset.json"), "{}");
    let spawned = server.run_with([SPEC], json!({"fork": "never"}));
    wrong.check(spawned["outcome"] == "failed_at_exit", || format!("{spawned}"));
    wrong.check(app.read("coverage/.resultset.json").contains("figures"), || {
        "no figures of a fresh process".into()
    });
    wrong.none();
    server.stop();
}

/// As much of the public interface of SimpleCov as matters here: figures at exit, and a minimum that nobody reaches.
const COVERAGE: &str = r#"
module SimpleCov
  class << self
    attr_accessor :external_at_exit

    def at_exit(&block) = block ? @at_exit = block : (@at_exit || -> { write })

    def write
      File.write("coverage/.resultset.json", "figures")
      exit 2
    end
  end
end

at_exit { SimpleCov.at_exit.call unless SimpleCov.external_at_exit }
"#;

/// The name of an app's class counts, and not that of the gem in its bundle.
#[test]
fn the_settings_of_the_project_and_the_call_decide_first() {
    let app = App::copy();
    app.setting("fork: always");
    app.write("spec/support/poller.rb", "Thread.new { sleep }.name = 'price poller'\n");
    let server: Server = app.server_with(Setup::default());
    let mut wrong = Deviations::default();
    check(&mut wrong, "always", &server.run([SPEC]), "fork", "");
    let auto = server.run_with([SPEC], json!({"fork": "auto"}));
    check(&mut wrong, "auto", &auto, "spawn_fallback", "price poller");
    let never = server.run_with([SPEC], json!({"fork": "never"}));
    check(&mut wrong, "never", &never, "spawn", "");
    wrong.none();
    server.stop();
}
