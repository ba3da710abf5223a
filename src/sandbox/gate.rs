//! The gate: a filter that asks, and whoever keeps the process answers.
//!
//! It asks about the network, unless that is open, about each connection, and about system calls that are refused: so a
//! refusal is known.
//!
//! Nothing is decided by what lies in the memory of the process, which it could change while it is looked at. Each
//! socket for addresses is made here and bound to the loopback device before the process gets it; without a right that
//! nobody here has it can't be bound anew. So the kernel itself keeps it inside, and datagrams that name an address are
//! asked about only to be refused at once and told of. Where Unix sockets are judged by where they lie, a connection is
//! made here, too ([`super::connect`]), by a thread of its own, since it may have to wait. Whatever else is let go is done
//! by the kernel in the process itself, so that blocking, time-outs and interruptions are as ever.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc::{self, c_int};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::stat::fstat;
use seccompiler::BpfProgram;

use super::act::{Act, Kind};
use super::connect::{self, Door, Reach, read};
use super::enforcement::{Name, Part};
use super::network::{Request, Verdict, Wanted, judge};
use super::policy::{Policy, Sockets, Syscalls};
use super::{bpf, syscalls};
use crate::config::sandbox::Network;

/// Of a thread that makes a connection, in bytes.
const STACK: usize = 128 * 1024;

/// Sockets of calls that were interrupted: more than are under way at a time.
const MOST_INTERRUPTED: usize = 1024;

const LOOPBACK: &[u8] = b"lo\0";

/// What came of it.
#[derive(Debug)]
pub(super) struct Built {
    /// Asks come out here; without it, nobody is asked, and what is refused is refused by other filters.
    pub listener: Option<OwnedFd>,
    /// Of the network, if it is not open, and of Unix sockets, if not all may be talked to.
    pub parts: Vec<Part>,
}

/// Puts the filter in place. From then on what it is about waits for an answer through the gate.
pub(super) fn build(policy: &Policy) -> Built {
    let network = (policy.network != Network::Allow).then(can_bind);
    let sockets = policy.sockets.is_some().then(connect::reach);
    let about = About {
        network: network == Some(Ok(())),
        connections: sockets.is_some_and(|reach| reach != Reach::Nothing),
    };
    let listener = listen(policy.syscalls, about);
    let unheard = listener.as_ref().err().map(|why| format!("nobody can be asked: {why}"));
    let parts = [
        network.map(|bound| of_network(bound, unheard.as_deref())),
        sockets.map(|reach| of_sockets(reach, unheard.as_deref())),
    ];
    Built {
        listener: listener.ok().flatten(),
        parts: parts.into_iter().flatten().collect(),
    }
}

/// What is asked about, besides system calls.
#[derive(Debug, Clone, Copy)]
struct About {
    network: bool,
    connections: bool,
}

fn of_network(bound: Result<(), Errno>, unheard: Option<&str>) -> Part {
    match (bound, unheard) {
        (Err(errno), _) => Part::none(
            Name::Network,
            format!("no socket can be bound to the loopback device: {}", errno.desc()),
        ),
        (_, Some(why)) => Part::none(Name::Network, why),
        (Ok(()), None) => Part::full(Name::Network),
    }
}

fn of_sockets(reach: Reach, unheard: Option<&str>) -> Part {
    match (reach, unheard) {
        (Reach::Nothing, _) => Part::none(Name::Sockets, "this machine lets nobody look into another process"),
        (_, Some(why)) => Part::none(Name::Sockets, why),
        (Reach::Memory, None) => Part::partial(
            Name::Sockets,
            "a program written for that can reach them: this machine lets nobody take over a socket of another process, \
             as `pidfd_getfd` would",
        ),
        (Reach::Sockets, None) => Part::full(Name::Sockets),
    }
}

fn can_bind() -> Result<(), Errno> {
    bound_socket(libc::AF_INET, libc::SOCK_STREAM, 0).map(drop)
}

/// None if there is nothing to ask about.
fn listen(syscalls: Option<Syscalls>, about: About) -> Result<Option<OwnedFd>, String> {
    let about_syscalls = syscalls
        .map(syscalls::asking)
        .transpose()
        .map_err(|error| error.to_string())?;
    let about_others = match about {
        About { network: true, .. } => {
            let groups = syscalls::asking_about_groups().map_err(|error| error.to_string())?;
            Some(bpf::both(groups, bpf::asking_about_the_network()))
        }
        About { connections: true, .. } => Some(bpf::asking_about_connections()),
        _ => None,
    };
    let program = match (about_syscalls, about_others) {
        (Some(first), Some(second)) => bpf::both(first, second),
        (Some(program), None) | (None, Some(program)) => program,
        (None, None) => return Ok(None),
    };
    install(&program).map(Some).map_err(|errno| errno.desc().to_owned())
}

