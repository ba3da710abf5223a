//! A lock that goes with the process that holds it, however that ends: a file lock (`flock`) on a file that is gone from
//! the disk with its last holder.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::Flock;
use nix::libc;

pub use nix::fcntl::FlockArg;

#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: Flock<File>,
}

/// Why there is no lock now.
#[derive(Debug)]
pub enum Refused {
    /// By whom, if they said so.
    Taken(Option<String>),
    /// The last holder has removed the file since it was opened: try again.
    Gone,
    Io(io::Error),
}

impl FileLock {
    /// `how` is one of those that don't wait. The holder is told to others as this process, at work `for_what`.
    pub fn try_at(path: PathBuf, how: FlockArg, for_what: &str) -> Result<FileLock, Refused> {
        let file = open(&path).map_err(Refused::Io)?;
        match Flock::lock(file, how) {
            Ok(mut file) => {
                if file.metadata().map_err(Refused::Io)?.nlink() == 0 {
                    return Err(Refused::Gone);
                }
                sign(&mut file, for_what);
                Ok(FileLock { path, file })
            }
            Err((mut file, nix::Error::EWOULDBLOCK)) => Err(Refused::Taken(holder(&mut file))),
            Err((_, error)) => Err(Refused::Io(error.into())),
        }
    }
}

impl Drop for FileLock {
    /// Whoever has opened the file and gets the lock of it now sees that it is gone.
    fn drop(&mut self) {
        if self.file.relock(FlockArg::LockExclusiveNonblock).is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What lies there and is no file is taken away: tests may write to that directory, and a symbolic link would have us write
/// elsewhere.
fn open(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        fs::remove_file(path)?;
    }
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// For whoever has to wait; nobody relies on it.
fn sign(lock: &mut Flock<File>, for_what: &str) {
    let text = format!("pid {} for {for_what}\n", std::process::id());
    let _ = lock
        .set_len(0)
        .and_then(|()| lock.rewind())
        .and_then(|()| lock.write_all(text.as_bytes()));
}

fn holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).ok()?;
    text.split_whitespace().nth(1).map(|pid| format!("pid {pid}"))
}
