//! The app: forked from the worker in the middle of its boot, has all of the app's classes, and forks zygotes and readers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::forked::{self, Forked, Kind, Pipes};
use super::protocol::{Ask, Framework, Ready, Told};
use super::reader::Reader;
use super::zygote::{ZYGOTE, Zygote};
use super::{Blame, Broken, REPLY, Worker};
use crate::process::keeper::Exit;

const APP: Kind = Kind {
    name: "app",
    load: "boot",
    died: "AppDied",
};

#[derive(Debug)]
pub struct App {
    worker: Arc<Worker>,
    forked: Forked,
    pub ready: Ready,
}

impl App {
    /// Waits until one that was forked is loaded; one that can't be is ended.
    pub async fn load(worker: &Arc<Worker>, pid: i32, pipes: Pipes, limit: Duration) -> Result<App, Broken> {
        let broken = match Forked::load(APP, pid, pipes, limit).await {
            Ok((forked, Told::Ready(ready))) => {
                return Ok(App {
                    worker: Arc::clone(worker),
                    forked,
                    ready: *ready,
                });
            }
            Ok((_, other)) => forked::odd(APP, &other),
            Err(broken) => broken,
        };
        let exit = worker.end_fork(pid).await;
        Err(broken.ended_by(APP, exit))
    }

    pub fn worker(&self) -> &Arc<Worker> {
        &self.worker
    }

    pub fn pid(&self) -> i32 {
        self.forked.pid
    }

    /// Forks a zygote, which begins to load the test helper.
    pub async fn fork_zygote(&self, framework: Framework, preload: &[PathBuf]) -> Result<(i32, Pipes), Broken> {
        let ask = Ask::Zygote {
            framework,
            preload: preload.to_vec(),
        };
        self.fork(&ask).await
    }

    /// Waits until a zygote has loaded the helper; one that can't is ended.
    pub async fn zygote(&self, pid: i32, pipes: Pipes, limit: Duration) -> Result<Zygote, Broken> {
        match Zygote::load(pid, pipes, limit).await {
            Ok(zygote) => Ok(zygote),
            Err(broken) => {
                let exit = self.end_fork(pid).await;
                Err(broken.ended_by(ZYGOTE, exit))
            }
        }
    }

    /// Forks a reader.
    pub async fn reader(&self) -> Result<Reader, Broken> {
        let (pid, pipes) = self.fork(&Ask::Reader {}).await?;
        let loaded = Reader::load(pid, pipes, REPLY).await;
        if loaded.is_err() {
            self.end_fork(pid).await;
        }
        loaded
    }

    async fn fork(&self, ask: &Ask) -> Result<(i32, Pipes), Broken> {
        let (fds, pipes) = Pipes::new().map_err(|error| Broken::ours(&error.to_string()))?;
        match self.forked.ask(ask, &fds.borrow(), REPLY).await {
            Ok(Told::Forked { pid }) => Ok((pid, pipes)),
            Ok(Told::Refused { reason }) => Err(Broken::ours(&reason)),
            Ok(other) => Err(forked::odd(APP, &other)),
            Err(cause) => Err(Broken {
                blame: Blame::Outside,
                ..forked::lost(APP, &cause)
            }),
        }
    }

    /// Whether it answers.
    pub async fn alive(&self) -> bool {
        matches!(self.forked.ask(&Ask::Ping {}, &[], REPLY).await, Ok(Told::Pong {}))
    }

    /// Kills what it forked and what that started, and has it reaped; says how it ended.
    pub async fn end_fork(&self, pid: i32) -> Option<Exit> {
        let reap = async { self.forked.ask(&Ask::Reap { pid }, &[], REPLY).await };
        forked::end(self.worker.kept(), pid, reap).await
    }

    pub fn can_run(&self) -> bool {
        self.forked.can_run()
    }
}

/// Lets go of it. It ends with its last user.
pub async fn release(app: Arc<App>) {
    if let Some(App { worker, forked, .. }) = Arc::into_inner(app) {
        worker.end_fork(forked.pid).await;
    }
}
