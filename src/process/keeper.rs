//! The keeper: the stage of our own binary that stands between the supervisor and everything of the app.
//!
//! `coatepec __jail --lifeline FD --status FD [--fd FROM:TO]… [--env FD] [--policy JSON]
//! [--cgroup DIR] -- COMMAND ARGUMENT…`
//!
//! It confines the command and starts it, adopts whatever loses its parent, and reaps. When the command has ended,
//! or the supervisor has (the kernel then closes the other end of the lifeline, also after SIGKILL), it kills
//! everything below itself and leaves. It has no runtime, one thread but for connections that it makes for the command,
//! and ignores signals: it ends by the lifeline.
//!
//! The command's environment comes through a descriptor, so that the keeper has none of it: a library that the app
//! preloads would be loaded into the keeper too, and might start a thread in it.
//!
//! It also answers what the command's processes ask for ([`crate::sandbox::gate`]).
//!
//! What remains: a process of the same user may kill or stop the keeper, unless the sandbox forbids it. When it is
//! killed, the command ends with it (the kernel sees to that), and the supervisor ends the rest ([`super::orphans`]).
//! When it is stopped, the supervisor wakes it or does its work. When the supervisor is killed then, nobody does.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, recvmsg, sendmsg};
use nix::unistd::{ForkResult, Pid, execvp, fork, getppid, setsid};
use serde::{Deserialize, Serialize};

use super::cgroup;
use super::procfs::{self, Identity};
use super::tree::{Leaked, SETTLE, Tally, Target};
use crate::sandbox::gate::Gate;
use crate::sandbox::jail::{self, Confined};
use crate::sandbox::{Enforcement, Policy, RefusedAct};

/// The word after `coatepec` that makes it a keeper.
pub const COMMAND: &str = "__jail";

/// How long it waits before it looks again at what did not go, at first and at most.
const PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How many may have died since it last reaped, before it takes them for more than it can reap.
const TOO_MANY_DEAD: usize = 512;

/// What the keeper tells the supervisor, one line of JSON each, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// How the command is confined, if it is.
    Confined(Enforcement),
    /// The command runs, and this is its pid.
    Started(i32),
    /// The command does not run; nothing follows.
    Failed(Refused),
    /// Something of the command wanted to do this, and may not.
    Blocked(RefusedAct),
    /// The command has ended.
    Exited(Exit),
    /// Nothing is left, and this had to be killed.
    Left(Leaked),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Nobody was left to tell: the keeper was killed, and the process with it.
    Unknown,
}

/// Why a command does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The system's number for the cause, 0 when it has none.
    pub errno: i32,
    pub message: String,
}

impl Refused {
    pub(super) fn because(what: impl std::fmt::Display, errno: Errno) -> Self {
        Refused {
            errno: errno as i32,
            message: format!("{what}: {}", errno.desc()),
        }
    }
}

/// The name that a keeper has for the kernel.
const NAME: &std::ffi::CStr = c"coatepec-keeper";

/// Whether a process is of an app: below a keeper, whoever's that is. One that has gone may have been.
pub fn keeps(pid: Pid) -> bool {
    let Some(mut found) = procfs::stat(pid) else {
        return true;
    };
    loop {
        if found.name.as_bytes() == NAME.to_bytes() {
            return true;
        }
        if found.parent.as_raw() <= 1 {
            return false;
        }
        // Whose parent has ended meanwhile has another one by now.
        let Some(parent) = procfs::stat(found.parent) else {
            return keeps(pid);
        };
        found = parent;
    }
}

/// Called with the arguments after [`COMMAND`], before anything has started a thread or opened a file.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match Orders::parse(arguments) {
        Ok(orders) => keep(orders),
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "without orders there is no status descriptor to say it on"
)]
fn complain(message: &str) {
    eprintln!("coatepec {COMMAND}: {message}");
}

