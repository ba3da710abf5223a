//! What is going on, for everyone to read at any moment without waiting for anyone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tokio::sync::watch;

use super::booted::Booted;
use super::neighbours::Neighbour;
use super::queue::Waiting;
use super::seconds_since;
use super::warm::Prepared;
use crate::config::{Fork, IncludeStdout};
use crate::process::cgroup;
use crate::run::RunId;
use crate::run::mode::Decision;
use crate::run::outcome::Outcome;
use crate::run::paths::Paths;
use crate::run::report::Mode;
use crate::sandbox::Enforcement;
use crate::worker::protocol::Versions;

/// What the warm process is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing is booted; the first call boots.
    #[default]
    Absent,
    /// Booting, reloading or loading the test helper, as far as the files call for it.
    Preparing,
    Ready,
    Running,
}

/// The answer of `rails_runtime_status`.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Status {
    pub state: Phase,
    /// Seconds in this state.
    pub for_seconds: f64,
    pub coatepec: String,
    /// Of the server itself; all clients that it tells this number share one app.
    pub server_pid: u32,
    /// More servers of this checkout: each has an app of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_servers: Vec<Neighbour>,
    pub project_root: String,
    /// Of the booted app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
    /// Counts up with each boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_pid: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zygote_pid: Option<i32>,
    /// Why the app was last booted or reloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_trigger: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    /// Calls that wait for their turn.
    pub queued: usize,
    /// The same calls in their order, the next one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<Waiting>,
    pub runs: Runs,
    /// Calls so far, of all clients, by tool.
    pub calls: BTreeMap<String, u64>,
    /// How the last run was executed that had the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forking: Option<Forking>,
    /// The built-in ones while there is a `config_error`.
    pub defaults: Defaults,
    /// What is wrong with `.coatepec.yml`. Every run is refused until it is mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
    /// Files of the app that could not be loaded ahead of time; a spec that needs them will fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eager_load_error: Option<String>,
    /// Ports and sockets that the app listens on since its boot. Forked runs don't hold them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listening: Vec<String>,
    /// Files that the app or its test helper writes each time it is loaded. It is not loaded again because of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// How the warm processes are confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Enforcement>,
    /// Variables that look like secrets and are kept from the app; `env: {keep: …}` of `sandbox` gives them to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<String>,
    /// Places in `write` and `read` of `sandbox` that name nothing there is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_there: Vec<String>,
    /// Who keeps the limit of memory of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryLimit {
    /// The kernel, at every moment: each run has a cgroup with a limit of its own.
    Kernel,
    /// The server, which looks four times a second.
    Polled,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Forking {
    pub safe: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Threads that came after the boot, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra_threads: Vec<String>,
    /// Forked runs in a row that crashed; three end forking for this boot.
    #[serde(skip_serializing_if = "is_zero")]
    pub crashes: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Running {
    pub run_id: String,
    pub seconds: f64,
}

/// Runs since the start, by how they executed and what they amounted to.
#[derive(Debug, Clone, Default, Serialize, schemars::JsonSchema)]
pub struct Runs {
    pub modes: BTreeMap<String, u64>,
    pub outcomes: BTreeMap<String, u64>,
}

/// What applies to a call that says nothing else, after `.coatepec.yml`.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Defaults {
    pub timeout_seconds: u64,
    pub include_passing: bool,
    pub include_stdout: IncludeStdout,
    pub fork: Fork,
}

#[derive(Debug, Clone, Default)]
pub struct Board(Arc<watch::Sender<Facts>>);

#[derive(Debug)]
struct Facts {
    phase: Phase,
    since: Instant,
    boot: Option<BootFacts>,
    last_trigger: Option<String>,
    running: Option<(RunId, Instant)>,
    runs: Runs,
    calls: BTreeMap<String, u64>,
    forking: Option<Forking>,
}

#[derive(Debug, Clone)]
struct BootFacts {
    versions: Versions,
    id: u64,
    seconds: f64,
    worker_pid: i32,
    zygote_pid: Option<i32>,
    eager_load_error: Option<String>,
    listening: Vec<String>,
    rewritten: BTreeSet<PathBuf>,
    sandbox: Enforcement,
    memory_limit: MemoryLimit,
}

impl BootFacts {
    /// None of what has no app yet, or none any more.
    fn of(booted: &Booted) -> Option<Self> {
        let ready = &booted.app.as_ref()?.ready;
        let error = ready.eager_load_error.as_ref();
        Some(BootFacts {
            versions: booted.versions(),
            id: booted.id,
            seconds: booted.seconds + ready.seconds,
            worker_pid: booted.worker.pid,
            zygote_pid: booted.zygote.as_ref().map(|zygote| zygote.pid()),
            eager_load_error: error.map(|error| error.message.clone()),
            listening: ready.listening.clone(),
            rewritten: booted.rewritten.clone(),
            sandbox: booted.worker.kept().enforcement(),
            memory_limit: match cgroup::keeps_memory() {
                true => MemoryLimit::Kernel,
                false => MemoryLimit::Polled,
            },
        })
    }

