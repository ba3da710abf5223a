//! What was called and what ran, one line of JSON each, in the user's state directory: for a person who wants to know
//! what an agent has done.
//!
//! Invariant: no secrets: of the arguments only paths are kept. Whatever goes wrong here, no call notices it.

pub mod entry;

pub mod file;

pub mod time;

pub mod touched;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

pub use entry::Entry;
pub use file::LogFile;

/// Entries that wait to be written; more are dropped.
const WAITING: usize = 1024;

/// How long the end of a server waits for the last of them.
const FAREWELL: Duration = Duration::from_secs(1);

/// Writes entries in order, without anybody waiting for it.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<OnceLock<mpsc::Sender<Message>>>);

#[derive(Debug)]
enum Message {
    Entry(Box<Entry>),
    Flush(oneshot::Sender<()>),
}

impl Journal {
    /// # Panics
    /// Outside a tokio runtime, when it is the first one.
    pub fn note(&self, entry: Entry) {
        let _ = self.writer().try_send(Message::Entry(Box::new(entry)));
    }

    /// Waits until everything so far is written, but not for long.
    pub async fn flush(&self) {
        let (written, done) = oneshot::channel();
        let Some(writer) = self.0.get() else { return };
        if writer.try_send(Message::Flush(written)).is_ok() {
            let _ = timeout(FAREWELL, done).await;
        }
    }

    fn writer(&self) -> &mpsc::Sender<Message> {
        self.0.get_or_init(|| {
            let (writer, messages) = mpsc::channel(WAITING);
            tokio::spawn(write(messages));
            writer
        })
    }
}

async fn write(mut messages: mpsc::Receiver<Message>) {
    let mut complained = false;
    while let Some(message) = messages.recv().await {
        let written = match message {
            Message::Entry(entry) => spawn_blocking(move || LogFile::find()?.append(&entry)).await,
            Message::Flush(done) => {
                let _ = done.send(());
                continue;
            }
        };
        if let (Ok(Err(error)), false) = (written, complained) {
            tracing::warn!(%error, "failed to write the log of calls");
            complained = true;
        }
    }
}
