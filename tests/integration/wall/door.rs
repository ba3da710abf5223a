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
    let heard = |wrong: &mut Deviations, what: &str, expected: &Value| {
        for fork in ["always", "never"] {
            let report = server.run_with([SPEC], json!({ "fork": fork }));
            wrong.equal(&report.to_string(), &report["outcome"], "passed");
            let heard: Value = serde_json::from_str(&app.read("tmp/heard.json")).expect("it is JSON");
            wrong.equal(&format!("{what}, {fork}"), &heard, expected);
        }
    };
    heard(
        &mut wrong,
        "by itself",
        &json!({"itself": "no way", "orphan": "no way"}),
    );
    // Whoever lets it come to the door is safe all the same.
    let around = socket.parent().expect("it is in a directory").display();
    app.setting(&format!("sandbox: {{write: ['{around}']}}"));
    heard(&mut wrong, "let through", &json!({"itself": null, "orphan": null}));
    server.end();
    wrong.none();
}
