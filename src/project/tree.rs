//! What the selector rules want to know of the disk. Paths are relative to the root, names separated
//! by one `/`; the root itself is the empty path.

use std::ffi::OsString;
use std::path::Path;

/// A project's files, for the selector rules.
pub trait Tree {
    /// The root, absolute.
    fn root(&self) -> &Path;

    /// What is at `path`. No symbolic link is followed, not even on the way to it.
    fn probe(&self, path: &str) -> Found;

    /// What is in the directory `path`, in any order, without `.` and `..`.
    ///
    /// # Errors
    /// If it is no directory, can't be read, or is reached through a symbolic link.
    fn list(&self, path: &str) -> std::io::Result<Vec<Entry>>;
}

/// What is at a path. The paths in it are spelled as on disk, also where the file system takes two
/// spellings for one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    File(String),
    Directory(String),
    /// A fifo, socket or device.
    Other(String),
    /// The first symbolic link on the way.
    Symlink(String),
    Missing,
    /// The system's reason for not telling.
    Unreadable(String),
}

impl Found {
    /// The path of what is there.
    pub fn path(&self) -> Option<&str> {
        match self {
            Found::File(path) | Found::Directory(path) | Found::Other(path) => Some(path),
            Found::Symlink(_) | Found::Missing | Found::Unreadable(_) => None,
        }
    }
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub kind: EntryKind,
}

/// What an entry is, seen without following it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Symlink {
        /// Whether it leads to a directory.
        to_directory: bool,
    },
    Other,
}

/// The path of `name` in the directory `dir`.
pub(super) fn join(dir: &str, name: &str) -> String {
    match dir {
        "" => name.to_owned(),
        dir => format!("{dir}/{name}"),
    }
}
