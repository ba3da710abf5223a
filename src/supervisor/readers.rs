//! Readers of one generation of the app: each answers one question at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::worker::app::{self, App};
use crate::worker::reader::Reader;

/// Those that nobody asks at this moment. One is enough: with several questions at once, more are forked, and end.
#[derive(Debug, Clone)]
pub(super) struct Idle(Arc<Mutex<Kept>>);

#[derive(Debug)]
enum Kept {
    Open(Option<Reader>),
    /// Their code is not the app's any more.
    Closed,
}

impl Default for Idle {
    fn default() -> Self {
        Idle(Arc::new(Mutex::new(Kept::Open(None))))
    }
}

impl Idle {
    pub(super) fn take(&self) -> Option<Reader> {
        match &mut *self.kept() {
            Kept::Open(reader) => reader.take(),
            Kept::Closed => None,
        }
    }

    /// Gives back one that is not needed.
    fn keep(&self, reader: Reader) -> Option<Reader> {
        match &mut *self.kept() {
            Kept::Open(kept @ None) => {
                *kept = Some(reader);
                None
            }
            _ => Some(reader),
        }
    }

    /// For good; tells what was there.
    pub(super) fn close(&self) -> Option<Reader> {
        match std::mem::replace(&mut *self.kept(), Kept::Closed) {
            Kept::Open(reader) => reader,
            Kept::Closed => None,
        }
    }

    /// Plain data: a panic elsewhere leaves it whole.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader for one question. Whatever is reloaded or booted meanwhile, it answers of the app as it was asked.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) reader: Reader,
    pub(super) app: Arc<App>,
    pub(super) idle: Idle,
}

impl Asking {
    /// It has answered, and may be asked again.
    pub(super) fn give_back(self) {
        let Asking { reader, app, idle } = self;
        if let Some(reader) = idle.keep(reader) {
            Asking { reader, app, idle }.end();
        }
    }

    /// It hangs, or nobody wants its answer any more.
    pub(super) fn end(self) {
        // No answer has to wait for it.
        tokio::spawn(async move {
            self.app.end_fork(self.reader.pid()).await;
            app::release(self.app).await;
        });
    }
}
