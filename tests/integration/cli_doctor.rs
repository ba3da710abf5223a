//! `coatepec doctor` on apps that are well and on apps that are not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::App;

/// States by check.
fn states(app: &App) -> (Option<i32>, BTreeMap<String, String>) {
    let told = app.coatepec(&["doctor", "--json"]);
    let json: Value = serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {told:?}"));
    let findings = json["findings"].as_array().unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    for finding in findings {
        let state = text(finding, "state");
        let mended = finding["fix"].is_string();
        assert_eq!(mended, ["failed", "warning"].contains(&state.as_str()), "{finding}");
    }
    (
        told.code,
        findings
            .iter()
            .map(|finding| (text(finding, "check"), text(finding, "state")))
            .collect(),
    )
}

#[test]
fn an_app_that_is_well_is_said_to_be_well() {
    let app = App::copy();
    let told = app.coatepec(&["doctor"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    for check in [
        "project",
        "configuration",
        "ruby",
        "bundler",
        "boot",
        "database",
        "migrations",
        "test helper",
        "fork safety",
        "sandbox",
    ] {
        let line = told.out.lines().find(|line| line.contains(&format!(" {check} ")));
        assert!(
            line.is_some_and(|line| line.starts_with('✓') || line.starts_with('!')),
            "{check}:\n{}",
            told.out
        );
    }
}

#[test]
fn an_app_that_does_not_boot_is_said_why_and_the_rest_is_skipped() {
    let app = App::copy();
    app.write("config/initializers/broken.rb", "raise \"no luck today\"\n");
    let (code, states) = states(&app);
    assert_eq!(code, Some(1));
    assert_eq!(states["boot"], "failed");
    assert_eq!(states["fork safety"], "skipped");
    let told = app.coatepec(&["doctor"]);
    assert!(told.out.contains("no luck today"), "{told:?}");
}

#[test]
fn a_thread_that_the_helper_starts_is_named_with_its_place() {
    let app = App::copy();
    app.append("spec/rails_helper.rb", "\nThread.new { sleep }\n");
    let told = app.coatepec(&["doctor"]);
    assert!(told.out.contains("rails_helper.rb"), "{}", told.out);
    let (code, states) = states(&app);
    assert_eq!(code, Some(0), "it works, but slowly");
    assert_eq!(states["fork safety"], "warning");
}

#[test]
fn a_client_that_is_used_and_does_not_start_us_is_named_with_the_command_for_it() {
    let app = App::copy();
    app.write(".cursor/rules/a.mdc", "");
    let told = app.coatepec(&["doctor"]);
    assert!(told.out.contains("→ coatepec init cursor"), "{}", told.out);
    assert_eq!(app.coatepec(&["init", "cursor"]).code, Some(0));
    let told = app.coatepec(&["doctor"]);
    assert!(told.out.contains("Cursor: .cursor/mcp.json\n"), "{}", told.out);
    app.write(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"coatepec":{"command":"/old/coatepec"}}}"#,
    );
    let told = app.coatepec(&["doctor"]);
    assert!(
        told.out.contains("starts `/old/coatepec`, which is not there"),
        "{}",
        told.out
    );
    assert!(told.out.contains("→ coatepec init cursor --force"), "{}", told.out);
}

#[test]
fn what_is_wrong_with_the_configuration_is_said_once() {
    let app = App::copy();
    app.write(".coatepec.yml", "timeout_seconds: 5\n");
    let told = app.coatepec(&["doctor"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert_eq!(
        told.out.matches("unknown key `timeout_seconds`").count(),
        1,
        "{}",
        told.out
    );
    assert!(!told.out.contains("bin/rails runner"), "{}", told.out);
}

#[test]
fn a_database_that_the_helper_makes_is_no_complaint() {
    let app = App::bare();
    let (code, states) = states(&app);
    assert_eq!(code, Some(0), "{states:?}");
    assert_eq!(states["database"], "ok", "{states:?}");
    assert_eq!(states["migrations"], "ok", "{states:?}");
}

#[test]
fn an_empty_lock_of_the_gems_is_none() {
    let app = App::copy();
    app.write("Gemfile.lock", "");
    let told = app.coatepec(&["doctor"]);
    assert!(told.out.contains("→ bundle install"), "{}", told.out);
}
