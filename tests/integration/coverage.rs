//! Which lines of the app a run executed: of files that were named, and of those that Git says were changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{App, Deviations, Setup, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";
const CODE: &str = "app/services/price_list.rb";

/// In the app, as its developer would.
pub(crate) fn git(app: &App, arguments: &[&str]) {
    #[expect(clippy::disallowed_methods, reason = "a test plays the developer")]
    let ran = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(arguments)
        .current_dir(app.root())
        .output()
        .expect("Git is here: bin/with-ruby saw to it");
    assert!(ran.status.success(), "git {arguments:?}: {ran:?}");
}

pub(crate) fn commit(app: &App) {
    git(app, &["init", "--quiet", "--initial-branch=main"]);
    git(app, &["add", "--all"]);
    git(app, &["commit", "--quiet", "--no-verify", "--message=All of it"]);
}

/// The line of a text in a file, from 1.
fn line(app: &App, path: &str, text: &str) -> String {
    let at = app.read(path).lines().position(|line| line.contains(text));
    (at.unwrap_or_else(|| panic!("{path} has no `{text}`")) + 1).to_string()
}

fn file<'a>(report: &'a Value, path: &str) -> &'a Value {
    let files = report["coverage"]["files"].as_array();
    let found = files.and_then(|files| files.iter().find(|file| file["path"] == path));
    found.unwrap_or(&Value::Null)
}

fn unmeasured(report: &Value, path: &str) -> String {
    let files = report["coverage"]["unmeasured"].as_array().cloned().unwrap_or_default();
    let found = files.into_iter().find(|file| file["path"] == path);
    found.map_or(String::new(), |file| {
        file["reason"].as_str().unwrap_or_default().to_owned()
    })
}

fn edit(app: &App) {
    app.edit(
        CODE,
        "    @widgets.sum(&:price_cents)\n  end\n",
        "    @widgets.sum { |widget| widget.price_cents }\n  end\n\n  # Nobody asks for it.\n  def unused\n    :nothing\n  end\n",
    );
}

