//! Runs as tasks, for clients of the protocol of 2026 that declare the extension: a run that takes longer is handed out as a
//! task, and asked for by `tasks/get`. A task is its run, by the same id, and is kept as long as that.

use std::time::SystemTime;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, CreateTaskResult, DetailedTask, JsonObject, Task, TaskPayload, TaskStatus};
use rmcp::service::{RequestContext, RoleServer};

use super::handler::{failure, success};
use crate::error::{Error, Kind};
use crate::journal::time::utc;
use crate::run::outcome::Outcome;
use crate::supervisor::Supervisor;
use crate::supervisor::runs::{Found, Ongoing, Over};

/// Seconds after which a run becomes a task: what is quicker is answered at once, without being asked for again.
pub(super) const WAIT_SECONDS: u64 = 5;

/// How often a client is to ask.
const POLL_MS: u64 = 1000;

/// Longer than a run, with its boot and its turn in the queue, takes by far.
const TTL_MS: u64 = 3_600_000;

pub(super) fn declared(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .is_some_and(|capabilities| capabilities.supports_tasks())
}

pub(super) fn created(ongoing: &Ongoing) -> CreateTaskResult {
    CreateTaskResult::new(under_way(ongoing))
}

/// # Errors
/// When there is no such task, or none any more.
pub(super) fn state(supervisor: &Supervisor, id: &str) -> Result<DetailedTask, ErrorData> {
    match found(supervisor, id)? {
        Found::Over(over) => ended(id, &over),
        Found::Ongoing(ongoing) => Ok(match ongoing.error() {
            Some(error) => failed(&ongoing, &error),
            None => DetailedTask::new(under_way(&ongoing), TaskPayload::Working),
        }),
    }
}

/// # Errors
/// As of [`state`].
pub(super) fn cancel(supervisor: &Supervisor, id: &str) -> Result<(), ErrorData> {
    if let Found::Ongoing(ongoing) = found(supervisor, id)? {
        ongoing.give_up();
    }
    Ok(())
}

fn found(supervisor: &Supervisor, id: &str) -> Result<Found, ErrorData> {
    let unknown = |why: String| ErrorData::invalid_params(format!("there is no task `{id}`{why}"), None);
    let run = id.parse().map_err(|()| unknown(String::new()))?;
    supervisor
        .found(run)
        .map_err(|error| unknown(format!(": {}", error.with_hint())))
}

fn under_way(ongoing: &Ongoing) -> Task {
    let now = utc(SystemTime::now());
    let task = Task::new(ongoing.id.to_string(), TaskStatus::Working, utc(ongoing.asked()), now);
    bounded(task).with_status_message(ongoing.progress().borrow().sentence())
}

fn ended(id: &str, over: &Over) -> Result<DetailedTask, ErrorData> {
    let task = bounded(Task::new(id, TaskStatus::Completed, utc(over.asked), utc(over.ended)));
    let report = over.report();
    if report.outcome == Outcome::Cancelled {
        return Ok(DetailedTask::new(task, TaskPayload::Cancelled));
    }
    let result = success(&report).unwrap_or_else(|error| failure(&error));
    Ok(DetailedTask::new(task, completed(&result)?))
}

/// It never was a run.
fn failed(ongoing: &Ongoing, error: &Error) -> DetailedTask {
    let task = under_way(ongoing).with_status_message(error.to_string());
    match (error.kind, completed(&failure(error))) {
        (Kind::Cancelled, _) | (_, Err(_)) => DetailedTask::new(task, TaskPayload::Cancelled),
        (_, Ok(payload)) => DetailedTask::new(task, payload),
    }
}

fn completed(result: &CallToolResult) -> Result<TaskPayload, ErrorData> {
    let result: serde_json::Result<JsonObject> = serde_json::to_value(result).and_then(serde_json::from_value);
    result
        .map(|result| TaskPayload::Completed { result })
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn bounded(task: Task) -> Task {
    task.with_ttl_ms(TTL_MS).with_poll_interval_ms(POLL_MS)
}
