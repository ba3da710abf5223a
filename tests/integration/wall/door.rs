//! The server that clients share does nothing for whoever is in the sandbox.

use coatepec::daemon::place::cards;
use serde_json::{Value, json};

use crate::support::{App, Deviations, Setup};

const SPEC: &str = "spec/door_spec.rb";

#[test]
fn no_test_is_a_client_of_the_server() {
    let app = App::copy();
    let server = app.server_with(Setup::default().shared());
    let (card, _) = cards(app.root()).remove(0);
    let name = card.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let socket = card.with_file_name(format!("{}.sock", name.split('.').next().unwrap_or_default()));
    app.write("tmp/facts.json", json!({ "socket": socket }).to_string());
    app.write(SPEC, include_str!("door_spec.rb"));
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        let report = server.run_with([SPEC], json!({ "fork": fork }));
        wrong.equal(&report.to_string(), &report["outcome"], "passed");
        let heard: Value = serde_json::from_str(&app.read("tmp/heard.json")).expect("it is JSON");
        wrong.equal(fork, &heard, &json!({"itself": null, "orphan": null}));
    }
    server.end();
    wrong.none();
}
