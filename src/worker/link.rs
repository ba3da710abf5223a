//! The private line to the worker or to a zygote: questions with numbers, answers matched to them, and a remembered
//! cause once it is cut. Whatever is not an answer of the protocol cuts it: after garbage nothing can be believed.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncRead;
use tokio::sync::{mpsc, oneshot};

use super::protocol::{Answer, Ask, Envelope, Told};
use crate::process::channel::Sender;
use crate::process::lines::{LineError, LineReader};

/// Characters of a line that could not be understood, for the diagnosis.
const EXCERPT: usize = 200;

/// Messages said unasked that are kept for a listener; only the first words are ever listened to.
const UNASKED: usize = 8;

/// Why nothing comes over this line any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("the connection was closed")]
    Closed,
    #[error("the connection was closed within a line")]
    Half,
    #[error("a line was too long")]
    TooLong,
    #[error("a line was not understood ({problem}): {excerpt}")]
    Garbage { problem: String, excerpt: String },
    #[error("reading failed: {0}")]
    Io(String),
}

#[derive(Debug)]
pub struct Link {
    sender: tokio::sync::Mutex<Sender>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    asked: u64,
    waiting: HashMap<u64, oneshot::Sender<Told>>,
    lost: Option<Lost>,
}

impl Link {
    /// The link, and what is said unasked.
    pub fn new<R>(sender: Sender, reader: LineReader<R>) -> (Link, mpsc::Receiver<Told>)
    where
        R: AsyncRead + Unpin + Send + 'static,
    {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (unasked, receiver) = mpsc::channel(UNASKED);
        tokio::spawn(listen(reader, Arc::clone(&shared), unasked));
        (
            Link {
                sender: tokio::sync::Mutex::new(sender),
                shared,
            },
            receiver,
        )
    }

    /// Asks, and waits for the answer however long it takes: the caller bounds it.
    pub async fn ask(&self, ask: &Ask, fds: &[BorrowedFd<'_>]) -> Result<Told, Lost> {
        let (id, answer) = self.expect()?;
        let mut line = serde_json::to_vec(&Envelope {
            id,
            fds: fds.len(),
            ask,
        })
        .expect("a question is plain data");
        line.push(b'\n');
        let sent = self.sender.lock().await.send_with_fds(&line, fds).await;
        if sent.is_err() {
            lock(&self.shared).waiting.remove(&id);
            return Err(self.cause());
        }
        answer.await.map_err(|_| self.cause())
    }

    pub fn cause(&self) -> Lost {
        lock(&self.shared).lost.clone().unwrap_or(Lost::Closed)
    }

    fn expect(&self) -> Result<(u64, oneshot::Receiver<Told>), Lost> {
        let mut shared = lock(&self.shared);
        if let Some(lost) = &shared.lost {
            return Err(lost.clone());
        }
        shared.asked += 1;
        let id = shared.asked;
        let (sender, receiver) = oneshot::channel();
        shared.waiting.insert(id, sender);
        Ok((id, receiver))
    }
}

async fn listen<R: AsyncRead + Unpin>(
    mut reader: LineReader<R>,
    shared: Arc<Mutex<Shared>>,
    unasked: mpsc::Sender<Told>,
) {
    let lost = loop {
        match reader.next().await.map_err(Lost::from).and_then(understand) {
            Ok(Answer { id: Some(id), told }) => deliver(&shared, id, told),
            // Nobody listens any more once the first words were heard.
            Ok(Answer { id: None, told }) => drop(unasked.try_send(told)),
            Err(lost) => break lost,
        }
    };
    let mut shared = lock(&shared);
    shared.lost = Some(lost);
    shared.waiting.clear();
}

fn understand(line: Option<Vec<u8>>) -> Result<Answer, Lost> {
    let line = line.ok_or(Lost::Closed)?;
    serde_json::from_slice(&line).map_err(|problem| Lost::Garbage {
        problem: problem.to_string(),
        excerpt: String::from_utf8_lossy(&line).chars().take(EXCERPT).collect(),
    })
}

/// An answer that nobody waits for is one that came too late.
fn deliver(shared: &Mutex<Shared>, id: u64, told: Told) {
    if let Some(waiting) = lock(shared).waiting.remove(&id) {
        let _ = waiting.send(told);
    }
}

/// The data is plain: a panic elsewhere leaves it whole.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<LineError> for Lost {
    fn from(error: LineError) -> Self {
        match error {
            LineError::TooLong { .. } => Lost::TooLong,
            LineError::Half(_) => Lost::Half,
            LineError::Io(error) => Lost::Io(error.to_string()),
        }
    }
}
