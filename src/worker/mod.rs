//! The warm side: the Ruby process that keeps Rails booted, the app with its classes that is forked from it, and the zygote
//! that runs are forked from. Handles to ask and to hear them; they remember how they died.

pub mod app;
pub mod environment;
pub mod forked;
pub mod freshness;
pub mod launch;
pub mod link;
pub mod protocol;
pub mod reader;
pub mod ruby;
pub mod ruby_version;
pub mod surroundings;
pub mod tail;
mod traced;
pub mod version_manager;
pub mod zygote;

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::error::Error;
use crate::process::keeper::Exit;
use crate::process::procfs::{self, Identity};
use crate::process::spawn::{self, Kept};
use forked::Pipes;
use launch::Plan;
use link::{Link, Lost};
use protocol::{Ask, Failure, Inputs, Told};
use tail::Tail;

/// How long a worker may take to say that it can't do something trivial (fork, reap). A worker that takes longer is
/// wedged, not busy: it does nothing else at that moment.
pub const REPLY: Duration = Duration::from_secs(10);

const KILL: i32 = nix::sys::signal::Signal::SIGKILL as i32;

/// The warm Ruby process with its keeper.
#[derive(Debug)]
pub struct Worker {
    kept: Kept,
    link: Link,
    hello: mpsc::Receiver<Told>,
    pub stdout: Tail,
    pub stderr: Tail,
    pub pid: i32,
    process: Identity,
    /// Whether our own code has begun to run in it.
    greeted: bool,
}

/// What a worker has loaded.
#[derive(Debug)]
pub struct Base {
    pub seconds: f64,
    pub inputs: Inputs,
}

/// Why there is no booted app or no loaded helper.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    pub failure: Failure,
    /// The end of what the process printed to stderr.
    pub stderr: String,
    pub blame: Blame,
}

/// Who ended the process, if it did end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// It has said so, or left by itself.
    Itself,
    /// Somebody else killed or stopped it: nothing says that the app is to blame.
    Outside,
    /// Its status will tell, once it is reaped.
    Unknown,
}

impl Broken {
    /// Once more may do.
    pub fn from_outside(&self) -> bool {
        self.blame == Blame::Outside
    }
}

impl Worker {
    /// Starts the process; the app is not loaded yet.
    pub async fn start(plan: &Plan, limit: Duration) -> Result<Worker, Broken> {
        let (launch, pipes) = plan.worker().map_err(|error| Broken::ours(&error.to_string()))?;
        let kept = spawn::spawn(launch).map_err(|refused| Broken::ours(&refused.to_string()))?;
        let (link, hello) = Link::new(pipes.sender, pipes.reader);
        let (stdout, stderr) = (Tail::read(pipes.stdout), Tail::read(pipes.stderr));
        let ruby = timeout(limit, kept.started())
            .await
            .map_err(|_| Broken::ours("the worker did not start in time"))?
            .map_err(|refused| Broken::ours(&refused.to_string()))?;
        Ok(Worker {
            kept,
            link,
            hello,
            stdout,
            stderr,
            pid: ruby.pid.as_raw(),
            process: ruby,
            greeted: false,
        })
    }

    /// What keeps the process: it adopts the orphans of everything below.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Loads the app as far as it can be kept. `limit` counts from the start of the process.
    pub async fn boot(&mut self, root: &Path, environment: &Path, limit: Duration) -> Result<Base, Broken> {
        let ask = Ask::Boot {
            root: root.to_owned(),
            environment: environment.to_owned(),
        };
        let booted = answer(self.process, limit, async {
            self.greet().await?;
            self.link.ask(&ask, &[]).await.map_err(|lost| Lost::to_string(&lost))
        });
        match booted.await {
            Ok(Ok(Told::Booted { seconds, inputs })) => Ok(Base {
                seconds,
                inputs: *inputs,
            }),
            Ok(Ok(Told::BootFailed { error, .. })) => Err(self.broken(error).await),
            Ok(Ok(other)) => Err(self.died(&format!("an unexpected answer: {other:?}")).await),
            Ok(Err(cause)) => Err(self.died(&cause).await),
            Err(_) => Err(self.broken(too_slow("boot", limit)).await),
        }
    }

    /// Forks the app, which begins to load the rest of it.
    pub async fn fork_app(&self, eager_load_error: Option<Failure>) -> Result<(i32, Pipes), Broken> {
        let (fds, pipes) = Pipes::new().map_err(|error| Broken::ours(&error.to_string()))?;
        match self.ask(REPLY, &Ask::App { eager_load_error }, &fds.borrow()).await {
            Ok(Ok(Told::Forked { pid })) => Ok((pid, pipes)),
            Ok(Ok(Told::Refused { reason })) => Err(Broken::ours(&reason)),
            Ok(Ok(other)) => Err(self.died(&format!("an unexpected answer: {other:?}")).await),
            Ok(Err(cause)) => Err(self.died(&cause).await),
            Err(_) => Err(self.died("no answer").await),
        }
    }

    /// Whether it answers.
    pub async fn alive(&self) -> bool {
        matches!(self.ask(REPLY, &Ask::Ping {}, &[]).await, Ok(Ok(Told::Pong {})))
    }

    /// Kills what it forked and what that started, and reaps it; says how it ended.
    pub async fn end_fork(&self, pid: i32) -> Option<Exit> {
        let reap = async {
            let reaped = self.ask(REPLY, &Ask::Reap { pid }, &[]).await;
            reaped.unwrap_or_else(|_| Err("no answer".to_owned()))
        };
        forked::end(&self.kept, pid, reap).await
    }

