//! One run at a time per test database, over all daemons and worktrees of this user on this machine: specs clean whole
//! tables, and two of them at once make each other fail.
//!
//! A lock is a file lock (`flock`) on a file named after what it guards. It goes with the process that holds it, however
//! that ends. Whoever knows its databases shares the lock of its checkout and has theirs alone; whoever doesn't know them
//! has the checkout alone.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::getuid;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// How often a lock that somebody else holds is tried again. There is nothing to wait on: a blocking `flock` can't be
/// taken back.
const RETRY: Duration = Duration::from_millis(50);

/// The locks of one call, taken as it comes to know what it will use, and held until its end.
#[derive(Debug)]
pub struct Locks {
    /// `None` for what could not be guarded.
    held: Vec<(String, Option<Lock>)>,
    until: Instant,
    cancel: CancellationToken,
    /// Seconds spent waiting for others.
    pub waited: f64,
}

/// Gone from the disk with its last holder.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    file: Flock<File>,
}

/// Why a lock was not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub name: String,
    /// Who held it last, if it said so.
    pub holder: Option<String>,
}

impl Locks {
    /// `patience` is for all locks together.
    pub fn new(patience: Duration, cancel: CancellationToken) -> Self {
        Locks {
            held: Vec::new(),
            until: Instant::now() + patience,
            cancel,
            waited: 0.0,
        }
    }

    /// Takes what a run in `checkout` needs that uses `databases`, if they are known. Everybody takes locks in the same
    /// order. What is held already costs nothing.
    pub async fn take(&mut self, checkout: &Path, databases: Option<&[String]>) -> Result<(), Taken> {
        let started = Instant::now();
        let taken = self.take_all(checkout, databases).await;
        self.waited += started.elapsed().as_secs_f64();
        taken
    }

    async fn take_all(&mut self, checkout: &Path, databases: Option<&[String]>) -> Result<(), Taken> {
        let how = match databases {
            Some(_) => FlockArg::LockSharedNonblock,
            None => FlockArg::LockExclusiveNonblock,
        };
        let mut wanted = vec![(format!("checkout:{}", checkout.display()), how)];
        let mut databases = databases.unwrap_or_default().to_vec();
        databases.sort_unstable();
        wanted.extend(
            databases
                .into_iter()
                .map(|name| (name, FlockArg::LockExclusiveNonblock)),
        );
        for (name, how) in wanted {
            if self.held.iter().all(|(held, _)| *held != name) {
                let lock = self.wait_for(&name, how).await?;
                self.held.push((name, lock));
            }
        }
        Ok(())
    }

    async fn wait_for(&self, name: &str, how: FlockArg) -> Result<Option<Lock>, Taken> {
        loop {
            match try_lock(name, how) {
                Ok(lock) => return Ok(Some(lock)),
                Err(Refused::Taken(holder)) if self.over() => {
                    return Err(Taken {
                        name: name.to_owned(),
                        holder,
                    });
                }
                Err(Refused::Taken(_)) => tokio::time::sleep(RETRY).await,
                Err(Refused::Gone) => {}
                Err(Refused::Io(error)) => {
                    // Better an unguarded run than none on a machine without a place for locks.
                    tracing::warn!(%error, name, "failed to lock a test database");
                    return Ok(None);
                }
            }
        }
    }

    fn over(&self) -> bool {
        Instant::now() >= self.until || self.cancel.is_cancelled()
    }
}

impl Drop for Lock {
    /// Whoever has opened the file and gets the lock of it now sees that it is gone.
    fn drop(&mut self) {
        if self.file.relock(FlockArg::LockExclusiveNonblock).is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

enum Refused {
    Taken(Option<String>),
    /// The last holder has removed the file since it was opened.
    Gone,
    Io(io::Error),
}

fn try_lock(name: &str, how: FlockArg) -> Result<Lock, Refused> {
    let path = directory().map_err(Refused::Io)?.join(file_name(name));
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(Refused::Io)?;
    match Flock::lock(file, how) {
        Ok(mut file) => {
            if file.metadata().map_err(Refused::Io)?.nlink() == 0 {
                return Err(Refused::Gone);
            }
            sign(&mut file, name);
            Ok(Lock { path, file })
        }
        Err((mut file, nix::Error::EWOULDBLOCK)) => Err(Refused::Taken(holder(&mut file))),
        Err((_, error)) => Err(Refused::Io(error.into())),
    }
}

/// Private to the user. Another user's runs are guarded by their own; they seldom share a test database. At one place
/// whatever the environment says: servers of two terminals may have two of everything that it names.
fn directory() -> io::Result<PathBuf> {
    let dir = PathBuf::from(format!("/tmp/coatepec-{}", getuid()));
    match fs::create_dir(&dir) {
        Ok(()) => fs::set_permissions(&dir, Permissions::from_mode(0o700))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = fs::symlink_metadata(&dir)?;
    if !found.is_dir() || found.uid() != getuid().as_raw() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("`{}` is not ours", dir.display()),
        ));
    }
    Ok(dir)
}

fn file_name(name: &str) -> String {
    let digest = Sha256::digest(name);
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}.lock")
}

/// For whoever has to wait; nobody relies on it.
fn sign(lock: &mut Flock<File>, name: &str) {
    let text = format!("pid {} for {name}\n", std::process::id());
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
