//! The protocol: what a client sees before anything of Rails is involved, and around it.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Setup, has_text, violations};

const RUN: &str = "rails_spec_run";
const STATUS: &str = "rails_runtime_status";

#[test]
fn a_client_is_told_who_it_speaks_to_and_what_there_is() {
    let app = App::bare();
    let server = app.server();
    let info = server.info();
    let mut wrong = Deviations::default();
    wrong.equal("protocol", &info["protocolVersion"], "2025-06-18");
    wrong.equal("name", &info["serverInfo"]["name"], "coatepec");
    wrong.equal("version", &info["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    wrong.check(info["capabilities"]["tools"].is_object(), || {
        format!("no tools: {info}")
    });
    let instructions = info["instructions"].as_str().unwrap_or_default();
    wrong.check(instructions.contains(RUN), || {
        format!("instructions name no tool: {instructions}")
    });
    wrong.check(instructions.len() <= 1536, || "too long for what it says".into());

    let names: Vec<&Value> = server.tools().iter().map(|tool| &tool["name"]).collect();
    for name in [RUN, STATUS] {
        wrong.check(names.iter().any(|listed| *listed == name), || {
            format!("{name} is not among {names:?}")
        });
    }
    wrong.check(names.iter().all(|name| *name != "rails_test_run"), || {
        "the alias is listed".into()
    });
    server.tools().iter().for_each(|tool| check_tool(&mut wrong, tool));
    // Every session of every client pays for it.
    let bytes = json!(server.tools()).to_string().len();
    wrong.check(bytes <= 7168, || format!("the list of tools takes {bytes} bytes"));
    wrong.check(server.tool(RUN)["annotations"].get("readOnlyHint").is_none(), || {
        "a run writes".into()
    });
    wrong.equal(
        "status only reads",
        &server.tool(STATUS)["annotations"]["readOnlyHint"],
        true,
    );
    wrong.equal(
        "a run needs paths",
        &server.tool(RUN)["inputSchema"]["required"],
        &json!(["paths"]),
    );
    wrong.none();
    server.stop();
}

fn check_tool(wrong: &mut Deviations, tool: &Value) {
    let name = &tool["name"];
    let description = tool["description"].as_str().unwrap_or_default();
    wrong.check((20..2048).contains(&description.len()), || {
        format!("{name}: description of {}", description.len())
    });
    let hints = &tool["annotations"];
    wrong.equal(&format!("{name}: openWorldHint"), &hints["openWorldHint"], false);
    wrong.check(
        hints["readOnlyHint"] == true || hints["destructiveHint"] == false,
        || format!("{name}: neither reads only nor destroys nothing"),
    );
    for half in ["inputSchema", "outputSchema"] {
        wrong.equal(&format!("{name}: {half}"), &tool[half]["type"], "object");
        check_schema(wrong, &format!("{name}.{half}"), &tool[half], &tool[half]);
    }
}

/// Strict clients know no formats of Rust's, and refuse a reference to nowhere.
fn check_schema(wrong: &mut Deviations, at: &str, root: &Value, schema: &Value) {
    for (name, member) in schema.as_object().into_iter().flatten() {
        match (name.as_str(), member) {
            ("$ref", Value::String(target)) => {
                let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
                wrong.check(found.is_some(), || format!("{at}: {target} leads nowhere"));
            }
            ("format", Value::String(format)) => wrong.check(false, || format!("{at}: format {format}")),
            ("type", Value::Array(types)) => wrong.check(false, || format!("{at}: types {types:?}")),
            (_, Value::Object(_)) => check_schema(wrong, &format!("{at}.{name}"), root, member),
            (_, Value::Array(items)) => {
                items
                    .iter()
                    .for_each(|item| check_schema(wrong, &format!("{at}.{name}"), root, item));
            }
            _ => {}
        }
    }
}

