//! Which specs a caller may name, and how.
//!
//! A selector is a spec file or a directory below the directories for specs ([`Rules`]), relative to
//! the root; `packs` or `.` stand for the directories for specs below them. A file may have a suffix
//! that picks examples ([`Filter`]). All selectors of a call are judged before anything runs, and each
//! refused one gets its reason. What is selected is spelled as on disk, has no symbolic link in it,
//! and begins with `./` on its way to RSpec.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::expand::{Limits, expand};
use super::framework::Framework;
use super::merge::Picked;
use super::policy::{Policy, Target};
use super::refusal::Refusal;
use super::roots::Rules;
use super::suffix::Filter;
use super::tree::{Found, Tree};

#[cfg(target_os = "linux")]
pub(super) use super::beneath::Beneath as Disk;
#[cfg(not(target_os = "linux"))]
pub(super) use super::disk::Disk;

/// Selectors in one call.
pub const MAX_SELECTORS: usize = 100;
/// Bytes of one selector: no path is longer on Linux.
pub const MAX_SELECTOR_BYTES: usize = 4096;
/// Files that the selectors of one call may stand for.
pub const MAX_FILES: usize = 10_000;

pub(super) const EXPANSION: Limits = Limits {
    files: MAX_FILES,
    entries: 200_000,
};

/// One spec file, and which of its examples are meant. Written as a caller would name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selector {
    /// Relative to the root, spelled as on disk.
    pub path: String,
    pub filter: Filter,
}

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// At least one. Files come in the order of their first mention, those of a directory sorted by
    /// path. A whole file takes in its parts. No suffix says both lines and ids, or two names, so a file that is
    /// named by both comes twice in a row; it is loaded once, and the union runs. All are of one framework.
    pub selectors: Vec<Selector>,
    /// Parts that were named of whole files: they run anyway, and must be there as those of other files must.
    pub taken_in: Vec<Selector>,
    /// What was left out of the directories named, sorted by path: symbolic links, and what can't be
    /// read or named. At most 10,000 for each directory named.
    pub skipped: Vec<Skipped>,
}

/// An entry of a directory that may hold specs and was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// As far as it can be shown.
    pub path: String,
    pub reason: String,
}

impl Selection {
    /// Each file and each part of one that was named.
    pub fn all_named(&self) -> impl Iterator<Item = &Selector> {
        self.selectors.iter().chain(&self.taken_in)
    }

    /// Whose files these are.
    pub fn framework(&self) -> Framework {
        let first = self.selectors.first().and_then(Selector::framework);
        first.unwrap_or(Framework::Rspec)
    }
}

impl Selector {
    fn framework(&self) -> Option<Framework> {
        Framework::of_file(&self.path)
    }

    /// What RSpec gets: never an option, and never looked for anywhere but below the root.
    pub fn to_argument(&self) -> String {
        format!("./{self}")
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path, self.filter)
    }
}

/// What the selectors `named` stand for in the project at `root`, which has no symbolic link in it.
/// Reads the disk, and waits for it.
///
/// # Errors
/// Every selector that is refused, in the order given.
pub fn select(root: &Path, rules: &Rules, named: &[impl AsRef<OsStr>]) -> Result<Selection, Vec<Refusal>> {
    let disk = Disk::open(root).map_err(|error| vec![Refusal::no_root(&error)])?;
    select_in(&disk, rules, named)
}

/// As [`select`], of selectors that we told ourselves: there may be as many as there are files.
///
/// # Errors
/// Every selector that is refused, in the order given.
pub fn select_told(root: &Path, rules: &Rules, told: &[String]) -> Result<Selection, Vec<Refusal>> {
    let disk = Disk::open(root).map_err(|error| vec![Refusal::no_root(&error)])?;
    match told.len() {
        0..=MAX_FILES => pick(&disk, rules, told),
        many => Err(vec![Refusal::too_many(many)]),
    }
}

