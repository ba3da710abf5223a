//! File descriptors to give away.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

/// A pipe: our end to read, which never blocks, and the end to give away, which does, as a program expects of its
/// stdout. Both are closed on exec.
///
/// # Panics
/// Outside a tokio runtime.
pub fn pipe() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((pipe::Receiver::from_owned_fd(read.into())?, write.into()))
}

/// A file in memory that nobody can change any more, positioned at its start. Whoever holds a copy shares the
/// position: make one for each process that reads it, or open it by its name below /dev/fd.
pub fn sealed_memfd(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = unnamed(name)?;
    file.write_all(bytes)?;
    file.rewind()?;
    seal(&file)?;
    Ok(file.into())
}

#[cfg(target_os = "linux")]
fn unnamed(name: &str) -> io::Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    Ok(memfd_create(name, flags)?.into())
}

#[cfg(target_os = "linux")]
fn seal(file: &File) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, SealFlag, fcntl};
    let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL;
    fcntl(file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(())
}

/// Elsewhere a file without a name: as private, but whoever gets it may write to it.
#[cfg(not(target_os = "linux"))]
fn unnamed(_name: &str) -> io::Result<File> {
    tempfile::tempfile()
}

#[cfg(not(target_os = "linux"))]
fn seal(_file: &File) -> io::Result<()> {
    Ok(())
}
