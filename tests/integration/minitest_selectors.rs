//! What may be named of Minitest: the rules are those of specs, and so are the refusals.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{App, Deviations, has_text};

fn test(class: &str) -> String {
    format!(
        "require 'test_helper'\nclass {class} < InOrder\ndef test_a = assert(true)\ndef test_b = assert(true)\nend\n"
    )
}

/// The names of the odd specs, as tests: each has two tests, and both are found under the very name.
#[test]
fn odd_names_of_tests_are_run_literally_in_either_mode() {
    let app = App::copy();
    let names = std::fs::read_dir(app.path("spec/names")).expect("they are in the fixture");
    let names = names.map(|entry| {
        entry
            .expect("it can be listed")
            .file_name()
            .into_string()
            .expect("UTF-8")
    });
    let mut names: Vec<String> = names.map(|name| name.replace("_spec.rb", "_test.rb")).collect();
    names.sort();
    for (number, name) in names.iter().enumerate() {
        app.write(&format!("test/names/{name}"), test(&format!("Odd{number}Test")));
    }
    let server = app.server();
    let mut wrong = Deviations::default();
    let count = |report: &serde_json::Value| report["summary"]["examples"].as_u64();
    for name in &names {
        let report = server.run([format!("test/names/{name}")]);
        wrong.equal(name, count(&report), Some(2));
        wrong.equal(name, &report["outcome"], "passed");
    }
    let line = server.run(["test/names/a:2_test.rb:3"]);
    wrong.equal("a line after a colon", count(&line), Some(1));
    let named = server.run(["test/names/brack[1]_test.rb#test_b"]);
    wrong.equal("a name after a bracket", count(&named), Some(1));
    let all = Some(2 * names.len() as u64);
    let every = names.iter().map(|name| format!("test/names/{name}"));
    let fresh = server.run_with(every, json!({"fork": "never"}));
    wrong.equal("in a fresh process", count(&fresh), all);
    wrong.equal("as a directory", count(&server.run(["test/names"])), all);
    wrong.none();
    server.stop();
}

/// One good selector among many bad ones: nothing runs, and each bad one gets its own reason.
#[test]
fn every_selector_of_a_test_that_is_refused_is_refused_at_once_with_its_reason() {
    let app = App::copy();
    app.write(
        "../outside/packs/far/test/far_test.rb",
        "raise 'nothing outside may ever be loaded'\n",
    );
    app.write("test/Case_Test.rb", "raise 'no test file'\n");
    app.write("test/names/new\nline_test.rb", "raise 'a control character'\n");
    symlink(app.beside("outside/packs/far"), app.path("packs/far")).expect("a link can be made");
    symlink("models/widget_test.rb", app.path("test/link_test.rb")).expect("a link can be made");
    symlink("/nowhere/at/all_test.rb", app.path("test/dangling_test.rb")).expect("a link can be made");
    let absolute = app.path("test/models/widget_test.rb").to_string_lossy().into_owned();
    let bad = [
        (absolute.as_str(), "absolute", "`test/models/widget_test.rb`"),
        ("test/../test/models/widget_test.rb", "..", ""),
        ("test/names/new\nline_test.rb", "control", ""),
        (
            "test/models/wigdet_test.rb",
            "does not exist",
            "test/models/widget_test.rb",
        ),
        ("test/models/*_test.rb", "does not exist", ""),
        ("test/Case_Test.rb", "no test file", ""),
        ("test/test_helper.rb", "no test file", ""),
        ("packs/far/test", "symbolic link", ""),
        ("packs/far/test/far_test.rb", "symbolic link", ""),
        ("test/link_test.rb", "symbolic link", ""),
        ("test/dangling_test.rb", "symbolic link", ""),
        ("test/models/widget_test.rb:0", "malformed", ""),
        ("test/models/widget_test.rb[1:2]", "`#test_name`", ""),
        ("test/models:3", "directory", ""),
    ];
    let server = app.server();
    let paths = ["test/models/widget_test.rb"]
        .into_iter()
        .chain(bad.iter().map(|(path, ..)| *path));
    let refusal = server.begin(paths, json!({})).wait().refusal();
    let refused = refusal["refused"].as_array().cloned().unwrap_or_default();
    let mut wrong = Deviations::default();
    wrong.equal("how many", refused.len(), bad.len());
    for ((path, reason, hint), entry) in bad.iter().zip(&refused) {
        wrong.check(
            has_text(entry, reason) && (hint.is_empty() || has_text(&entry["hint"], hint)),
            || format!("{path:?}: {entry}, should say `{reason}` and `{hint}`"),
        );
    }
    wrong.equal("nothing was booted", &server.status()["state"], "absent");
    wrong.none();
    server.stop();
}

