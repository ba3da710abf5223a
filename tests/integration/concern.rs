//! Which tests changed files concern, told without booting anything.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::coverage::{commit, git};
use crate::support::{App, Deviations, Server, has_text, texts};

fn run<'a>(answer: &'a Value, framework: &str) -> &'a Value {
    let runs = answer["runs"].as_array();
    let found = runs.and_then(|runs| runs.iter().find(|run| run["framework"] == framework));
    found.unwrap_or(&Value::Null)
}

fn row<'a>(answer: &'a Value, framework: &str, path: &str) -> &'a Value {
    let tests = run(answer, framework)["tests"].as_array();
    let found = tests.and_then(|tests| tests.iter().find(|test| test["path"] == path));
    found.unwrap_or(&Value::Null)
}

fn ask(server: &Server, arguments: Value) -> Value {
    server.ask("rails_spec_for", arguments)
}

#[test]
fn files_are_mapped_to_the_tests_of_both_frameworks_and_these_can_be_run() {
    let app = App::copy();
    let server = app.server();
    let answer = ask(&server, json!({"files": ["app/models/widget.rb"]}));
    let mut wrong = Deviations::default();
    wrong.equal(
        "by name",
        &row(&answer, "rspec", "spec/models/widget_spec.rb")["confidence"],
        "high",
    );
    wrong.equal(
        "by name",
        &row(&answer, "minitest", "test/models/widget_test.rb")["confidence"],
        "high",
    );
    let list = row(&answer, "rspec", "spec/services/price_list_spec.rb");
    wrong.equal("by its factory", &list["confidence"], "medium");
    wrong.check(has_text(&list["reasons"], "makes a :widget"), || list.to_string());
    wrong.equal("nothing was booted", &server.status()["state"], "absent");
    let minitest = run(&answer, "minitest")["paths"].clone();
    let listed = server.ask("rails_spec_list", json!({"paths": minitest}));
    wrong.check(listed["total"].as_u64() > Some(0), || listed.to_string());
    let all = ask(
        &server,
        json!({"files": ["config/routes.rb", "test/test_helper.rb", "README.md", "package.json"]}),
    );
    wrong.equal("everything", &run(&all, "rspec")["all"], true);
    wrong.equal(
        "why",
        run(&all, "minitest")["because"].as_array().map(Vec::len),
        Some(2),
    );
    wrong.equal("no test can notice it", &all["irrelevant"][0]["path"], "README.md");
    wrong.equal("unmatched", &all["unmatched"][0]["path"], "package.json");
    let paths = run(&all, "minitest")["paths"].clone();
    wrong.check(has_text(&paths, "test"), || paths.to_string());
    for (arguments, code) in [
        (json!({"files": ["../x.rb"]}), "invalid_arguments"),
        (json!({"files": ["/etc/passwd"]}), "invalid_arguments"),
        (json!({"files": ["app/models"]}), "invalid_arguments"),
        (json!({}), "git_unavailable"),
        (json!({"since": "HEAD"}), "git_unavailable"),
    ] {
        wrong.equal(
            &arguments.to_string(),
            &server.ask_in_vain("rails_spec_for", arguments.clone())["code"],
            code,
        );
    }
    wrong.none();
    server.stop();
}

