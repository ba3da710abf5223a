//! The MCP front end: tools over stdio. It knows the supervisor and nothing below it.
//!
//! Invariant: stdout carries MCP only; everything else goes to stderr.

mod arguments;
mod handler;
mod progress;
pub mod schema;
mod tools;
mod transport;

use rmcp::ServiceExt;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::supervisor::Supervisor;
use handler::Handler;

/// Serves one client until it closes its end, or `stop` is cancelled.
pub async fn serve_stdio(supervisor: Supervisor, stop: CancellationToken) -> Result<()> {
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let transport = transport::Stdio::new(stdin, stdout, stop.clone());
    let handler = Handler::new(supervisor);
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
