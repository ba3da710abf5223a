//! What a load read, as the supervisor looks at it. Pure.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::protocol::Traces;
use crate::project::changes::Target;
use crate::project::glob::Glob;

/// Directories in the root that no listing is for, however wide.
const OUTPUT: &[&str] = &["log", "tmp", "coverage", "node_modules", "vendor/bundle", "storage"];

#[derive(Debug, Clone, Default)]
pub(super) struct Traced {
    files: HashSet<PathBuf>,
    dirs: HashSet<PathBuf>,
    listings: Vec<Glob>,
}

impl Traced {
    pub(super) fn new(traces: &Traces) -> Self {
        let listings = traces.listings.iter();
        Traced {
            files: traces.files.iter().cloned().collect(),
            dirs: traces.dirs.iter().cloned().collect(),
            listings: listings
                .map(|listing| Glob::new(&listing.dir, &listing.pattern))
                .collect(),
        }
    }

    /// Whether the content of this file was read.
    pub(super) fn read(&self, path: &Path) -> bool {
        self.files.contains(path) || path.parent().is_some_and(|dir| self.dirs.contains(dir))
    }

    /// Whether a listing would hold this file or directory.
    pub(super) fn listed(&self, path: &Path) -> bool {
        self.listings.iter().any(|glob| glob.matches(path))
    }

    /// Whether a listing would hold it that asks for names with just this ending.
    pub(super) fn asked_for(&self, path: &Path) -> bool {
        self.listings
            .iter()
            .any(|glob| glob.names_ending_of(path) && glob.matches(path))
    }

    pub(super) fn targets(&self, root: &Path) -> impl Iterator<Item = Target> {
        let files = self.files.iter().cloned().map(Target::File);
        let dirs = self
            .dirs
            .iter()
            .cloned()
            .map(|dir| Target::Named { dir, prefixes: &[""] });
        let exclude: Vec<PathBuf> = OUTPUT.iter().map(|name| root.join(name)).collect();
        let listings = self.listings.iter().cloned().map(move |glob| Target::Listing {
            glob,
            exclude: exclude.clone(),
        });
        files.chain(dirs).chain(listings)
    }
}
