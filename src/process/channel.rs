//! The private socket between the supervisor and a process of ours: lines in both directions, and file descriptors
//! from here to there.

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream as Blocking;

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::lines::LineReader;

/// Our end to speak into. The other side sees the end of the stream when it is dropped.
#[derive(Debug)]
pub struct Sender {
    to: OwnedWriteHalf,
    /// A line was given up halfway: whatever followed would be read as its rest.
    torn: bool,
}

/// A connected pair: our two halves, and the end to give away, which blocks and is closed on exec.
///
/// # Panics
/// Outside a tokio runtime.
pub fn pair() -> io::Result<(Sender, LineReader<OwnedReadHalf>, OwnedFd)> {
    let (ours, theirs) = Blocking::pair()?;
    ours.set_nonblocking(true)?;
    let (read, write) = UnixStream::from_std(ours)?.into_split();
    Ok((Sender { to: write, torn: false }, LineReader::new(read), theirs.into()))
}

impl Sender {
    /// Sends all of `bytes`, a whole line or several. Waits while the other side does not read.
    ///
    /// # Errors
    /// `BrokenPipe` when the other side is gone, and after an earlier call was dropped or failed halfway.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.send_with_fds(bytes, &[]).await
    }

    /// As [`Sender::send`], with copies of `fds`, which arrive together with the first byte.
    pub async fn send_with_fds(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        if self.torn {
            return Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "an earlier line was sent in part only",
            ));
        }
        self.torn = true;
        let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        let mut sent = self.send_some(bytes, &raw).await?;
        while sent < bytes.len() {
            sent += self.send_some(&bytes[sent..], &[]).await?;
        }
        self.torn = false;
        Ok(())
    }

    async fn send_some(&self, bytes: &[u8], fds: &[RawFd]) -> io::Result<usize> {
        let socket: &UnixStream = self.to.as_ref();
        let rights = [ControlMessage::ScmRights(fds)];
        let control = if fds.is_empty() { &[] } else { &rights[..] };
        let send = || loop {
            match sendmsg::<UnixAddr>(socket.as_raw_fd(), &[IoSlice::new(bytes)], control, no_signal(), None) {
                Err(Errno::EINTR) => {}
                other => return other.map_err(io::Error::from),
            }
        };
        socket.async_io(Interest::WRITABLE, send).await
    }
}

/// A reader that went away is an error to return, not a signal that ends us.
fn no_signal() -> MsgFlags {
    #[cfg(target_os = "linux")]
    return MsgFlags::MSG_NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    return MsgFlags::empty();
}
