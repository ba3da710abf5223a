//! The recipe: how a process of ours confines itself before it becomes the app.
//!
//! Read [`confine`] from top to bottom. The order matters: a step may need what a later one takes away.

use std::fmt;
use std::os::fd::{OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::enforcement::{Enforcement, Name, Part};
use super::policy::{Limits, Policy};
#[cfg(target_os = "linux")]
use super::{capabilities, files, gate, syscalls};
use crate::config::sandbox::{Mode, Network};

/// What became of a process.
#[derive(Debug)]
pub struct Confined {
    pub enforcement: Enforcement,
    /// Asks of the process come out here. Somebody outside has to answer them.
    pub gate: Option<OwnedFd>,
}

/// Why a process is not to go on.
#[derive(Debug)]
pub struct Refusal {
    /// Completes "failed to …".
    pub step: String,
    pub errno: Errno,
}

/// Confines this process, and with it everything that it will ever start. There is no way back. What the kernel lacks is
/// told, and is an error only if the policy requires all of it.
///
/// Called in a process with a single thread, between fork and exec: some steps hold for one thread only.
///
/// # Errors
/// The first step that failed. The process is then confined in part, and should not go on.
pub fn confine(policy: &Policy) -> Result<Confined, Refusal> {
    // Limits first: they need no right that a later step could take.
    no_core_dumps()?;
    limits(&policy.limits)?;

    // A set-user-id program below would have rights that we lack, and its process could not be killed. An ordinary
    // user may restrict itself further only after this step.
    no_new_privileges()?;

    // Then what the policy takes, if it takes anything.
    let mut parts = Vec::new();
    if policy.mode != Mode::Off {
        parts.extend([Part::full(Name::Limits), Part::full(Name::Environment)]);
    }
    let gate = kernel_side(policy, &mut parts)?;
    let enforcement = Enforcement {
        mode: policy.mode,
        parts,
    };
    match enforcement.missing().next() {
        Some(part) if policy.required => Err(not_in_full(part)),
        _ => Ok(()),
    }?;
    Ok(Confined { enforcement, gate })
}

fn not_in_full(part: &Part) -> Refusal {
    Refusal {
        step: format!("enforce all of the sandbox, as `sandbox.required` demands: {part}"),
        errno: Errno::ENOTSUP,
    }
}

#[cfg(target_os = "linux")]
fn kernel_side(policy: &Policy, parts: &mut Vec<Part>) -> Result<Option<OwnedFd>, Refusal> {
    if policy.syscalls.is_some() || policy.network != Network::Allow {
        // Root could read the disk past all files, make devices, and take a socket to another network.
        capabilities::drop_all_but_kept().map_err(refusal("give up capabilities"))?;
    }
    if let Some(files) = &policy.files {
        // Its rules are files that are opened here, which needs system calls.
        parts.extend(files::restrict(files));
    }
    let gate = gate::build(policy);
    if let Some(wanted) = policy.syscalls {
        // Last, since it forbids calls.
        parts.push(syscalls::restrict(wanted, gate.listener.is_some()));
    }
    parts.extend(gate.parts);
    Ok(gate.listener)
}

#[cfg(not(target_os = "linux"))]
fn kernel_side(policy: &Policy, parts: &mut Vec<Part>) -> Result<Option<OwnedFd>, Refusal> {
    let asked = [
        (Name::Filesystem, policy.files.is_some()),
        (Name::Signals, policy.files.is_some()),
        (Name::Syscalls, policy.syscalls.is_some()),
        (Name::Network, policy.network != Network::Allow),
        (Name::Sockets, policy.sockets.is_some()),
    ];
    let asked = asked.into_iter().filter(|(_, asked)| *asked);
    parts.extend(asked.map(|(name, _)| Part::none(name, "on Linux only")));
    Ok(None)
}

fn refusal(step: impl Into<String>) -> impl FnOnce(Errno) -> Refusal {
    let step = step.into();
    move |errno| Refusal { step, errno }
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
    lowered.map_err(refusal(step))
}

fn no_new_privileges() -> Result<(), Refusal> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_no_new_privs().map_err(refusal("give up new privileges"))?;
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