/// As [`select`], in any tree.
///
/// # Errors
/// Every selector that is refused, in the order given.
pub fn select_in(tree: &impl Tree, rules: &Rules, named: &[impl AsRef<OsStr>]) -> Result<Selection, Vec<Refusal>> {
    match named.len() {
        0 => Err(vec![Refusal::none_given()]),
        1..=MAX_SELECTORS => pick(tree, rules, named),
        many => Err(vec![Refusal::too_many(many)]),
    }
}

fn pick(tree: &impl Tree, rules: &Rules, named: &[impl AsRef<OsStr>]) -> Result<Selection, Vec<Refusal>> {
    let mut picker = Picker {
        tree,
        rules,
        policy: Policy::new(tree, rules),
        picked: Picked::default(),
    };
    let refused = named.iter().filter_map(|text| picker.pick(text.as_ref()).err());
    none(refused.collect())?;
    let selection = picker.picked.selection();
    none(mixed(&selection.selectors, named))?;
    none(unfit(tree, &selection.selectors))?;
    Ok(selection)
}

fn none(refused: Vec<Refusal>) -> Result<(), Vec<Refusal>> {
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

struct Picker<'a, T> {
    tree: &'a T,
    rules: &'a Rules,
    policy: Policy<'a, T>,
    picked: Picked,
}

impl<T: Tree> Picker<'_, T> {
    fn pick(&mut self, text: &OsStr) -> Result<(), Refusal> {
        let Some(text) = text.to_str() else {
            return Err(Refusal::new("not_utf8", &text.to_string_lossy(), "it is not UTF-8"));
        };
        match self.policy.judge(text)? {
            Target::File(path, filter) => self.picked.add(path, filter),
            Target::Directory(path) if self.picked.is_new(&path) => self.directory(text, path)?,
            Target::Directory(_) => {}
        }
        Ok(())
    }

    fn directory(&mut self, text: &str, path: String) -> Result<(), Refusal> {
        let found = expand(self.tree, self.rules, &path, EXPANSION);
        if found.cut {
            return Err(Refusal::too_many_files(text));
        }
        if found.files.is_empty() {
            return Err(Refusal::holds_none(text, &path, &found));
        }
        self.picked.add_directory(path, found);
        Ok(())
    }
}

/// A run is one framework's.
fn mixed(selectors: &[Selector], named: &[impl AsRef<OsStr>]) -> Vec<Refusal> {
    let first = |framework| {
        let of = |selector: &&Selector| selector.framework() == Some(framework);
        selectors.iter().find(of).map(|selector| selector.path.as_str())
    };
    match (first(Framework::Rspec), first(Framework::Minitest)) {
        (Some(spec), Some(test)) => {
            let first_comes = |framework| selectors.first().and_then(Selector::framework) == Some(framework);
            let odd = if first_comes(Framework::Rspec) { test } else { spec };
            vec![Refusal::mixed(what_named(odd, named), spec, test)]
        }
        _ => Vec::new(),
    }
}

/// The selector by which the file came into the selection.
fn what_named<'a>(path: &str, named: &'a [impl AsRef<OsStr>]) -> &'a str {
    let stands_for = |text: &&str| {
        let directory = text.trim_end_matches('/').trim_start_matches("./");
        let below = path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        below || *text == "." || text.trim_start_matches("./").starts_with(path)
    };
    let mut texts = named.iter().filter_map(|text| text.as_ref().to_str());
    texts.find(stands_for).unwrap_or_default()
}

/// What only the whole selection shows.
fn unfit(tree: &impl Tree, selectors: &[Selector]) -> Vec<Refusal> {
    if selectors.len() > MAX_FILES {
        return vec![Refusal::too_many_files("")];
    }
    // RSpec takes an argument that is a directory for that, even if it looks like a file with lines.
    let filtered = selectors.iter().filter(|selector| selector.filter != Filter::All);
    let named = filtered.map(Selector::to_string);
    let ambiguous = named.filter(|text| !matches!(tree.probe(text), Found::Missing | Found::File(_)));
    ambiguous.map(|text| Refusal::ambiguous(&text)).collect()
}
