//! Apps that do not boot, and helpers that do not load: the cause is told, and mending it is enough.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

/// One way to break the app, by writing one file.
struct Break {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    /// Part of the class, of the message, of the file; empty where there is none.
    class: &'static str,
    message: &'static str,
    place: &'static str,
    line: Option<u64>,
    stderr: &'static str,
}

const BREAK: Break = Break {
    name: "",
    file: "config/initializers/zz_broken.rb",
    text: "",
    class: "",
    message: "",
    place: "config/initializers/zz_broken.rb",
    line: None,
    stderr: "",
};

const BOOTS: &[Break] = &[
    Break {
        name: "a syntax error",
        text: "x = 1\ndef broken(\n",
        class: "SyntaxError",
        line: Some(2),
        ..BREAK
    },
    Break {
        name: "an exception",
        text: "warn 'last words'\nraise KeyError, 'no such key'\n",
        class: "KeyError",
        message: "no such key",
        line: Some(2),
        stderr: "last words",
        ..BREAK
    },
    Break {
        name: "exit",
        text: "\nexit\n",
        class: "SystemExit",
        line: Some(2),
        ..BREAK
    },
    Break {
        name: "exit 0",
        text: "\n\nexit(0)\n",
        class: "SystemExit",
        line: Some(3),
        ..BREAK
    },
    Break {
        name: "abort",
        text: "abort 'set SECRET first'\n",
        class: "SystemExit",
        message: "set SECRET first",
        line: Some(1),
        stderr: "set SECRET first",
        ..BREAK
    },
    Break {
        name: "exit!",
        text: "warn 'going'\nexit!(0)\n",
        message: "status 0",
        stderr: "going",
        place: "",
        ..BREAK
    },
    Break {
        name: "exit!(3)",
        text: "exit!(3)\n",
        message: "status 3",
        place: "",
        ..BREAK
    },
    Break {
        name: "a signal",
        text: "Process.kill(:KILL, Process.pid); sleep\n",
        message: "SIGKILL",
        place: "",
        ..BREAK
    },
];

const MORE_BOOTS: &[Break] = &[
    Break {
        name: "a missing gem",
        file: "Gemfile",
        text: "gem 'rails'\ngem 'no_such_gem_anywhere'\n",
        class: "Bundler::GemNotFound",
        message: "no_such_gem_anywhere",
        place: "",
        ..BREAK
    },
    Break {
        name: "a Gemfile that is not Ruby",
        file: "Gemfile",
        text: "gem 'rails'\ngem (\n",
        class: "Bundler::Dsl::DSLError",
        message: "Gemfile",
        place: "",
        ..BREAK
    },
    Break {
        name: "a broken environment",
        file: "config/environments/test.rb",
        text: "Rails.application.configure do\n  config.no_such.thing = 1\nend\n",
        class: "NoMethodError",
        place: "config/environments/test.rb",
        line: Some(2),
        ..BREAK
    },
    Break {
        name: "broken YAML",
        file: "config/widgets.yml",
        text: "test:\n  a: [1\n",
        message: "widgets.yml",
        place: "",
        ..BREAK
    },
    Break {
        name: "a missing file",
        text: "require 'no_such_file'\n",
        class: "LoadError",
        message: "no_such_file",
        line: Some(1),
        ..BREAK
    },
];

const HELPERS: &[Break] = &[
    Break {
        name: "an exception",
        file: "spec/support/broken.rb",
        text: "\nraise 'the helper is sad'\n",
        class: "RuntimeError",
        message: "the helper is sad",
        place: "spec/support/broken.rb",
        line: Some(2),
        ..BREAK
    },
    Break {
        name: "abort",
        file: "spec/support/broken.rb",
        text: "abort 'start the service first'\n",
        class: "SystemExit",
        message: "start the service first",
        place: "spec/support/broken.rb",
        line: Some(1),
        stderr: "start the service first",
    },
    Break {
        name: "exit!",
        file: "spec/support/broken.rb",
        text: "warn 'going'\nexit!(0)\n",
        place: "",
        stderr: "going",
        ..BREAK
    },
    Break {
        name: "a syntax error",
        file: "spec/support/broken.rb",
        text: "def broken(\n",
        class: "SyntaxError",
        place: "spec/support/broken.rb",
        ..BREAK
    },
    Break {
        name: "a broken factory",
        file: "spec/factories/broken.rb",
        text: "FactoryBot.define do\n  factory :widget\nend\n",
        class: "FactoryBot::DuplicateDefinitionError",
        message: "widget",
        place: "",
        ..BREAK
    },
    Break {
        name: "a pending migration",
        file: "db/migrate/20240201000000_add_weight.rb",
        text: "class AddWeight < ActiveRecord::Migration[7.1]\n  def change = add_column(:widgets, :weight, :integer)\nend\n",
        message: "20240201000000_add_weight.rb",
        place: "",
        stderr: "20240201000000_add_weight.rb",
        ..BREAK
    },
];