fn install(program: &BpfProgram) -> Result<OwnedFd, Errno> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| Errno::E2BIG)?,
        filter: program.as_ptr().cast_mut().cast(),
    };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // SAFETY: the kernel reads as many instructions as are there, and copies them.
    let listener = Errno::result(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    })?;
    // SAFETY: just made by the kernel for us.
    Ok(unsafe { OwnedFd::from_raw_fd(RawFd::try_from(listener).unwrap_or(-1)) })
}

fn bound_socket(family: c_int, kind: c_int, protocol: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: takes plain numbers.
    let made = Errno::result(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: just made by the kernel for us.
    let made = unsafe { OwnedFd::from_raw_fd(made) };
    let length = libc::socklen_t::try_from(LOOPBACK.len()).unwrap_or(0);
    // SAFETY: the name is as long as it is said to be.
    Errno::result(unsafe {
        let name = LOOPBACK.as_ptr().cast();
        libc::setsockopt(made.as_raw_fd(), libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name, length)
    })?;
    Ok(made)
}

/// The end of whoever answers.
#[derive(Debug)]
pub struct Gate(Arc<Desk>);

struct Desk {
    listener: OwnedFd,
    network: Network,
    /// None where connections are the process's own affair.
    sockets: Option<(Sockets, Reach)>,
    /// Hears of a refusal before the process does.
    tell: Box<dyn Fn(Act) + Send + Sync>,
    /// By their numbers in the kernel.
    interrupted: Mutex<HashSet<u64>>,
    /// Connections that are being made, by the number of who asked, each with its thread once that has begun.
    under_way: Mutex<HashMap<u64, Option<libc::pthread_t>>>,
    /// Who asks for one while there are too many.
    waiting: Mutex<VecDeque<libc::seccomp_notif>>,
}

impl Gate {
    pub fn new(listener: OwnedFd, policy: &Policy, tell: impl Fn(Act) + Send + Sync + 'static) -> Gate {
        Gate(Arc::new(Desk {
            listener,
            network: policy.network,
            sockets: policy.sockets.clone().map(|sockets| (sockets, connect::reach())),
            tell: Box::new(tell),
            interrupted: Mutex::default(),
            under_way: Mutex::default(),
            waiting: Mutex::default(),
        }))
    }

    /// Makes connections that had to wait, and lets go of those that nobody waits for any more, as the kernel does. Says when
    /// to look again, if there are any.
    pub fn tend(&self) -> Option<Duration> {
        let under_way = self.0.under_way();
        for (id, thread) in under_way.iter() {
            if let Some(thread) = thread.filter(|_| !self.0.is_valid(*id)) {
                // SAFETY: it is there, since it takes itself off this list, which is locked, before it ends.
                unsafe { libc::pthread_kill(thread, INTERRUPT) };
            }
        }
        let room = MOST_UNDER_WAY.saturating_sub(under_way.len());
        let none = under_way.is_empty();
        drop(under_way);
        let next: Vec<_> = {
            let mut waiting = self.0.waiting();
            waiting.retain(|asked| self.0.is_valid(asked.id));
            let next = room.min(waiting.len());
            waiting.drain(..next).collect()
        };
        let idle = none && next.is_empty();
        next.into_iter().for_each(|asked| self.connect(asked));
        (!idle).then_some(LOOK)
    }

    /// Readable when a process asks.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.listener.as_fd()
    }

    /// Answers one process, which waits; at once, or when its connection is made.
    pub fn answer(&self) {
        // SAFETY: all zero is a value of this plain structure, and what the kernel wants to find.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is the one that this call fills.
        let received = unsafe { libc::ioctl(self.0.raw(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
        if received != 0 {
            // It died while it waited.
            return;
        }
        if i64::from(asked.data.nr) != libc::SYS_connect || self.0.sockets.is_none() {
            return self.0.answer(&asked);
        }
        if self.0.under_way().len() < MOST_UNDER_WAY {
            self.connect(asked);
        } else {
            self.0.waiting().push_back(asked);
        }
    }

    fn connect(&self, asked: libc::seccomp_notif) {
        self.0.under_way().insert(asked.id, None);
        let desk = Arc::clone(&self.0);
        let connecting = thread::Builder::new().stack_size(STACK);
        let connect = move || {
            desk.begin(asked.id);
            desk.connect(&asked);
            desk.under_way().remove(&asked.id);
        };
        if connecting.spawn(connect).is_err() {
            self.0.under_way().remove(&asked.id);
            self.0.refuse(&asked, Errno::EAGAIN);
        }
    }
}

/// What ends a call of a thread that makes a connection, and does nothing else.
const INTERRUPT: c_int = libc::SIGUSR1;

/// Connections at a time: more than tests wait for, each with a thread. To refuse one more would be no answer that programs
/// know: Ruby takes EAGAIN for a connection that is being made.
const MOST_UNDER_WAY: usize = 512;

/// How often it is looked whether somebody still waits for them.
const LOOK: Duration = Duration::from_millis(500);

extern "C" fn interrupted(_: c_int) {}

/// How often, and how long, a call that seems to come again is waited for the first one.
const LATER: u32 = 40;
const MOMENT: Duration = Duration::from_millis(5);

impl Desk {
    fn answer(&self, asked: &libc::seccomp_notif) {
        if is_of_no_use(asked) {
            let (errno, act) = syscalls::wanted(asked.data.nr.into(), int(asked.data.args[0]));
            (self.tell)(act);
            return self.refuse(asked, errno);
        }
        match self.judge(asked) {
            Verdict::Go => self.let_go(asked),
            Verdict::Bound => self.hand_over(asked),
            Verdict::Refuse(errno, wanted) => {
                (self.tell)(wanted.into());
                self.refuse(asked, errno);
            }
        }
    }

    fn judge(&self, asked: &libc::seccomp_notif) -> Verdict {
        let [first, second, third, _, fifth, sixth] = asked.data.args;
        let address = |at, length| read(asked.pid, at, length).unwrap_or_default();
        match i64::from(asked.data.nr) {
            libc::SYS_socket => judge(self.network, Request::Socket(int(first), int(second), int(third))),
            libc::SYS_connect => judge(self.network, Request::Reach(&address(second, third))),
            libc::SYS_setsockopt => Verdict::Refuse(Errno::EACCES, Wanted::Group),
            libc::SYS_sendto => judge(self.network, Request::Reach(&address(fifth, sixth))),
            _ => Verdict::Go,
        }
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<u64, Option<libc::pthread_t>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<libc::seccomp_notif>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this thread can be interrupted.
    fn begin(&self, id: u64) {
        let handler = SigAction::new(SigHandler::Handler(interrupted), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler does nothing. All threads have the same.
        let set = unsafe { sigaction(Signal::SIGUSR1, &handler) };
        if set.and_then(|_| SigSet::from(Signal::SIGUSR1).thread_unblock()).is_ok() {
            // SAFETY: takes nothing.
            self.under_way().insert(id, Some(unsafe { libc::pthread_self() }));
        }
    }

    /// In a thread of its own: takes on who asks, and may wait as long as he would.
    fn connect(&self, asked: &libc::seccomp_notif) {
        match self.connected(asked) {
            Ok(Some(connection)) => self.report(asked, &connection),
            Ok(None) => self.let_go(asked),
            Err(errno) => self.refuse(asked, errno),
        }
    }

    /// None where the process is to do it itself.
    fn connected(&self, asked: &libc::seccomp_notif) -> Result<Option<Connection>, Errno> {
        let Some((sockets, reach)) = &self.sockets else {
            return Ok(None);
        };
        let [number, at, length, ..] = asked.data.args;
        // Who can't be looked at might ask for anything.
        let unless_seen = |errno| match errno {
            Errno::EPERM => self.unseen(),
            errno => errno,
        };
        let socket = match reach {
            Reach::Sockets => Some(connect::take_descriptor(asked.pid, int(number)).map_err(unless_seen)?),
            Reach::Memory | Reach::Nothing => None,
        };
        // In the order of the kernel, whose words these are.
        if socket.as_ref().is_some_and(|socket| !is_socket(socket)) {
            return Err(Errno::ENOTSOCK);
        }
        let address = read(asked.pid, at, length).map_err(unless_seen)?;
        // Whoever had this number when we looked is who asks.
        if !self.still_asks(asked) {
            return Err(Errno::EINTR);
        }
        if let Verdict::Refuse(errno, wanted) = judge(self.network, Request::Reach(&address)) {
            (self.tell)(wanted.into());
            return Err(errno);
        }
        let door = match connect::path_of(&address) {
            Some(path) => Some(self.door(asked, path, sockets)?),
            None => connect::be(asked.pid).map(|()| None)?,
        };
        Ok(socket.map(|socket| {
            let result = match &door {
                Some(door) => door.connect(&socket),
                None => connect::connect(&socket, &address),
            };
            Connection { socket, result }
        }))
    }

    fn door(&self, asked: &libc::seccomp_notif, path: &Path, sockets: &Sockets) -> Result<Door, Errno> {
        let door = Door::open(asked.pid, path)?;
        let moved = || match sockets.may_be_moved(&door.path) {
            true => door.bound_names(),
            false => Vec::new(),
        };
        let names = [door.path.clone()].into_iter().chain(moved());
        let mut refused = names.filter(|name| !sockets.admit(name));
        match refused.next() {
            None => Ok(door),
            Some(name) => {
                (self.tell)(Act::new(Kind::Network, name.to_string_lossy()));
                Err(Errno::EACCES)
            }
        }
    }

    /// As of a process that has made itself private.
    fn unseen(&self) -> Errno {
        (self.tell)(Act::new(
            Kind::Network,
            "a connection of a process that can't be looked at",
        ));
        Errno::EACCES
    }

    /// A process that is interrupted and then calls again is told what it would have been told.
    fn report(&self, asked: &libc::seccomp_notif, connection: &Connection) {
        let number = fstat(&connection.socket).map_or(0, |stat| stat.st_ino);
        let again = self.was_interrupted(number, connection.result);
        let mut interrupted = self.interrupted.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match connection.result {
            Err(Errno::EISCONN) if again => Ok(()),
            Err(Errno::EALREADY) if again => Err(Errno::EINPROGRESS),
            result => result,
        };
        let heard = self.reply(asked, 0, -(result.err().map_or(0, |errno| errno as i32)), 0);
        if !heard && matches!(result, Ok(()) | Err(Errno::EINPROGRESS)) {
            if interrupted.len() == MOST_INTERRUPTED {
                interrupted.clear();
            }
            interrupted.insert(number);
        }
    }

    /// Both calls may have waited for the same answer, and the first one, which nobody hears any more, may be the later to
    /// say so.
    fn was_interrupted(&self, number: u64, result: Result<(), Errno>) -> bool {
        let unsure = matches!(result, Err(Errno::EISCONN | Errno::EALREADY));
        for _ in 0..if unsure { LATER } else { 1 } {
            let mut interrupted = self.interrupted.lock().unwrap_or_else(PoisonError::into_inner);
            if interrupted.remove(&number) {
                return true;
            }
            drop(interrupted);
            if unsure {
                thread::sleep(MOMENT);
            }
        }
        false
    }

    fn still_asks(&self, asked: &libc::seccomp_notif) -> bool {
        self.is_valid(asked.id)
    }

    fn is_valid(&self, id: u64) -> bool {
        // SAFETY: the number is the one that this call reads.
        unsafe { libc::ioctl(self.raw(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
    }

    fn let_go(&self, asked: &libc::seccomp_notif) {
        self.reply(asked, 0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    fn refuse(&self, asked: &libc::seccomp_notif, errno: Errno) {
        self.reply(asked, 0, -(errno as i32), 0);
    }

    /// Gives the process a socket of ours as if it had made it.
    fn hand_over(&self, asked: &libc::seccomp_notif) {
        let [family, kind, protocol, ..] = asked.data.args.map(int);
        let made = match bound_socket(family, kind, protocol) {
            Ok(made) => made,
            Err(errno) => return self.refuse(asked, errno),
        };
        let closed = if kind & libc::SOCK_CLOEXEC == 0 {
            0
        } else {
            libc::O_CLOEXEC
        };
        let given = libc::seccomp_notif_addfd {
            id: asked.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: made.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: closed.cast_unsigned(),
        };
        // SAFETY: the structure is the one that this call reads.
        let added = unsafe { libc::ioctl(self.raw(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const given) };
        if let Err(errno) = Errno::result(added) {
            // It may have too many open files.
            self.refuse(asked, errno);
        }
    }

    /// Whether it was heard: it may be gone by now, or have been interrupted.
    fn reply(&self, asked: &libc::seccomp_notif, val: i64, error: i32, flags: u32) -> bool {
        let answer = libc::seccomp_notif_resp {
            id: asked.id,
            val,
            error,
            flags,
        };
        // SAFETY: the structure is the one that this call reads.
        unsafe { libc::ioctl(self.raw(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) == 0 }
    }

    fn raw(&self) -> RawFd {
        self.listener.as_raw_fd()
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("network", &self.network)
            .finish_non_exhaustive()
    }
}

/// What came of a connection, and the socket.
struct Connection {
    socket: OwnedFd,
    result: Result<(), Errno>,
}

/// Whether it is asked about because no test needs it, and not because of whom it would talk to.
fn is_of_no_use(asked: &libc::seccomp_notif) -> bool {
    match i64::from(asked.data.nr) {
        libc::SYS_socket => !syscalls::FAMILIES.contains(&int(asked.data.args[0])),
        libc::SYS_connect | libc::SYS_sendto | libc::SYS_setsockopt => false,
        _ => true,
    }
}

fn is_socket(file: &OwnedFd) -> bool {
    fstat(file).is_ok_and(|file| file.st_mode & libc::S_IFMT == libc::S_IFSOCK)
}

/// The kernel looks at the lower half of such an argument only.
fn int(argument: u64) -> c_int {
    (argument as u32).cast_signed()
}

const _: () = assert!(size_of::<libc::seccomp_data>() == 64, "the filter counts on it");
