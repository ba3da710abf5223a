//! `coatepec --root PATH`: MCP over stdio until the client closes its end or a signal comes.

use std::path::Path;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::mcp;
use crate::process::orphans;
use crate::supervisor::Supervisor;

pub(super) fn serve(root: Option<&Path>, eager: bool) -> Result<()> {
    log_to_stderr();
    let root = super::find_root(root)?;
    // One thread: there is nothing to compute, only to wait for. Reading files happens on threads that come and go.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(session(&root, eager));
    // A blocked read of stdin can't be cancelled, and must not keep us.
    runtime.shutdown_background();
    served
}

async fn session(root: &Path, eager: bool) -> Result<()> {
    let stop = CancellationToken::new();
    stop_on_signals(&stop)?;
    orphans::adopt();
    let (supervisor, steward) = Supervisor::start(root, eager);
    let served = mcp::serve_stdio(supervisor.clone(), stop).await;
    supervisor.shut_down().await;
    let _ = steward.await;
    served
}

/// Otherwise a signal would end us before we have ended what we started. (The keepers would then do it.)
fn stop_on_signals(stop: &CancellationToken) -> Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signals.recv().await;
            stop.cancel();
        });
    }
    Ok(())
}

/// `COATEPEC_LOG=debug` shows more. stdout is the protocol's.
fn log_to_stderr() {
    let filter =
        tracing_subscriber::EnvFilter::try_from_env("COATEPEC_LOG").unwrap_or_else(|_| "warn,rmcp=error".into());
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
}