/// What the keeper is to do. Its descriptors are copies, above those that were inherited, and closed on exec.
struct Orders {
    lifeline: OwnedFd,
    status: File,
    /// What the command gets, and at which number.
    fds: Vec<(OwnedFd, RawFd)>,
    /// What the command finds in its environment besides what the keeper has in its own.
    env: Vec<(OsString, OsString)>,
    policy: Policy,
    /// Of the supervisor; removed by whoever ends last.
    cgroup: Option<OsString>,
    command: Vec<CString>,
}

impl Orders {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let (mut lifeline, mut status, mut fds) = (None, None, Vec::new());
        let (mut env, mut policy, mut cgroup) = (Vec::new(), Policy::default(), None);
        loop {
            let flag = arguments.next().ok_or("a command is missing")?;
            if flag == "--" {
                break;
            }
            let value = arguments
                .next()
                .ok_or("a flag without its value")?
                .into_string()
                .map_err(|_| "not UTF-8")?;
            match flag.to_str() {
                Some("--lifeline") => lifeline = Some(copy(&value)?),
                Some("--status") => status = Some(copy(&value)?),
                Some("--fd") => fds.push(mapping(&value)?),
                Some("--cgroup") => cgroup = Some(value.into()),
                Some("--env") => env = environment(copy(&value)?)?,
                Some("--policy") => policy = serde_json::from_str(&value).map_err(|error| error.to_string())?,
                _ => return Err(format!("unknown flag `{}`", flag.display())),
            }
        }
        Ok(Orders {
            lifeline: lifeline.ok_or("--lifeline is missing")?,
            status: status.ok_or("--status is missing")?.into(),
            fds,
            env,
            policy,
            cgroup,
            command: command(arguments)?,
        })
    }

    fn all_fds(&self) -> Vec<RawFd> {
        let ours = [self.lifeline.as_raw_fd(), self.status.as_raw_fd()];
        self.fds.iter().map(|(fd, _)| fd.as_raw_fd()).chain(ours).collect()
    }
}

fn command(arguments: impl Iterator<Item = OsString>) -> Result<Vec<CString>, String> {
    let words: Result<Vec<CString>, _> = arguments.map(|word| CString::new(word.into_vec())).collect();
    match words {
        Ok(words) if !words.is_empty() => Ok(words),
        _ => Err("a command is missing".into()),
    }
}

/// Reads `NAME=value`, each ended by a zero byte.
fn environment(from: OwnedFd) -> Result<Vec<(OsString, OsString)>, String> {
    let mut bytes = Vec::new();
    File::from(from)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    let split = |entry: &[u8]| {
        let at = entry.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        let part = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((part(&entry[..at]), part(&entry[at + 1..])))
    };
    Ok(bytes.split(|byte| *byte == 0).filter_map(split).collect())
}

fn mapping(text: &str) -> Result<(OwnedFd, RawFd), String> {
    let (from, to) = text.split_once(':').ok_or_else(|| format!("`{text}` is not FROM:TO"))?;
    let to = to
        .parse()
        .ok()
        .filter(|to| *to >= 0)
        .ok_or_else(|| format!("`{to}` is no descriptor"))?;
    Ok((copy(from)?, to))
}

/// A copy, so that one descriptor may be named twice, and each copy is closed once.
fn copy(number: &str) -> Result<OwnedFd, String> {
    let wrong = || format!("`{number}` is no open descriptor");
    let fd: RawFd = number.parse().ok().filter(|fd| *fd >= 0).ok_or_else(wrong)?;
    // SAFETY: borrowed for this one call; when it is not open, the call fails.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    copy_above(borrowed, 3).map_err(|_| wrong())
}

fn copy_above(fd: impl AsFd, lowest: RawFd) -> nix::Result<OwnedFd> {
    let copied = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(lowest))?;
    // SAFETY: just made by the kernel for us.
    Ok(unsafe { OwnedFd::from_raw_fd(copied) })
}

