//! The MCP front end: tools over a pair of streams. It knows the supervisor and nothing below it.
//!
//! Invariant: stdout carries MCP only; everything else goes to stderr.

mod arguments;
mod handler;
mod progress;
mod prompts;
mod resources;
pub mod schema;
mod subscriptions;
mod tasks;
mod tools;
mod transport;

use rmcp::ServiceExt;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::supervisor::Supervisor;
use handler::Handler;

/// Bytes of the longest line that a client may send, its end included.
pub const LINE: usize = transport::LINE;

/// The key in the metadata of a progress notification that names the run, and the parameter of [`HURRY`].
pub const RUN_ID: &str = "coatepec/run_id";
/// In the `_meta` of a call of the shell, which runs a selection of both frameworks in two: the run before this one.
pub const CONTINUES: &str = "coatepec/continues";

/// A notification of ours: a run that was taken back is to be ended without grace.
pub const HURRY: &str = "notifications/coatepec/hurry";

/// The answer to a line that is longer.
pub fn too_long() -> String {
    transport::too_long()
}

/// The tools as `tools/list` has them.
pub fn listed() -> Vec<Value> {
    let tools = tools::all();
    tools
        .iter()
        .map(|tool| serde_json::to_value(tool).unwrap_or_default())
        .collect()
}

/// Whether a call of this tool may be made twice without anybody noticing.
pub fn reads_only(tool: &str) -> bool {
    tools::all()
        .iter()
        .find(|known| known.name == tool)
        .and_then(|known| known.annotations.as_ref()?.read_only_hint)
        .unwrap_or(false)
}

/// The result of a call that failed, as JSON.
pub fn failed_call(error: &Error) -> Value {
    serde_json::to_value(handler::failure(error)).unwrap_or_default()
}

/// stdin and stdout of this process, as pipes where they are pipes.
pub fn stdio() -> (
    impl AsyncRead + Send + Unpin + 'static,
    impl AsyncWrite + Send + Unpin + 'static,
) {
    rmcp::transport::io::stdio_pipes()
}

/// Serves one client until it closes its end, or `stop` is cancelled; cancelled it is then in either case, and all calls
/// of this client with it.
///
/// # Errors
/// When the session can't begin.
pub async fn serve<R, W>(supervisor: Supervisor, reader: R, writer: W, stop: CancellationToken) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let _all_its_calls = stop.clone().drop_guard();
    let transport = transport::Lines::new(reader, writer, stop.clone());
    let handler = Handler::new(supervisor, stop.clone());
    let serving = handler.serve_with_ct(transport, stop.clone());
    let service = tokio::select! {
        service = serving => match service {
            Ok(service) => service,
            // A client that goes away before it has said hello is no error.
            Err(_) if stop.is_cancelled() => return Ok(()),
            Err(error) => return Err(Error::internal("failed to begin the MCP session").source(error)),
        },
        () = stop.cancelled() => return Ok(()),
    };
    tokio::select! {
        _ = service.waiting() => {}
        () = stop.cancelled() => {}
    }
    Ok(())
}
