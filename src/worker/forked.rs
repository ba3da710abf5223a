//! What the worker has forked and speaks on a socket of its own: the zygote, the reader.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::net::unix::{OwnedReadHalf, pipe};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::link::Link;
use super::protocol::{Ask, Failure, Told, Traces, Versions};
use super::tail::Tail;
use super::{Blame, Broken, too_slow};
use crate::process::channel::{self, Sender};
use crate::process::fds;
use crate::process::lines::LineReader;
use crate::process::pidfd::PidFd;
use crate::process::procfs;

/// How often it is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(250);

/// A fork of the worker.
#[derive(Debug)]
pub struct Forked {
    link: Link,
    /// Its own handle, to know of its end whatever its socket says.
    process: PidFd,
    pub pid: i32,
    pub stdout: Tail,
    pub stderr: Tail,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub seconds: f64,
    pub features: Vec<std::path::PathBuf>,
    pub traces: Traces,
    pub outdated: bool,
    pub versions: Versions,
}

/// The supervisor's ends of what a new fork is given.
#[derive(Debug)]
pub struct Pipes {
    sender: Sender,
    reader: LineReader<OwnedReadHalf>,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// The fork's ends: socket, stdout, stderr.
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

impl Forked {
    /// Waits for its first words: that it has loaded what it has to load.
    pub async fn load(what: &str, pid: i32, pipes: Pipes, limit: Duration) -> Result<(Forked, Loaded), Broken> {
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
            Ok(process) => first_words(what, said, &process, limit)
                .await
                .map(|loaded| (process, loaded)),
            Err(_) => Err((died(what, "died at once"), Blame::Unknown)),
        };
        match loaded {
            Ok((process, loaded)) => {
                let forked = Forked {
                    link,
                    process,
                    pid,
                    stdout,
                    stderr,
                };
                Ok((forked, loaded))
            }
            Err((failure, blame)) => Err(Broken {
                failure,
                stderr: stderr.settled().await,
                blame,
            }),
        }
    }

    /// Returns when its process is gone.
    pub async fn exited(&self) {
        self.process.exited().await;
    }

    pub fn is_stopped(&self) -> bool {
        procfs::is_stopped(self.process.id())
    }

    /// `Err` with the cause when it can't answer any more, or not within `limit`.
    pub async fn ask(&self, ask: &Ask, fds: &[BorrowedFd<'_>], limit: Duration) -> Result<Told, String> {
        tokio::select! {
            biased;
            () = self.stopped() => Err("it was stopped".to_owned()),
            answer = self.link.ask(ask, fds) => answer.map_err(|lost| lost.to_string()),
            () = sleep(limit) => Err("no answer".to_owned()),
        }
    }

    /// Returns once somebody has stopped it: it answers nothing then.
    async fn stopped(&self) {
        while !self.is_stopped() {
            sleep(LOOK).await;
        }
    }
}

/// How long what has hung up may take to be gone.
const GONE: Duration = Duration::from_secs(1);

/// What it says of the load, within `limit`; else why it does not, and who is to blame.
async fn first_words(
    what: &str,
    mut said: mpsc::Receiver<Told>,
    process: &PidFd,
    limit: Duration,
) -> Result<Loaded, (Failure, Blame)> {
    let heard = tokio::select! {
        heard = timeout(limit, said.recv()) => heard.map_err(|_| (too_slow("load of the test helper", limit), Blame::Itself))?,
        () = procfs::stopped(process.id()) => return Err((died(what, "was stopped while it loaded the helper"), Blame::Outside)),
    };
    match heard {
        Some(Told::Loaded {
            seconds,
            features,
            traces,
            versions,
            outdated,
        }) => Ok(Loaded {
            seconds,
            features,
            traces,
            versions,
            outdated,
        }),
        Some(Told::LoadFailed { error, .. }) => Err((error, Blame::Itself)),
        Some(other) => Err((died(what, &format!("began with {other:?}")), Blame::Itself)),
        None => {
            // Its status is its own only if it is gone before anybody ends it.
            let gone = timeout(GONE, process.exited()).await.is_ok();
            let how = "ended the process without a word (exit! in the test helper, or a crash)";
            let blame = if gone { Blame::Unknown } else { Blame::Itself };
            Err((died(what, how), blame))
        }
    }
}

fn died(what: &str, how: &str) -> Failure {
    Failure {
        class: "ZygoteDied".to_owned(),
        message: format!("the {what} {how}"),
        ..Failure::default()
    }
}
