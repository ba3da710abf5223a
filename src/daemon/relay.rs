//! What a front remembers of its client's session, so that it can go on with another daemon when the one that had it is
//! lost: how it began, and what is not answered yet. Pure.
//!
//! What only reads is asked again. A run is not: whoever asked is told, and decides.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Error, Kind};
use crate::mcp;

/// Of one client.
#[derive(Debug, Default)]
pub struct Relay {
    hello: Option<Vec<u8>>,
    /// It was answered: a new daemon is told again, and its answer is nobody's.
    greeted: bool,
    initialized: Option<Vec<u8>>,
    /// By what was subscribed to.
    subscriptions: BTreeMap<String, Vec<u8>>,
    under_way: Vec<Request>,
    /// Ids of requests that are ours and not the client's.
    ours: BTreeSet<String>,
    ids: u64,
}

/// A request that is not answered yet.
#[derive(Debug)]
struct Request {
    id: Value,
    method: String,
    /// Empty where it must not be sent again.
    line: Vec<u8>,
}

/// What matters here of a message.
#[derive(Debug, Default, Deserialize)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Params,
}

#[derive(Debug, Default, Deserialize)]
struct Params {
    /// Of a tool.
    name: Option<String>,
    /// Of a resource.
    uri: Option<String>,
}

impl Relay {
    /// A line that the client has sent, and that goes to the daemon as it is.
    pub fn asks(&mut self, line: &[u8]) {
        // What we don't understand is the daemon's to answer.
        let Ok(head) = serde_json::from_slice::<Head>(line) else {
            return;
        };
        let Some(method) = head.method else { return };
        self.remember(&method, &head.params, line);
        if let Some(id) = head.id {
            let once = method == "tools/call" && !head.params.name.is_some_and(|tool| mcp::reads_only(&tool));
            let line = if once { Vec::new() } else { line.to_vec() };
            self.under_way.push(Request { id, method, line });
        }
    }

    /// Nobody is answered if it is lost.
    pub fn is_notification(line: &[u8]) -> bool {
        serde_json::from_slice::<Head>(line).is_ok_and(|head| head.id.is_none() && head.method.is_some())
    }

    fn remember(&mut self, method: &str, params: &Params, line: &[u8]) {
        let uri = || params.uri.clone().unwrap_or_default();
        match method {
            "initialize" => self.hello = Some(line.to_vec()),
            "notifications/initialized" => self.initialized = Some(line.to_vec()),
            "resources/subscribe" => _ = self.subscriptions.insert(uri(), line.to_vec()),
            "resources/unsubscribe" => _ = self.subscriptions.remove(&uri()),
            _ => {}
        }
    }

    /// Whether a line of the daemon's goes to the client.
    pub fn answers(&mut self, line: &[u8]) -> bool {
        let Ok(head) = serde_json::from_slice::<Head>(line) else {
            return true;
        };
        let (Some(id), None) = (head.id, head.method) else {
            return true;
        };
        if id.as_str().is_some_and(|id| self.ours.remove(id)) {
            return false;
        }
        if let Some(at) = self.under_way.iter().position(|request| request.id == id) {
            let request = self.under_way.remove(at);
            self.greeted |= request.method == "initialize";
        }
        true
    }

    /// The daemon is gone. Answers what it must not be asked again, a line each.
    pub fn lost(&mut self) -> Vec<Vec<u8>> {
        self.ours.clear();
        let (once, again) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|request| request.line.is_empty());
        self.under_way = again;
        let once: Vec<Request> = once;
        once.iter().map(|request| lost_call(&request.id)).collect()
    }

    /// No daemon can be had. Answers everything.
    pub fn refuse(&mut self, error: &Error) -> Vec<Vec<u8>> {
        let waiting = std::mem::take(&mut self.under_way);
        let answer = |request: &Request| match request.method.as_str() {
            "tools/call" => failed_call(&request.id, error),
            _ => failed_request(&request.id, error),
        };
        waiting.iter().map(answer).collect()
    }

    /// Somebody waits for an answer.
    pub fn waits(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// What a new daemon has to be told first, a line each: how the session began, and what is still to be answered.
    pub fn resume(&mut self) -> Vec<Vec<u8>> {
        let hello = self.hello.clone().filter(|_| self.greeted);
        let mut lines = Vec::from_iter(hello.and_then(|hello| self.in_our_name(&hello)));
        let subscriptions: Vec<_> = self.subscriptions.values().cloned().collect();
        let (beginning, rest): (Vec<_>, Vec<_>) = self
            .under_way
            .iter()
            .partition(|request| request.method == "initialize");
        lines.extend(beginning.into_iter().map(|request| request.line.clone()));
        lines.extend(self.initialized.clone());
        let rest: Vec<_> = rest.into_iter().map(|request| request.line.clone()).collect();
        lines.extend(subscriptions.iter().filter_map(|line| self.in_our_name(line)));
        lines.extend(rest);
        lines
    }

    /// The same request with an id of ours.
    fn in_our_name(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let mut message: Value = serde_json::from_slice(line).ok()?;
        self.ids += 1;
        let id = format!("coatepec-front-{}", self.ids);
        message["id"] = json!(id);
        self.ours.insert(id);
        Some(message.to_string().into_bytes())
    }
}

fn lost_call(id: &Value) -> Vec<u8> {
    let error = Error::new(
        Kind::ServerLost,
        "the shared server ended while it had this call; whether it ran is not known, and nothing of it is left",
    );
    failed_call(id, &error.hint("call again: a new server takes it"))
}

fn failed_call(id: &Value, error: &Error) -> Vec<u8> {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": mcp::failed_call(error)});
    answer.to_string().into_bytes()
}

fn failed_request(id: &Value, error: &Error) -> Vec<u8> {
    let error = json!({"code": -32603, "message": error.with_hint()});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
        .to_string()
        .into_bytes()
}
