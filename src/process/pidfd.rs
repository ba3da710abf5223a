//! A process that can't be mistaken for another: its end can be awaited, and a signal to it reaches it or nobody.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{Interest, unix::AsyncFd};

use super::procfs::{self, Identity};

#[cfg(not(target_os = "linux"))]
use elsewhere as by_fd;
#[cfg(target_os = "linux")]
use linux as by_fd;

/// How often a process is looked at where the kernel has no pidfd (Linux before 5.3, other systems).
const POLL: Duration = Duration::from_millis(20);

/// A handle to one process, which stays its own when the pid is reused.
#[derive(Debug)]
pub struct PidFd {
    id: Identity,
    /// None where the kernel has no pidfd: the start time is then compared before each signal.
    fd: Option<AsyncFd<OwnedFd>>,
}

impl PidFd {
    /// Opens the process that has this pid now. The caller makes sure that it is the one it means: a child not yet
    /// reaped, or [`PidFd::open_exactly`].
    ///
    /// # Errors
    /// `ESRCH` when there is no such process.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(pid: Pid) -> io::Result<Self> {
        let fd = by_fd::open(pid)?;
        let id = procfs::stat(pid).ok_or(Errno::ESRCH)?.id;
        let fd = fd.map(watch).transpose()?;
        Ok(PidFd { id, fd })
    }

    /// Opens this very process, or fails with `ESRCH`.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open_exactly(id: Identity) -> io::Result<Self> {
        let opened = PidFd::open(id.pid)?;
        if opened.id == id {
            Ok(opened)
        } else {
            Err(Errno::ESRCH.into())
        }
    }

    pub fn id(&self) -> Identity {
        self.id
    }

    pub fn pid(&self) -> Pid {
        self.id.pid
    }

    /// Waits until the last thread of the process has ended. Its exit status is its parent's to collect.
    pub async fn exited(&self) {
        if let Some(fd) = &self.fd {
            // Readable for good from then on. It fails only with the runtime, and then nobody asks any more.
            let _ = fd.readable().await;
            return;
        }
        while procfs::stat(self.id.pid).is_some_and(|found| found.id == self.id && !found.gone()) {
            tokio::time::sleep(POLL).await;
        }
    }

    /// # Errors
    /// `ESRCH` when the process has been reaped; `EPERM` when it is not ours to signal.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match &self.fd {
            Some(fd) => by_fd::send(fd.get_ref(), signal),
            None => send_by_pid(self.id, signal),
        }
    }
}

fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor is open, and the same, for as long as its owner, which moves in.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}

/// Sends a signal to this very process, without keeping a handle: a tree may have more processes than we may have
/// open files.
pub(super) fn send(id: Identity, signal: Signal) -> io::Result<()> {
    match by_fd::open(id.pid)? {
        // Compared after opening: from here on the handle can't change hands.
        Some(fd) if is_current(id) => by_fd::send(&fd, signal),
        Some(_) => Err(Errno::ESRCH.into()),
        None => send_by_pid(id, signal),
    }
}

fn is_current(id: Identity) -> bool {
    procfs::stat(id.pid).is_some_and(|found| found.id == id)
}

#[expect(clippy::disallowed_methods, reason = "part of the one kill path")]
fn send_by_pid(id: Identity, signal: Signal) -> io::Result<()> {
    if !is_current(id) {
        return Err(Errno::ESRCH.into());
    }
    kill(id.pid, signal).map_err(io::Error::from)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use nix::errno::Errno;
    use nix::libc;
    use nix::sys::signal::Signal;
    use nix::unistd::Pid;

    /// None when the kernel, or a container's filter, has no pidfd for us.
    pub(super) fn open(pid: Pid) -> io::Result<Option<OwnedFd>> {
        // SAFETY: plain numbers go in; what comes out is checked before use. The kernel sets close-on-exec.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
        match Errno::result(fd) {
            // SAFETY: the kernel has just made this descriptor for us, and a descriptor fits an int.
            Ok(fd) => Ok(Some(unsafe { OwnedFd::from_raw_fd(fd as i32) })),
            Err(Errno::ESRCH) => Err(Errno::ESRCH.into()),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn send(fd: &OwnedFd, signal: Signal) -> io::Result<()> {
        let info: *const libc::siginfo_t = std::ptr::null();
        // SAFETY: the descriptor is open while it is borrowed; a null siginfo asks for the one of kill(2).
        let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd.as_raw_fd(), signal as i32, info, 0) };
        Errno::result(sent).map(drop).map_err(io::Error::from)
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;
    use std::os::fd::OwnedFd;

    use nix::errno::Errno;
    use nix::sys::signal::Signal;
    use nix::unistd::Pid;

    pub(super) fn open(_pid: Pid) -> io::Result<Option<OwnedFd>> {
        Ok(None)
    }

    pub(super) fn send(_fd: &OwnedFd, _signal: Signal) -> io::Result<()> {
        Err(Errno::ENOSYS.into())
    }
}
