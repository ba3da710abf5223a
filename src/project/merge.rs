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
    filters: HashMap<String, Vec<Filter>>,
    directories: HashSet<String>,
    skipped: BTreeMap<String, String>,
}

impl Picked {
    pub(super) fn add(&mut self, path: String, filter: Filter) {
        let filters = self.filters.entry(path).or_insert_with_key(|path| {
            self.order.push(path.clone());
            Vec::new()
        });
        *filters = merged(std::mem::take(filters), filter);
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
        let mut selectors = Vec::new();
        for path in self.order {
            let filters = self.filters.remove(&path).unwrap_or_default();
            let selector = |filter| Selector {
                path: path.clone(),
                filter,
            };
            selectors.extend(filters.into_iter().map(selector));
        }
        let skipped = self.skipped.into_iter();
        let skipped = skipped.map(|(path, reason)| Skipped { path, reason });
        Selection {
            selectors,
            skipped: skipped.collect(),
        }
    }
}

/// At most one filter by lines and one by ids, in this order; or one for the whole file.
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
