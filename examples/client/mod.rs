//! What the examples share: a session with the server, as any MCP client would have it, and an app to work on.

mod app;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

pub(crate) use app::{App, processes_in};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The protocol that this client speaks; a server may answer with another one.
const PROTOCOL: &str = "2025-11-25";

/// A session with a server of its own: one JSON object per line in both directions.
pub(crate) struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
    /// Answers that came before somebody waited for them.
    early: HashMap<u64, Value>,
    /// The answer to `initialize`.
    pub(crate) hello: Value,
}

impl Client {
    /// Starts the server for `app` and says hello. Nothing is booted by that.
    pub(crate) fn start(app: &Path) -> Result<Client> {
        let mut server = program(&binary()?)
            // A server of its own: what is measured or shown begins cold, and nothing is left of it.
            .arg("--no-share")
            .arg("--root")
            .arg(app)
            .current_dir(app)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = server.stdin.take().ok_or("the server has no stdin")?;
        let from = BufReader::new(server.stdout.take().ok_or("the server has no stdout")?);
        let mut client = Client {
            server,
            to,
            from,
            asked: 0,
            early: HashMap::new(),
            hello: Value::Null,
        };
        client.say_hello()?;
        Ok(client)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// What a tool answers.
    ///
    /// # Errors
    /// The tool's own error, as it told it; or that of the session.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let id = self.send(tool, arguments)?;
        self.answer(id)
    }

    /// Calls a tool without waiting; the number is for [`Client::answer`].
    pub(crate) fn send(&mut self, tool: &str, arguments: &Value) -> Result<u64> {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub(crate) fn answer(&mut self, id: u64) -> Result<Value> {
        let result = self.wait(id)?;
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().unwrap_or("no text").into());
        }
        Ok(result["structuredContent"].clone())
    }

    /// Any other request.
    pub(crate) fn request(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        let id = self.ask(method, parameters)?;
        self.wait(id)
    }

    /// Goes away, as a client does: by closing its end. Returns once the server has ended everything.
    pub(crate) fn close(self) -> Result<ExitStatus> {
        let Client {
            mut server, to, from, ..
        } = self;
        drop((to, from));
        Ok(server.wait()?)
    }

    fn say_hello(&mut self) -> Result<()> {
        let client = json!({ "name": "coatepec-example", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client });
        self.hello = self.request("initialize", &hello)?;
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<u64> {
        self.asked += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": parameters }))?;
        Ok(self.asked)
    }

    fn wait(&mut self, id: u64) -> Result<Value> {
        loop {
            if let Some(mut answer) = self.early.remove(&id) {
                return match answer.get("error") {
                    Some(error) => Err(error.to_string().into()),
                    None => Ok(answer["result"].take()),
                };
            }
            self.read()?;
        }
    }

    /// What has no number of ours is a notification, and none of them matters here.
    fn read(&mut self) -> Result<()> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err("the server went away".into());
        }
        let message: Value = serde_json::from_str(&line)?;
        if let Some(id) = message["id"].as_u64() {
            self.early.insert(id, message);
        }
        Ok(())
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        Ok(self.to.write_all(format!("{message}\n").as_bytes())?)
    }
}

/// A program to start: in an example the rule of the crate, that only `process` does, has nothing to protect.
#[expect(clippy::disallowed_methods, reason = "an example is a client, and starts the server")]
pub(crate) fn program(program: &Path) -> Command {
    Command::new(program)
}

/// The server that was built together with this example.
fn binary() -> Result<PathBuf> {
    let ourselves = std::env::current_exe()?;
    let examples = ourselves.parent().and_then(Path::parent);
    let binary = examples.ok_or("failed to find our own directory")?.join("coatepec");
    match binary.is_file() {
        true => Ok(binary),
        false => Err(format!("`{}` is not built: run bin/demo or bin/bench", binary.display()).into()),
    }
}
