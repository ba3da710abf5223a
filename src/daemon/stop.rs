//! Ends daemons from outside, of whatever version.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::timeout;

use super::place::cards;
use super::serve::COMMAND;
use crate::error::Result;
use crate::process::pidfd::PidFd;
use crate::process::procfs;
use crate::supervisor::card::Card;

/// How long a daemon may take to end everything before it is killed; its keepers then end the rest.
const PATIENCE: Duration = Duration::from_secs(15);

/// Ends all daemons of the checkout at `root`, and says which. Their sessions go on with a new one when they need it.
///
/// # Errors
/// When one of them can't be ended.
pub async fn stop(root: &Path) -> Result<Vec<Card>> {
    let mut stopped = Vec::new();
    for (path, card) in cards(root) {
        if end(&card).await? {
            stopped.push(card);
        }
        let _ = fs::remove_file(path);
    }
    Ok(stopped)
}

/// Whether it was there. Tests may write cards, and must not choose whom we end.
async fn end(card: &Card) -> Result<bool> {
    if !is_daemon(card) {
        return Ok(false);
    }
    let Ok(daemon) = PidFd::open_exactly(card.identity()) else {
        return Ok(false);
    };
    daemon.signal(Signal::SIGTERM)?;
    // It may have been stopped, or be gone by now.
    let _ = daemon.signal(Signal::SIGCONT);
    if timeout(PATIENCE, daemon.exited()).await.is_err() {
        daemon.signal(Signal::SIGKILL)?;
        daemon.exited().await;
    }
    Ok(true)
}

/// By what it was started with, where the system tells.
fn is_daemon(card: &Card) -> bool {
    let words = procfs::arguments(card.identity().pid);
    words.is_none_or(|words| words.get(1).is_some_and(|word| word == COMMAND))
}