#[test]
fn of_changed_lines_it_is_told_which_ones_the_tests_of_either_framework_executed() {
    let app = App::copy();
    app.write(
        "test/services/price_list_test.rb",
        "require 'test_helper'\nclass PriceListTest < ActiveSupport::TestCase\n  def test_net\n    assert_equal 0, PriceList.new([]).net_cents\n  end\nend\n",
    );
    commit(&app);
    edit(&app);
    app.write(
        "app/services/untracked.rb",
        "class Untracked\n  def call\n    1\n  end\nend\n",
    );
    app.write("db/with space.rb", "# Nothing but this.\n");
    app.write("app/views/pages/home.html.erb", "<p>changed</p>\n");
    app.append(SPEC, "# changed\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    let (sum, nothing) = (line(&app, CODE, "sum {"), line(&app, CODE, ":nothing"));
    let unused = line(&app, CODE, "def unused");
    for tests in [SPEC, "test/services/price_list_test.rb"] {
        let report = server.run_with([tests], json!({"coverage": "lines"}));
        wrong.equal(tests, &report["outcome"], "passed");
        wrong.equal(tests, &report["mode"], "spawn");
        wrong.equal(tests, &report["coverage"]["since"], "HEAD");
        let list = file(&report, CODE);
        wrong.equal(tests, &list["executed"], &json!(format!("{sum}-{unused}")));
        wrong.equal(tests, &list["not_executed"], &json!(nothing));
        wrong.equal(tests, &list["executed_lines"], 2);
        let new = file(&report, "app/services/untracked.rb");
        wrong.equal(tests, &new["not_loaded"], true);
        wrong.equal(tests, &new["not_executed"], "1-3");
        wrong.check(
            has_text(&json!(unmeasured(&report, "db/with space.rb")), "none of its"),
            || report["coverage"].to_string(),
        );
        let view = unmeasured(&report, "app/views/pages/home.html.erb");
        wrong.check(view.contains("Ruby"), || report["coverage"].to_string());
        wrong.check(!report["coverage"].to_string().contains(SPEC), || {
            "a test is none of the app".into()
        });
    }
    wrong.none();
    server.stop();
}

/// Ruby counts one line of each statement, and none of these.
#[test]
fn a_line_within_a_statement_counts_as_the_statement_does() {
    let app = App::copy();
    let code = |changed: &str| {
        format!(
            "class Folded\n  def call\n    [\n      1,\n      2{changed}\n    ].sum\n  end\n\n  def unused\n    puts(<<~TEXT)\n      one\n      two{changed}\n    TEXT\n  end\nend\n"
        )
    };
    let path = "app/services/folded.rb";
    app.write(path, code(""));
    commit(&app);
    app.write(path, code(" + 1"));
    app.write(
        "spec/folded_spec.rb",
        "require 'rails_helper'\nRSpec.describe(Folded) { it('sums') { expect(Folded.new.call).to eq(4) } }\n",
    );
    let server = app.server();
    let report = server.run_with(["spec/folded_spec.rb"], json!({"coverage": "lines"}));
    let told = file(&report, path);
    assert_eq!(
        (&told["executed"], &told["not_executed"]),
        (&json!(line(&app, path, "2 +")), &json!(line(&app, path, "two +"))),
        "{report}"
    );
    server.stop();
}

#[test]
fn of_files_that_are_named_all_lines_are_told() {
    let app = App::copy();
    app.write("db/extra.rb", "def extra\n  1\nend\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    let named = json!({"coverage_files": [CODE, "./app/models/../models/widget.rb"]});
    let refusal = server.begin([SPEC], named).wait().refusal();
    wrong.equal("through the parent", &refusal["code"], "invalid_arguments");
    let named = json!({"coverage_files": [CODE, app.path("db/extra.rb")]});
    let report = server.run_with([SPEC], named);
    wrong.equal("passed", &report["outcome"], "passed");
    wrong.check(report["coverage"].get("since").is_none(), || {
        report["coverage"].to_string()
    });
    let first = line(&app, CODE, "class PriceList");
    let last = line(&app, CODE, "PriceReport.new");
    wrong.equal(
        "all of it",
        &file(&report, CODE)["executed"],
        &json!(format!("{first}-{last}")),
    );
    wrong.equal("not loaded", &file(&report, "db/extra.rb")["not_loaded"], true);
    symlink("/etc", app.path("etc")).unwrap();
    for (named, word) in [
        ("../elsewhere.rb", "below the app"),
        ("/etc/passwd", "below the app"),
        ("etc/passwd", "symbolic link"),
        ("app/models", "directory"),
        ("app/models/nobody.rb", "not there"),
        ("", "no name"),
    ] {
        let refusal = server
            .begin([SPEC], json!({"coverage_files": [named]}))
            .wait()
            .refusal();
        wrong.equal(named, &refusal["code"], "invalid_arguments");
        wrong.check(has_text(&refusal["message"], word), || format!("{named}: {refusal}"));
    }
    let both = json!({"coverage": "lines", "fork": "always"});
    wrong.equal(
        "a fork",
        &server.begin([SPEC], both).wait().refusal()["code"],
        "invalid_arguments",
    );
    wrong.none();
    server.stop();
}

#[test]
fn without_git_the_verdict_still_comes() {
    let app = App::copy();
    let without_git = app.beside("bin");
    fs::create_dir(&without_git).unwrap();
    for entry in fs::read_dir("/usr/bin")
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name() != "git")
    {
        symlink(entry.path(), without_git.join(entry.file_name())).unwrap();
    }
    let mut wrong = Deviations::default();
    let mut check = |what: &str, setup: Setup, word: &str| {
        let server = app.server_with(setup);
        let report = server.run_with([SPEC], json!({"coverage": "lines"}));
        wrong.equal(what, &report["outcome"], "passed");
        let error = &report["coverage"]["error"];
        wrong.equal(what, &error["code"], "git_unavailable");
        wrong.check(has_text(&error["message"], word), || format!("{what}: {error}"));
        wrong.check(error["hint"].is_string(), || format!("{what}: no hint"));
        server.stop();
    };
    check("no repository", Setup::default(), "no Git repository");
    git(&app, &["init", "--quiet"]);
    check("no commit", Setup::default(), "no commit");
    if Path::new("/usr/bin/git").exists() && Path::new("/usr/bin/ruby").exists() {
        let path = without_git.display().to_string();
        check("no Git", Setup::default().env("PATH", &path), "could not be started");
    }
    wrong.none();
}

/// A repository may come from anywhere: whatever it would have Git start is not started.
#[test]
fn nothing_that_a_repository_configures_is_started() {
    let app = App::copy();
    let mark = app.path("tmp/started");
    let script = app.path("tmp/evil.sh");
    fs::write(
        &script,
        format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display()),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    app.write(".gitattributes", "*.rb filter=evil diff=evil\n");
    commit(&app);
    let evil = script.display().to_string();
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.process",
        "core.pager",
        "pager.diff",
        "core.alternateRefsCommand",
    ] {
        git(&app, &["config", key, &evil]);
    }
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.interHunkContext", "100"),
        ("color.ui", "always"),
        ("filter.evil.required", "true"),
        ("core.hooksPath", "tmp/hooks"),
    ] {
        git(&app, &["config", key, value]);
    }
    for hook in ["post-index-change", "fsmonitor-watchman", "query-watchman"] {
        app.write(&format!("tmp/hooks/{hook}"), fs::read(&script).unwrap());
        fs::set_permissions(
            app.path(&format!("tmp/hooks/{hook}")),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
    }
    let _ = fs::remove_file(&mark);
    edit(&app);
    let server = app.server();
    let report = server.run_with([SPEC], json!({"coverage": "lines"}));
    let mut wrong = Deviations::default();
    wrong.equal("passed", &report["outcome"], "passed");
    let nothing = line(&app, CODE, ":nothing");
    wrong.equal(
        "told all the same",
        &file(&report, CODE)["not_executed"],
        &json!(nothing),
    );
    let started = fs::read_to_string(&mark).unwrap_or_default();
    wrong.check(started.is_empty(), || format!("started: {started}"));
    wrong.none();
    server.stop();
}

/// As SimpleCov does it: started by the helper unless somebody else counts, asked at exit, and a minimum.
const TOOL: &str = r#"
require "coverage"
Coverage.start(MODES) unless Coverage.running?
at_exit do
  result = Coverage.result
  lines = result.fetch(File.expand_path("app/services/price_list.rb"))
  lines = lines.fetch(:lines) if lines.is_a?(Hash)
  File.write("tmp/figures", [result.values.first.class, result.keys.grep(/spec_helper/).size, lines.compact.sum].inspect)
  exit 2 if Coverage.running?
end
"#;

#[test]
fn a_coverage_tool_of_the_app_sees_what_it_would_see_alone() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let modes = ["{ lines: true }", "{ lines: true, branches: true }"];
    for modes in modes {
        let tool = TOOL.replace("MODES", modes);
        app.write(
            "spec/spec_helper.rb",
            tool + "RSpec.configure { |config| config.disable_monkey_patching! }\n",
        );
        let plain = server.run_with([SPEC], json!({"fork": "never"}));
        let figures = app.read("tmp/figures");
        let report = server.run_with([SPEC], json!({"coverage_files": [CODE, "app/models/widget.rb"]}));
        wrong.equal(modes, &plain["outcome"], "passed");
        wrong.equal(modes, &report["outcome"], "passed");
        wrong.equal(modes, app.read("tmp/figures"), figures);
        wrong.equal(modes, &file(&report, CODE)["not_executed_lines"], 0);
        let widget = file(&report, "app/models/widget.rb")["executed_lines"].as_u64();
        wrong.check(widget > Some(10), || format!("{modes}: {}", report["coverage"]));
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_run_that_leaves_early_tells_as_much_as_it_can() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (ending, outcome, told) in [("exit", "incomplete", true), ("exit!(0)", "incomplete", false)] {
        app.write(
            "spec/leaves_spec.rb",
            format!("require 'rails_helper'\nRSpec.describe(PriceList) {{ it('x') {{ PriceList.new([]).net_cents; {ending} }} }}\n"),
        );
        let report = server.run_with(["spec/leaves_spec.rb"], json!({"coverage_files": [CODE]}));
        wrong.equal(ending, &report["outcome"], outcome);
        let executed = file(&report, CODE)["executed_lines"].as_u64();
        wrong.check(executed.is_some() == told, || format!("{ending}: {report}"));
        wrong.check(told || unmeasured(&report, CODE).contains("ended"), || {
            format!("{ending}: {report}")
        });
    }
    wrong.none();
    server.stop();
}