#[test]
fn an_initializer_that_ends_the_boot_is_told_and_mended() {
    broken(BOOTS, "boot_failed");
}

#[test]
fn a_broken_bundle_route_setting_or_file_is_told_and_mended() {
    broken(MORE_BOOTS, "boot_failed");
}

#[test]
fn a_helper_that_does_not_load_is_told_and_mended_without_a_boot() {
    let app = App::copy();
    let server = app.server();
    assert_eq!(server.run([SPEC])["outcome"], "passed");
    let boot = server.at_rest()["boot_id"].clone();
    let mut wrong = Deviations::default();
    for one in HELPERS {
        try_out(&mut wrong, &app, &server, one, "load_error");
    }
    wrong.equal("boot", server.at_rest()["boot_id"].clone(), boot);
    wrong.none();
    server.stop();
}

fn broken(breaks: &[Break], outcome: &str) {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for one in breaks {
        try_out(&mut wrong, &app, &server, one, outcome);
    }
    wrong.none();
    server.stop();
}

/// Breaks the app, asks twice, mends it, and asks again.
fn try_out(wrong: &mut Deviations, app: &App, server: &Server, one: &Break, outcome: &str) {
    let before = app.path(one.file).exists().then(|| app.read(one.file));
    app.write(one.file, one.text);
    let report = server.run([SPEC]);
    check(wrong, app.root(), one, outcome, &report);
    match before {
        Some(text) => app.write(one.file, text),
        None => app.remove(one.file),
    }
    let mended = server.run([SPEC]);
    wrong.check(mended["outcome"] == "passed", || {
        format!("{}, mended: {mended}", one.name)
    });
}

fn check(wrong: &mut Deviations, root: &Path, one: &Break, outcome: &str, report: &Value) {
    let (name, error) = (one.name, &report["error"]);
    wrong.check(report["outcome"] == outcome, || format!("{name}: {report}"));
    for (field, part) in [("class", one.class), ("message", one.message), ("file", one.place)] {
        wrong.check(part.is_empty() || has_text(&error[field], part), || {
            format!("{name}: no `{part}` in {field} of {error}")
        });
    }
    wrong.check(one.line.is_none() || error["line"].as_u64() == one.line, || {
        format!("{name}: line of {error}")
    });
    wrong.check(
        has_text(&report["stderr"]["text"], one.stderr) || one.stderr.is_empty(),
        || format!("{name}: stderr is {}", report["stderr"]),
    );
    wrong.check(report["reason"].is_string() && report["hint"].is_string(), || {
        format!("{name}: reason or hint: {report}")
    });
    wrong.check(!has_text(report, root.to_str().unwrap_or("?")), || {
        format!("{name}: an absolute path: {report}")
    });
    wrong.equal(&format!("{name}: examples"), &report["summary"]["examples"], 0);
}

/// What an app prints while it boots, by itself or from a subprocess, never reaches the protocol.
#[test]
fn an_app_that_prints_while_it_boots_disturbs_nothing() {
    let app = App::copy();
    app.write(
        "config/initializers/chatty.rb",
        r#"
puts "hello from the boot"
STDOUT.puts %({"jsonrpc": "2.0", "id": 1, "result": {}})
system("echo hello from a subprocess; echo and to stderr >&2")
`echo quiet`
IO.for_fd(1, "w", autoclose: false).syswrite("by descriptor\n")
at_exit { puts "bye" }
"#,
    );
    app.write(
        "spec/support/chatty.rb",
        "puts 'hello from the helper'\nsystem('echo and its subprocess')\n",
    );
    let server = app.server();
    let report = server.run_with([SPEC], json!({"include_stdout": "always"}));
    assert_eq!(report["outcome"], "passed", "{report}");
    assert!(
        !has_text(&report, "hello from"),
        "what the boot printed is no output of the run: {report}"
    );
    let spawned = server.run_with([SPEC], json!({"include_stdout": "always", "fork": "never"}));
    assert_eq!(spawned["outcome"], "passed", "{spawned}");
    server.stop();
}

