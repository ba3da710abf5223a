//! What a process of ours prints besides the protocol, kept for the diagnosis of its death.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    heard: Heard,
    reading: tokio::task::JoinHandle<()>,
}

/// What is read of a pipe, also for others while it is being read.
#[derive(Debug, Clone)]
pub struct Heard(Arc<Mutex<Capture>>);

impl Heard {
    /// What was printed so far.
    pub fn so_far(&self) -> Captured {
        self.capture().clone().finish()
    }

    fn capture(&self) -> MutexGuard<'_, Capture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    pub fn read(pipe: pipe::Receiver) -> Tail {
        Tail::with_limit(pipe, LIMIT)
    }

    pub fn with_limit(mut pipe: pipe::Receiver, limit: usize) -> Tail {
        let heard = Heard(Arc::new(Mutex::new(Capture::new(limit))));
        let into = heard.clone();
        let reading = tokio::spawn(async move {
            let mut chunk = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
                into.capture().push(&chunk[..read]);
            }
        });
        Tail { heard, reading }
    }

    pub fn heard(&self) -> Heard {
        self.heard.clone()
    }

    /// What was printed so far.
    pub fn so_far(&self) -> Captured {
        self.heard.so_far()
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
