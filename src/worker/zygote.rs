//! The zygote: forked from the worker, has the test helper loaded, forks a child for each run.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::net::unix::{OwnedReadHalf, pipe};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::link::Link;
use super::protocol::{Ask, Facts, Failure, GemProbe, RunRequest, Told, Versions};
use super::tail::Tail;
use super::{Broken, REPLY, too_slow};
use crate::process::channel::{self, Sender};
use crate::process::fds;
use crate::process::lines::LineReader;
use crate::process::pidfd::PidFd;
use crate::process::procfs::{self, Identity};

#[derive(Debug)]
pub struct Zygote {
    link: Link,
    /// Its own handle, to know of its end whatever its socket says.
    process: PidFd,
    pub pid: i32,
    pub stdout: Tail,
    pub stderr: Tail,
    pub loaded: Loaded,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub seconds: f64,
    pub features: Vec<std::path::PathBuf>,
    pub versions: Versions,
}

/// The supervisor's ends of what a new zygote is given.
#[derive(Debug)]
pub struct Pipes {
    sender: Sender,
    reader: LineReader<OwnedReadHalf>,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// The zygote's ends: socket, stdout, stderr.
#[derive(Debug)]
pub struct Given([OwnedFd; 3]);

impl Given {
    pub fn borrow(&self) -> [BorrowedFd<'_>; 3] {
        [self.0[0].as_fd(), self.0[1].as_fd(), self.0[2].as_fd()]
    }
}

impl Pipes {
    pub fn new() -> io::Result<(Given, Pipes)> {
        let (sender, reader, socket) = channel::pair()?;
        let (stdout, out) = fds::pipe()?;
        let (stderr, err) = fds::pipe()?;
        Ok((
            Given([socket, out, err]),
            Pipes {
                sender,
                reader,
                stdout,
                stderr,
            },
        ))
    }
}

/// How a run's process came to be, or why not.
#[derive(Debug)]
pub enum ForkEnd {
    Forked(i32),
    Refused(String),
    /// The zygote is gone or wedged: nothing was started that could have got its `go`.
    Lost(String),
}

impl Zygote {
    /// Waits until the forked zygote has loaded the helper.
    pub async fn load(pid: i32, pipes: Pipes, limit: Duration) -> Result<Zygote, Broken> {
        let Pipes {
            sender,
            reader,
            stdout,
            stderr,
        } = pipes;
        let (link, said) = Link::new(sender, reader);
        let (stdout, stderr) = (Tail::read(stdout), Tail::read(stderr));
        // The worker reaps it only when told to, so that this is the one that was forked.
        let loaded = match PidFd::open(Pid::from_raw(pid)) {
            Ok(process) => first_words(said, process.id(), limit)
                .await
                .map(|loaded| (process, loaded)),
            Err(_) => Err(died("died at once")),
        };
        match loaded {
            Ok((process, loaded)) => Ok(Zygote {
                link,
                process,
                pid,
                stdout,
                stderr,
                loaded,
            }),
            Err(failure) => Err(Broken {
                failure,
                stderr: stderr.settled().await,
            }),
        }
    }

    /// Forks the process of a run; it waits for its `go`.
    pub async fn fork(&self, request: RunRequest, fds: &[BorrowedFd<'_>]) -> ForkEnd {
        match self.ask(&Ask::Run(request), fds).await {
            Ok(Told::Forked { pid }) => ForkEnd::Forked(pid),
            Ok(Told::Refused { reason }) => ForkEnd::Refused(reason),
            Ok(other) => ForkEnd::Lost(format!("an unexpected answer: {other:?}")),
            Err(cause) => ForkEnd::Lost(cause),
        }
    }

    pub async fn facts(&self, gems: Vec<GemProbe>) -> Option<Facts> {
        match self.ask(&Ask::Facts { gems }, &[]).await {
            Ok(Told::Facts(facts)) => Some(facts),
            _ => None,
        }
    }

    /// The status of a child that has ended; `None` when the zygote can't say.
    pub async fn reap(&self, pid: i32) -> Option<(Option<i32>, Option<i32>)> {
        match self.ask(&Ask::Reap { pid }, &[]).await {
            Ok(Told::Reaped { status, signal }) => Some((status, signal)),
            _ => None,
        }
    }

    /// Returns when its process is gone.
    pub async fn exited(&self) {
        self.process.exited().await;
    }

    pub fn is_stopped(&self) -> bool {
        procfs::is_stopped(self.process.id())
    }

    async fn ask(&self, ask: &Ask, fds: &[BorrowedFd<'_>]) -> Result<Told, String> {
        if self.is_stopped() {
            return Err("it was stopped".to_owned());
        }
        match timeout(REPLY, self.link.ask(ask, fds)).await {
            Ok(answer) => answer.map_err(|lost| lost.to_string()),
            Err(_) => Err("no answer".to_owned()),
        }
    }
}

/// What it says of the load, within `limit`.
async fn first_words(mut said: mpsc::Receiver<Told>, process: Identity, limit: Duration) -> Result<Loaded, Failure> {
    let heard = tokio::select! {
        heard = timeout(limit, said.recv()) => heard.map_err(|_| too_slow("load of the test helper", limit))?,
        () = procfs::stopped(process) => return Err(died("was stopped while it loaded the helper")),
    };
    match heard {
        Some(Told::Loaded {
            seconds,
            features,
            versions,
        }) => Ok(Loaded {
            seconds,
            features,
            versions,
        }),
        Some(Told::LoadFailed { error, .. }) => Err(error),
        Some(other) => Err(died(&format!("began with {other:?}"))),
        None => Err(died(
            "ended the process without a word (exit! in the test helper, or a crash)",
        )),
    }
}

fn died(what: &str) -> Failure {
    Failure {
        class: "ZygoteDied".to_owned(),
        message: format!("the zygote {what}"),
        ..Failure::default()
    }
}