/// A server in a thread of the run and requests to it, as system tests have them; the browser is left out.
#[test]
fn a_system_test_runs_with_its_server_in_either_mode() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        let report = server.run_with(["test/system"], json!({"fork": fork, "include_stdout": "always"}));
        let what = format!("{fork}: {report}");
        wrong.equal(&what, &report["outcome"], "passed");
        wrong.equal(&what, report["summary"]["examples"].as_u64(), Some(2));
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("{fork}: {left:?}"));
    }
    wrong.none();
    server.stop();
}

/// Of the helper, and of a class that asks for more: a selection has one process and one database.
#[test]
fn nobody_gets_parallel_workers_who_asks_for_them() {
    let app = App::copy();
    let text = "require 'test_helper'\nclass SpreadTest < ActiveSupport::TestCase\nparallelize(workers: 2, threshold: 1)\n\
                60.times { |n| test(\"n #{n}\") { puts \"pid #{Process.pid} #{Thread.current == Thread.main}\" } }\nend\n\
                class ThreadsTest < Minitest::Test\nparallelize_me!\n\
                20.times { |n| define_method(\"test_#{n}\") { puts \"pid #{Process.pid} #{Thread.current == Thread.main}\" } }\nend\n";
    app.write("test/spread_test.rb", text);
    let server = app.server();
    for fork in ["always", "never"] {
        let report = server.run_with(
            ["test/spread_test.rb"],
            json!({"fork": fork, "include_stdout": "always"}),
        );
        assert_eq!(report["outcome"], "passed", "{report}");
        assert_eq!(report["summary"]["examples"], 80, "{report}");
        let told = report["stdout"]["text"].as_str().unwrap_or_default();
        let mut lines: Vec<&str> = told.lines().filter(|line| line.starts_with("pid ")).collect();
        assert_eq!(lines.len(), 80, "{report}");
        lines.dedup();
        assert_eq!(lines.len(), 1, "one process, one thread: {lines:?}");
        assert!(lines[0].ends_with("true"), "{lines:?}");
    }
    server.stop();
}

/// Rails takes paths for patterns; and lines mean something only to tests of its own base class, where that part is loaded.
#[test]
fn the_command_of_a_run_runs_the_same_tests_in_a_shell() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (number, name) in ["brack[1]", "{a,b}", "st*r", "wh?t", "plain"].iter().enumerate() {
        app.write(
            &format!("test/typed/{name}_test.rb"),
            test(&format!("Typed{number}Test")),
        );
    }
    app.write(
        "test/typed/start_test.rb",
        "require 'test_helper'\nclass StartTest < Minitest::Test\n  def test_a = pass\n\n  def test_b = pass\n  def test_c = pass\nend\n",
    );
    for paths in [
        &["test/typed/brack[1]_test.rb"][..],
        &["test/typed/{a,b}_test.rb"],
        &["test/typed/st*r_test.rb"],
        &["test/typed/wh?t_test.rb", "test/typed/plain_test.rb"],
        &["test/typed/brack[1]_test.rb:3"],
        &["test/typed/plain_test.rb:3"],
        &["test/typed/start_test.rb:5"],
        &["test/typed/start_test.rb:4:6"],
        &["test/typed"],
    ] {
        let report = server.run(paths);
        let examples = report["summary"]["examples"].as_u64().unwrap_or_default();
        let command = report["command"].as_str().unwrap_or_default();
        let ran = app
            .command("sh")
            .args(["-c", command])
            .output()
            .expect("it can be started");
        let printed = String::from_utf8_lossy(&ran.stdout);
        wrong.check(printed.contains(&format!("\n{examples} runs, ")), || {
            format!("{paths:?}: {examples} by {command}: {printed}")
        });
    }
    wrong.none();
    server.stop();
}

#[test]
fn the_text_of_a_test_stands_for_its_name() {
    let app = App::copy();
    app.write(
        "test/texts_test.rb",
        "require 'test_helper'\nclass TextsTest < ActiveSupport::TestCase\ntest('its price has a limit') { assert true }\n\
         test('its price') { assert true }\nend\n",
    );
    let server = app.server();
    for text in ["its price has a limit", "TextsTest#its price has a limit"] {
        let report = server.run([format!("test/texts_test.rb#{text}")]);
        assert_eq!(report["outcome"], "passed", "{report}");
        assert_eq!(report["summary"]["examples"], 1, "{report}");
    }
    server.stop();
}
