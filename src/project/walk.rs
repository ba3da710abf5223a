//! Finds the files of some targets on disk. Nothing is opened.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::glob::{Glob, Part};

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One file, through symlinks. That it does not exist yet is fine: its creation is a change.
    File(PathBuf),
    /// The regular files directly in a directory whose names begin with one of these, and symlinks to such.
    Named {
        dir: PathBuf,
        prefixes: &'static [&'static str],
    },
    /// All regular files below a directory. A symlink to a file counts as one; a symlink to a directory is followed
    /// only where `links` says so.
    Tree {
        dir: PathBuf,
        /// Without the dot; `None` for all files.
        extensions: Option<Vec<OsString>>,
        /// Files and directories to pass over, relative to `dir` or absolute.
        exclude: Vec<PathBuf>,
        links: bool,
    },
    /// What a listing holds, files and directories: that it is there, and not what is in it.
    Listing {
        glob: Glob,
        /// Directories that `**` passes over.
        exclude: Vec<PathBuf>,
    },
}

/// How much of a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interest {
    Content,
    Existence,
}

/// Hands over each file of these targets, some more than once.
pub(super) fn walk(targets: &[Target], found: &mut dyn FnMut(PathBuf, &Metadata, Interest)) {
    let mut walk = Walk {
        found,
        entered: HashSet::new(),
    };
    targets.iter().for_each(|target| walk.target(target));
}

struct Walk<'a> {
    found: &'a mut dyn FnMut(PathBuf, &Metadata, Interest),
    /// Directories that were reached by a link: device and inode.
    entered: HashSet<(u64, u64)>,
}

struct Filter<'a> {
    extensions: Option<&'a [OsString]>,
    exclude: HashSet<PathBuf>,
    links: bool,
}

impl Walk<'_> {
    fn target(&mut self, target: &Target) {
        match target {
            Target::File(path) => {
                if let Ok(metadata) = fs::metadata(path) {
                    self.file(path.clone(), &metadata);
                }
            }
            Target::Named { dir, prefixes } => self.named(dir, prefixes),
            Target::Tree {
                dir,
                extensions,
                exclude,
                links,
            } => {
                let filter = Filter {
                    extensions: extensions.as_deref(),
                    exclude: exclude.iter().map(|path| dir.join(path)).collect(),
                    links: *links,
                };
                self.tree(dir, &filter);
            }
            Target::Listing { glob, exclude } => self.listing(&glob.dir, glob.parts(), exclude),
        }
    }

    fn named(&mut self, dir: &Path, prefixes: &[&str]) {
        for entry in entries(dir) {
            let name = entry.file_name();
            let wanted = |prefix: &&str| name.as_encoded_bytes().starts_with(prefix.as_bytes());
            if let (true, Ok(kind)) = (prefixes.iter().any(wanted), entry.file_type()) {
                self.entry(&entry, kind, entry.path());
            }
        }
    }

    fn tree(&mut self, dir: &Path, filter: &Filter<'_>) {
        let mut dirs = vec![dir.to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in entries(&dir) {
                let path = entry.path();
                // The kind comes with the entry; `stat` is only for files that are wanted.
                match entry.file_type() {
                    Ok(_) if filter.exclude.contains(&path) => {}
                    Ok(kind) if kind.is_dir() => dirs.push(path),
                    Ok(kind) if filter.links && kind.is_symlink() && self.enters(&path) => dirs.push(path),
                    Ok(kind) if filter.wants(&path) => self.entry(&entry, kind, path),
                    _ => {}
                }
            }
        }
    }

    /// Whether the link leads to a directory, which is to be looked into: once, and not if it leads back up.
    fn enters(&mut self, link: &Path) -> bool {
        let Some(metadata) = fs::metadata(link).ok().filter(Metadata::is_dir) else {
            return false;
        };
        let above = |dir: &Path| fs::metadata(dir).is_ok_and(|above| identity(&above) == identity(&metadata));
        !link.ancestors().skip(1).any(above) && self.entered.insert(identity(&metadata))
    }

    /// As `Dir.glob`: stars follow links to directories, `**` does not.
    fn listing(&mut self, dir: &Path, parts: &[Part], exclude: &[PathBuf]) {
        match parts {
            [] => {}
            [Part::Any, rest @ ..] => {
                self.listing(dir, rest, exclude);
                for entry in entries(dir) {
                    let below = entry.file_type().is_ok_and(|kind| kind.is_dir());
                    let path = entry.path();
                    if below && parts[0].matches(&entry.file_name()) && !exclude.contains(&path) {
                        self.listing(&path, parts, exclude);
                    }
                }
            }
            [part, rest @ ..] => match part.literal() {
                Some(name) => self.listed(dir.join(name), rest, exclude),
                None => entries(dir)
                    .filter(|entry| part.matches(&entry.file_name()))
                    .for_each(|entry| self.listed(entry.path(), rest, exclude)),
            },
        }
    }

    fn listed(&mut self, path: PathBuf, rest: &[Part], exclude: &[PathBuf]) {
        if !rest.is_empty() {
            self.listing(&path, rest, exclude);
        } else if let Ok(metadata) = fs::metadata(&path) {
            (self.found)(path, &metadata, Interest::Existence);
        }
    }

    fn entry(&mut self, entry: &DirEntry, kind: FileType, path: PathBuf) {
        // Unlike the other, the entry's own `stat` neither follows links nor walks the path again.
        let metadata = if kind.is_symlink() {
            fs::metadata(&path)
        } else {
            entry.metadata()
        };
        if let Ok(metadata) = metadata {
            self.file(path, &metadata);
        }
    }

    fn file(&mut self, path: PathBuf, metadata: &Metadata) {
        if metadata.is_file() {
            (self.found)(path, metadata, Interest::Content);
        }
    }
}

impl Filter<'_> {
    fn wants(&self, path: &Path) -> bool {
        let Some(extensions) = self.extensions else { return true };
        path.extension()
            .is_some_and(|extension| extensions.iter().any(|wanted| wanted == extension))
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
