//! What a keeper leaves behind that was killed itself: the supervisor adopts it, and ends it.
//!
//! The kernel ends most of it with the keeper: the command dies with its keeper, a zygote with its worker, a run with its
//! zygote. What had left them comes to the supervisor, all of whose own children are keepers.

use std::collections::HashSet;
use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use tokio::sync::watch;

use super::procfs::{self, Children, Identity};
use super::tree::{PATIENCE, Target};

const PAUSE: Duration = Duration::from_millis(5);

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Held while a keeper is started, so that whoever holds it sees no child of ours that may become one.
static STARTING: Mutex<()> = Mutex::new(());

/// From now on every child of this process that is no keeper is taken for such an orphan, and killed when a keeper was.
/// Linux only; elsewhere there is no way to come by them.
pub fn adopt() {
    #[cfg(target_os = "linux")]
    if nix::sys::prctl::set_child_subreaper(true).is_ok() {
        ADOPTING.store(true, Ordering::Release);
    }
}

/// The keepers that were not reaped yet.
pub(super) fn keepers() -> &'static watch::Sender<HashSet<Pid>> {
    static KEEPERS: OnceLock<watch::Sender<HashSet<Pid>>> = OnceLock::new();
    KEEPERS.get_or_init(|| watch::Sender::new(HashSet::new()))
}

pub(super) fn start_keeper(start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let _starting = starting();
    let child = start()?;
    keepers().send_modify(|alive| _ = alive.insert(Pid::from_raw(child.id().cast_signed())));
    Ok(child)
}

/// Kills and reaps what has come to us. The keeper that it comes from has ended and must not be reaped yet: until then
/// its pid is nobody else's. Blocks for [`PATIENCE`], and that of the last kill.
pub(super) fn end_those_of(keeper: Pid) {
    let over = Instant::now() + PATIENCE;
    while ADOPTING.load(Ordering::Acquire) && Instant::now() < over {
        let orphans = orphans();
        if orphans.is_empty() {
            return;
        }
        for orphan in orphans {
            Target::below(keeper, orphan).kill();
            reap(orphan);
        }
        thread::sleep(PAUSE);
    }
}

fn orphans() -> Vec<Identity> {
    let _starting = starting();
    let children = Children::look().of(Pid::this()).into_iter();
    let orphans = children.filter(|child| !keepers().borrow().contains(child));
    orphans.filter_map(|child| Some(procfs::stat(child)?.id)).collect()
}

/// What does not die at once is not waited for: it is found again.
fn reap(orphan: Identity) {
    if procfs::stat(orphan.pid).is_some_and(|found| found.gone()) {
        let _ = waitpid(orphan.pid, None);
    }
}

fn starting() -> std::sync::MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}
