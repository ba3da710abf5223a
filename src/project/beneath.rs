//! The real tree on Linux 5.6 and later: the kernel keeps each look-up below the root and off links.
//!
//! Where the kernel does not know `openat2`, or a container forbids it, each name is looked at
//! instead ([`Disk`]).

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::{FileStat, fstat};

use super::disk::{DIRECTORY, Disk, absent, or_dot};
use super::tree::{Entry, Found, Tree};

/// The files below a directory.
#[derive(Debug)]
pub struct Beneath(Disk);

impl Beneath {
    /// The files below `root`, which is absolute and has no symbolic link in it.
    ///
    /// # Errors
    /// If `root` can't be opened.
    pub fn open(root: &Path) -> io::Result<Beneath> {
        Disk::open(root).map(Beneath)
    }

    fn stat(&self, path: &str) -> nix::Result<FileStat> {
        // A path only: opening a fifo would wait for its other end. Without O_NOFOLLOW, since with it
        // a link at the end of the path would be opened itself.
        fstat(self.openat2(path, OFlag::O_PATH | OFlag::O_CLOEXEC)?)
    }

    fn openat2(&self, path: &str, flags: OFlag) -> nix::Result<OwnedFd> {
        let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
        let how = OpenHow::new().flags(flags).resolve(resolve);
        openat2(self.0.fd(), or_dot(path), how)
    }
}

impl Tree for Beneath {
    fn root(&self) -> &Path {
        self.0.root()
    }

    fn probe(&self, path: &str) -> Found {
        match self.stat(path) {
            Ok(stat) => self.0.found(path, &stat),
            // The kernel does not say which name is the link. If the link has gone since, the path is
            // refused all the same.
            Err(Errno::ELOOP) => match self.0.probe(path) {
                Found::Symlink(link) => Found::Symlink(link),
                _ => Found::Symlink(path.to_owned()),
            },
            Err(Errno::ENOSYS | Errno::EPERM) => self.0.probe(path),
            Err(errno) => absent(errno),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        match self.openat2(path, DIRECTORY) {
            Ok(fd) => self.0.entries(path, fd),
            Err(Errno::ENOSYS | Errno::EPERM) => self.0.list(path),
            Err(errno) => Err(errno.into()),
        }
    }
}
