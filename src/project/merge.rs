//! Several selectors become one selection, in which no example is asked for twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::expand::Expansion;
use super::selector::{Selection, Selector, Skipped};
use super::suffix::Filter;

/// What was picked so far.
#[derive(Debug, Default)]
pub(super) struct Picked {
    /// Files in the order of their first mention.
    order: Vec<String>,
    files: HashMap<String, Meant>,
    directories: HashSet<String>,
    skipped: BTreeMap<String, String>,
}

/// What is meant of one file.
#[derive(Debug, Default)]
struct Meant {
    whole: bool,
    parts: Vec<Filter>,
}

impl Picked {
    pub(super) fn add(&mut self, path: String, filter: Filter) {
        let meant = self.files.entry(path).or_insert_with_key(|path| {
            self.order.push(path.clone());
            Meant::default()
        });
        match filter {
            Filter::All => meant.whole = true,
            part => meant.parts = merged(std::mem::take(&mut meant.parts), part),
        }
    }

    /// Whether the directory was not added before.
    pub(super) fn is_new(&self, directory: &str) -> bool {
        !self.directories.contains(directory)
    }

    pub(super) fn add_directory(&mut self, directory: String, found: Expansion) {
        self.directories.insert(directory);
        for path in found.files {
            self.add(path, Filter::All);
        }
        let skipped = found.skipped.into_iter();
        self.skipped
            .extend(skipped.map(|skipped| (skipped.path, skipped.reason)));
    }

    pub(super) fn selection(mut self) -> Selection {
        let (mut selectors, mut taken_in) = (Vec::new(), Vec::new());
        for path in self.order {
            let Meant { whole, parts } = self.files.remove(&path).unwrap_or_default();
            let selector = |filter| Selector {
                path: path.clone(),
                filter,
            };
            let parts = parts.into_iter().map(selector);
            match whole {
                true => {
                    selectors.push(selector(Filter::All));
                    taken_in.extend(parts);
                }
                false => selectors.extend(parts),
            }
        }
        let skipped = self.skipped.into_iter();
        let skipped = skipped.map(|(path, reason)| Skipped { path, reason });
        Selection {
            selectors,
            taken_in,
            skipped: skipped.collect(),
        }
    }
}

/// At most one filter by lines and one by ids, in this order.
fn merged(filters: Vec<Filter>, mut new: Filter) -> Vec<Filter> {
    let mut kept = Vec::new();
    for filter in filters {
        match filter.union(new) {
            (union, None) => new = union,
            (filter, Some(same)) => {
                kept.push(filter);
                new = same;
            }
        }
    }
    kept.push(new);
    kept.sort();
    kept
}