    /// Why it is of no use any more, as the kernel has it at this moment: its keeper tells of its end later.
    pub async fn impaired(&self) -> Option<String> {
        if procfs::is_stopped(self.process) {
            Some("was stopped".to_owned())
        } else if !procfs::can_run(self.process) {
            Some(describe(self.exit().await.unwrap_or(Exit::Unknown)))
        } else if !self.kept.is_kept() {
            Some("lost its keeper".to_owned())
        } else {
            None
        }
    }

    /// How it ended, as its keeper says soon after, if it did.
    async fn exit(&self) -> Option<Exit> {
        timeout(Duration::from_secs(1), self.kept.exited()).await.ok()
    }

    /// Ends it and everything below it. It holds no state that a TERM could save.
    pub async fn end(self) {
        self.kept.end(Duration::ZERO).await;
    }

    async fn ask(&self, limit: Duration, ask: &Ask, fds: &[BorrowedFd<'_>]) -> Result<Result<Told, String>, Elapsed> {
        let asked = async { self.link.ask(ask, fds).await.map_err(|lost| lost.to_string()) };
        answer(self.process, limit, asked).await
    }

    /// The very first line must be from a worker of this build.
    async fn greet(&mut self) -> Result<(), String> {
        match self.hello.recv().await {
            Some(Told::Hello { protocol, code, .. })
                if protocol == protocol::VERSION && code == launch::code_hash() =>
            {
                self.greeted = true;
                Ok(())
            }
            Some(Told::Hello { protocol, code, .. }) => Err(format!(
                "the worker speaks protocol {protocol} (code {code}), and this supervisor {} (code {})",
                protocol::VERSION,
                launch::code_hash()
            )),
            Some(other) => Err(format!("the worker began with {other:?}")),
            None => Err(self.link.cause().to_string()),
        }
    }

    async fn broken(&self, failure: Failure) -> Broken {
        Broken {
            failure,
            stderr: self.stderr.settled().await,
            blame: Blame::Itself,
        }
    }

    /// The process is gone, or not to be trusted any more.
    async fn died(&self, cause: &str) -> Broken {
        let exit = self.exit().await;
        let message = match exit {
            Some(exit) => format!("the worker {}", describe(exit)),
            None => format!("the worker can't be talked to: {cause}"),
        };
        let broken = Broken {
            stderr: self.stderr.settled().await,
            blame: if exit == Some(Exit::Signal(KILL)) || procfs::is_stopped(self.process) {
                Blame::Outside
            } else {
                Blame::Itself
            },
            ..Broken::ours(&message)
        };
        // Bundler, or a version manager, knows what is wrong: nobody else was there to raise.
        match uncaught(&broken.stderr).filter(|_| !self.greeted) {
            Some(uncaught) => Broken {
                failure: uncaught_failure(uncaught).unwrap_or_else(|| Failure {
                    message: format!("{message}: {uncaught}"),
                    ..broken.failure.clone()
                }),
                ..broken
            },
            None => broken,
        }
    }
}

impl Broken {
    /// What kept us from starting a process at all.
    pub fn of_error(error: &Error) -> Broken {
        let message = match &error.hint {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        };
        let failure = Failure {
            class: error.kind.code().to_owned(),
            message,
            ..Failure::default()
        };
        Broken::told(failure)
    }

    fn ours(message: &str) -> Broken {
        let failure = Failure {
            class: "WorkerDied".to_owned(),
            message: message.to_owned(),
            ..Failure::default()
        };
        Broken::told(failure)
    }

    /// There is nothing else to say of it.
    pub fn told(failure: Failure) -> Broken {
        Broken {
            failure,
            stderr: String::new(),
            blame: Blame::Itself,
        }
    }
}

/// What a process answers within `limit`. Nobody waits for one that was stopped.
async fn answer<T>(
    of: Identity,
    limit: Duration,
    answer: impl Future<Output = Result<T, String>>,
) -> Result<Result<T, String>, Elapsed> {
    tokio::select! {
        answer = timeout(limit, answer) => answer,
        () = procfs::stopped(of) => Ok(Err("it was stopped".to_owned())),
    }
}

fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exited with status {code}"),
        Exit::Signal(signal) => format!("was killed by {}", crate::process::signal_name(signal)),
        Exit::Unknown => "disappeared".to_owned(),
    }
}

/// What is printed of an exception that ends a Ruby, without its backtrace; else what was printed last.
fn uncaught(stderr: &str) -> Option<&str> {
    let text = match stderr.split_once("\n\tfrom ") {
        Some((exception, _)) => exception,
        None => stderr.trim_end().rsplit('\n').next()?,
    };
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// `PATH:LINE:in 'x': MESSAGE (CLASS)`, with the rest of the message below, as Ruby prints it.
fn uncaught_failure(text: &str) -> Option<Failure> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (place, class) = first.strip_suffix(')')?.rsplit_once(" (")?;
    let constant = class.starts_with(|c: char| c.is_ascii_uppercase())
        && class.chars().all(|c| c.is_alphanumeric() || c == ':' || c == '_');
    let message = place.split_once("': ").map_or(place, |(_, message)| message);
    constant.then(|| Failure {
        class: class.to_owned(),
        message: format!("{}\n{rest}", message.trim()).trim().to_owned(),
        ..Failure::default()
    })
}

fn too_slow(what: &str, limit: Duration) -> Failure {
    Failure {
        class: "Timeout".to_owned(),
        message: format!("the {what} took longer than {} s", limit.as_secs()),
        ..Failure::default()
    }
}
