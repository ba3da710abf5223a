//! Connects in the stead of a process that asks: what was looked at is what is connected to, whatever the process does to
//! its memory, its descriptors and its files meanwhile.
//!
//! A process that let itself be looked at and then went on by itself would be free to name another address, or another
//! socket, in between. So its socket is taken over for the call, the address is copied once, and a path is opened once:
//! the kernel then connects to that very file.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, open, openat2, readlink};
use nix::libc::{self, c_int};
use nix::sys::stat::{Mode, fstat};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

use super::{bound, capabilities};

/// The largest address that the kernel takes.
const LONGEST_ADDRESS: usize = 128;

/// Where the path of a Unix socket begins in its address.
const PATH: usize = size_of::<libc::sa_family_t>();

/// How far we reach into a process that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Its sockets can be taken over.
    Sockets,
    /// It can be looked at only.
    Memory,
    Nothing,
}

/// The same for all processes: what a container's filter, or the machine, lets one do to another of its own.
pub(super) fn reach() -> Reach {
    if !may_trace() {
        return Reach::Nothing;
    }
    let (ours, byte) = (std::process::id(), [0_u8]);
    let reads = read(ours, byte.as_ptr().addr() as u64, 1).is_ok();
    match (reads, take_descriptor(ours, 0)) {
        (false, _) => Reach::Nothing,
        (true, Err(Errno::EPERM | Errno::ENOSYS)) => Reach::Memory,
        // That there is no such descriptor says that one could be taken.
        (true, _) => Reach::Sockets,
    }
}

/// Some machines let no ordinary user trace even his own children.
fn may_trace() -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let scope: u32 = scope.trim().parse().unwrap_or(0);
    scope < 2 || (scope == 2 && nix::unistd::geteuid().is_root())
}

/// An address in the memory of a process.
///
/// # Errors
/// As the kernel's own, if it is no address there; or that we can't look.
pub(super) fn read(pid: u32, at: u64, length: u64) -> Result<Vec<u8>, Errno> {
    // The kernel looks at the lower half of it only.
    let length = usize::try_from((length as u32).cast_signed()).unwrap_or(usize::MAX);
    if length > LONGEST_ADDRESS {
        return Err(Errno::EINVAL);
    }
    let mut bytes = vec![0; length];
    let base = usize::try_from(at).unwrap_or(0);
    let remote = [RemoteIoVec { base, len: length }];
    let read = process_vm_readv(
        Pid::from_raw(pid.cast_signed()),
        &mut [io::IoSliceMut::new(&mut bytes)],
        &remote,
    );
    bytes.truncate(read?);
    Ok(bytes)
}

/// A copy of a descriptor that a thread of another process has.
pub(super) fn take_descriptor(thread: u32, number: c_int) -> Result<OwnedFd, Errno> {
    /// `PIDFD_THREAD`, since Linux 6.9: a thread may have descriptors of its own.
    const THREAD: c_int = libc::O_EXCL;
    let process = match open_process(thread, THREAD) {
        Err(Errno::EINVAL) => open_process(leader(thread).ok_or(Errno::ESRCH)?, 0),
        opened => opened,
    }?;
    // SAFETY: takes plain numbers.
    let taken = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })?;
    Ok(owned(taken))
}

fn open_process(pid: u32, flags: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: takes plain numbers.
    Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) }).map(owned)
}

fn owned(made: libc::c_long) -> OwnedFd {
    // SAFETY: just made by the kernel for us.
    unsafe { OwnedFd::from_raw_fd(RawFd::try_from(made).unwrap_or(-1)) }
}

fn leader(thread: u32) -> Option<u32> {
    field(&status(thread)?, "Tgid:")?.trim().parse().ok()
}

fn status(pid: impl std::fmt::Display) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/status")).ok()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name))
}

/// The path in an address of a Unix socket, if it has one.
pub(super) fn path_of(address: &[u8]) -> Option<&Path> {
    let family = u16::from_ne_bytes(address.get(..PATH)?.try_into().ok()?);
    let path = address.get(PATH..)?;
    let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
    let is_path = c_int::from(family) == libc::AF_UNIX && end > 0;
    is_path.then(|| Path::new(OsStr::from_bytes(&path[..end])))
}

/// The socket file that a process means, held open so that it stays that one.
#[derive(Debug)]
pub(super) struct Door {
    file: OwnedFd,
    /// Without symbolic links.
    pub path: PathBuf,
}

impl Door {
    /// # Errors
    /// As the process itself would get.
    pub(super) fn open(asking: u32, path: &Path) -> Result<Door, Errno> {
        let file = open_as(asking, path)?;
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        let path = PathBuf::from(readlink(link.as_str())?);
        // Nobody can come to it by this name any more.
        if path.as_os_str().as_bytes().ends_with(b" (deleted)") {
            return Err(Errno::ECONNREFUSED);
        }
        Ok(Door { file, path })
    }