#[test]
fn changes_are_told_since_the_branch_left_a_commit() {
    let app = App::copy();
    commit(&app);
    git(&app, &["branch", "topic"]);
    app.append("app/models/tag.rb", "# of main\n");
    git(
        &app,
        &["commit", "--quiet", "--all", "--no-verify", "--message=On main"],
    );
    git(&app, &["checkout", "--quiet", "topic"]);
    app.append("app/models/comment.rb", "# committed\n");
    git(
        &app,
        &["commit", "--quiet", "--all", "--no-verify", "--message=On the topic"],
    );
    app.append("app/models/part.rb", "# not committed\n");
    app.write("app/models/untracked.rb", "class Untracked\nend\n");
    app.remove("spec/models/event_spec.rb");
    app.write("spec/models/new\nline_spec.rb", "RSpec.describe('x') { }\n");
    symlink("part_spec.rb", app.path("spec/models/linked_spec.rb")).expect("a link can be made");
    let server = app.server();
    let mut wrong = Deviations::default();
    for (arguments, comment) in [(json!({}), false), (json!({"since": "main"}), true)] {
        let answer = ask(&server, arguments.clone());
        let what = arguments.to_string();
        let named = |path: &str| row(&answer, "rspec", path)["confidence"] == "high";
        wrong.equal(&what, named("spec/models/part_spec.rb"), true);
        wrong.equal(&what, named("spec/models/comment_spec.rb"), comment);
        wrong.equal(&what, named("spec/models/tag_spec.rb"), false);
        wrong.equal(&what, &answer["unmatched"][0]["path"], "app/models/untracked.rb");
        let irrelevant = [0, 1, 2].map(|at| answer["irrelevant"][at]["path"].as_str());
        let nothing =
            ["event_spec.rb", "linked_spec.rb", "new\nline_spec.rb"].map(|name| format!("spec/models/{name}"));
        wrong.equal(&what, irrelevant, nothing.each_ref().map(|path| Some(path.as_str())));
        let paths: Vec<String> = texts(&answer["runs"][0]["paths"])
            .iter()
            .map(ToString::to_string)
            .collect();
        wrong.check(server.run(paths)["run_id"].is_string(), || format!("{what}: refused"));
    }
    for since in ["nowhere", "--output=tmp/x", "HEAD~99", "", "a b"] {
        let refusal = server.ask_in_vain("rails_spec_for", json!({"since": since}));
        wrong.equal(since, &refusal["code"], "ref_not_found");
    }
    wrong.check(!app.path("tmp/x").exists(), || "an option was taken".into());
    wrong.none();
    server.stop();
}

#[test]
fn what_a_run_with_coverage_executed_is_known_later() {
    let app = App::copy();
    // Nothing in its text leads there.
    app.write(
        "spec/lib/far_spec.rb",
        "require 'rails_helper'\nRSpec.describe('far') { it('x') { Object.const_get(%w[Vat Rate].join.upcase_first.sub('Vat', 'VAT')).standard } }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let file = json!({"files": ["app/services/vat_rate.rb"]});
    let far = |answer: &Value| row(answer, "rspec", "spec/lib/far_spec.rb").clone();
    wrong.equal("before", far(&ask(&server, file.clone())), Value::Null);
    let report = server.run_with(
        ["spec/lib/far_spec.rb"],
        json!({"coverage_files": ["app/services/vat_rate.rb"]}),
    );
    wrong.equal("passed", &report["outcome"], "passed");
    let known = far(&ask(&server, file.clone()));
    wrong.equal("known", &known["confidence"], "high");
    wrong.check(
        has_text(&known["reasons"], "ran lines of app/services/vat_rate.rb"),
        || known.to_string(),
    );
    wrong.check(!has_text(&known["reasons"], "since"), || known.to_string());
    app.append("app/services/vat_rate.rb", "# changed\n");
    let known = far(&ask(&server, file.clone()));
    wrong.check(has_text(&known["reasons"], "the file has changed since"), || {
        known.to_string()
    });
    app.append("spec/lib/far_spec.rb", "# changed\n");
    let known = far(&ask(&server, file.clone()));
    wrong.equal("stale", &known["confidence"], "medium");
    wrong.check(has_text(&known["reasons"], "the test has changed since"), || {
        known.to_string()
    });
    wrong.none();
    server.stop();
}

#[test]
fn in_the_shell_the_paths_of_both_frameworks_are_told_or_of_the_one_that_is_named() {
    let app = App::copy();
    let both = app.coatepec(&["for", "app/models/widget.rb", "--paths"]);
    assert_eq!(both.code, Some(0), "{both:?}");
    // Where there are none, whoever reads them only is told so.
    let none = app.coatepec(&["for", "app/services/price_list.rb", "lib/lonely.rb", "--paths"]);
    assert!(none.out.contains("price_list_spec.rb"), "{none:?}");
    assert!(
        !none.out.contains("lonely") && none.err.contains("lib/lonely.rb: no test"),
        "{none:?}"
    );
    for (framework, own) in [
        ("rspec", "spec/models/widget_spec.rb"),
        ("minitest", "test/models/widget_test.rb"),
    ] {
        assert!(both.out.lines().any(|line| line == own), "{both:?}");
        let told = app.coatepec(&["for", "app/models/widget.rb", "--paths", "--framework", framework]);
        assert_eq!(told.code, Some(0), "{told:?}");
        let ending = format!("_{}.rb", if framework == "rspec" { "spec" } else { "test" });
        assert!(told.out.lines().any(|line| line == own), "{told:?}");
        assert!(told.out.lines().all(|line| line.ends_with(&ending)), "{told:?}");
    }
}