#[test]
fn a_boot_that_hangs_is_ended_by_its_own_limit() {
    let app = App::copy();
    app.setting("boot_timeout_seconds: 5");
    // First of all, so that a busy machine comes there in time.
    let boot = app.read("config/boot.rb");
    app.write(
        "config/boot.rb",
        "warn 'waiting for the moon'\nspawn('sleep 600')\nsleep\n",
    );
    let server = app.server();
    let report = server.run([SPEC]);
    assert_eq!(report["outcome"], "boot_failed", "{report}");
    assert!(
        has_text(&report["error"]["message"], "5 s") && has_text(&report["stderr"], "moon"),
        "{report}"
    );
    let left = server.processes();
    assert!(left.is_empty() || server.beside_the_warm_tree().is_empty(), "{left:?}");
    app.write("config/boot.rb", boot);
    app.edit(".coatepec.yml", "boot_timeout_seconds: 5", "boot_timeout_seconds: 100");
    let mended = server.run([SPEC]);
    assert_eq!(mended["outcome"], "passed", "{mended}");
    server.stop();
}

/// A plain run makes missing databases, and their directory, too.
#[test]
fn missing_databases_are_made_as_in_a_plain_run() {
    let app = App::bare();
    std::fs::remove_dir(app.path("storage")).expect("it is empty");
    let server = app.server();
    let report = server.run(["spec/models/widget_spec.rb"]);
    assert_eq!(report["outcome"], "passed", "{report}");
    server.stop();
    let server = app.server();
    std::fs::remove_dir_all(app.path("storage")).expect("they are there");
    let spawned = server.run_with(["spec/models/widget_spec.rb"], json!({"fork": "never"}));
    assert_eq!(spawned["outcome"], "passed", "{spawned}");
    server.stop();
}

/// Where no database can be, the error says so, and the next call after mending passes.
#[test]
fn a_database_that_cannot_be_is_told_and_mended() {
    let app = App::copy();
    let server = app.server();
    let good = app.read("config/database.yml");
    app.write(
        "config/database.yml",
        good.replace("storage/test", "app/models/widget.rb/test"),
    );
    let report = server.run(["spec/models/widget_spec.rb"]);
    assert!(
        ["boot_failed", "load_error"].contains(&report["outcome"].as_str().unwrap_or("")),
        "{report}"
    );
    assert!(
        report["error"]["class"].is_string() && report["error"]["message"].is_string(),
        "{report}"
    );
    app.write("config/database.yml", good);
    let mended = server.run(["spec/models/widget_spec.rb"]);
    assert_eq!(mended["outcome"], "passed", "{mended}");
    server.stop();
}

/// As without us: who needs the file meets its error, and nobody else does.
#[test]
fn a_class_whose_file_ends_the_process_keeps_no_other_from_being_tested() {
    let app = App::copy();
    app.write("app/services/one_off.rb", "abort \"set TARGET\"\nclass OneOff; end\n");
    app.write(
        "spec/services/one_off_spec.rb",
        "require \"rails_helper\"\nRSpec.describe(\"one\") { it(\"off\") { OneOff } }\n",
    );
    let server = app.server();
    assert_eq!(server.run([SPEC])["outcome"], "passed");
    let met = server.run(["spec/services/one_off_spec.rb"]);
    assert_ne!(met["outcome"], "passed", "{met}");
    assert!(!server.call("rails_routes", json!({})).wait().is_refusal());
    app.edit("app/services/one_off.rb", "abort", "exit 0 ||");
    let reloaded = server.run([SPEC]);
    assert_eq!(reloaded["outcome"], "passed", "{reloaded}");
    assert_ne!(server.run(["spec/services/one_off_spec.rb"])["outcome"], "passed");
    server.stop();
}
