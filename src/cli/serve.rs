//! `coatepec --root PATH`: MCP over stdio until the client closes its end or a signal comes.

use tokio_util::sync::CancellationToken;

use crate::daemon::connect::Target;
use crate::daemon::{front, signals};
use crate::error::Result;
use crate::mcp;
use crate::process::orphans;
use crate::supervisor::Supervisor;
use crate::supervisor::setup::Site;

/// How to serve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) eager: bool,
    /// Share the warm app with everybody else who works on this checkout.
    pub(super) share: bool,
}

pub(super) fn serve(site: &Site, manner: Manner) -> Result<()> {
    // One thread: there is nothing to compute, only to wait for. Reading files happens on threads that come and go.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(session(site, manner));
    // A blocked read of stdin can't be cancelled, and must not keep us.
    runtime.shutdown_background();
    served
}

async fn session(site: &Site, manner: Manner) -> Result<()> {
    let stop = signals::stop()?;
    if manner.share {
        match shared(site, manner.eager, stop.clone()).await {
            Ok(()) => return Ok(()),
            // A place where nothing can be shared is no reason to serve nobody.
            Err(error) => tracing::warn!(%error, "serves this client alone"),
        }
    }
    alone(site, manner.eager, stop).await
}

async fn shared(site: &Site, eager: bool, stop: CancellationToken) -> Result<()> {
    let (stdin, stdout) = mcp::stdio();
    front::serve(Target::new(site, eager)?, stdin, stdout, stop).await
}

async fn alone(site: &Site, eager: bool, stop: CancellationToken) -> Result<()> {
    orphans::adopt();
    let (supervisor, steward) = Supervisor::start(site.clone(), eager);
    let (stdin, stdout) = mcp::stdio();
    let served = mcp::serve(supervisor.clone(), stdin, stdout, stop).await;
    supervisor.shut_down().await;
    let _ = steward.await;
    served
}

/// `COATEPEC_LOG=debug` shows more. stdout is the protocol's.
pub(super) fn log_to_stderr() {
    let filter =
        tracing_subscriber::EnvFilter::try_from_env("COATEPEC_LOG").unwrap_or_else(|_| "warn,rmcp=error".into());
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
}
