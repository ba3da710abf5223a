//! Starting, watching and ending processes: the only place that does.
//!
//! Everything of the app runs below a *keeper*, a tiny stage of our own binary that adopts whatever loses its
//! parent and that ends all of it when the supervisor goes away, however it goes.
//!
//! Invariants: no other module starts a process or sends a signal; no signal goes to a pid before its start time
//! was compared; there is one kill path, [`tree`], which the supervisor and the keeper share.
#![expect(unsafe_code, reason = "fork, and system calls that no safe interface offers")]

pub mod spawn;

pub mod detach;

pub mod keeper;

pub mod tree;

pub mod orphans;

pub mod pidfd;

pub mod procfs;

pub mod peer;

pub mod channel;

pub mod lines;

pub mod file_lock;

pub mod fds;

pub mod usage;

pub mod cgroup;

pub mod kernel_view;

pub use nix::unistd::Pid;

/// `SIGSEGV` for 11; a number for what has no name.
pub fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal).map_or(format!("signal {signal}"), |known| known.as_str().to_owned())
}
