//! What whoever starts the server insists on, settings can't take back.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Setup, has_text};

const SPEC: &str = "spec/lib/slugger_spec.rb";

fn refusal(app: &App, setup: Setup, settings: &str) -> Value {
    app.write(".coatepec.yml", settings);
    let server = app.server_with(setup);
    let refused = server.ask_in_vain("rails_spec_run", json!({ "paths": [SPEC] }));
    let status = server.status();
    assert!(has_text(&status["config_error"], "--sandbox-at-least"), "{status}");
    server.end();
    refused
}

#[test]
fn settings_do_not_go_below_what_the_server_was_started_with() {
    let app = App::copy();
    let mut wrong = Deviations::default();
    for share in [false, true] {
        let setup = || {
            let setup = Setup::default().argument("--sandbox-at-least").argument("standard");
            if share { setup.shared() } else { setup }
        };
        let refused = refusal(&app, setup(), "sandbox: {mode: off}\n");
        wrong.equal("code", &refused["code"], "sandbox_too_open");
        wrong.check(has_text(&refused, "sandbox.mode: off"), || refused.to_string());
        // Nobody has to start anything anew once that is mended.
        let server = app.server_with(setup());
        app.write(".coatepec.yml", "sandbox: {mode: strict}\n");
        let report = server.run([SPEC]);
        wrong.equal("closer", &report["outcome"], "passed");
        wrong.check(has_text(&report["sandbox"], "strict"), || report.to_string());
        app.write(".coatepec.yml", "sandbox: {write: ['~/elsewhere']}\n");
        let refused = server.ask_in_vain("rails_spec_run", json!({ "paths": [SPEC] }));
        wrong.check(has_text(&refused, "sandbox.write: ~/elsewhere"), || refused.to_string());
        server.end();
    }
    wrong.none();
}

#[test]
fn init_has_clients_insist_on_a_sandbox() {
    let app = App::bare();
    let printed = app.coatepec(&["init", "claude", "--sandbox-at-least", "standard"]);
    assert!(printed.code == Some(0), "{printed:?}");
    let entry: Value = serde_json::from_str(&app.read(".mcp.json")).expect("it is JSON");
    let arguments = entry["mcpServers"]["coatepec"]["args"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert!(
        arguments.ends_with(&["--sandbox-at-least".into(), "standard".into()]),
        "{arguments:?}"
    );
}