#[test]
fn what_is_wrong_with_a_call_is_said_without_booting_anything() {
    let app = App::bare();
    let server = app.server();
    let mut wrong = Deviations::default();
    for tool in ["rails_eval", "", "RAILS_SPEC_RUN"] {
        let answer = server.call(tool, json!({"paths": ["spec"]})).wait();
        wrong.equal(&format!("unknown tool `{tool}`"), answer.error_code(), Some(-32602));
    }
    let bad = [
        json!({}),
        json!({"paths": "spec/models/widget_spec.rb"}),
        json!({"paths": [1]}),
        json!({"paths": ["spec"], "path": "spec"}),
        json!({"paths": ["spec"], "seed": -1}),
        json!({"paths": ["spec"], "seed": "random"}),
        json!({"paths": ["spec"], "fork": "sometimes"}),
        json!({"paths": ["spec"], "include_stdout": true}),
        json!({"paths": ["spec"], "fail_fast": "yes"}),
        json!({"paths": ["spec"], "timeout_seconds": 0}),
        json!({"paths": ["spec"], "timeout_seconds": 901}),
        json!({"paths": ["spec"], "timeout_seconds": 1.5}),
        json!({"paths": ["spec"], "example": ""}),
        json!({"paths": ["spec"], "example": "a\u{0}b"}),
    ];
    for arguments in bad {
        let refusal = server.call(RUN, arguments.clone()).wait().refusal();
        wrong.equal(&arguments.to_string(), &refusal["code"], "invalid_arguments");
        wrong.check(refusal["hint"].is_string(), || format!("no hint: {refusal}"));
        wrong.check(!has_text(&refusal["message"], "expected u"), || {
            format!("in the words of Rust: {refusal}")
        });
    }
    let refusal = server.call("rails_test_run", json!({"path": "spec"})).wait().refusal();
    wrong.equal("by the alias", &refusal["hint"], "did you mean `paths`?");
    let refusal = server.call(STATUS, json!({"verbose": true})).wait().refusal();
    wrong.equal("status with arguments", &refusal["code"], "invalid_arguments");
    let unknown = server.request("tools/sharpen", json!({})).wait();
    wrong.equal("unknown method", unknown.error_code(), Some(-32601));
    wrong.equal("state", &server.status()["state"], "absent");
    wrong.check(server.processes().is_empty(), || {
        format!("something was started: {:?}", server.processes())
    });
    wrong.none();
    server.stop();
}

#[test]
fn the_alias_is_accepted_and_status_tells_what_ran() {
    let app = App::copy();
    let server = app.server();
    let before = server.status();
    let answer = server.call("rails_test_run", json!({"paths": ["spec/services/price_list_spec.rb"]}));
    let report = server.report(answer);
    assert_eq!(report["outcome"], "passed", "{report}");
    let after = server.at_rest();
    let mut wrong = Deviations::default();
    wrong.equal("state before", &before["state"], "absent");
    wrong.check(before.get("worker_pid").is_none(), || {
        format!("a worker before the first call: {before}")
    });
    wrong.equal("state after", &after["state"], "ready");
    wrong.equal("root", after["project_root"].as_str(), app.root().to_str());
    wrong.equal("boot", &after["boot_id"], 1);
    for version in ["ruby", "rails", "rspec"] {
        wrong.check(after["versions"][version].is_string(), || {
            format!("no version of {version}: {after}")
        });
    }
    wrong.equal("modes", &after["runs"]["modes"], &json!({"fork": 1}));
    wrong.equal("outcomes", &after["runs"]["outcomes"], &json!({"passed": 1}));
    for pid in ["worker_pid", "zygote_pid"] {
        let pid = after[pid].as_i64().unwrap_or_default();
        let found = server.processes().iter().any(|proc| i64::from(proc.pid) == pid);
        wrong.check(found, || {
            format!("{pid} is no process of the server: {:?}", server.processes())
        });
    }
    wrong.none();
    server.stop();
}

#[test]
fn eager_boots_before_the_first_call() {
    let app = App::copy();
    let server = app.server_with(Setup::default().argument("--eager"));
    crate::support::eventually("the app is booted", || {
        (server.status()["state"] == "ready").then_some(())
    });
    let report = server.run(["spec/services/price_list_spec.rb"]);
    assert_eq!(report["outcome"], "passed", "{report}");
    assert_eq!(report["timing"]["boot"], 0.0, "it was warm: {report}");
    assert_eq!(server.at_rest()["boot_id"], 1);
    server.stop();
}

