//! The reader: forked from the app, answers what the app is made of.

use std::time::Duration;

use serde_json::Value;

use super::Broken;
use super::forked::{Forked, Kind, Pipes};
use super::protocol::{Ask, Failure, Told};

const READER: Kind = Kind {
    name: "reader",
    load: "start",
    died: "ReaderDied",
};

#[derive(Debug)]
pub struct Reader {
    forked: Forked,
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unread {
    /// The question can't be answered: `code`, message, hint.
    Refused {
        code: String,
        message: String,
        hint: Option<String>,
    },
    /// The app failed while it was asked.
    Failed(Failure),
    /// The reader is gone or wedged.
    Lost(String),
}

impl Reader {
    /// Waits until the forked reader listens.
    pub async fn load(pid: i32, pipes: Pipes, limit: Duration) -> Result<Reader, Broken> {
        let (forked, _) = Forked::load(READER, pid, pipes, limit).await?;
        Ok(Reader { forked })
    }

    pub fn pid(&self) -> i32 {
        self.forked.pid
    }

    /// # Errors
    /// Why there is no answer; [`Unread::Lost`] when there was none within `limit`.
    pub async fn read(&self, what: &'static str, arguments: Value, limit: Duration) -> Result<Value, Unread> {
        match self.forked.ask(&Ask::Read { what, arguments }, &[], limit).await {
            Ok(Told::Read { result }) => Ok(result),
            Ok(Told::NotRead { code, message, hint }) => Err(Unread::Refused { code, message, hint }),
            Ok(Told::ReadFailed { error }) => Err(Unread::Failed(error)),
            Ok(other) => Err(Unread::Lost(format!("an unexpected answer: {other:?}"))),
            Err(cause) => Err(Unread::Lost(cause)),
        }
    }

    pub fn can_run(&self) -> bool {
        self.forked.can_run()
    }
}
