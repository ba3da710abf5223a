//! Where the time of a run went: from the run's own child, whatever the framework, with the verdict as it is without.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, has_text};

const BODY: &str = r#"
    order = create(:line_item).order
    2.times { create(:line_item, order: order) }
    build(:widget)
    create(:widget, name: nil) rescue nil
    Widget.connection.execute("SELECT nonsense") rescue nil
    Widget.cache { 3.times { Widget.where("name = 'hunter2'").to_a } }
"#;

fn spec() -> String {
    format!("require 'rails_helper'\nRSpec.describe('costs') {{ it('a lot') {{ {BODY} }}; it('nothing') {{ }} }}\n")
}

fn test() -> String {
    format!(
        "require 'test_helper'\nclass CostsTest < ActiveSupport::TestCase\ndef test_a_lot\n{BODY}\nend\ndef test_nothing = nil\nend\n"
    )
}

fn profiled(server: &Server, path: &str, fork: &str) -> Value {
    server.run_with(
        [path],
        json!({"profile": true, "fork": fork, "include_stdout": "always", "timeout_seconds": 60}),
    )
}

#[test]
fn a_profile_counts_queries_and_factories_of_both_frameworks_in_a_fork_and_in_a_fresh_process() {
    let app = App::copy();
    app.write("spec/costs_spec.rb", spec());
    app.write("test/costs_test.rb", test());
    let server = app.server();
    let mut wrong = Deviations::default();
    for (path, fork) in [
        ("spec/costs_spec.rb", "always"),
        ("spec/costs_spec.rb", "never"),
        ("test/costs_test.rb", "always"),
        ("test/costs_test.rb", "never"),
    ] {
        let report = profiled(&server, path, fork);
        let what = format!("{path} {fork}: {report}");
        let profile = &report["profile"];
        wrong.equal(&what, &report["outcome"], "passed");
        wrong.equal(&what, profile["slowest"].as_array().map(Vec::len), Some(2));
        let made = &profile["factories"];
        // Each line item has a widget of its own; the first one an order, too.
        wrong.equal(&what, made["count"].as_u64(), Some(8));
        wrong.equal(&what, made["raised"].as_u64(), Some(1));
        wrong.equal(
            &what,
            uses(made),
            json!([["line_item", {"create": 3}], ["order", {"create": 1}], ["widget", {"build": 1, "create": 3}]]),
        );
        let sql = &profile["sql"];
        wrong.equal(&what, sql["cached"].as_u64(), Some(2));
        wrong.equal(&what, sql["failed"].as_u64(), Some(1));
        wrong.check(sql["count"].as_u64() >= Some(8), || what.clone());
        wrong.check(
            has_text(sql, "WHERE (name = ?)") && !has_text(&report, "hunter2"),
            || what.clone(),
        );
        wrong.check(profile["gc"]["allocated"].as_u64() > Some(0), || what.clone());
        let lot = profile["slowest"].as_array().cloned().unwrap_or_default();
        let lot = lot.into_iter().find(|one| one["factories"]["count"] == 8);
        wrong.check(lot.is_some_and(|one| one["sql"]["count"] == sql["count"]), || {
            what.clone()
        });
        let plain = server.run([path]);
        wrong.check(plain["profile"].is_null(), || plain.to_string());
    }
    wrong.none();
    server.stop();
}

/// By name, with how they were made.
fn uses(made: &Value) -> Value {
    let by_name = made["by_name"].as_array().cloned().unwrap_or_default();
    let mut uses: Vec<Value> = by_name
        .iter()
        .map(|one| json!([one["name"], one["strategies"]]))
        .collect();
    uses.sort_by_key(Value::to_string);
    uses.into()
}

#[test]
fn what_the_app_does_not_have_is_not_told() {
    let app = App::copy();
    app.write("spec/bare_spec.rb", "RSpec.describe('bare') { it('x') { } }\n");
    let server = app.server();
    let report = profiled(&server, "spec/bare_spec.rb", "never");
    assert_eq!(report["outcome"], "passed", "{report}");
    assert!(report["profile"]["sql"].is_null(), "{report}");
    assert!(report["profile"]["factories"].is_null(), "{report}");
    assert_eq!(
        report["profile"]["slowest"][0]["id"], "spec/bare_spec.rb[1:1]",
        "{report}"
    );
    server.stop();
}

/// The hardest of them: stubbed clocks and classes, early ends, hangs.
#[test]
fn the_verdict_is_as_without_a_profile() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (path, outcome, counts) in [
        ("spec/faults/travels_time_spec.rb", "failed", [3, 1]),
        ("spec/faults/stubs_everything_spec.rb", "failed", [3, 1]),
        ("spec/faults/leaks_fork_that_continues_spec.rb", "passed", [3, 0]),
        ("spec/faults/exits_midway_spec.rb", "incomplete", [2, 0]),
        ("spec/faults/fails_in_before_suite_spec.rb", "failed", [0, 0]),
        ("test/faults/fails_in_teardown_test.rb", "failed", [3, 3]),
        ("test/faults/breaks_a_reporter_test.rb", "failed", [1, 0]),
        ("test/faults/travels_time_test.rb", "failed", [2, 1]),
    ] {
        let report = profiled(&server, path, "always");
        let what = format!("{path}: {report}");
        wrong.equal(&what, &report["outcome"], outcome);
        let told = ["examples", "failures"].map(|count| report["summary"][count].as_u64());
        wrong.equal(&what, told, counts.map(Some));
        wrong.check(report["profile"]["gc"].is_object(), || what.clone());
    }
    for path in ["spec/faults/hangs_spec.rb", "test/faults/hangs_test.rb"] {
        let report = server.run_with([path], json!({"profile": true, "timeout_seconds": 3}));
        wrong.equal(path, &report["outcome"], "timed_out");
        wrong.check(report["profile"]["gc"].is_object(), || report.to_string());
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_person_asks_for_it_by_an_option() {
    let app = App::copy();
    app.write("spec/costs_spec.rb", spec());
    let ran = app.coatepec(&["run", "--profile", "spec/costs_spec.rb"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for part in [
        "slowest examples\n",
        "queries: ",
        "widget  (build 1, create 3",
        "garbage collection: ",
    ] {
        assert!(ran.out.contains(part), "{part} is missing:\n{}", ran.out);
    }
}
