//! The binary under test, spoken to as a client would: JSON-RPC lines over its stdin and stdout.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use coatepec::run::report::Report;
use coatepec::supervisor::board::Status;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::app::{App, shared_cache};
use super::response::Response;
use super::schema::violations;
use super::tree::{self, Proc};
use super::{eventually, watchdog};

const PROTOCOL: &str = "2025-06-18";

/// Longer than any run of any test.
const ANSWER: Duration = Duration::from_secs(300);

/// How long what was killed may take to be gone. Its end was reported already.
const SETTLING: Duration = Duration::from_secs(5);

/// How a server is started.
#[derive(Default)]
pub(crate) struct Setup {
    arguments: Vec<String>,
    env: Vec<(String, Option<String>)>,
    directory: Option<PathBuf>,
    wrapper: Vec<String>,
    shared: bool,
    binary: Option<PathBuf>,
}

impl Setup {
    /// Of another build than the one under test.
    pub(crate) fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = Some(binary.into());
        self
    }

    /// With all others of this checkout that are started like this one.
    pub(crate) fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), Some(value.to_owned())));
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.env.push((name.to_owned(), None));
        self
    }

    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Instead of naming the root.
    pub(crate) fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Started by another command, which must become it.
    pub(crate) fn through(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(ToString::to_string).collect();
        self
    }
}

/// Killed with everything below it when it is dropped.
pub(crate) struct Server {
    child: Mutex<Child>,
    pid: i32,
    stdin: Mutex<Option<ChildStdin>>,
    heard: Arc<Heard>,
    next_id: AtomicU64,
    log: PathBuf,
    info: Value,
    tools: Vec<Value>,
}

/// What came over stdout.
#[derive(Default)]
struct Heard {
    waiting: Mutex<HashMap<u64, Sender<Value>>>,
    /// Codes of answers to lines that were no requests.
    complaints: Mutex<Vec<i64>>,
    stray: Mutex<Vec<String>>,
    /// Notifications by their method.
    told: Mutex<Vec<(String, Value)>>,
}

/// A call that was sent. Dropping it forgets the answer.
pub(crate) struct Pending {
    pub(crate) id: u64,
    answer: Receiver<Value>,
    log: PathBuf,
}

impl Pending {
    pub(crate) fn wait(self) -> Response {
        match self.answer.recv_timeout(ANSWER) {
            Ok(answer) => Response(answer),
            Err(error) => panic!("{}", self.in_vain(error)),
        }
    }

    pub(crate) fn is_unanswered(&self) -> bool {
        self.answer.try_recv().is_err()
    }

    fn in_vain(&self, error: RecvTimeoutError) -> String {
        let what = match error {
            RecvTimeoutError::Timeout => "no answer",
            RecvTimeoutError::Disconnected => "the server is gone",
        };
        format!("{what}{}; its log:\n{}", watchdog::remark(), log(&self.log))
    }
}

impl Server {
    pub(super) fn start(app: &App, setup: Setup) -> Server {
        let log = app.beside("server.log");
        let mut child = command(app, &setup, &log).spawn().expect("the binary starts");
        let pid = child.id().cast_signed();
        tree::started(pid);
        let stdin = child.stdin.take();
        let heard = Arc::new(Heard::default());
        listen(child.stdout.take().expect("it is piped"), Arc::clone(&heard));
        let mut server = Server {
            child: Mutex::new(child),
            pid,
            stdin: Mutex::new(stdin),
            heard,
            next_id: AtomicU64::new(1),
            log,
            info: Value::Null,
            tools: Vec::new(),
        };
        server.shake_hands();
        server
    }

    fn shake_hands(&mut self) {
        let client = json!({"name": "tests", "version": "1"});
        let hello = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        self.info = self.request("initialize", hello).wait().0["result"].clone();
        self.notify("notifications/initialized", json!({}));
        let list = self.request("tools/list", json!({})).wait();
        self.tools = list.0["result"]["tools"].as_array().cloned().unwrap_or_default();
    }

    /// The answer to `initialize`.
    pub(crate) fn info(&self) -> &Value {
        &self.info
    }

    pub(crate) fn tools(&self) -> &[Value] {
        &self.tools
    }

    pub(crate) fn tool(&self, name: &str) -> &Value {
        self.tools
            .iter()
            .find(|tool| tool["name"] == name)
            .unwrap_or(&Value::Null)
    }

    // ---- Calls