#[test]
fn the_root_is_found_from_any_directory_in_the_app() {
    let app = App::copy();
    let server = app.server_with(Setup::default().directory(app.path("app/models/concerns")));
    let status = server.status();
    assert_eq!(status["project_root"].as_str(), app.root().to_str());
    let report = server.run(["spec/models/widget_spec.rb[1:1]"]);
    assert_eq!(report["outcome"], "passed", "{report}");
    server.stop();
}

#[test]
fn a_mistake_in_the_settings_is_named_with_its_line_and_heals() {
    let app = App::copy();
    let server = app.server();
    app.write(".coatepec.yml", "grace_seconds: 1\nboot_timeout: 3\n");
    let refusal = server.call(RUN, json!({"paths": ["spec"]})).wait().refusal();
    assert_eq!(refusal["code"], "invalid_config", "{refusal}");
    assert!(has_text(&refusal["message"], "line 2"), "{refusal}");
    let status = server.status();
    assert_eq!(status["state"], "absent", "{status}");
    assert!(
        has_text(&status["config_error"], "`boot_timeout` in line 2"),
        "{status}"
    );
    assert!(has_text(&status["config_error"], "boot_timeout_seconds"), "{status}");
    app.write(
        ".coatepec.yml",
        "grace_seconds: 1\ndefaults:\n  spec_run:\n    timeout_seconds: 33\n",
    );
    let status = server.status();
    assert_eq!(status["defaults"]["timeout_seconds"], 33);
    assert!(status.get("config_error").is_none(), "{status}");
    server.stop();
}

/// The harness holds every success against the declared schema: here is the proof that the schema can be failed.
#[test]
fn the_output_schemas_are_not_empty_promises() {
    let app = App::bare();
    let server = app.server();
    let schema = coatepec::mcp::schema::complete::<coatepec::run::report::Report>();
    for wrong in [json!({}), json!({"run_id": 7}), json!({"outcome": "splendid"})] {
        assert!(!violations(&schema, &wrong).is_empty(), "{wrong} fits");
    }
    let listed = &server.tool(RUN)["outputSchema"];
    assert!(!violations(listed, &json!({})).is_empty(), "an empty answer fits");
    server.stop();
}

/// Whatever a client sends, it is told what was wrong with it, and the next request is answered.
#[test]
fn lines_that_are_no_requests_are_answered_and_do_no_harm() {
    const NO_JSON: &[i64] = &[-32700];
    const NO_REQUEST: &[i64] = &[-32600];
    let app = App::bare();
    let server = app.server();
    let half = format!("{{\"jsonrpc\": \"2.0\", \"method\": \"{}", "x".repeat(3_000_000));
    let too_long = format!("\"{}\"", "x".repeat(11_000_000));
    let unknown = r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9999}}"#;
    let deep = "[".repeat(200_000);
    let cases: [(&str, &[i64]); 12] = [
        ("garbage", NO_JSON),
        ("\u{0}\u{1}", NO_JSON),
        ("{", NO_JSON),
        (&half, NO_JSON),
        (&too_long, NO_JSON),
        (&deep, NO_JSON),
        ("{}", NO_REQUEST),
        ("[]", NO_REQUEST),
        ("null", NO_REQUEST),
        (r#"{"jsonrpc": "2.0"}"#, NO_REQUEST),
        ("", &[]),
        (unknown, &[]),
    ];
    let mut wrong = Deviations::default();
    let mut before = 0;
    for (line, codes) in cases {
        server.send_line(line);
        let start: String = line.chars().take(40).collect();
        wrong.equal(&format!("after {start:?}"), &server.status()["state"], "absent");
        let complaints = server.complaints();
        wrong.equal(&format!("answer to {start:?}"), &complaints[before..], codes);
        before = complaints.len();
    }
    wrong.none();
    server.stop();
}
