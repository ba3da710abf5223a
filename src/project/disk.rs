//! The real tree, on any Unix: each name on the way to a path is looked at before the next one.
//!
//! Between the look and the use a name may be replaced by a link. That is no attack that has to be
//! stopped here, since who can do that can write specs; [`super::beneath`] closes the gap anyway.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat};

use super::tree::{Entry, EntryKind, Found, Tree, join};

/// How directories are opened: not through a link, and not left open for a child.
pub(super) const DIRECTORY: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// The files below a directory.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    fd: OwnedFd,
}

impl Disk {
    /// The files below `root`, which is absolute and has no symbolic link in it.
    ///
    /// # Errors
    /// If `root` can't be opened.
    pub fn open(root: &Path) -> io::Result<Disk> {
        let fd = File::open(root)?.into();
        Ok(Disk {
            root: root.to_owned(),
            fd,
        })
    }

    #[cfg(target_os = "linux")]
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// What `stat` is about, which is at `path` and not behind a link.
    pub(super) fn found(&self, path: &str, stat: &FileStat) -> Found {
        let path = self.spelled(path);
        match kind(stat) {
            SFlag::S_IFREG => Found::File(path),
            SFlag::S_IFDIR => Found::Directory(path),
            _ => Found::Other(path),
        }
    }

    /// The entries of the directory `path`, which is open as `fd`.
    pub(super) fn entries(&self, path: &str, fd: OwnedFd) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::from_fd(fd)?.iter() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                let name = OsStr::from_bytes(name);
                let kind = self.entry_kind(&Path::new(path).join(name), entry.file_type());
                entries.push(Entry {
                    name: name.to_owned(),
                    kind,
                });
            }
        }
        Ok(entries)
    }

    fn entry_kind(&self, path: &Path, known: Option<Type>) -> EntryKind {
        let stat = |flags| fstatat(&self.fd, path, flags).map(|stat| kind(&stat));
        match known {
            Some(Type::File) => EntryKind::File,
            Some(Type::Directory) => EntryKind::Directory,
            Some(Type::Symlink) => {
                let to_directory = stat(AtFlags::empty()) == Ok(SFlag::S_IFDIR);
                EntryKind::Symlink { to_directory }
            }
            Some(_) => EntryKind::Other,
            // Some file systems do not keep the type in the directory.
            None => match stat(AtFlags::AT_SYMLINK_NOFOLLOW) {
                Ok(SFlag::S_IFREG) => EntryKind::File,
                Ok(SFlag::S_IFDIR) => EntryKind::Directory,
                Ok(SFlag::S_IFLNK) => self.entry_kind(path, Some(Type::Symlink)),
                _ => EntryKind::Other,
            },
        }
    }

    /// `path` with each name spelled as its directory has it.
    fn spelled(&self, path: &str) -> String {
        path.split('/').fold(String::new(), |directory, name| {
            let asked = join(&directory, name);
            match self.folds_case(&directory, name) {
                true => self.entry_of(&directory, &asked).unwrap_or(asked),
                false => asked,
            }
        })
    }

    /// Whether another spelling leads to the same file. On most systems none does, and the directory
    /// need not be read.
    fn folds_case(&self, directory: &str, name: &str) -> bool {
        let other = swap_case(name);
        let inode = |name: &str| self.inode(&join(directory, name));
        other != name && inode(&other).is_some_and(|found| inode(name) == Some(found))
    }

    /// The entry that `asked` leads to: the one of that name (a file may have several), or else the
    /// one that is the same file.
    fn entry_of(&self, directory: &str, asked: &str) -> Option<String> {
        let entries = self.list(directory).ok()?;
        let names = entries.iter().filter_map(|entry| entry.name.to_str());
        let paths: Vec<String> = names.map(|name| join(directory, name)).collect();
        let inode = self.inode(asked)?;
        let same = |path: &&String| self.inode(path) == Some(inode);
        let exact = paths.iter().find(|path| *path == asked);
        exact.or_else(|| paths.iter().find(same)).cloned()
    }

    fn inode(&self, path: &str) -> Option<u64> {
        self.stat(path).ok().map(|stat| stat.st_ino)
    }

    fn stat(&self, path: &str) -> nix::Result<FileStat> {
        fstatat(&self.fd, or_dot(path), AtFlags::AT_SYMLINK_NOFOLLOW)
    }
}

impl Tree for Disk {
    fn root(&self) -> &Path {
        &self.root
    }

    fn probe(&self, path: &str) -> Found {
        let slashes = path.match_indices('/').map(|(at, _)| at);
        for on_the_way in slashes.map(|at| &path[..at]) {
            match self.stat(on_the_way) {
                Err(errno) => return absent(errno),
                Ok(stat) if is_link(&stat) => return Found::Symlink(on_the_way.to_owned()),
                Ok(_) => {}
            }
        }
        match self.stat(path) {
            Err(errno) => absent(errno),
            Ok(stat) if is_link(&stat) => Found::Symlink(path.to_owned()),
            Ok(stat) => self.found(path, &stat),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        match self.probe(path) {
            Found::Symlink(_) => Err(Errno::ELOOP.into()),
            _ => self.entries(path, openat(&self.fd, or_dot(path), DIRECTORY, Mode::empty())?),
        }
    }
}

/// What it means that a path could not be looked up.
pub(super) fn absent(errno: Errno) -> Found {
    match errno {
        Errno::ENOENT | Errno::ENOTDIR | Errno::ENAMETOOLONG => Found::Missing,
        errno => Found::Unreadable(errno.desc().to_owned()),
    }
}

/// `path` for a system call, where the root is not the empty path.
pub(super) fn or_dot(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn is_link(stat: &FileStat) -> bool {
    kind(stat) == SFlag::S_IFLNK
}

fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits())
}

fn swap_case(name: &str) -> String {
    let swapped = name.chars().map(|c| match c.is_lowercase() {
        true => c.to_uppercase().collect::<String>(),
        false => c.to_lowercase().collect(),
    });
    swapped.collect()
}
