//! What was forked warm and speaks on a socket of its own: the app, the zygote, the reader.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::net::unix::{OwnedReadHalf, pipe};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::link::Link;
use super::protocol::{Ask, Failure, Told};
use super::tail::Tail;
use super::{Blame, Broken, KILL, describe, too_slow};
use crate::process::channel::{self, Sender};
use crate::process::fds;
use crate::process::keeper::Exit;
use crate::process::lines::LineReader;
use crate::process::pidfd::PidFd;
use crate::process::procfs;
use crate::process::spawn::Kept;
use crate::process::tree::{self, Target};

/// How often it is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(250);

/// What was forked, and what it does first.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub load: &'static str,
    /// What its death without a word is called.
    pub died: &'static str,
}

/// A fork of a warm process.
#[derive(Debug)]
pub struct Forked {
    link: Link,
    /// Its own handle, to know of its end whatever its socket says.
    process: PidFd,
    pub pid: i32,
    pub stdout: Tail,
    pub stderr: Tail,
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
    pub async fn load(kind: Kind, pid: i32, pipes: Pipes, limit: Duration) -> Result<(Forked, Told), Broken> {
        let Pipes {
            sender,
            reader,
            stdout,
            stderr,
        } = pipes;
        let (link, said) = Link::new(sender, reader);
        let (stdout, stderr) = (Tail::read(stdout), Tail::read(stderr));
        // Its parent reaps it only when told to, so that this is the one that was forked.
        let loaded = match PidFd::open(Pid::from_raw(pid)) {
            Ok(process) => first_words(kind, said, &process, limit)
                .await
                .map(|loaded| (process, loaded)),
            Err(_) => Err((died(kind, "died at once"), Blame::Unknown)),
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

    /// Whether it can answer, as the kernel has it at this moment: a death is told later.
    pub fn can_run(&self) -> bool {
        procfs::can_run(self.process.id())
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
        while !procfs::is_stopped(self.process.id()) {
            sleep(LOOK).await;
        }
    }
}

/// How long what has hung up may take to be gone.
const GONE: Duration = Duration::from_secs(1);

/// What it says of the load, within `limit`; else why it does not, and who is to blame.
async fn first_words(
    kind: Kind,
    mut said: mpsc::Receiver<Told>,
    process: &PidFd,
    limit: Duration,
) -> Result<Told, (Failure, Blame)> {
    let heard = tokio::select! {
        heard = timeout(limit, said.recv()) => heard.map_err(|_| (too_slow(kind.load, limit), Blame::Itself))?,
        () = procfs::stopped(process.id()) => {
            return Err((died(kind, &format!("was stopped during the {}", kind.load)), Blame::Outside));
        }
    };
    match heard {
        Some(Told::LoadFailed { error, .. }) => Err((error, Blame::Itself)),
        Some(said) => Ok(said),
        None => {
            // Its status is its own only if it is gone before anybody ends it.
            let gone = timeout(GONE, process.exited()).await.is_ok();
            let how = format!(
                "ended the process without a word during the {} (exit!, or a crash)",
                kind.load
            );
            let blame = if gone { Blame::Unknown } else { Blame::Itself };
            Err((died(kind, &how), blame))
        }
    }
}

/// It began with something else than it has to say.
pub fn odd(kind: Kind, told: &Told) -> Broken {
    Broken::told(died(kind, &format!("began with {told:?}")))
}

/// It can't be asked any more.
pub fn lost(kind: Kind, cause: &str) -> Broken {
    Broken::told(died(kind, &format!("can't be talked to: {cause}")))
}

/// Kills a fork and what that started, and has its parent reap it; says how it ended, if it was not its parent's any more.
pub async fn end(kept: &Kept, pid: i32, reap: impl Future<Output = Result<Told, String>>) -> Option<Exit> {
    if let Some(target) = Target::run(kept.keeper(), Pid::from_raw(pid)) {
        tree::end(&target, Duration::ZERO).await;
    }
    match reap.await {
        Ok(Told::Reaped {
            signal: Some(signal), ..
        }) => Some(Exit::Signal(signal)),
        Ok(Told::Reaped {
            status: Some(status), ..
        }) => Some(Exit::Code(status)),
        _ => None,
    }
}

fn died(kind: Kind, how: &str) -> Failure {
    Failure {
        class: kind.died.to_owned(),
        message: format!("the {} {how}", kind.name),
        ..Failure::default()
    }
}

impl Broken {
    /// Its process's end says more than that it had no words.
    pub(super) fn ended_by(mut self, kind: Kind, exit: Option<Exit>) -> Broken {
        let (Blame::Unknown, Some(exit)) = (self.blame, exit) else {
            return self;
        };
        let how = format!("{} during the {}", describe(exit), kind.load);
        self.failure = died(kind, &how);
        if exit == Exit::Signal(KILL) {
            self.blame = Blame::Outside;
        }
        self
    }
}
