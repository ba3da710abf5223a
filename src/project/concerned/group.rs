//! As few selectors as a call may have: beyond that, directories stand for the files in them. Pure.

use std::collections::BTreeSet;

use crate::project::roots::Place;
use crate::project::{Rules, selector};

/// Selectors of one call.
pub const SELECTORS: usize = selector::MAX_SELECTORS;

/// `tests` themselves, or directories that hold them all; the deepest ones are given up first. Whether there are any
/// directories among them: then more is run than was meant.
pub fn grouped(tests: &[String], rules: &Rules, most: usize) -> (Vec<String>, bool) {
    let mut selectors: BTreeSet<String> = tests.iter().cloned().collect();
    let mut folded = false;
    while selectors.len() > most {
        let Some(deepest) = selectors
            .iter()
            .filter(|path| above(path, rules).is_some())
            .map(|path| depth(path))
            .max()
        else {
            break;
        };
        folded = true;
        selectors = selectors
            .into_iter()
            .map(|path| match above(&path, rules) {
                Some(directory) if depth(&path) == deepest => directory,
                _ => path,
            })
            .collect();
    }
    let covered = |path: &String| {
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        above.any(|directory| selectors.contains(directory))
    };
    let kept = selectors.iter().filter(|path| !covered(path)).cloned();
    (kept.collect(), folded)
}

/// The highest directories for tests that hold these.
pub fn roots<'a>(tests: impl Iterator<Item = &'a String>, rules: &Rules) -> Vec<String> {
    let highest = |path: &String| {
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let found = above.find(|directory| rules.place(directory) == Place::Within);
        found.unwrap_or(path).to_owned()
    };
    let mut roots: Vec<String> = tests.map(highest).collect();
    roots.sort_unstable();
    roots.dedup();
    grouped(&roots, rules, SELECTORS).0
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// The directory of it, if that holds tests.
fn above(path: &str, rules: &Rules) -> Option<String> {
    let (directory, _) = path.rsplit_once('/')?;
    (rules.place(directory) == Place::Within).then(|| directory.to_owned())
}
