//! Which directories hold specs and tests: globs that are matched name by name.

use std::path::{Path, PathBuf};

pub use crate::config::glob::matches;

/// The directories that hold specs or tests in any project.
pub const BUILT_IN: [&str; 8] = [
    "spec",
    "test",
    "packs/*/spec",
    "packs/*/test",
    "engines/*/spec",
    "engines/*/test",
    "gems/*/spec",
    "gems/*/test",
];

/// The globs of the directories that hold specs. Nothing outside these is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    roots: Vec<String>,
}

/// Where a path lies, seen from the directories that hold specs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Neither in one of them nor on the way to one.
    Outside,
    /// On the way to one, such as `packs`.
    Above,
    /// One of them, or in one.
    Within,
}

impl Default for Rules {
    fn default() -> Self {
        Rules::new(&[])
    }
}

impl Rules {
    /// The built-in globs and `more`, which are relative, have no empty name, no `.` and no `..`
    /// (`spec_roots` of the configuration are so).
    pub fn new(more: &[String]) -> Rules {
        let built_in = BUILT_IN.iter().map(|root| (*root).to_owned());
        Rules {
            roots: built_in.chain(more.iter().cloned()).collect(),
        }
    }

    /// The globs, built-in ones first.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// The directories that the globs stand for at this moment. Symlinks are not followed.
    pub fn dirs(&self, root: &Path) -> Vec<PathBuf> {
        let dirs = self
            .roots
            .iter()
            .flat_map(|glob| expand(root.to_owned(), &glob.split('/').collect::<Vec<_>>()));
        dirs.collect()
    }

    /// Where `path` lies.
    pub fn place(&self, path: &str) -> Place {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let places = self.roots.iter().map(|root| {
            let globs: Vec<&str> = root.split('/').collect();
            place(&globs, &names)
        });
        places.max().unwrap_or(Place::Outside)
    }
}

fn expand(dir: PathBuf, globs: &[&str]) -> Vec<PathBuf> {
    let Some((glob, rest)) = globs.split_first() else {
        return vec![dir];
    };
    let mut found = if *glob == "**" {
        expand(dir.clone(), rest)
    } else {
        Vec::new()
    };
    for name in directories(&dir) {
        match *glob {
            "**" if !name.starts_with('.') => found.extend(expand(dir.join(name), globs)),
            glob if glob != "**" && matches(glob, &name) => found.extend(expand(dir.join(name), rest)),
            _ => {}
        }
    }
    found
}

fn directories(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn place(globs: &[&str], names: &[&str]) -> Place {
    match (globs, names) {
        ([], _) => Place::Within,
        (_, []) => Place::Above,
        (["**", rest @ ..], [name, deeper @ ..]) => match name.starts_with('.') {
            true => place(rest, names),
            false => place(rest, names).max(place(globs, deeper)),
        },
        ([glob, rest @ ..], [name, deeper @ ..]) if matches(glob, name) => place(rest, deeper),
        _ => Place::Outside,
    }
}
