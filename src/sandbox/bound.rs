//! By which name a Unix socket was bound: whoever may rename its file, or link to it, can't change that.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{MsgFlags, recv, send};
use nix::sys::stat::{FileStat, major, minor};

/// `linux/sock_diag.h`, `linux/unix_diag.h`.
const BY_FAMILY: u16 = 20;
const SHOW_NAME: u32 = 1;
const SHOW_FILE: u32 = 2;
const NAME: u16 = 0;
const FILE: u16 = 1;

/// Those that others can talk to: listening ones, and, of datagrams, those of any kind.
const LISTENING: u32 = 1 << 10 | 1 << 7;

/// Of a message: its header, what it is about, and the header of what follows.
const HEADER: usize = 16;
const SOCKET: usize = 16;
const ATTRIBUTE: usize = 4;

const LARGEST: usize = 64 * 1024;

/// The names of all sockets whose file is this one; none where the kernel does not tell.
pub(super) fn names(file: &FileStat) -> Vec<PathBuf> {
    ask(file).unwrap_or_default()
}

fn ask(file: &FileStat) -> Result<Vec<PathBuf>, Errno> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes plain numbers.
    let socket = Errno::result(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG) })?;
    // SAFETY: just made by the kernel for us.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    send(socket.as_raw_fd(), &request(), MsgFlags::empty())?;
    let (mut names, mut part) = (Vec::new(), vec![0; LARGEST]);
    loop {
        let read = recv(socket.as_raw_fd(), &mut part, MsgFlags::empty())?;
        let mut rest = &part[..read];
        while let Some((kind, body, behind)) = message(rest) {
            match i32::from(kind) {
                libc::NLMSG_DONE | libc::NLMSG_ERROR => return Ok(names),
                _ => names.extend(body.get(SOCKET..).and_then(|about| name_of(about, file))),
            }
            rest = behind;
        }
    }
}

fn request() -> Vec<u8> {
    let length = u32::try_from(HEADER + 24).unwrap_or(0);
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let header = [
        &length.to_ne_bytes()[..],
        &BY_FAMILY.to_ne_bytes(),
        &flags.to_ne_bytes(),
        &[0; 8],
    ]
    .concat();
    let family = [libc::AF_UNIX as u8, 0, 0, 0];
    let show = SHOW_NAME | SHOW_FILE;
    let about = [
        &family[..],
        &LISTENING.to_ne_bytes(),
        &[0; 4],
        &show.to_ne_bytes(),
        &[0; 8],
    ]
    .concat();
    [header, about].concat()
}

/// The first message: its kind and what it has, and what follows it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::try_from(u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?)).ok()?;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, bytes.get(HEADER..length)?, behind))
}

/// The name of a socket, if its file is the one.
fn name_of(mut about: &[u8], file: &FileStat) -> Option<PathBuf> {
    let (mut name, mut is_it) = (None, false);
    while let Some((kind, value, behind)) = attribute(about) {
        match kind {
            NAME => name = Some(PathBuf::from(OsStr::from_bytes(value.split(|byte| *byte == 0).next()?))),
            FILE => is_it = value == identity(file),
            _ => {}
        }
        about = behind;
    }
    name.filter(|_| is_it)
}

fn attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?);
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, bytes.get(ATTRIBUTE..length)?, behind))
}

/// As the kernel has it: half of the number, and the device in its own form.
fn identity(file: &FileStat) -> [u8; 8] {
    let device = (major(file.st_dev) << 20 | minor(file.st_dev)) as u32;
    let mut all = [0; 8];
    all[..4].copy_from_slice(&(file.st_ino as u32).to_ne_bytes());
    all[4..].copy_from_slice(&device.to_ne_bytes());
    all
}
