//! Starting a command below a keeper of its own, and hearing what becomes of it.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::timeout;

use super::cgroup;
use super::fds::{self, sealed_memfd};
use super::keeper::{self, Exit, Refused, Word};
use super::lines::{LineError, LineReader};
use super::orphans;
use super::pidfd::{self, PidFd};
use super::procfs::{self, Identity};
use super::tree::{self, Ended, Leaked, PATIENCE, Target};
use crate::sandbox::grants::{Disk, Granted};
use crate::sandbox::{Enforcement, Policy, RefusedAct};

/// A command to run below a keeper.
#[derive(Debug)]
pub struct Launch {
    /// The program, looked for in the `PATH` of `env`, and its arguments.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// All of the environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// What the command gets, and at which number. Of 0, 1 and 2 those that are not named are /dev/null.
    pub fds: Vec<(OwnedFd, RawFd)>,
    pub policy: Policy,
}

/// A command that runs, or ran, below its keeper. When this is dropped, the keeper ends all of it.
#[derive(Debug)]
pub struct Kept {
    keeper: Identity,
    /// None once it was cut: the keeper then kills everything.
    lifeline: Mutex<Option<OwnedFd>>,
    news: watch::Receiver<News>,
    /// Where the keeper's words come in, to see whether any waits there.
    heard: OwnedFd,
    blocked: Arc<Mutex<Blocked>>,
    granted: Option<Granted>,
}

/// How often whoever listens to the keeper is let go first: enough, unless it has stopped listening.
const TURNS: usize = 1000;

/// What was refused to the command, as far as its keeper knows, since it was last asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Blocked {
    /// The first of them, in order.
    pub acts: Vec<RefusedAct>,
    /// All of them.
    pub total: u64,
}

/// As many as are kept until somebody asks.
const MOST_BLOCKED: usize = 1000;

/// What the keeper has said so far.
#[derive(Debug, Clone, Default)]
struct News {
    confined: Enforcement,
    started: Option<Result<Identity, Refused>>,
    exited: Option<Exit>,
    left: Option<Leaked>,
    /// The keeper itself has ended, and was reaped.
    gone: bool,
}

/// Starts the command below a keeper. That the command itself can't run is heard from [`Kept::started`].
///
/// # Errors
/// When the keeper can't run: no such directory, no more processes or open files.
///
/// # Panics
/// Outside a tokio runtime.
pub fn spawn(launch: Launch) -> Result<Kept, Refused> {
    let ourselves = ourselves().map_err(|error| refused("failed to find our own binary", &error))?;
    spawn_by(&ourselves, launch)
}

/// This very binary, also when the file was replaced or removed since.
///
/// # Errors
/// Where the system has no name for it.
pub fn ourselves() -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    return Ok(PathBuf::from("/proc/self/exe"));
    #[cfg(not(target_os = "linux"))]
    return std::env::current_exe();
}

/// As [`spawn`], by a binary at another place: a test's own is not `coatepec`.
pub fn spawn_by(binary: &Path, launch: Launch) -> Result<Kept, Refused> {
    let cwd = launch.cwd.display().to_string();
    start_keeper(binary, launch).map_err(|error| refused(&format!("failed to start a process in `{cwd}`"), &error))
}

fn refused(what: &str, error: &io::Error) -> Refused {
    match error.raw_os_error() {
        Some(errno) => Refused::because(what, Errno::from_raw(errno)),
        None => Refused {
            errno: 0,
            message: format!("{what}: {error}"),
        },
    }
}

fn start_keeper(binary: &Path, launch: Launch) -> io::Result<Kept> {
    let (lifeline_theirs, lifeline) = io::pipe()?;
    let (hear, say) = fds::pipe()?;
    let granted = launch.policy.files.as_ref().map(|files| Granted::of(files, &Disk));
    let passed = Passed {
        lifeline: lifeline_theirs.into(),
        status: say,
        env: sealed_memfd("environment", &environment(&launch.env))?,
        fds: launch.fds,
    };
    let mut command = command(binary.as_os_str());
    command.arg0("coatepec").arg(keeper::COMMAND).args(passed.flags());
    command
        .arg("--policy")
        .arg(serde_json::to_string(&launch.policy)?)
        .args(
            cgroup::home()
                .into_iter()
                .flat_map(|home| [OsStr::new("--cgroup"), home.as_os_str()]),
        )
        .arg("--")
        .args(launch.argv);
    command.current_dir(launch.cwd).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = start_with(command, passed)?;
    let keeper = Pid::from_raw(child.id().cast_signed());
    // Nobody reaps it before `follow` does, so that it can be read even when it has ended.
    let keeper = procfs::stat(keeper).map_or(unknown(keeper), |found| found.id);
    let (tell, news) = watch::channel(News::default());
    let heard = hear.as_fd().try_clone_to_owned()?;
    let blocked = Arc::default();
    tokio::spawn(follow(child, hear, tell, Arc::clone(&blocked)));
    Ok(Kept {
        keeper,
        lifeline: Mutex::new(Some(lifeline.into())),
        news,
        heard,
        blocked,
        granted,
    })
}

