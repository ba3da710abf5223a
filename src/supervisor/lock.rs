//! One run at a time per test database, over all daemons and worktrees of this user on this machine: specs clean whole
//! tables, and two of them at once make each other fail.
//!
//! A lock is a file lock (`flock`) on a file named after what it guards. It goes with the process that holds it, however
//! that ends. Whoever knows its databases shares the lock of its checkout and has theirs alone; whoever doesn't know them
//! has the checkout alone.

use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::dirs;
use crate::process::file_lock::{FileLock, FlockArg, Refused};

/// How often a lock that somebody else holds is tried again. There is nothing to wait on: a blocking `flock` can't be
/// taken back.
const RETRY: Duration = Duration::from_millis(50);

/// The locks of one call, taken as it comes to know what it will use, and held until its end.
#[derive(Debug)]
pub struct Locks {
    /// `None` for what could not be guarded.
    held: Vec<(String, Option<FileLock>)>,
    until: Instant,
    cancel: CancellationToken,
    /// Seconds spent waiting for others.
    pub waited: f64,
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

    async fn wait_for(&self, name: &str, how: FlockArg) -> Result<Option<FileLock>, Taken> {
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

fn try_lock(name: &str, how: FlockArg) -> Result<FileLock, Refused> {
    let dir = dirs::runtime().map_err(Refused::Io)?;
    FileLock::try_at(dir.join(file_name(name)), how, name)
}

fn file_name(name: &str) -> String {
    let digest = Sha256::digest(name);
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}.lock")
}
