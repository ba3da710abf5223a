//! Who is at the other end of a Unix socket: our user, somebody else, or a test.

use std::io;
use std::os::fd::AsFd;

#[cfg(target_os = "linux")]
use linux as by_system;

#[cfg(not(target_os = "linux"))]
use elsewhere as by_system;

/// Of a connection: who made it, or who listened when it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A process of our user.
    User,
    /// A process of an app, which is in a sandbox, with its number; or one that has gone, and may have been that.
    App(i32),
    /// Another user's.
    Stranger,
}

/// # Errors
/// When the system does not tell.
pub fn of(stream: &impl AsFd) -> io::Result<Peer> {
    by_system::of(stream)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

    use nix::errno::Errno;
    use nix::libc::{self, c_int};
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    use nix::unistd::{Pid, getuid};

    use super::Peer;
    use crate::process::keeper;

    /// `SO_PEERPIDFD`, since Linux 6.5.
    const PIDFD: c_int = 77;

    /// A process that this machine does not show, having the number 0, is in a container around us, and so below no keeper.
    pub(super) fn of(stream: &impl AsFd) -> io::Result<Peer> {
        let credentials = getsockopt(stream, PeerCredentials)?;
        let pid = credentials.pid();
        Ok(match pid {
            _ if credentials.uid() != getuid().as_raw() => Peer::Stranger,
            0 => Peer::User,
            // Its number may be another's by now.
            _ if has_gone(stream) || keeper::keeps(Pid::from_raw(pid)) => Peer::App(pid),
            _ => Peer::User,
        })
    }

    /// As far as the kernel can tell.
    fn has_gone(stream: &impl AsFd) -> bool {
        match process(stream) {
            Ok(process) => {
                let mut ended = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
                poll(&mut ended, PollTimeout::ZERO) != Ok(0)
            }
            Err(Errno::ENOPROTOOPT) => false,
            Err(_) => true,
        }
    }

    fn process(stream: &impl AsFd) -> Result<OwnedFd, Errno> {
        let mut fd: RawFd = -1;
        let mut length = libc::socklen_t::try_from(size_of::<RawFd>()).unwrap_or(0);
        // SAFETY: the kernel writes one descriptor where there is room for one.
        Errno::result(unsafe {
            let socket = stream.as_fd().as_raw_fd();
            libc::getsockopt(socket, libc::SOL_SOCKET, PIDFD, (&raw mut fd).cast(), &raw mut length)
        })?;
        // SAFETY: just made by the kernel for us.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// Elsewhere there is no sandbox.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;
    use std::os::fd::AsFd;

    use nix::unistd::{getpeereid, getuid};

    use super::Peer;

    pub(super) fn of(stream: &impl AsFd) -> io::Result<Peer> {
        let (user, _) = getpeereid(stream)?;
        Ok(if user == getuid() { Peer::User } else { Peer::Stranger })
    }
}
