//! A process of our own binary that outlives the one that starts it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::libc;
use nix::unistd::{ForkResult, fork, setsid};

use super::spawn::ourselves;

/// Starts this very binary in a session of its own, as nobody's child: whoever ends our process group, terminal or
/// parent does not end it. It has `stdin`, writes to `stderr`, and inherits the environment.
///
/// # Errors
/// When it can't be started.
pub fn start(arguments: &[OsString], directory: &Path, stdin: OwnedFd, stderr: File) -> io::Result<()> {
    let mut command = command()?;
    command.arg0("coatepec").args(arguments).current_dir(directory);
    command.stdin(stdin).stdout(Stdio::null()).stderr(stderr);
    // SAFETY: runs between fork and exec: it makes system calls only, and allocates nothing.
    unsafe { command.pre_exec(leave) };
    // The middle one of three generations, which has ended already.
    command.spawn()?.wait().map(drop)
}

#[expect(clippy::disallowed_methods, reason = "one of the places that start processes")]
fn command() -> io::Result<Command> {
    Ok(Command::new(ourselves()?))
}

/// The child of a child becomes the process; the one between ends at once, so that nobody has to wait for it later.
fn leave() -> io::Result<()> {
    setsid()?;
    // SAFETY: the process has one thread, being a fork itself.
    match unsafe { fork() }? {
        // SAFETY: ends the process without running anything of the one it was forked from.
        ForkResult::Parent { .. } => unsafe { libc::_exit(0) },
        ForkResult::Child => Ok(()),
    }
}
