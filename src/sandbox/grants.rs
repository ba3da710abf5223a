//! From grants with exceptions to the paths that the kernel takes, which have none.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use serde::Deserialize;

use super::act::Kind;
use super::policy::{Files, Grant};
use crate::config::glob::matches;

/// Of a file or a directory: the number of its disk, and its own there.
pub type Identity = (u64, u64);

/// What this needs to know of a disk.
pub trait Tree {
    /// The names in a directory that are no symbolic links; none if it can't be read.
    fn names(&self, dir: &Path) -> Vec<PathBuf>;
    /// The path without symbolic links, if it exists.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// What tells it from another one of its name.
    fn identity(&self, path: &Path) -> Option<Identity>;
}

/// The paths to grant, each with all that is beneath it.
///
/// A symbolic link beside an exception is not followed: it might lead to the very thing that is excepted, and what it
/// leads to is granted, or not, where it lies.
pub fn paths(grants: &[Grant], tree: &impl Tree) -> Vec<PathBuf> {
    let granted = grants.iter().flat_map(|grant| {
        let except: Vec<PathBuf> = grant.except.iter().flat_map(|path| named(path, tree)).collect();
        let inside = |path: &PathBuf| grant.within.as_ref().is_none_or(|top| path.starts_with(top));
        let granted = named(&grant.path, tree).into_iter().filter(inside);
        granted
            .flat_map(move |path| beside(path, &except, tree))
            .collect::<Vec<_>>()
    });
    granted.collect()
}

/// What a policy came to when it was put in place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Granted {
    write: Vec<Held>,
    read: Vec<Held>,
}

/// A place as it was then: the kernel grants that one, and no other that comes to have its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    path: PathBuf,
    identity: Option<Identity>,
}

impl Held {
    fn covers(&self, path: &Path, tree: &impl Tree) -> bool {
        path.starts_with(&self.path) && tree.identity(&self.path) == self.identity
    }
}

impl Granted {
    pub fn of(files: &Files, tree: &impl Tree) -> Granted {
        // The kernel is told of what is there only.
        let there = |grants: &[Grant]| {
            let paths = paths(grants, tree).into_iter();
            let there = paths.filter(|path| tree.real(path).is_some());
            there
                .map(|path| Held {
                    identity: tree.identity(&path),
                    path,
                })
                .collect()
        };
        Granted {
            write: there(&files.write),
            read: there(&files.read),
        }
    }

    /// What it was that this forbids, of a file that could not be had although its permissions allow it; none if this has
    /// nothing against it. Of an open file it is not known what it was opened for: where neither is allowed, reading counts.
    pub fn forbids(&self, file: &RefusedFile, tree: &impl Tree) -> Option<Kind> {
        let written = self.allows(Kind::Write, &file.path, tree);
        let read = within(&self.read, &file.path, tree) && !is_of_a_process(&file.path);
        match file {
            // Its directory is not granted, so that it can't be deleted, renamed or linked.
            RefusedFile {
                readable: false,
                writable: true,
                ..
            } if self.is_a_place(&file.path) => Some(Kind::Write),
            _ if written => None,
            RefusedFile { readable: true, .. } if !read => Some(Kind::Read),
            RefusedFile { writable: true, .. } => Some(Kind::Write),
            _ => None,
        }
    }

    /// Whether a file may be had in this way.
    pub fn allows(&self, kind: Kind, path: &Path, tree: &impl Tree) -> bool {
        within(&self.write, path, tree) || (kind == Kind::Read && within(&self.read, path, tree))
    }

    /// Whether it may be written, and what it lies in may not.
    pub fn is_a_place(&self, path: &Path) -> bool {
        let mut around = self
            .write
            .iter()
            .filter(|place| path.starts_with(&place.path))
            .peekable();
        around.peek().is_some() && around.all(|place| place.path == path)
    }
}

fn within(places: &[Held], path: &Path, tree: &impl Tree) -> bool {
    places.iter().any(|place| place.covers(path, tree))
}

/// What the kernel has of a process: where that is outside, it refuses it, whatever places are granted.
pub fn is_of_a_process(path: &Path) -> bool {
    let name = path
        .strip_prefix("/proc")
        .ok()
        .and_then(|below| below.components().next());
    name.is_some_and(|name| name.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

/// A file that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RefusedFile {
    /// Absolute, without symbolic links.
    pub path: PathBuf,
    /// Whether it was to be opened, and its permissions allow to read it.
    pub readable: bool,
    /// Whether its permissions, or those of its directory, allow to write, make or delete it.
    pub writable: bool,
    /// How often.
    pub count: u64,
}

impl RefusedFile {
    /// One that a program names, seen from outside of the sandbox. None where there is no such place.
    pub fn named(name: &str, root: &Path) -> Option<RefusedFile> {
        let path = root.join(name);
        let real = path.canonicalize().ok();
        let may = |path: &Path, how| access(path, how).is_ok();
        Some(match real {
            Some(path) => RefusedFile {
                readable: may(&path, AccessFlags::R_OK),
                writable: may(&path, AccessFlags::W_OK),
                path,
                count: 1,
            },
            None => {
                let around = path.parent()?.canonicalize().ok()?;
                RefusedFile {
                    readable: false,
                    writable: may(&around, AccessFlags::W_OK),
                    path: around.join(path.file_name()?),
                    count: 1,
                }
            }
        })
    }
}

/// All of `path` that is not in `except`.
fn beside(path: PathBuf, except: &[PathBuf], tree: &impl Tree) -> Vec<PathBuf> {
    if except.iter().any(|excepted| path.starts_with(excepted)) {
        Vec::new()
    } else if except.iter().any(|excepted| excepted.starts_with(&path)) {
        let below = tree.names(&path).into_iter();
        below.flat_map(|name| beside(path.join(name), except, tree)).collect()
    } else {
        vec![path]
    }
}

/// Whether there is anything that a path with `*` and `?` stands for.
pub fn is_there(path: &Path, tree: &impl Tree) -> bool {
    named(path, tree).iter().any(|path| tree.real(path).is_some())
}

/// What a path with `*` and `?` stands for: as it is written, and where that leads to.
pub(super) fn named(path: &Path, tree: &impl Tree) -> Vec<PathBuf> {
    let start = vec![PathBuf::new()];
    let written = path.components().fold(start, |dirs, name| {
        let name = Path::new(name.as_os_str());
        let glob = name.to_str().filter(|name| name.contains(['*', '?']));
        let fits = |dir: PathBuf| match glob {
            None => vec![dir.join(name)],
            Some(glob) => {
                let found = tree.names(&dir).into_iter();
                let found = found.filter(|name| name.to_str().is_some_and(|name| matches(glob, name)));
                found.map(|name| dir.join(name)).collect()
            }
        };
        dirs.into_iter().flat_map(fits).collect()
    });
    let real = |path: PathBuf| tree.real(&path).unwrap_or(path);
    written.into_iter().map(real).collect()
}

/// The machine's own disk.
#[derive(Debug)]
pub struct Disk;

impl Tree for Disk {
    fn names(&self, dir: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        entries.map(|entry| entry.file_name().into()).collect()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn identity(&self, path: &Path) -> Option<Identity> {
        path.symlink_metadata().ok().map(|file| (file.dev(), file.ino()))
    }
}
