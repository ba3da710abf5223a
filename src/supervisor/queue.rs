//! Calls that wait for their turn: first come, first served, and no more than so many. A call that is given up leaves
//! at once, and makes room.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

use super::call::Queued;
use super::seconds_since;

/// Calls that may wait at a time, besides the one that is being served.
pub const QUEUE: usize = 32;

#[derive(Debug, Clone, Default)]
pub struct Queue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    line: Mutex<Line>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<(u64, Queued)>,
    tickets: u64,
    /// Whether a call has been taken and the next one not yet asked for.
    serving: bool,
    closed: bool,
}

/// Why a call does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotQueued {
    Full,
    Closed,
}

/// One that waits, as `status` shows it.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Waiting {
    /// The first of its paths.
    pub path: String,
    /// How many more it has.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_paths: usize,
    /// Seconds since it came.
    pub seconds: f64,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Queue {
    /// Puts a call at the end, and tells it how many are ahead. What is returned finds it again.
    pub fn join(&self, mut call: Queued) -> Result<u64, NotQueued> {
        let mut line = self.line();
        if line.closed {
            return Err(NotQueued::Closed);
        }
        if line.waiting.len() >= QUEUE {
            return Err(NotQueued::Full);
        }
        line.tickets += 1;
        let ticket = line.tickets;
        call.ahead = line.waiting.len() + usize::from(line.serving);
        let ahead = call.ahead;
        call.ongoing().on_progress(|progress| progress.ahead = ahead);
        line.waiting.push_back((ticket, call));
        self.0.came.notify_one();
        Ok(ticket)
    }

    /// The next call, once there is one. Whoever had the last one is done with it by asking.
    pub async fn next(&self) -> Queued {
        self.line().serving = false;
        loop {
            if let Some(call) = self.take() {
                return call;
            }
            self.0.came.notified().await;
        }
    }

    fn take(&self) -> Option<Queued> {
        let mut line = self.line();
        let (_, call) = line.waiting.pop_front()?;
        line.serving = true;
        line.tell_places();
        Some(call)
    }

    /// Takes a call out, if it was still waiting; says how many were ahead of it.
    pub fn leave(&self, ticket: u64) -> Option<(usize, Queued)> {
        let mut line = self.line();
        let at = line.waiting.iter().position(|(known, _)| *known == ticket)?;
        let (_, call) = line.waiting.remove(at)?;
        line.tell_places();
        Some((at + usize::from(line.serving), call))
    }

    /// In their order, the next one first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.line().waiting.iter().map(|(_, call)| Waiting::new(call)).collect()
    }

    /// Nobody is served any more; who waits learns it by the end of its reply.
    pub fn close(&self) {
        let mut line = self.line();
        line.closed = true;
        line.waiting.clear();
    }

    /// Plain data: a panic elsewhere leaves it whole.
    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// Each call, how many are ahead of it now.
    fn tell_places(&self) {
        for (at, (_, call)) in self.waiting.iter().enumerate() {
            let ahead = at + usize::from(self.serving);
            call.ongoing().on_progress(|progress| progress.ahead = ahead);
        }
    }
}

impl Waiting {
    fn new(call: &Queued) -> Self {
        let paths = &call.checked.arguments.paths;
        Waiting {
            path: paths.first().cloned().unwrap_or_default(),
            more_paths: paths.len().saturating_sub(1),
            seconds: seconds_since(call.ongoing().since),
        }
    }
}