    /// The report of a run of these selectors.
    pub(crate) fn run(&self, paths: impl IntoIterator<Item = impl AsRef<str>>) -> Value {
        self.run_with(paths, json!({}))
    }

    /// The same with more arguments.
    pub(crate) fn run_with(&self, paths: impl IntoIterator<Item = impl AsRef<str>>, arguments: Value) -> Value {
        self.report(self.begin(paths, arguments))
    }

    /// Waits for the report of a run that was begun.
    pub(crate) fn report(&self, call: Pending) -> Value {
        let report = call.wait().success(&self.tool("rails_spec_run")["outputSchema"]);
        complete::<Report>(&report);
        report
    }

    /// Starts a run and does not wait.
    pub(crate) fn begin(&self, paths: impl IntoIterator<Item = impl AsRef<str>>, mut arguments: Value) -> Pending {
        let paths: Vec<String> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        arguments["paths"] = json!(paths);
        // The end is what most tests are about, however long a busy machine takes to get there.
        if arguments.get("wait_seconds").is_none() {
            arguments["wait_seconds"] = json!(900);
        }
        self.call("rails_spec_run", arguments)
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Pending {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// What a tool that reads says.
    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments)
            .wait()
            .success(&self.tool(tool)["outputSchema"])
    }

    /// Why it says nothing.
    pub(crate) fn ask_in_vain(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).wait().refusal()
    }

    pub(crate) fn status(&self) -> Value {
        let answer = self.call("rails_runtime_status", json!({})).wait();
        let status = answer.success(&self.tool("rails_runtime_status")["outputSchema"]);
        complete::<Status>(&status);
        status
    }

    /// The status once nothing is going on.
    pub(crate) fn at_rest(&self) -> Value {
        eventually("the server is at rest", || {
            let status = self.status();
            ["absent", "ready"]
                .iter()
                .any(|state| status["state"] == *state)
                .then_some(status)
        })
    }

    pub(crate) fn cancel(&self, call: &Pending) {
        self.notify(
            "notifications/cancelled",
            json!({"requestId": call.id, "reason": "changed my mind"}),
        );
    }

    pub(crate) fn request(&self, method: &str, params: Value) -> Pending {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = channel();
        lock(&self.heard.waiting).insert(id, answered);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        Pending {
            id,
            answer,
            log: self.log.clone(),
        }
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&self, message: Value) {
        self.send_line(&message.to_string());
    }

    /// Whatever it is.
    pub(crate) fn send_line(&self, line: &str) {
        let mut stdin = lock(&self.stdin);
        let stdin = stdin.as_mut().expect("stdin is open");
        if let Err(error) = stdin.write_all(format!("{line}\n").as_bytes()) {
            panic!(
                "failed to send: {error}{}; its log:\n{}",
                watchdog::remark(),
                log(&self.log)
            );
        }
    }

    /// Codes of the answers so far to lines that were no requests.
    pub(crate) fn complaints(&self) -> Vec<i64> {
        lock(&self.heard.complaints).clone()
    }

    /// The parameters of all notifications of this method so far.
    pub(crate) fn told(&self, method: &str) -> Vec<Value> {
        let told = lock(&self.heard.told);
        let of_method = told.iter().filter(|(name, _)| name == method);
        of_method.map(|(_, params)| params.clone()).collect()
    }

    /// Lines on stdout that are no MCP.
    pub(crate) fn stray_lines(&self) -> Vec<String> {
        lock(&self.heard.stray).clone()
    }

    // ---- Processes

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Everything that it has started and that is still there.
    pub(crate) fn processes(&self) -> Vec<Proc> {
        let mut found = tree::below(self.pid);
        found.extend(tree::orphans());
        found
    }

    /// What is there besides the warm tree of one keeper, worker, app and zygote; what is about to end gets the time for it.
    pub(crate) fn beside_the_warm_tree(&self) -> Vec<Proc> {
        let over = Instant::now() + SETTLING;
        loop {
            let mut left = self.processes();
            for name in [
                "__jail",
                "coatepec worker",
                "coatepec app",
                "coatepec reader",
                "coatepec zygote",
            ] {
                if let Some(at) = left.iter().position(|proc| proc.command.contains(name)) {
                    left.remove(at);
                }
            }
            if left.is_empty() || Instant::now() >= over {
                return left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        tree::kill(self.pid, signal);
    }

    /// To one of its processes.
    pub(crate) fn signal_to(&self, pid: i32, signal: Signal) {
        tree::kill(pid, signal);
    }

    /// Waits until one of its processes has ended.
    pub(crate) fn ended(&self, pid: i32) {
        eventually("it has ended", || {
            tree::read(pid).is_none_or(|found| found.is_dead()).then_some(())
        });
    }

    pub(crate) fn close_stdin(&self) {
        drop(lock(&self.stdin).take());
    }

    pub(crate) fn wait(&self) -> ExitStatus {
        let status = eventually("the server has ended", || {
            lock(&self.child).try_wait().expect("it can be waited for")
        });
        tree::ended(self.pid);
        status
    }

    /// The server must be gone, or going, and everything else with it.
    pub(crate) fn nothing_is_left(&self) {
        self.wait();
        eventually(
            &format!("nothing of the server was left: {:?}", self.processes()),
            || self.processes().is_empty().then_some(()),
        );
    }

    /// As [`Server::stop`] where another server is at work, whose processes are not to be counted.
    pub(crate) fn end(self) {
        self.close_stdin();
        assert_eq!(self.wait().code(), Some(0), "its log:\n{}", log(&self.log));
    }

    /// The good end: the client closes its end, the server leaves with 0, nothing is left, and nothing but MCP was said.
    pub(crate) fn stop(self) {
        self.close_stdin();
        assert_eq!(self.wait().code(), Some(0), "its log:\n{}", log(&self.log));
        self.nothing_is_left();
        assert_eq!(self.stray_lines(), [""; 0], "only MCP may be on stdout");
    }

    pub(crate) fn log(&self) -> String {
        log(&self.log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let left = tree::below(self.pid);
        tree::kill(self.pid, Signal::SIGKILL);
        left.iter().for_each(|proc| tree::kill(proc.pid, Signal::SIGKILL));
        let _ = lock(&self.child).wait();
        tree::ended(self.pid);
    }
}

/// As the types say, to the last field; clients are told the outline only.
fn complete<T: schemars::JsonSchema>(result: &Value) {
    let wrong = violations(&coatepec::mcp::schema::complete::<T>(), result);
    assert!(wrong.is_empty(), "not as its type says: {wrong:#?}\n{result}");
}

fn command(app: &App, setup: &Setup, log: &Path) -> Command {
    let binary = setup.binary.as_ref().map(|binary| binary.display().to_string());
    let binary = binary.unwrap_or_else(|| env!("CARGO_BIN_EXE_coatepec").to_owned());
    let mut words = setup.wrapper.iter().chain([&binary]);
    #[expect(clippy::disallowed_methods, reason = "a client starts its server")]
    let mut command = Command::new(words.next().expect("at least the binary"));
    command.args(words);
    match &setup.directory {
        Some(directory) => command.current_dir(directory),
        None => command.arg("--root").arg(app.root()),
    };
    if !setup.shared {
        command.arg("--no-share");
    }
    command
        .args(&setup.arguments)
        .env("TMPDIR", app.beside("tmp"))
        .env("XDG_STATE_HOME", app.beside("state"))
        .env("COATEPEC_LOG", "info")
        // The fixture loads everything where it is set.
        .env_remove("CI");
    command.envs(shared_cache());
    for (name, value) in &setup.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let stderr = File::options()
        .create(true)
        .append(true)
        .open(log)
        .expect("a log can be made");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    command
}

/// Hands each answer to whoever waits for it, until the end of stdout; who still waits then learns of the end.
fn listen(stdout: ChildStdout, heard: Arc<Heard>) {
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            heard.hear(&String::from_utf8_lossy(&line));
        }
        lock(&heard.waiting).clear();
    });
}

impl Heard {
    fn hear(&self, line: &str) {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        match (message["jsonrpc"].as_str(), message["id"].as_u64()) {
            (Some("2.0"), Some(id)) if message.get("method").is_none() => {
                // Nobody may be waiting any more.
                lock(&self.waiting).remove(&id).map(|waiting| waiting.send(message));
            }
            (Some("2.0"), None) if message["error"].is_object() => {
                lock(&self.complaints).push(message["error"]["code"].as_i64().unwrap_or_default());
            }
            // A notification.
            (Some("2.0"), None) if message["method"].is_string() => {
                let method = message["method"].as_str().unwrap_or_default().to_owned();
                lock(&self.told).push((method, message["params"].clone()));
            }
            _ => lock(&self.stray).push(line.to_owned()),
        }
    }
}

fn log(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A test that failed elsewhere leaves plain data.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