fn keep(mut orders: Orders) -> ExitCode {
    jail::close_other_fds(&orders.all_fds());
    let started = prepare().and_then(|signals| Ok((signals, start(&mut orders)?)));
    // Only the command may hold these open: their readers wait for the end.
    orders.fds.clear();
    match started {
        Ok((signals, (command, gate))) => Keeper {
            orders,
            signals,
            command,
            gate,
            exited: false,
            kernel_reaps: false,
        }
        .run(),
        Err(refused) => say(&orders.status, &Word::Failed(refused)),
    }
    ExitCode::SUCCESS
}

/// The keeper itself: out of reach of the terminal and of signals to the supervisor's group.
fn prepare() -> Result<Signals, Refused> {
    // Fails only for the leader of a group, as which a shell with job control starts us; then it is not needed.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    {
        use nix::sys::prctl;
        let _ = prctl::set_name(NAME);
        // Should it be stopped when the supervisor dies, it goes on, finds the lifeline cut and does its work.
        let _ = prctl::set_pdeathsig(nix::sys::signal::Signal::SIGCONT);
        prctl::set_child_subreaper(true).map_err(|errno| Refused::because("failed to adopt orphans", errno))?;
    }
    Signals::block().map_err(|errno| Refused::because("failed to block signals", errno))
}

/// Forks and executes the command. Returns once it runs, or with the reason why it doesn't.
fn start(orders: &mut Orders) -> Result<(Identity, Option<Gate>), Refused> {
    let (hear, tell) = UnixStream::pair().map_err(|error| Refused {
        errno: 0,
        message: error.to_string(),
    })?;
    #[cfg(target_os = "linux")]
    if orders.policy.sockets.is_some() {
        confine_ourselves()?;
    }
    let keeper = Pid::this();
    // SAFETY: this process has a single thread, so that the child may do whatever we may.
    match unsafe { fork() }.map_err(|errno| Refused::because("failed to fork", errno))? {
        ForkResult::Child => become_command(orders, keeper, tell.into()),
        ForkResult::Parent { child } => {
            drop(tell);
            #[cfg(target_os = "linux")]
            if orders.policy.sockets.is_some() {
                crate::sandbox::keep_those_of_a_keeper()
                    .map_err(|errno| Refused::because("failed to give up capabilities", errno))?;
            }
            let (told, gate) = hear_all(&hear);
            for word in told {
                match word {
                    Word::Failed(refused) => return Err(refused),
                    word => say(&orders.status, &word),
                }
            }
            let gate = match gate {
                Some(listener) => Some(gate_of(orders, listener)?),
                None => None,
            };
            // Not reaped yet, so that it can be read even when it has ended.
            let command = procfs::stat(child).map_or(Identity { pid: child, start: 0 }, |found| found.id);
            Ok((command, gate))
        }
    }
}

/// Who connects for a process must reach no more than that.
#[cfg(target_os = "linux")]
fn confine_ourselves() -> Result<(), Refused> {
    nix::sys::prctl::set_no_new_privs().map_err(|errno| Refused::because("failed to give up new privileges", errno))?;
    crate::sandbox::keep_to_abstract_sockets_within();
    Ok(())
}

/// The supervisor hears of a refusal first, so that it can tell in which example it was.
fn gate_of(orders: &Orders, listener: OwnedFd) -> Result<Gate, Refused> {
    let status =
        copy_above(&orders.status, 3).map_err(|errno| Refused::because("failed to copy a descriptor", errno))?;
    let status = File::from(status);
    Ok(Gate::new(listener, &orders.policy, move |act| {
        say(&status, &Word::Blocked(RefusedAct::now(act)));
    }))
}

fn become_command(orders: &Orders, keeper: Pid, mut tell: OwnedFd) -> ! {
    let refused = match confine_and_exec(orders, keeper, &mut tell) {
        Ok(never) => match never {},
        Err(refused) => refused,
    };
    say(&File::from(tell), &Word::Failed(refused));
    // SAFETY: ends this process at once; what its parent has buffered or registered is not the child's to flush.
    unsafe { libc::_exit(127) }
}