    /// The names by which it was bound, if the kernel tells.
    pub(super) fn bound_names(&self) -> Vec<PathBuf> {
        fstat(&self.file).map(|file| bound::names(&file)).unwrap_or_default()
    }

    /// An address that leads to this very file.
    fn address(&self) -> Vec<u8> {
        let family = (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes();
        let path = format!("/proc/self/fd/{}\0", self.file.as_raw_fd());
        [&family[..], path.as_bytes()].concat()
    }

    pub(super) fn connect(&self, socket: &OwnedFd) -> Result<(), Errno> {
        connect(socket, &self.address())
    }
}

/// As the process itself would: with its rights, where it is, and as far as it sees.
fn open_as(asking: u32, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
    let (start, rest) = match of_itself(asking, path) {
        Some((own, rest)) => (own, rest),
        None if path.is_absolute() && !is_our_root(asking) => (PathBuf::from("root"), path.to_owned()),
        None => (PathBuf::from("cwd"), path.to_owned()),
    };
    // What leads by a link to descriptors of whoever asks would, for us, lead to our own.
    let resolve = match (start == Path::new("root"), path.starts_with("/proc")) {
        (true, _) => ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS,
        (false, true) => ResolveFlag::empty(),
        (false, false) => ResolveFlag::RESOLVE_NO_MAGICLINKS,
    };
    let start = open(
        &Path::new("/proc").join(asking.to_string()).join(start),
        flags,
        Mode::empty(),
    )?;
    be(asking)?;
    if rest.as_os_str().is_empty() {
        return Ok(start);
    }
    openat2(start, &rest, OpenHow::new().flags(flags).resolve(resolve))
}

/// What a process names of itself, below its place in `/proc`, and what follows: for us it would be another one.
fn of_itself(asking: u32, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut names = path.components().skip(1).map(|name| name.as_os_str().to_str());
    let mut next = || names.next().flatten();
    let own = match (path.is_absolute(), next()?, next()?) {
        (true, "dev", "fd") => Path::new("fd").join(next()?),
        (true, "dev", "stdin") => "fd/0".into(),
        (true, "dev", "stdout") => "fd/1".into(),
        (true, "dev", "stderr") => "fd/2".into(),
        (true, "proc", who) if is_it(asking, who) => match next()? {
            "fd" => Path::new("fd").join(next()?),
            name => name.into(),
        },
        _ => return None,
    };
    // What is no plain name any more stays as it is written.
    let written = path.components().count() - 1;
    let taken = written - names.count();
    Some((own, path.components().skip(1 + taken).collect()))
}

fn is_it(asking: u32, who: &str) -> bool {
    let is_its_number = |number: u32| number == asking || Some(number) == leader(asking);
    ["self", "thread-self"].contains(&who) || who.parse().is_ok_and(is_its_number)
}

fn is_our_root(asking: u32) -> bool {
    readlink(format!("/proc/{asking}/root").as_str()).is_ok_and(|root| root == "/")
}

pub(super) fn connect(socket: &OwnedFd, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).unwrap_or(0);
    // SAFETY: the address is as long as it is said to be.
    Errno::result(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}

/// Gives this thread, and no other, the user, the groups and at most the capabilities of a process, so that it may no more
/// than that, and who listens sees whom he talks to.
pub(super) fn be(asking: u32) -> Result<(), Errno> {
    let (Some(theirs), Some(ours)) = (status(asking), status("thread-self")) else {
        return Err(Errno::ESRCH);
    };
    let same = |name| field(&theirs, name) == field(&ours, name);
    // In a namespace of its own it may have all, and none of them outside.
    let namespace = |of: &str| readlink(format!("/proc/{of}/ns/user").as_str());
    let inside = namespace(&asking.to_string()) == namespace("thread-self");
    let effective = field(&theirs, "CapEff:").filter(|_| inside);
    let effective = effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    if !["Uid:", "Gid:", "Groups:"].into_iter().all(same) {
        become_user(&theirs)?;
    }
    capabilities::keep_only(effective.unwrap_or(0))
}

fn become_user(theirs: &str) -> Result<(), Errno> {
    let numbers = |name| -> Vec<u32> {
        let all = field(theirs, name).unwrap_or_default().split_whitespace();
        all.filter_map(|number| number.parse().ok()).collect()
    };
    let groups = numbers("Groups:");
    // The library would change all threads.
    // SAFETY: the kernel reads as many numbers as are there.
    Errno::result(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) })?;
    for (call, name) in [(libc::SYS_setresgid, "Gid:"), (libc::SYS_setresuid, "Uid:")] {
        let [real, effective, saved, ..] = numbers(name)[..] else {
            return Err(Errno::ESRCH);
        };
        // SAFETY: takes plain numbers.
        Errno::result(unsafe { libc::syscall(call, real, effective, saved) })?;
    }
    Ok(())
}
