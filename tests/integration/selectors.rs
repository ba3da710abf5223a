//! What may be named, through the whole of the server.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{App, Deviations, has_text, texts};

/// Each has two examples, and both are found under the very name.
#[test]
fn odd_names_are_run_literally_in_either_mode() {
    let app = App::copy();
    let server = app.server();
    let mut names: Vec<String> = std::fs::read_dir(app.path("spec/names"))
        .expect("they are in the fixture")
        .map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .into_string()
                .expect("all are UTF-8")
        })
        .collect();
    names.sort();
    assert!(names.len() >= 15, "{names:?}");
    let mut wrong = Deviations::default();
    for name in &names {
        let report = server.run([format!("spec/names/{name}")]);
        wrong.equal(name, report["summary"]["examples"].as_u64(), Some(2));
        wrong.equal(name, &report["outcome"], "passed");
    }
    let report = server.run([format!("spec/names/{}[1:2]", "brack[1]_spec.rb")]);
    wrong.equal("an id after a bracket", report["summary"]["examples"].as_u64(), Some(1));
    let report = server.run(["spec/names/a:2_spec.rb:2"]);
    wrong.equal("a line after a colon", report["summary"]["examples"].as_u64(), Some(1));
    let all = names.iter().map(|name| format!("spec/names/{name}"));
    let report = server.run_with(all, json!({"fork": "never"}));
    wrong.equal(
        "in a fresh process",
        report["summary"]["examples"].as_u64(),
        Some(2 * names.len() as u64),
    );
    wrong.equal("in a fresh process", &report["outcome"], "passed");
    let report = server.run(["spec/names"]);
    wrong.equal(
        "as a directory",
        report["summary"]["examples"].as_u64(),
        Some(2 * names.len() as u64),
    );
    wrong.none();
    server.stop();
}

#[test]
fn a_hundred_selectors_are_run_and_one_more_is_refused() {
    let app = App::copy();
    for number in 0..101 {
        let text = format!("RSpec.describe('n{number}') {{ it('passes') {{ expect(1).to eq(1) }} }}\n");
        app.write(&format!("spec/many/n{number}_spec.rb"), text);
    }
    let server = app.server();
    let paths = |count| (0..count).map(|number| format!("spec/many/n{number}_spec.rb"));
    let report = server.run(paths(100));
    assert_eq!(report["outcome"], "passed", "{report}");
    assert_eq!(report["summary"]["examples"], 100);
    let refusal = server.begin(paths(101), json!({})).wait().refusal();
    assert!(
        ["invalid_selector", "invalid_arguments"].contains(&refusal["code"].as_str().unwrap_or("")),
        "{refusal}"
    );
    assert!(has_text(&refusal, "100") && has_text(&refusal, "101"), "{refusal}");
    let none = server.begin([""; 0], json!({})).wait().refusal();
    assert!(
        ["invalid_selector", "invalid_arguments"].contains(&none["code"].as_str().unwrap_or("")),
        "{none}"
    );
    let report = server.run(["spec/many"]);
    assert_eq!(
        report["summary"]["examples"], 101,
        "a directory is one selector: {report}"
    );
    server.stop();
}

/// One good selector among many bad ones: nothing runs, and each bad one gets its own reason.
#[test]
fn everything_that_is_refused_is_refused_at_once_with_its_reason() {
    let app = App::copy();
    std::fs::create_dir_all(app.beside("outside")).expect("a directory can be made");
    app.write("../outside/far_spec.rb", "RSpec.describe('far') { it('runs') { } }\n");
    app.write("spec/Case_Spec.rb", "raise 'no spec file'\n");
    app.write("spec/note.txt", "no spec file\n");
    app.write("other/thing_spec.rb", "raise 'outside of the roots'\n");
    app.write("spec/names/new\nline_spec.rb", "raise 'a control character'\n");
    symlink(app.beside("outside"), app.path("spec/linked")).expect("a link can be made");
    symlink(app.path("spec/models/widget_spec.rb"), app.path("spec/link_spec.rb")).expect("a link can be made");
    symlink("/nowhere/at/all_spec.rb", app.path("spec/dangling_spec.rb")).expect("a link can be made");
    let absolute = app.path("spec/models/widget_spec.rb").to_string_lossy().into_owned();
    let bad = [
        ("", "empty"),
        ("   ", "empty"),
        (absolute.as_str(), "absolute"),
        ("/etc/passwd", "absolute"),
        ("spec/../spec/models/widget_spec.rb", ".."),
        ("../outside/far_spec.rb", ".."),
        ("spec/names/new\nline_spec.rb", "control"),
        ("spec/models/wigdet_spec.rb", "does not exist"),
        ("spec/models/*_spec.rb", "does not exist"),
        ("spec/Case_Spec.rb", "no spec file"),
        ("spec/note.txt", "no spec file"),
        ("README.md", "in none of the directories"),
        ("other/thing_spec.rb", "in none of the directories"),
        ("app/models", "in none of the directories"),
        ("spec/linked/far_spec.rb", "symbolic link"),
        ("spec/linked", "symbolic link"),
        ("spec/link_spec.rb", "symbolic link"),
        ("spec/dangling_spec.rb", "symbolic link"),
        ("spec/models/widget_spec.rb:0", "malformed"),
        ("spec/models/widget_spec.rb:9:x", "malformed"),
        ("spec/models/widget_spec.rb[1:0]", "malformed"),
        ("spec/models/widget_spec.rb[]", "malformed"),
        ("spec/models:3", "directory"),
        ("--require=/tmp/evil.rb", "in none of the directories"),
        ("-e", "in none of the directories"),
    ];
    let server = app.server();
    let paths = ["spec/models/widget_spec.rb"]
        .into_iter()
        .chain(bad.iter().map(|(path, _)| *path));
    let refusal = server.begin(paths, json!({})).wait().refusal();
    let mut wrong = Deviations::default();
    wrong.equal("code", &refusal["code"], "invalid_selector");
    let refused = refusal["refused"].as_array().cloned().unwrap_or_default();
    wrong.equal("how many", refused.len(), bad.len());
    for ((path, reason), entry) in bad.iter().zip(&refused) {
        wrong.check(has_text(&entry["reason"], reason), || {
            format!("{path:?}: {entry}, should say `{reason}`")
        });
        wrong.check(entry["code"].is_string(), || format!("{path:?}: no code"));
    }
    let hint = |part: &str| {
        refused
            .iter()
            .find(|entry| has_text(&entry["selector"], part))
            .map(|entry| entry["hint"].clone())
    };
    let relative = hint(app.root().to_str().unwrap_or("?")).unwrap_or_default();
    wrong.check(has_text(&relative, "`spec/models/widget_spec.rb`"), || {
        format!("hint of an absolute path: {relative}")
    });
    let near = hint("wigdet").unwrap_or_default();
    wrong.check(has_text(&near, "spec/models/widget_spec.rb"), || {
        format!("hint of a misspelt path: {near}")
    });
    wrong.equal("nothing was booted", &server.status()["state"], "absent");
    wrong.none();
    server.stop();
}