fn confine_and_exec(orders: &Orders, keeper: Pid, tell: &mut OwnedFd) -> Result<std::convert::Infallible, Refused> {
    die_with(keeper)?;
    // Its own session and group, so that a signal to the group reaches it and nothing of ours.
    setsid().map_err(|errno| Refused::because("failed to start a session", errno))?;
    default_signals();
    for (name, value) in &orders.env {
        // SAFETY: this process has a single thread, so that nobody reads the environment meanwhile.
        unsafe { std::env::set_var(name, value) };
    }
    place(orders, tell).map_err(|errno| Refused::because("failed to pass file descriptors", errno))?;
    let confined = jail::confine(&orders.policy).map_err(|refusal| Refused {
        errno: refusal.errno as i32,
        message: refusal.to_string(),
    })?;
    if confined.enforcement != Enforcement::default() {
        tell_of(tell, confined).map_err(|errno| Refused::because("failed to hand over the gate", errno))?;
    }
    let program = &orders.command[0];
    execvp(program, &orders.command)
        .map_err(|errno| Refused::because(format!("failed to run `{}`", program.to_string_lossy()), errno))
}

/// The gate goes along with the word.
fn tell_of(tell: &OwnedFd, confined: Confined) -> nix::Result<()> {
    let mut line = serde_json::to_vec(&Word::Confined(confined.enforcement)).map_err(|_| Errno::EINVAL)?;
    line.push(b'\n');
    let fds: Vec<RawFd> = confined.gate.iter().map(AsRawFd::as_raw_fd).collect();
    let gate = [ControlMessage::ScmRights(&fds)];
    let along = &gate[..fds.len()];
    sendmsg::<()>(tell.as_raw_fd(), &[IoSlice::new(&line)], along, MsgFlags::empty(), None)?;
    Ok(())
}

/// What the child says before it becomes the command. Ends when the exec closes the other end, or the child leaves.
fn hear_all(hear: &UnixStream) -> (Vec<Word>, Option<OwnedFd>) {
    let (mut text, mut gate, mut part) = (Vec::new(), None, [0; 4096]);
    loop {
        let mut space = cmsg_space!(RawFd);
        let mut into = [IoSliceMut::new(&mut part)];
        let (read, fds) = match recvmsg::<()>(
            hear.as_raw_fd(),
            &mut into,
            Some(&mut space),
            MsgFlags::MSG_CMSG_CLOEXEC,
        ) {
            Ok(message) => (message.bytes, received(&message)),
            Err(Errno::EINTR) => continue,
            Err(_) => break,
        };
        gate = gate.or(fds);
        match read {
            0 => break,
            read => text.extend_from_slice(&part[..read]),
        }
    }
    let lines = text.split(|byte| *byte == b'\n');
    (
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect(),
        gate,
    )
}

fn received(message: &RecvMsg<'_, '_, ()>) -> Option<OwnedFd> {
    let fds = message.cmsgs().ok()?.find_map(|along| match along {
        ControlMessageOwned::ScmRights(fds) => fds.first().copied(),
        _ => None,
    })?;
    // SAFETY: just made by the kernel for us.
    Some(unsafe { OwnedFd::from_raw_fd(fds) })
}

/// For the case that the keeper itself is killed.
fn die_with(keeper: Pid) -> Result<(), Refused> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)
        .map_err(|errno| Refused::because("failed to bind the command to its keeper", errno))?;
    // It may have died before the kernel knew that we mind.
    if getppid() == keeper {
        Ok(())
    } else {
        Err(Refused::because("the keeper has gone", Errno::ESRCH))
    }
}