    fn rewritten(&self, root: &str) -> Vec<String> {
        let paths = Paths::new(Path::new(root), std::env::home_dir());
        self.rewritten.iter().map(|path| paths.file(path)).collect()
    }
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            phase: Phase::Absent,
            since: Instant::now(),
            boot: None,
            last_trigger: None,
            running: None,
            runs: Runs::default(),
            calls: BTreeMap::new(),
            forking: None,
        }
    }
}

impl Board {
    pub fn preparing(&self) {
        self.change(|facts| facts.enter(Phase::Preparing));
    }

    /// As [`Board::preparing`], by somebody who does not wait for a run that may be under way.
    pub fn looking(&self) {
        self.change(|facts| {
            if facts.running.is_none() {
                facts.enter(Phase::Preparing);
            }
        });
    }

    pub fn running(&self, id: RunId) {
        self.change(|facts| {
            facts.running = Some((id, Instant::now()));
            facts.enter(Phase::Running);
        });
    }

    pub fn is_running(&self) -> bool {
        self.0.borrow().running.is_some()
    }

    /// Whether a run may be forked, as it was just decided.
    pub fn decided(&self, decision: &Decision, extra_threads: Vec<String>, crashes: u32) {
        let reason = match decision {
            Decision::Fork => None,
            Decision::Spawn { reason, .. } => Some(reason.clone()),
        };
        self.change(|facts| {
            facts.forking = Some(Forking {
                safe: reason.is_none(),
                reason,
                extra_threads,
                crashes,
            });
        });
    }

    /// What was done to make the app warm, or to try.
    pub fn prepared(&self, prepared: &Prepared, booted: Option<&Booted>) {
        let boot = booted.and_then(BootFacts::of);
        self.change(|facts| {
            facts.last_trigger = prepared.trigger.clone().or(facts.last_trigger.take());
            facts.boot = boot;
        });
    }

    pub fn called(&self, tool: &str) {
        self.change(|facts| *facts.calls.entry(tool.to_owned()).or_default() += 1);
    }

    /// Nothing runs any more.
    pub fn stopped(&self) {
        self.change(|facts| facts.running = None);
    }

    /// Nothing is booted any more; a run under way goes on.
    pub fn retired(&self) {
        self.change(|facts| {
            facts.boot = None;
            if facts.running.is_none() {
                facts.enter(Phase::Absent);
            }
        });
    }

    pub fn ran(&self, mode: Option<Mode>, outcome: Outcome) {
        self.change(|facts| {
            facts.running = None;
            *facts.runs.outcomes.entry(name(outcome)).or_default() += 1;
            if let Some(mode) = mode {
                *facts.runs.modes.entry(name(mode)).or_default() += 1;
            }
        });
    }

    /// Back to rest, with or without a booted app.
    pub fn at_rest(&self, booted: Option<&Booted>) {
        let boot = booted.and_then(BootFacts::of);
        self.change(|facts| {
            facts.running = None;
            facts.enter(if boot.is_some() { Phase::Ready } else { Phase::Absent });
            facts.boot = boot;
        });
    }

    pub fn status(&self, project_root: String, defaults: Defaults, queue: Vec<Waiting>) -> Status {
        let facts = self.0.borrow();
        let boot = facts.boot.as_ref();
        Status {
            state: facts.phase,
            for_seconds: seconds_since(facts.since),
            coatepec: env!("CARGO_PKG_VERSION").to_owned(),
            server_pid: std::process::id(),
            other_servers: Vec::new(),
            versions: boot.map(|boot| boot.versions.clone()),
            boot_id: boot.map(|boot| boot.id),
            boot_seconds: boot.map(|boot| (boot.seconds * 1000.0).round() / 1000.0),
            worker_pid: boot.map(|boot| boot.worker_pid),
            zygote_pid: boot.and_then(|boot| boot.zygote_pid),
            last_trigger: facts.last_trigger.clone(),
            running: facts.running.map(|(id, since)| Running {
                run_id: id.to_string(),
                seconds: seconds_since(since),
            }),
            queued: queue.len(),
            queue,
            runs: facts.runs.clone(),
            calls: facts.calls.clone(),
            forking: facts.forking.clone(),
            defaults,
            config_error: None,
            eager_load_error: boot.and_then(|boot| boot.eager_load_error.clone()),
            listening: boot.map(|boot| boot.listening.clone()).unwrap_or_default(),
            sandbox: boot.map(|boot| boot.sandbox.clone()),
            held_back: Vec::new(),
            not_there: Vec::new(),
            memory_limit: boot.map(|boot| boot.memory_limit),
            rewrites: boot.map(|boot| boot.rewritten(&project_root)).unwrap_or_default(),
            project_root,
        }
    }

    /// Waits until nothing is being booted or loaded.
    pub async fn settled(&self) {
        let mut facts = self.0.subscribe();
        let _ = facts.wait_for(|facts| facts.phase != Phase::Preparing).await;
    }

    fn change(&self, change: impl FnOnce(&mut Facts)) {
        self.0.send_modify(change);
    }
}

impl Facts {
    fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            self.phase = phase;
            self.since = Instant::now();
        }
    }
}

/// The public name of a value, as in the JSON.
pub(super) fn name(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => unreachable!("modes and outcomes are plain names"),
    }
}
