//! The outer time limit of a test: kills all that the test has started, so that what it waits for ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::tree;

/// Below the limit of nextest, which leaves nothing to look at.
const LIMIT: Duration = Duration::from_secs(540);

static EXPIRED: AtomicBool = AtomicBool::new(false);

/// Watches until it is dropped.
pub(super) struct Watchdog(#[expect(dead_code, reason = "its end is the news")] Sender<()>);

impl Watchdog {
    pub(super) fn new() -> Self {
        Watchdog::lasting(LIMIT)
    }

    pub(super) fn lasting(limit: Duration) -> Self {
        let (watched, over) = channel();
        std::thread::spawn(move || {
            if over.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                EXPIRED.store(true, Ordering::Release);
                tree::kill_all();
            }
        });
        Watchdog(watched)
    }
}

/// For messages: why a server is suddenly gone.
pub(super) fn remark() -> &'static str {
    if EXPIRED.load(Ordering::Acquire) {
        " (killed: the test took longer than its outer limit)"
    } else {
        ""
    }
}
