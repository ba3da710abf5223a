//! The gate: a filter that asks, and whoever keeps the process answers.
//!
//! It asks about the network, unless that is open, and about system calls that are refused: so a refusal is known.
//!
//! Nothing is decided by what lies in the memory of the process, which it could change while it is looked at. Each
//! socket for addresses is made here and bound to the loopback device before the process gets it; without a right that
//! nobody here has it can't be bound anew. So the kernel itself keeps it inside, and calls that name an address are asked
//! about only to be refused at once and told of. Whatever is let go is done by the kernel in the process itself, so that
//! blocking, time-outs and interruptions are as ever.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc::{self, c_int};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use seccompiler::BpfProgram;

use super::act::Act;
use super::enforcement::{Name, Part};
use super::network::{Request, Verdict, judge};
use super::policy::{Policy, Syscalls};
use super::{bpf, syscalls};
use crate::config::sandbox::Network;

/// The largest address that the kernel takes.
const LONGEST_ADDRESS: usize = 128;

const LOOPBACK: &[u8] = b"lo\0";

/// What came of it.
#[derive(Debug)]
pub(super) struct Built {
    /// Asks come out here; without it, nobody is asked, and what is refused is refused by other filters.
    pub listener: Option<OwnedFd>,
    /// Of the network, if it is not open.
    pub part: Option<Part>,
}

/// Puts the filter in place. From then on what it is about waits for an answer through the gate.
pub(super) fn build(policy: &Policy) -> Built {
    let network = (policy.network != Network::Allow).then(can_bind);
    let listener = listen(policy.syscalls, network == Some(Ok(())));
    let why = match (&network, &listener) {
        (Some(Err(errno)), _) => Some(format!(
            "no socket can be bound to the loopback device: {}",
            errno.desc()
        )),
        (Some(Ok(())), Err(why)) => Some(format!("nobody can be asked: {why}")),
        _ => None,
    };
    let enforced = |_| why.map_or(Part::full(Name::Network), |why| Part::none(Name::Network, why));
    Built {
        listener: listener.ok().flatten(),
        part: network.map(enforced),
    }
}

fn can_bind() -> Result<(), Errno> {
    bound_socket(libc::AF_INET, libc::SOCK_STREAM, 0).map(drop)
}

/// None if there is nothing to ask about.
fn listen(syscalls: Option<Syscalls>, about_network: bool) -> Result<Option<OwnedFd>, String> {
    let about_syscalls = syscalls
        .map(syscalls::asking)
        .transpose()
        .map_err(|error| error.to_string())?;
    let about_network = about_network.then(bpf::asking_about_the_network);
    let program = match (about_syscalls, about_network) {
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
pub struct Gate {
    listener: OwnedFd,
    network: Network,
}

impl Gate {
    pub fn new(listener: OwnedFd, network: Network) -> Gate {
        Gate { listener, network }
    }

    /// Readable when a process asks.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Answers one process, which waits. `tell` hears of a refusal before the process does.
    pub fn answer(&self, tell: impl FnOnce(Act)) {
        // SAFETY: all zero is a value of this plain structure, and what the kernel wants to find.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is the one that this call fills.
        let received = unsafe { libc::ioctl(self.raw(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
        if received != 0 {
            // It died while it waited.
            return;
        }
        if is_of_no_use(&asked) {
            let (errno, act) = syscalls::wanted(asked.data.nr.into(), int(asked.data.args[0]));
            tell(act);
            return self.reply(&asked, 0, -(errno as i32), 0);
        }
        match self.judge(&asked) {
            Verdict::Go => self.reply(&asked, 0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Verdict::Bound => self.hand_over(&asked),
            Verdict::Refuse(errno, wanted) => {
                tell(wanted.into());
                self.reply(&asked, 0, -(errno as i32), 0);
            }
        }
    }

    fn judge(&self, asked: &libc::seccomp_notif) -> Verdict {
        let [first, second, third, _, fifth, sixth] = asked.data.args;
        let address = |at, length| read(asked.pid, at, length);
        match i64::from(asked.data.nr) {
            libc::SYS_socket => judge(self.network, Request::Socket(int(first), int(second), int(third))),
            libc::SYS_connect => judge(self.network, Request::Reach(&address(second, third))),
            libc::SYS_sendto => judge(self.network, Request::Reach(&address(fifth, sixth))),
            _ => Verdict::Go,
        }
    }

    /// Gives the process a socket of ours as if it had made it.
    fn hand_over(&self, asked: &libc::seccomp_notif) {
        let [family, kind, protocol, ..] = asked.data.args.map(int);
        let made = match bound_socket(family, kind, protocol) {
            Ok(made) => made,
            Err(errno) => return self.reply(asked, 0, -(errno as i32), 0),
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
            self.reply(asked, 0, -(errno as i32), 0);
        }
    }

    /// It may be gone by now, which changes nothing.
    fn reply(&self, asked: &libc::seccomp_notif, val: i64, error: i32, flags: u32) {
        let answer = libc::seccomp_notif_resp {
            id: asked.id,
            val,
            error,
            flags,
        };
        // SAFETY: the structure is the one that this call reads.
        let _ = unsafe { libc::ioctl(self.raw(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
    }

    fn raw(&self) -> RawFd {
        self.listener.as_raw_fd()
    }
}

/// Whether it is asked about because no test needs it, and not because of whom it would talk to.
fn is_of_no_use(asked: &libc::seccomp_notif) -> bool {
    match i64::from(asked.data.nr) {
        libc::SYS_socket => !syscalls::FAMILIES.contains(&int(asked.data.args[0])),
        libc::SYS_connect | libc::SYS_sendto => false,
        _ => true,
    }
}

/// The kernel looks at the lower half of such an argument only.
fn int(argument: u64) -> c_int {
    (argument as u32).cast_signed()
}

/// What lies in the memory of a process; nothing if it can't be read.
fn read(pid: u32, at: u64, length: u64) -> Vec<u8> {
    let length = usize::try_from(length).unwrap_or(0).min(LONGEST_ADDRESS);
    let mut bytes = vec![0; length];
    let base = usize::try_from(at).unwrap_or(0);
    let remote = [RemoteIoVec { base, len: length }];
    let read = process_vm_readv(
        Pid::from_raw(pid.cast_signed()),
        &mut [io::IoSliceMut::new(&mut bytes)],
        &remote,
    );
    bytes.truncate(read.unwrap_or(0));
    bytes
}

const _: () = assert!(size_of::<libc::seccomp_data>() == 64, "the filter counts on it");
