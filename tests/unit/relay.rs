//! What becomes of a client's requests when the daemon that had them is lost.

use coatepec::daemon::relay::Relay;
use coatepec::error::{Error, Kind};
use serde_json::{Value, json};

fn client(relay: &mut Relay, message: &Value) {
    relay.asks(message.to_string().as_bytes());
}

fn daemon(relay: &mut Relay, message: &Value) -> bool {
    relay.answers(message.to_string().as_bytes())
}

fn messages(lines: &[Vec<u8>]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn call(id: impl Into<Value>, tool: &str) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"paths": ["a"]}}})
}

fn answer(id: impl Into<Value>) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

fn begun() -> Relay {
    let mut relay = Relay::default();
    client(&mut relay, &hello());
    assert!(daemon(&mut relay, &answer(0)));
    client(&mut relay, &initialized());
    relay
}

#[test]
fn a_run_is_answered_and_not_sent_again_and_what_reads_is_asked_again() {
    let mut relay = begun();
    client(&mut relay, &call(1, "rails_spec_run"));
    client(&mut relay, &call("two", "rails_routes"));
    client(&mut relay, &call(3, "rails_runtime_restart"));
    client(&mut relay, &call(4, "no_such_tool"));
    client(&mut relay, &json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}));
    client(&mut relay, &call(6, "rails_spec_run"));
    assert!(daemon(&mut relay, &answer(6)));
    let answers = messages(&relay.lost());
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(3), &json!(4)]);
    for answer in &answers {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(r#""code":"server_lost""#), "{text}");
    }
    assert!(relay.waits());
    let told = messages(&relay.resume());
    let methods: Vec<&Value> = told.iter().map(|told| &told["method"]).collect();
    assert_eq!(
        methods,
        ["initialize", "notifications/initialized", "tools/call", "tools/list"]
    );
    assert_eq!((&told[2]["id"], &told[3]["id"]), (&json!("two"), &json!(5)));
}

#[test]
fn a_new_daemon_is_told_how_the_session_began_and_its_answer_is_nobodys() {
    let mut relay = begun();
    client(
        &mut relay,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": "coatepec://app"}}),
    );
    client(
        &mut relay,
        &json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": "coatepec://x"}}),
    );
    client(
        &mut relay,
        &json!({"jsonrpc": "2.0", "id": 3, "method": "resources/unsubscribe", "params": {"uri": "coatepec://x"}}),
    );
    (1..=3).for_each(|id| assert!(daemon(&mut relay, &answer(id))));
    assert!(relay.lost().is_empty());
    assert!(!relay.waits());
    let told = messages(&relay.resume());
    let methods: Vec<&Value> = told.iter().map(|told| &told["method"]).collect();
    assert_eq!(
        methods,
        ["initialize", "notifications/initialized", "resources/subscribe"]
    );
    assert_eq!(told[0]["params"], hello()["params"]);
    for ours in [&told[0]["id"], &told[2]["id"]] {
        assert!(
            !daemon(&mut relay, &answer(ours.clone())),
            "the client did not ask for {ours}"
        );
        assert!(daemon(&mut relay, &answer(ours.clone())), "once only");
    }
}

#[test]
fn a_session_that_was_just_beginning_begins_anew() {
    let mut relay = Relay::default();
    client(&mut relay, &hello());
    client(&mut relay, &initialized());
    client(&mut relay, &call(1, "rails_routes"));
    assert!(relay.lost().is_empty());
    let told = messages(&relay.resume());
    assert_eq!(told, [hello(), initialized(), call(1, "rails_routes")]);
    assert!(daemon(&mut relay, &answer(0)), "the client waits for this");
}

/// The protocol of 2026 has no `initialize`.
#[test]
fn a_session_without_a_beginning_has_none_to_repeat() {
    let mut relay = Relay::default();
    client(&mut relay, &call(1, "rails_routes"));
    assert!(relay.lost().is_empty());
    assert_eq!(messages(&relay.resume()), [call(1, "rails_routes")]);
}

#[test]
fn what_has_been_answered_is_not_asked_again() {
    let mut relay = begun();
    client(&mut relay, &call(1, "rails_routes"));
    assert!(daemon(
        &mut relay,
        &json!({"jsonrpc": "2.0", "method": "notifications/progress"})
    ));
    assert!(relay.waits());
    assert!(daemon(
        &mut relay,
        &json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}})
    ));
    assert!(!relay.waits());
}

#[test]
fn where_no_daemon_can_be_had_everything_is_answered_as_it_has_to_be() {
    let mut relay = begun();
    client(&mut relay, &call(1, "rails_spec_run"));
    client(&mut relay, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let error = Error::new(Kind::Internal, "no room").hint("make room");
    let answers = messages(&relay.refuse(&error));
    assert_eq!(answers[0]["result"]["isError"], true);
    assert_eq!(answers[1]["error"]["code"], -32603);
    assert_eq!(answers[1]["error"]["message"], "no room; make room");
    assert!(!relay.waits());
}

#[test]
fn what_is_no_message_passes() {
    let mut relay = begun();
    for line in ["", "{", "[]", "7", "null", r#"{"id": {}, "params": [1]}"#, "\u{0}"] {
        relay.asks(line.as_bytes());
        assert!(relay.answers(line.as_bytes()), "{line}");
        assert!(!Relay::is_notification(line.as_bytes()), "{line}");
    }
    assert!(!relay.waits());
    assert!(Relay::is_notification(initialized().to_string().as_bytes()));
}
