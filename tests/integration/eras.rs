//! The protocol of 2026 has no beginning: version, client and capabilities come with each request. Both eras are served by
//! the same binary, alone and shared.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::App;

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
    fn ask(&mut self, id: u64, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
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
