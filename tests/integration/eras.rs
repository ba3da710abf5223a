//! The protocol of 2026 has no beginning: version, client and capabilities come with each request. Both eras are served by
//! the same binary, alone and shared.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{App, eventually};

/// A client that sends what it is told to.
struct Raw {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Raw {
    fn start(app: &App, arguments: &[&str]) -> Raw {
        #[expect(clippy::disallowed_methods, reason = "a client starts its server")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_coatepec"));
        command.arg("--root").arg(app.root()).args(arguments);
        command
            .env("TMPDIR", app.beside("tmp"))
            .env("XDG_STATE_HOME", app.beside("state"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Raw {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        }
    }

    /// Its answer; notifications in between are left out.
    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.ask_as(&json!({}), id, method, params)
    }

    /// As a client that takes tasks.
    fn ask_for_task(&mut self, id: u64, method: &str, params: Value) -> Value {
        let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        self.ask_as(&tasks, id, method, params)
    }

    fn ask_as(&mut self, capabilities: &Value, id: u64, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.stdin, "{message}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server is gone");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_client_of_2026_needs_no_beginning() {
    let app = App::bare();
    app.setting("idle_timeout_seconds: 0");
    for arguments in [&["--no-share"][..], &[]] {
        let mut client = Raw::start(&app, arguments);
        let list = client.ask(1, "tools/list", json!({}));
        let result = &list["result"];
        assert_eq!(result["resultType"], "complete", "{list}");
        assert!(
            result["ttlMs"].is_number() && result["cacheScope"].is_string(),
            "{list}"
        );
        let status = client.ask(
            2,
            "tools/call",
            json!({"name": "rails_runtime_status", "arguments": {}}),
        );
        assert_eq!(status["result"]["resultType"], "complete", "{status}");
        assert_eq!(status["result"]["structuredContent"]["state"], "absent", "{status}");
        let found = client.ask(3, "server/discover", json!({}));
        let versions = found["result"]["supportedVersions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            assert!(versions.contains(&json!(version)), "{found}");
        }
        let resources = client.ask(4, "resources/list", json!({}));
        assert_eq!(resources["result"]["ttlMs"], 0, "{resources}");
        client.end();
    }
}

const WAITS: &str = "RSpec.describe('Waits') { it('long') { sleep 0.01 until File.exist?('tmp/go') } }\n";

fn run(wait_seconds: u64) -> Value {
    let arguments = json!({"paths": ["spec/waits_spec.rb"], "wait_seconds": wait_seconds});
    json!({"name": "rails_spec_run", "arguments": arguments})
}

#[test]
fn a_long_run_is_a_task_for_a_client_that_takes_tasks() {
    let app = App::copy();
    app.setting("idle_timeout_seconds: 0");
    app.write("spec/waits_spec.rb", WAITS);
    let mut client = Raw::start(&app, &[]);
    let found = client.ask(1, "server/discover", json!({}));
    let extensions = &found["result"]["capabilities"]["extensions"];
    assert!(extensions["io.modelcontextprotocol/tasks"].is_object(), "{found}");

    let created = client.ask_for_task(2, "tools/call", run(0))["result"].clone();
    assert_eq!(created["resultType"], "task", "{created}");
    let task = json!({"taskId": created["taskId"]});
    let state = client.ask_for_task(3, "tasks/get", task.clone())["result"].clone();
    assert_eq!(
        (&state["status"], &state["resultType"]),
        (&json!("working"), &json!("complete")),
        "{state}"
    );
    assert_eq!(state["createdAt"], created["createdAt"], "{state}");
    assert!(
        state["statusMessage"].is_string() && state["pollIntervalMs"].is_number(),
        "{state}"
    );
    let update = json!({"taskId": created["taskId"], "inputResponses": {}});
    let updated = client.ask_for_task(4, "tasks/update", update);
    assert_eq!(updated["result"]["resultType"], "complete", "{updated}");

    app.write("tmp/go", "");
    let mut id = 10;
    let ended = eventually("the task is over", || {
        id += 1;
        let state = client.ask_for_task(id, "tasks/get", task.clone())["result"].clone();
        (state["status"] != "working").then_some(state)
    });
    assert_eq!(ended["status"], "completed", "{ended}");
    let result = &ended["result"];
    assert_eq!(result["structuredContent"]["outcome"], "passed", "{ended}");
    assert!(result["content"][0]["text"].is_string(), "{ended}");
    assert_eq!(ended["createdAt"], created["createdAt"], "{ended}");
    client.end();
}

#[test]
fn a_task_can_be_cancelled_and_who_does_not_take_tasks_gets_none() {
    let app = App::copy();
    app.setting("idle_timeout_seconds: 0");
    app.write("spec/waits_spec.rb", WAITS);
    let mut client = Raw::start(&app, &[]);
    let plain = client.ask(1, "tools/call", run(0))["result"].clone();
    assert_eq!(plain["resultType"], "complete", "{plain}");
    assert_eq!(plain["structuredContent"]["outcome"], "running", "{plain}");
    // The very same call waits for the same run, now as a task.
    let created = client.ask_for_task(2, "tools/call", run(0))["result"].clone();
    assert_eq!(created["taskId"], plain["structuredContent"]["run_id"], "{created}");
    let task = json!({"taskId": created["taskId"]});
    assert_eq!(client.ask(3, "tasks/get", task.clone())["error"]["code"], -32021);
    let cancelled = client.ask_for_task(4, "tasks/cancel", task.clone());
    assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
    let mut id = 10;
    let ended = eventually("the task is over", || {
        id += 1;
        let state = client.ask_for_task(id, "tasks/get", task.clone())["result"].clone();
        (state["status"] != "working").then_some(state)
    });
    assert_eq!(ended["status"], "cancelled", "{ended}");
    for unknown in ["run-1", "nonsense", ""] {
        for method in ["tasks/get", "tasks/cancel"] {
            id += 1;
            let answer = client.ask_for_task(id, method, json!({"taskId": unknown}));
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
    client.end();
}