fn readable(fd: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    let _ = poll(&mut asked, PollTimeout::ZERO);
    asked[0]
        .revents()
        .is_some_and(|found| found.contains(PollFlags::POLLIN))
}

fn environment(env: &[(OsString, OsString)]) -> Vec<u8> {
    let entry = |(name, value): &(OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat();
    env.iter().flat_map(entry).collect()
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
fn command(program: &OsStr) -> Command {
    Command::new(program)
}

/// What the keeper inherits, at the numbers that it has here. The keeper puts it in place, having one thread and
/// nothing of its own in the way.
struct Passed {
    lifeline: OwnedFd,
    status: OwnedFd,
    env: OwnedFd,
    fds: Vec<(OwnedFd, RawFd)>,
}

impl Passed {
    fn flags(&self) -> Vec<String> {
        let mut flags = vec!["--lifeline".into(), self.lifeline.as_raw_fd().to_string()];
        flags.extend(["--status".into(), self.status.as_raw_fd().to_string()]);
        flags.extend(["--env".into(), self.env.as_raw_fd().to_string()]);
        for (fd, to) in &self.fds {
            flags.extend(["--fd".into(), format!("{}:{to}", fd.as_raw_fd())]);
        }
        flags
    }

    /// Everything we open is closed on exec, so that nothing leaks into a process started at the same time by
    /// another thread. This undoes it in the new process only.
    fn inherit(&self) -> io::Result<()> {
        let own = self.fds.iter().map(|(fd, _)| fd);
        for fd in own.chain([&self.lifeline, &self.status, &self.env]) {
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
        }
        Ok(())
    }
}

fn start_with(mut command: Command, passed: Passed) -> io::Result<Child> {
    // SAFETY: runs between fork and exec, where another thread may have held a lock: it makes system calls only,
    // and allocates nothing.
    unsafe { command.pre_exec(move || passed.inherit()) };
    // Our copies go with the command, at the end of this function.
    orphans::start_keeper(|| command.spawn())
}

/// Waits until no keeper is left, and so nothing that was ever started; false when that took longer than `patience`.
pub async fn all_cleared(patience: Duration) -> bool {
    let mut alive = orphans::keepers().subscribe();
    let cleared = timeout(patience, alive.wait_for(HashSet::is_empty)).await.is_ok();
    // A keeper that was killed could not.
    cgroup::home().into_iter().for_each(cgroup::remove);
    cleared
}

/// Listens to the keeper until it is gone, and reaps it.
async fn follow(mut child: Child, hear: pipe::Receiver, news: watch::Sender<News>, blocked: Arc<Mutex<Blocked>>) {
    let keeper = Pid::from_raw(child.id().cast_signed());
    let handle = PidFd::open(keeper);
    let mut lines = LineReader::new(hear);
    loop {
        match lines.next().await {
            Ok(Some(line)) => match serde_json::from_slice(&line) {
                Ok(Word::Blocked(act)) => blocked.lock().unwrap_or_else(PoisonError::into_inner).note(act),
                Ok(word) => news.send_modify(|news| news.note(word, keeper)),
                Err(error) => tracing::warn!(%error, "a keeper said something that is no word of ours"),
            },
            Err(LineError::TooLong { .. }) => {}
            Ok(None) | Err(_) => break,
        }
    }
    if let Ok(handle) = handle {
        handle.exited().await;
    }
    // It was killed itself, or there would have been a last word.
    if news.borrow().left.is_none() {
        let _ = spawn_blocking(move || orphans::end_those_of(keeper)).await;
    }
    let _ = child.wait();
    orphans::keepers().send_modify(|alive| _ = alive.remove(&keeper));
    news.send_modify(|news| news.gone = true);
}

impl Blocked {
    fn note(&mut self, act: RefusedAct) {
        self.total += 1;
        if self.acts.len() < MOST_BLOCKED {
            self.acts.push(act);
        }
    }
}

impl News {
    fn note(&mut self, word: Word, keeper: Pid) {
        match word {
            Word::Confined(enforcement) => self.confined = enforcement,
            Word::Started(pid) => self.started = Some(Ok(identity(Pid::from_raw(pid), keeper))),
            Word::Failed(refused) => self.started = Some(Err(refused)),
            Word::Exited(exit) => self.exited = Some(exit),
            Word::Left(leaked) => self.left = Some(leaked),
            // Not for everybody who waits.
            Word::Blocked(_) => {}
        }
    }
}

/// The command may have ended and been reaped before we look: then no process has this identity.
fn identity(pid: Pid, keeper: Pid) -> Identity {
    let ours = procfs::stat(pid).filter(|found| found.parent == keeper || cfg!(not(target_os = "linux")));
    ours.map_or(unknown(pid), |found| found.id)
}

/// An identity that no process has.
fn unknown(pid: Pid) -> Identity {
    Identity { pid, start: u64::MAX }
}

impl Kept {
    /// The keeper's pid: what the command's descendants are adopted by.
    pub fn keeper(&self) -> Pid {
        self.keeper.pid
    }

    /// Whether the keeper can do its work: not when it was killed or stopped.
    pub fn is_kept(&self) -> bool {
        procfs::can_run(self.keeper)
    }

    /// Whether the command runs at this moment, before its keeper has said anything of its end.
    pub fn runs(&self) -> bool {
        let news = self.news.borrow();
        matches!(&news.started, Some(Ok(command)) if procfs::can_run(*command))
    }

    /// Waits until the command runs.
    ///
    /// # Errors
    /// Why it does not: no such program, a limit that can't be set, or the keeper ended first.
    pub async fn started(&self) -> Result<Identity, Refused> {
        let news = self.wait_for(|news| news.started.is_some()).await;
        let lost = || Refused {
            errno: 0,
            message: "the keeper ended before it started anything".into(),
        };
        news.started.unwrap_or_else(|| Err(lost()))
    }

    /// How the command is confined, once it runs.
    pub fn enforcement(&self) -> Enforcement {
        self.news.borrow().confined.clone()
    }

    /// Waits until all that the keeper has said by now is known.
    pub async fn caught_up(&self) {
        for _ in 0..TURNS {
            if !readable(&self.heard) {
                return;
            }
            yield_now().await;
        }
    }

    /// What was refused to the command since this was last asked, as far as its keeper knows.
    pub fn take_blocked(&self) -> Blocked {
        std::mem::take(&mut self.blocked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Which files it may read and write, if not all; what came to be beside them later is not known.
    pub fn granted(&self) -> Option<&Granted> {
        self.granted.as_ref()
    }

    /// Waits until the command has ended. Its descendants may still be there.
    pub async fn exited(&self) -> Exit {
        self.wait_for(|news| news.exited.is_some())
            .await
            .exited
            .unwrap_or(Exit::Unknown)
    }

    /// Waits until nothing of it is left and the keeper is gone; tells what the command left behind and the keeper
    /// had to kill.
    pub async fn cleared(&self) -> Leaked {
        self.wait_for(|news| news.gone).await.left.unwrap_or_default()
    }

    /// Ends all of it: TERM to the command's process group, KILL to everything that is left after `grace`. Returns
    /// when the keeper is gone too, at the latest some seconds after `grace`.
    pub async fn end(&self, grace: Duration) -> Ended {
        let forced = match self.started().await {
            Ok(root) => !tree::term(root, grace).await,
            Err(_) => false,
        };
        if forced {
            self.kill();
        }
        self.wake();
        match timeout(PATIENCE, self.cleared()).await {
            Ok(leaked) => Ended {
                forced,
                leaked,
                survivors: Vec::new(),
            },
            Err(_) => Ended {
                forced,
                ..self.end_without_keeper().await
            },
        }
    }

    /// Kills all of it, without asking and without waiting.
    pub fn kill(&self) {
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// For a keeper that does not answer: something below keeps stopping it, or won't die.
    async fn end_without_keeper(&self) -> Ended {
        self.kill();
        let root = self.news.borrow().started.clone().and_then(Result::ok);
        let target = Target::below(self.keeper.pid, root.unwrap_or(unknown(self.keeper.pid)));
        let ended = tokio::task::spawn_blocking(move || target.kill())
            .await
            .unwrap_or_default();
        self.wake();
        ended
    }

    /// Something below may have stopped the keeper.
    pub fn wake(&self) {
        let _ = pidfd::send(self.keeper, Signal::SIGCONT);
    }

    /// What is known once `known` holds, or once the keeper is gone and nothing more will be.
    async fn wait_for(&self, known: impl Fn(&News) -> bool) -> News {
        let mut news = self.news.clone();
        let heard = news
            .wait_for(|news| news.gone || known(news))
            .await
            .map(|news| news.clone());
        heard.unwrap_or_default()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.kill();
        self.wake();
    }
}
