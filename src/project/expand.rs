//! The spec and test files of a directory. RSpec would expand it too, but it follows symbolic links.

use super::framework::Framework;
use super::refusal::shown;
use super::roots::{Place, Rules};
use super::selector::Skipped;
use super::tree::{Entry, EntryKind, Tree, join};

/// What a directory holds, down to the limits.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    /// The spec files, sorted.
    pub(super) files: Vec<String>,
    pub(super) skipped: Vec<Skipped>,
    /// Whether a limit ended the search.
    pub(super) cut: bool,
}

/// Where a search ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Files found and entries skipped.
    pub(super) files: usize,
    /// Entries looked at.
    pub(super) entries: usize,
}

/// The spec files in `dir` and below it that lie in a directory for specs, without following links.
pub(super) fn expand(tree: &impl Tree, rules: &Rules, dir: &str, limits: Limits) -> Expansion {
    let mut search = Search {
        rules,
        limits,
        ahead: vec![dir.to_owned()],
        found: Expansion::default(),
    };
    while let Some(dir) = search.ahead.pop() {
        match tree.list(&dir) {
            Ok(entries) => search.directory(&dir, entries),
            Err(error) => search.skip(dir, error.to_string()),
        }
        if search.exhausted() {
            break;
        }
    }
    search.found.files.sort();
    search.found
}

struct Search<'a> {
    rules: &'a Rules,
    limits: Limits,
    ahead: Vec<String>,
    found: Expansion,
}

impl Search<'_> {
    fn directory(&mut self, path: &str, mut entries: Vec<Entry>) {
        self.found.cut |= entries.len() > self.limits.entries;
        self.limits.entries = self.limits.entries.saturating_sub(entries.len());
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for entry in entries {
            self.entry(path, &entry);
        }
    }

    fn entry(&mut self, directory: &str, entry: &Entry) {
        let name = entry.name.to_string_lossy();
        let path = join(directory, &name);
        // Hidden files are no specs for RSpec either.
        if name.starts_with('.') || !self.matters(directory, &path, entry.kind) {
            return;
        }
        if entry.name.to_str().is_none() {
            self.skip(path, "its name is not UTF-8");
        } else if name.contains(char::is_control) {
            self.skip(path, "its name has a control character");
        } else {
            self.take(path, entry.kind);
        }
    }

    /// Whether leaving the entry out would leave specs out.
    fn matters(&self, directory: &str, path: &str, kind: EntryKind) -> bool {
        match kind {
            EntryKind::Directory | EntryKind::Symlink { to_directory: true } => {
                self.rules.place(path) != Place::Outside
            }
            EntryKind::File | EntryKind::Other | EntryKind::Symlink { .. } => {
                Framework::of_file(path).is_some() && self.rules.place(directory) == Place::Within
            }
        }
    }

    fn take(&mut self, path: String, kind: EntryKind) {
        match kind {
            EntryKind::File => self.found.files.push(path),
            EntryKind::Directory => self.ahead.push(path),
            EntryKind::Symlink { .. } => self.skip(path, "it is a symbolic link"),
            EntryKind::Other => self.skip(path, "it is not a regular file"),
        }
    }

    fn skip(&mut self, path: String, reason: impl Into<String>) {
        self.found.skipped.push(Skipped {
            path: shown(&path),
            reason: reason.into(),
        });
    }

    fn exhausted(&mut self) -> bool {
        let found = self.found.files.len() + self.found.skipped.len();
        self.found.cut |= found > self.limits.files;
        self.found.cut
    }
}
