//! Whether anything was saved since some moment: of everything that a run may read, whatever it is.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Directories that runs and tools write to.
const OUTPUT: &[&str] = &[
    ".git",
    "log",
    "tmp",
    "storage",
    "coverage",
    "node_modules",
    "vendor",
    "public",
    "target",
];

/// Files that runs write wherever they are, by the ends of their names.
const WRITTEN: &[&str] = &[".sqlite3", "-journal", "-wal", "-shm", ".db", "examples.txt", ".log"];

/// Entries that are looked at; in a larger tree everything counts as changed.
const ENTRIES: usize = 100_000;

/// This moment by the clock that the kernel gives files their times by. It has ticks of some milliseconds, and what is
/// saved within the same tick can't be told from what was saved before.
pub fn file_time() -> SystemTime {
    #[cfg(target_os = "linux")]
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_REALTIME_COARSE);
    #[cfg(not(target_os = "linux"))]
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_REALTIME);
    now.map_or(SystemTime::UNIX_EPOCH, |now| {
        SystemTime::UNIX_EPOCH + Duration::from(now)
    })
}

/// When something began, by the clock that files get their times by, which may be set back meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    wall: SystemTime,
    steady: Instant,
}

impl Moment {
    pub fn now() -> Moment {
        Moment {
            wall: SystemTime::now(),
            steady: Instant::now(),
        }
    }

    /// The same, in ticks of the kernel: see [`file_time`].
    pub fn in_ticks() -> Moment {
        Moment {
            wall: file_time(),
            steady: Instant::now(),
        }
    }

    pub fn by_wall(&self) -> SystemTime {
        self.wall
    }

    /// What has changed since has no earlier time than this.
    pub fn by_files(&self) -> SystemTime {
        earliest(self.wall, SystemTime::now(), self.steady.elapsed())
    }
}

/// `elapsed` is what has passed between the two in truth.
pub fn earliest(then: SystemTime, now: SystemTime, elapsed: Duration) -> SystemTime {
    then.min(now.checked_sub(elapsed).unwrap_or(SystemTime::UNIX_EPOCH))
}

/// Whether a file or directory below `root` has changed since, by [`file_time`], or can't be told not to have.
pub fn anything_since(root: &Path, since: SystemTime) -> bool {
    let mut left = ENTRIES;
    changed_below(root, since, &mut left)
}

fn changed_below(dir: &Path, since: SystemTime, left: &mut usize) -> bool {
    let (Ok(of_dir), Ok(entries)) = (dir.metadata(), std::fs::read_dir(dir)) else {
        return true;
    };
    let mut written_to = false;
    for entry in entries.flatten() {
        *left = left.saturating_sub(1);
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if OUTPUT.contains(&&*name) || WRITTEN.iter().any(|end| name.ends_with(end)) {
            written_to = true;
            continue;
        }
        let Ok(found) = entry.metadata() else { return true };
        let changed = if found.is_dir() {
            changed_below(&entry.path(), since, left)
        } else {
            changed_at(&found) >= since
        };
        if changed || *left == 0 {
            return true;
        }
    }
    // Something was added or removed, unless it may have been the output of a run.
    !written_to && changed_at(&of_dir) >= since
}

/// Of the inode: no tool can set it back.
fn changed_at(found: &std::fs::Metadata) -> SystemTime {
    let seconds = u64::try_from(found.ctime()).unwrap_or(u64::MAX / 2);
    let nanoseconds = u32::try_from(found.ctime_nsec()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}
