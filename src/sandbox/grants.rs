//! From grants with exceptions to the paths that the kernel takes, which have none.

use std::path::{Path, PathBuf};

use super::policy::Grant;
use crate::config::glob::matches;

/// What this needs to know of a disk.
pub trait Tree {
    /// The names in a directory that are no symbolic links; none if it can't be read.
    fn names(&self, dir: &Path) -> Vec<PathBuf>;
    /// The path without symbolic links, if it exists.
    fn real(&self, path: &Path) -> Option<PathBuf>;
}

/// The paths to grant, each with all that is beneath it.
///
/// A symbolic link beside an exception is not followed: it might lead to the very thing that is excepted, and what it
/// leads to is granted, or not, where it lies.
pub fn paths(grants: &[Grant], tree: &impl Tree) -> Vec<PathBuf> {
    let granted = grants.iter().flat_map(|grant| {
        let except: Vec<PathBuf> = grant.except.iter().flat_map(|path| named(path, tree)).collect();
        let granted = named(&grant.path, tree).into_iter();
        granted
            .flat_map(move |path| beside(path, &except, tree))
            .collect::<Vec<_>>()
    });
    granted.collect()
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

/// What a path with `*` and `?` stands for: as it is written, and where that leads to.
fn named(path: &Path, tree: &impl Tree) -> Vec<PathBuf> {
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
}
