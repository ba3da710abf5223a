//! The recipe: how a process of ours confines itself before it becomes the app.
//!
//! Read [`confine`] from top to bottom. The order matters: a step may need what a later one takes away.

use std::fmt;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::policy::{Limits, Policy};

/// A step that the kernel refused.
#[derive(Debug)]
pub struct Refusal {
    /// Completes "failed to …".
    pub step: &'static str,
    pub errno: Errno,
}

/// Confines this process, and with it everything that it will ever start. There is no way back.
///
/// Called in a process with a single thread, between fork and exec: some steps hold for one thread only.
///
/// # Errors
/// The first step that failed. The process is then confined in part, and should not go on.
pub fn confine(policy: &Policy) -> Result<(), Refusal> {
    // Limits first: they need no right that a later step could take.
    no_core_dumps()?;
    limits(&policy.limits)?;

    // A set-user-id program below would have rights that we lack, and its process could not be killed. An ordinary
    // user may restrict itself further only after this step.
    no_new_privileges()
}

/// A crashed test is a result, not a file in the app's tree, and writing one takes longer than the run.
fn no_core_dumps() -> Result<(), Refusal> {
    // One byte, not none: a kernel that pipes dumps to a crash reporter looks at this very value only, and a file of
    // one byte is not written either.
    limit("forbid core dumps", Resource::RLIMIT_CORE, 1)
}

/// A process may always lower its limits; what it is asked to raise stays as it was.
fn limits(limits: &Limits) -> Result<(), Refusal> {
    if let Some(bytes) = limits.file_size {
        limit("limit the size of files", Resource::RLIMIT_FSIZE, bytes)?;
    }
    if let Some(files) = limits.open_files {
        limit("limit the number of open files", Resource::RLIMIT_NOFILE, files)?;
    }
    Ok(())
}

fn limit(step: &'static str, resource: Resource, most: u64) -> Result<(), Refusal> {
    let lowered = getrlimit(resource).and_then(|(_, hard)| {
        let most = most.min(hard);
        setrlimit(resource, most, most)
    });
    lowered.map_err(|errno| Refusal { step, errno })
}

fn no_new_privileges() -> Result<(), Refusal> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_no_new_privs().map_err(|errno| Refusal {
        step: "give up new privileges",
        errno,
    })?;
    Ok(())
}

/// Closes every file descriptor but stdin, stdout, stderr and `keep`. A pipe or a lock that somebody once left open
/// for us would otherwise stay open for as long as the app runs, or be the app's to use.
///
/// Called at the start of a process, while nothing in it owns a descriptor that is not in `keep`.
pub fn close_other_fds(keep: &[RawFd]) {
    let mut keep: Vec<RawFd> = keep.iter().copied().filter(|fd| *fd > 2).collect();
    keep.sort_unstable();
    let mut from = 3;
    for kept in keep.into_iter().chain([RawFd::MAX]) {
        if from < kept {
            close_range(from, kept - 1);
        }
        from = kept.saturating_add(1);
    }
}

fn close_range(first: RawFd, last: RawFd) {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the caller vouches that nothing in this process owns a descriptor in the range.
        let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        if done == 0 {
            return;
        }
    }
    // Before Linux 5.9, behind a filter that does not know the call, or elsewhere.
    for fd in open_fds().into_iter().filter(|fd| (first..=last).contains(fd)) {
        // SAFETY: as above. The descriptor that listed them is closed by now, and closing it again does nothing.
        unsafe { libc::close(fd) };
    }
}

fn open_fds() -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to {}: {}", self.step, self.errno.desc())
    }
}

impl std::error::Error for Refusal {}
