//! What a client may read and attach, prompts, and completion.

use serde_json::{Value, json};

use crate::support::{App, Server, Setup, eventually};

const FAILS: &str = "spec/faults/fails_spec.rb";
const HANGS: &str = "spec/faults/hangs_spec.rb";

fn ask(server: &Server, method: &str, params: Value) -> Value {
    server.request(method, params).wait().0
}

fn read(server: &Server, uri: &str) -> Value {
    let answer = ask(server, "resources/read", json!({ "uri": uri }));
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["uri"], uri, "{answer}");
    let text = content["text"].as_str().unwrap_or_default();
    match content["mimeType"].as_str() {
        Some("application/json") => serde_json::from_str(text).unwrap(),
        _ => json!(text),
    }
}

fn uris(server: &Server) -> Vec<String> {
    let list = ask(server, "resources/list", json!({}));
    let list = list["result"]["resources"].as_array().unwrap().clone();
    list.iter()
        .map(|resource| resource["uri"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_app_and_its_runs_can_be_read() {
    let app = App::copy();
    let server = app.server();
    let capabilities = &server.info()["capabilities"];
    assert_eq!(
        capabilities["resources"],
        json!({"subscribe": true, "listChanged": true})
    );
    assert_eq!(uris(&server), ["coatepec://app"]);
    let overview = read(&server, "coatepec://app");
    assert_eq!(overview["kind"], "app", "{overview}");
    assert_eq!(overview["frameworks"][0], "rspec", "{overview}");
    assert_eq!(overview["root"].as_str(), app.root().to_str());
    for (list, member) in [("test_roots", "packs/catalog/spec"), ("parts", "packs/catalog")] {
        let listed = overview[list].as_array().unwrap();
        assert!(listed.contains(&json!(member)), "{overview}");
    }
    assert_eq!(server.status()["state"], "absent", "nothing is booted for it");

    let report = server.run([FAILS]);
    let uri = format!("coatepec://runs/{}", report["run_id"].as_str().unwrap());
    assert_eq!(uris(&server), ["coatepec://app", &uri]);
    assert_eq!(read(&server, &uri), report);
    let failure = read(&server, &format!("{uri}/failures/2"));
    assert_eq!(failure["failures"][0]["id"], report["failures"][1]["id"]);
    assert!(read(&server, &format!("{uri}/stdout")).is_string());
    for unknown in [
        "coatepec://runs/run-1",
        "coatepec://nothing",
        "file:///etc/passwd",
        &format!("{uri}/failures/99"),
    ] {
        let answer = ask(&server, "resources/read", json!({ "uri": unknown }));
        assert_eq!(answer["error"]["code"], -32002, "{unknown}: {answer}");
    }
    let templates = ask(&server, "resources/templates/list", json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"].as_array().map(Vec::len),
        Some(4)
    );
    server.stop();
}

#[test]
fn a_client_hears_of_runs_that_come_and_of_how_one_goes_on() {
    let app = App::copy();
    let server = app.server();
    let heard = |method: &str| server.told(method).len();
    let call = server.begin([HANGS], json!({"timeout_seconds": 600}));
    let uri = eventually("the run is listed", || {
        uris(&server).into_iter().find(|uri| uri.contains("/runs/"))
    });
    eventually("it is told", || {
        (heard("notifications/resources/list_changed") > 0).then_some(())
    });
    eventually("it runs", || (server.status()["state"] == "running").then_some(()));
    assert_eq!(read(&server, &uri)["outcome"], "running");
    assert_eq!(
        ask(&server, "resources/subscribe", json!({ "uri": uri }))["result"],
        json!({})
    );
    for (other, code) in [
        ("file:///etc/passwd", -32002),
        ("coatepec://runs/run-99", -32002),
        (&format!("{uri}/stdout"), -32602),
        (&format!("{uri}/failures/1"), -32602),
    ] {
        let refused = ask(&server, "resources/subscribe", json!({ "uri": other }));
        assert_eq!(refused["error"]["code"], code, "{other}: {refused}");
    }
    let wrong = ask(&server, "resources/subscribe", json!({ "uri": 7 }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let unknown = ask(&server, "resources/nonsense", json!({ "uri": 7 }));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    server.cancel(&call);
    eventually("its end is told", || {
        (heard("notifications/resources/updated") > 0).then_some(())
    });
    eventually("it is over", || {
        (read(&server, &uri)["outcome"] == "cancelled").then_some(())
    });
    assert_eq!(
        ask(&server, "resources/unsubscribe", json!({ "uri": uri }))["result"],
        json!({})
    );
    server.stop();
}

#[test]
fn prompts_say_how_to_work_and_complete_what_a_person_types() {
    let app = App::copy();
    let server = app.server();
    let prompts = ask(&server, "prompts/list", json!({}));
    let names: Vec<&Value> = prompts["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| &prompt["name"])
        .collect();
    assert_eq!(names, ["fix_failure", "tdd"]);
    let get = |name: &str, arguments: Value| ask(&server, "prompts/get", json!({"name": name, "arguments": arguments}));
    let text = |answer: &Value| {
        answer["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let tdd = text(&get(
        "tdd",
        json!({"behaviour": "widgets have a price", "path": "spec/models/widget_spec.rb"}),
    ));
    for word in ["widgets have a price", "spec/models/widget_spec.rb", "rails_spec_run"] {
        assert!(tdd.contains(word), "{tdd}");
    }
    let report = server.run([FAILS]);
    let id = report["run_id"].as_str().unwrap();
    let fix = text(&get("fix_failure", json!({"run_id": id})));
    assert!(fix.contains(report["failures"][0]["rerun"].as_str().unwrap()), "{fix}");
    for (name, arguments) in [
        ("tdd", json!({})),
        ("dance", json!({})),
        ("fix_failure", json!({"run_id": "run-1"})),
        ("fix_failure", json!({"path": "x".repeat(5000)})),
    ] {
        assert_eq!(
            get(name, arguments.clone())["error"]["code"],
            -32602,
            "{name} {arguments}"
        );
    }

    let complete = |argument: &str, value: &str| {
        let reference = json!({"type": "ref/prompt", "name": "fix_failure"});
        let argument = json!({"name": argument, "value": value});
        ask(
            &server,
            "completion/complete",
            json!({"ref": reference, "argument": argument}),
        )["result"]["completion"]
            .clone()
    };
    let widgets = complete("path", "spec/models/wid");
    assert_eq!(widgets["values"], json!(["spec/models/widget_spec.rb"]), "{widgets}");
    let anywhere = complete("path", "browse");
    assert_eq!(
        anywhere["values"],
        json!(["packs/catalog/spec/public/catalog/browse_spec.rb"])
    );
    let all = complete("path", "");
    assert_eq!(all["values"].as_array().map(Vec::len), Some(100), "{all}");
    assert!(all["total"].as_u64().is_some_and(|total| total > 100), "{all}");
    assert_eq!(complete("run_id", "run-")["values"], json!([id]));
    assert_eq!(complete("colour", "r")["values"], json!([]));
    server.stop();
}

/// Run ids of a lost server must never name another run.
#[test]
fn a_new_server_knows_nothing_of_the_runs_of_another() {
    let app = App::copy();
    let server = app.server_with(Setup::default());
    let id = server.run([FAILS])["run_id"].clone();
    server.stop();
    let server = app.server();
    server.run(["spec/services/price_list_spec.rb"]);
    let refusal = server
        .call("rails_run_result", json!({ "run_id": id }))
        .wait()
        .refusal();
    assert_eq!(refusal["code"], "run_not_found", "{refusal}");
    server.stop();
}