/// RSpec itself would follow links in a directory.
#[test]
fn links_in_a_directory_are_skipped_and_told() {
    let app = App::copy();
    app.write("../outside/far_spec.rb", "raise 'nothing outside may ever be loaded'\n");
    app.write("spec/some/near_spec.rb", "RSpec.describe('near') { it('runs') { } }\n");
    symlink(app.beside("outside"), app.path("spec/some/linked")).expect("a link can be made");
    symlink("near_spec.rb", app.path("spec/some/twin_spec.rb")).expect("a link can be made");
    let server = app.server();
    let report = server.run(["spec/some"]);
    assert_eq!(report["summary"]["examples"], 1, "{report}");
    let skipped: Vec<_> = report["skipped"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| one["path"].to_string())
        .collect();
    assert_eq!(skipped.len(), 2, "{report}");
    assert!(
        texts(&report["skipped"]).is_empty() && has_text(&report["skipped"], "spec/some/linked"),
        "{report}"
    );
    server.stop();
}

/// A slip in a name must not hide behind a failure, nor behind an empty list.
#[test]
fn what_matched_nothing_is_named_whatever_became_of_the_others() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (gone, fails, passes) in [
        (
            "spec/models/widget_spec.rb[9:9]",
            "spec/faults/fails_spec.rb[1:2]",
            "spec/faults/fails_spec.rb[1:1]",
        ),
        (
            "spec/models/widget_spec.rb:1",
            "spec/faults/fails_spec.rb[1:2]",
            "spec/faults/fails_spec.rb[1:1]",
        ),
        (
            "test/models/widget_test.rb#WidgetTest#test_nope",
            "test/faults/fails_test.rb#FailsTest#test_2_fails",
            "test/faults/fails_test.rb#FailsTest#test_1_passes",
        ),
    ] {
        let named = format!("`{gone}` matched nothing");
        let failed = server.run([gone, fails]);
        wrong.equal(gone, &failed["outcome"], "failed");
        wrong.equal(gone, texts(&failed["warnings"]).contains(&named.as_str()), true);
        let passed = server.run([gone, passes]);
        wrong.equal(gone, &passed["outcome"], "no_examples");
        wrong.equal(gone, &passed["reason"], &*format!("{named}; the other example passed"));
        let listed = server.ask("rails_spec_list", json!({"paths": [gone, passes]}));
        wrong.equal(gone, &listed["unmatched"], &json!([gone]));
        wrong.equal(gone, &listed["total"], 1);
        let empty = server.ask("rails_spec_list", json!({"paths": [gone]}));
        wrong.equal(gone, &empty["unmatched"], &json!([gone]));
    }
    wrong.none();
    server.stop();
}

#[test]
fn refusals_keep_within_the_bytes_of_an_answer_and_those_without_room_are_counted() {
    let app = App::bare();
    app.setting("max_result_bytes: 4096");
    let server = app.server();
    let wrong: Vec<String> = (0..100)
        .map(|number| format!("spec/nowhere/{number}_spec.rb"))
        .collect();
    let refusal = server.begin(&wrong, json!({})).wait().refusal();
    assert!(refusal.to_string().len() <= 4096, "{refusal}");
    assert!(has_text(&refusal["message"], "100 selectors"), "{refusal}");
    let listed = refusal["refused"].as_array().map_or(0, Vec::len) as u64;
    assert!(listed > 0 && listed < 100, "{refusal}");
    assert_eq!(refusal["more_refused"], 100 - listed, "{refusal}");
    server.stop();
}

#[test]
fn what_matches_nothing_is_told_beside_all_of_its_file_too() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (whole, part) in [
        ("spec/models/widget_spec.rb", "spec/models/widget_spec.rb[1:99]"),
        ("spec/models", "spec/models/widget_spec.rb[1:99]"),
        ("test/models/widget_test.rb", "test/models/widget_test.rb#nope"),
        ("test/models", "test/models/widget_test.rb#nope"),
    ] {
        let report = server.run([part, whole]);
        wrong.equal(part, &report["outcome"], "no_examples");
        wrong.check(has_text(&report["reason"], part), || format!("{part}: {report}"));
    }
    let known = server.run(["spec/models/widget_spec.rb", "spec/models/widget_spec.rb[1:1]"]);
    wrong.equal("a part that is there", &known["outcome"], "passed");
    wrong.none();
    server.stop();
}
