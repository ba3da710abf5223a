//! What is kept of calls and runs, and how it is shown.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{App, Setup, eventually};

const QUICK: &str = "spec/services/price_list_spec.rb";

fn shown(app: &App, arguments: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "a person looks at the log")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_coatepec"));
    command.args(["log", "--root"]).arg(app.root()).args(arguments);
    let output = command.env("XDG_STATE_HOME", app.beside("state")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn entries(app: &App) -> Vec<Value> {
    let lines = shown(app, &["--json"]);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_call_and_each_run_is_kept_without_what_might_be_secret() {
    let app = App::copy();
    let server = app.server();
    server.run_with([QUICK], json!({"example": "hunter2"}));
    server
        .call("rails_spec_run", json!({"paths": ["spec/nothing_spec.rb"]}))
        .wait()
        .refusal();
    let status = server.status();
    assert_eq!(status["calls"], json!({"rails_spec_run": 2}), "{status}");
    server.stop();
    let entries = entries(&app);
    let told: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!([
                entry["event"],
                entry["tool"],
                entry["paths"],
                entry["outcome"],
                entry["code"],
                entry["client"]
            ])
        })
        .collect();
    let expected = [
        json!(["run", null, [QUICK], "no_examples", null, null]),
        json!(["call", "rails_spec_run", [QUICK], "no_examples", null, "tests"]),
        json!([
            "call",
            "rails_spec_run",
            ["spec/nothing_spec.rb"],
            null,
            "invalid_selector",
            "tests"
        ]),
        json!(["call", "rails_runtime_status", null, null, null, "tests"]),
    ];
    assert_eq!(told, expected);
    assert_eq!(entries[0]["run_id"], entries[1]["run_id"]);
    assert_eq!(entries[0]["mode"], "fork");
    assert!(
        entries[1]["bytes"].as_u64().is_some_and(|bytes| bytes > 100),
        "{}",
        entries[1]
    );
    assert!(
        entries
            .iter()
            .all(|entry| entry["root"].as_str() == app.root().to_str())
    );
    let kept = fs::read_to_string(app.beside("state/coatepec/calls.ndjson")).unwrap();
    assert!(!kept.contains("hunter2"), "{kept}");
    let text = shown(&app, &["-n", "2"]);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.contains("tests: rails_spec_run spec/nothing_spec.rb  invalid_selector"),
        "{text}"
    );
}

#[test]
fn a_place_that_can_not_be_written_disturbs_nobody() {
    let app = App::copy();
    let server = app.server_with(Setup::default().env("XDG_STATE_HOME", "/dev/null/nowhere"));
    assert_eq!(server.run([QUICK])["outcome"], "passed");
    eventually("it says so", || server.log().contains("log of calls").then_some(()));
    server.stop();
}
