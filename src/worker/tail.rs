//! What a process of ours prints besides the protocol, kept for the diagnosis of its death.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::run::output::{Capture, Captured};

/// Kept per stream, in bytes.
const LIMIT: usize = 16 * 1024;

/// A pipe that is drained in the background, for as long as anyone writes to it.
#[derive(Debug)]
pub struct Tail {
    captured: Arc<Mutex<Capture>>,
    reading: tokio::task::JoinHandle<()>,
}

impl Tail {
    pub fn read(pipe: pipe::Receiver) -> Tail {
        Tail::with_limit(pipe, LIMIT)
    }

    pub fn with_limit(mut pipe: pipe::Receiver, limit: usize) -> Tail {
        let captured = Arc::new(Mutex::new(Capture::new(limit)));
        let into = Arc::clone(&captured);
        let reading = tokio::spawn(async move {
            let mut chunk = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
                into.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..read]);
            }
        });
        Tail { captured, reading }
    }

    /// What was printed so far.
    pub fn so_far(&self) -> Captured {
        self.captured
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .finish()
    }

    /// What was printed, given a moment for the last words to arrive.
    pub async fn settled(&self) -> String {
        let _ = timeout(Duration::from_millis(50), async {
            while !self.reading.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        self.so_far().text
    }

    /// Returns when the pipe is at its end; may be dropped and asked again.
    pub async fn closed(&mut self) {
        if !self.reading.is_finished() {
            let _ = (&mut self.reading).await;
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