/// What we, or whoever started us, ignore or block is no business of the command.
fn default_signals() {
    for signal in 1..=last_signal() {
        // SAFETY: the default action involves no code of ours. Refused for KILL and STOP, which have no other.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
}

fn last_signal() -> libc::c_int {
    #[cfg(target_os = "linux")]
    return libc::SIGRTMAX();
    #[cfg(not(target_os = "linux"))]
    return 31;
}

/// Puts each descriptor at its number. First everything moves above the highest number, so that none is
/// overwritten before it was copied.
fn place(orders: &Orders, tell: &mut OwnedFd) -> nix::Result<()> {
    let highest = orders.fds.iter().map(|(_, to)| *to).max().unwrap_or(0);
    *tell = copy_above(&*tell, highest + 1)?;
    let moved: nix::Result<Vec<_>> = orders.fds.iter().map(|(fd, _)| copy_above(fd, highest + 1)).collect();
    for (from, (_, to)) in moved?.iter().zip(&orders.fds) {
        // SAFETY: whatever is at that number is not used any more, `tell` and the sources are above.
        Errno::result(unsafe { libc::dup2(from.as_raw_fd(), *to) })?;
    }
    Ok(())
}

struct Keeper {
    orders: Orders,
    signals: Signals,
    command: Identity,
    /// Until nobody is left who could ask.
    gate: Option<Gate>,
    exited: bool,
    /// From the moment on at which there was too much for us to reap.
    kernel_reaps: bool,
}

impl Keeper {
    fn run(mut self) {
        self.say(&Word::Started(self.command.pid.as_raw()));
        while !self.exited && !self.wait(self.kernel_reaps.then_some(LONGEST_PAUSE)) {
            self.reap();
        }
        if self.exited {
            self.settle();
        }
        let left = self.clear();
        if let Some(cgroup) = &self.orders.cgroup {
            cgroup::remove(cgroup.as_ref());
        }
        self.say(&Word::Left(left));
    }

    /// What the command had told to end may need a moment. The supervisor's end cuts that short.
    fn settle(&mut self) {
        let over = Instant::now() + SETTLE;
        while self.reap() && Instant::now() < over {
            if self.wait(Some(PAUSE)) {
                break;
            }
        }
    }

    /// Waits for whatever comes, answers who asks, and says whether the lifeline is cut.
    fn wait(&mut self, at_most: Option<Duration>) -> bool {
        let asked = self.gate.as_ref().map(Gate::as_fd);
        let at_most = [at_most, self.gate.as_ref().and_then(Gate::tend)]
            .into_iter()
            .flatten()
            .min();
        let woken = self.signals.wait(Some(self.orders.lifeline.as_fd()), asked, at_most);
        if let Some(gate) = self.gate.as_ref().filter(|_| woken.asked) {
            gate.answer();
        }
        if woken.abandoned {
            self.gate = None;
        }
        woken.cut
    }

    /// Kills until no child is left. That is exact: whatever is below us is below a child of ours.
    fn clear(&mut self) -> Leaked {
        let target = Target::below(Pid::this(), self.command);
        let mut tally = Tally::default();
        let mut pause = PAUSE;
        while self.reap() {
            target.kill_once(&mut tally);
            self.signals.wait(None, None, Some(pause));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        tally.leaked
    }

    /// Reaps every zombie; says whether a child is left.
    fn reap(&mut self) -> bool {
        let left = self.reap_all();
        // Of this the kernel tells nobody then.
        if self.kernel_reaps
            && !self.exited
            && procfs::stat(self.command.pid).is_none_or(|found| found.id != self.command)
        {
            self.exited(Exit::Unknown);
        }
        left
    }

    fn reap_all(&mut self) -> bool {
        let mut dead = 0;
        loop {
            dead += 1;
            if dead == TOO_MANY_DEAD {
                self.leave_reaping_to_the_kernel();
            }
            let mut status = 0;
            // SAFETY: writes to the integer and nowhere else. The raw status, because a signal above 31 has no name.
            let reaped = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
            match reaped {
                0 => return true,
                -1 if Errno::last() == Errno::EINTR => {}
                -1 => return false,
                pid if pid == self.command.pid.as_raw() && !self.exited => self.exited(Exit::from_status(status)),
                _ => {}
            }
        }
    }

    /// What forks as fast as it dies leaves more dead than we can reap: they take the numbers that the machine has for
    /// processes, and the living are not found among them. The price is that the end of the command is noticed later, by
    /// a look, and how it ended is not known.
    fn leave_reaping_to_the_kernel(&mut self) {
        // SAFETY: ignoring a signal involves no code of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        self.kernel_reaps = true;
    }

    fn exited(&mut self, how: Exit) {
        self.exited = true;
        self.say(&Word::Exited(how));
    }

    fn say(&self, word: &Word) {
        say(&self.orders.status, word);
    }
}

impl Exit {
    fn from_status(status: libc::c_int) -> Self {
        if libc::WIFSIGNALED(status) {
            Exit::Signal(libc::WTERMSIG(status))
        } else {
            Exit::Code(libc::WEXITSTATUS(status))
        }
    }
}

/// One line. Nobody may be listening any more, which changes nothing for us.
fn say(mut to: &File, word: &impl Serialize) {
    let Ok(mut line) = serde_json::to_vec(word) else { return };
    line.push(b'\n');
    let _ = to.write_all(&line);
}

/// What a wait ended with.
struct Woken {
    /// The lifeline is cut.
    cut: bool,
    /// Somebody is at the gate.
    asked: bool,
    /// Nobody can come to the gate any more.
    abandoned: bool,
}

/// The news that a child has ended, as a descriptor that can be waited for together with the lifeline.
#[cfg(target_os = "linux")]
struct Signals(nix::sys::signalfd::SignalFd);

#[cfg(target_os = "linux")]
impl Signals {
    /// Blocks all signals for good.
    fn block() -> nix::Result<Self> {
        use nix::sys::signal::Signal;
        use nix::sys::signalfd::{SfdFlags, SignalFd};
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
        let mut child = SigSet::empty();
        child.add(Signal::SIGCHLD);
        Ok(Signals(SignalFd::with_flags(
            &child,
            SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
        )?))
    }

    /// Waits for any of them, or for the time to pass.
    fn wait(&self, lifeline: Option<BorrowedFd<'_>>, gate: Option<BorrowedFd<'_>>, at_most: Option<Duration>) -> Woken {
        let own = self.0.as_fd();
        // What is not there is watched for nothing, so that each has its place.
        let mut fds = [
            PollFd::new(own, PollFlags::POLLIN),
            PollFd::new(lifeline.unwrap_or(own), PollFlags::empty()),
            PollFd::new(
                gate.unwrap_or(own),
                gate.map_or(PollFlags::empty(), |_| PollFlags::POLLIN),
            ),
        ];
        let timeout = at_most.map_or(PollTimeout::NONE, |time| time.try_into().unwrap_or(PollTimeout::MAX));
        let _ = poll(&mut fds, timeout);
        let [_, cut, gate] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::all()));
        while let Ok(Some(_)) = self.0.read_signal() {}
        Woken {
            cut: !cut.is_empty(),
            asked: gate.contains(PollFlags::POLLIN),
            abandoned: gate.intersects(PollFlags::POLLHUP | PollFlags::POLLERR),
        }
    }
}

/// Elsewhere children are looked for every few milliseconds.
#[cfg(not(target_os = "linux"))]
struct Signals;

#[cfg(not(target_os = "linux"))]
impl Signals {
    fn block() -> nix::Result<Self> {
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
        Ok(Signals)
    }

    fn wait(&self, lifeline: Option<BorrowedFd<'_>>, _: Option<BorrowedFd<'_>>, at_most: Option<Duration>) -> Woken {
        let mut fds: Vec<PollFd<'_>> = lifeline
            .map(|fd| PollFd::new(fd, PollFlags::empty()))
            .into_iter()
            .collect();
        let timeout = at_most.unwrap_or(LONGEST_PAUSE).min(20 * PAUSE);
        let _ = poll(&mut fds, timeout.try_into().unwrap_or(PollTimeout::MAX));
        let cut = fds.first().is_some_and(|fd| fd.any().unwrap_or(true));
        Woken {
            cut,
            asked: false,
            abandoned: false,
        }
    }
}
