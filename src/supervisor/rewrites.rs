//! Files that an app, or its test helper, writes each time it is loaded, and reads. To follow such a change would be to
//! load for ever; to overlook a person's save would be to answer from old code. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many loads in a row have to see a file change before it is taken for their own doing, if they do not say so
/// themselves: another program may have done it for them. A person may well save a file during one load, and again during
/// the next.
const LOADS: u32 = 5;

/// The same if they do: the first one may have made a file that stays as it is.
const WRITES: u32 = 2;

/// How long nobody may have saved it before the last of these loads.
pub const QUIET: Duration = Duration::from_secs(30);

/// Times after which it is certain.
const KNOWN: u32 = u32::MAX / 2;

/// What the loads so far have seen, each kind of load on its own.
#[derive(Debug, Default)]
pub struct Rewrites(BTreeMap<PathBuf, u32>);

/// What changed during one load.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// By the load itself: no reason to load again.
    pub own: BTreeSet<PathBuf>,
    pub others: BTreeSet<PathBuf>,
}

impl Rewrites {
    /// What is known by now to be written by each load.
    pub fn own(&self) -> BTreeSet<PathBuf> {
        let own = self.0.iter().filter(|(_, times)| **times >= KNOWN);
        own.map(|(path, _)| path.clone()).collect()
    }

    /// Takes note of what changed during a load that was given up: of nothing can be said that it is its own doing.
    pub fn note_in_vain(&mut self, changed: impl IntoIterator<Item = PathBuf>) {
        self.note(changed, &[], |_| false);
    }

    /// Takes note of what changed during a load; what it has `written`, and what was `quiet` before it.
    pub fn note(
        &mut self,
        changed: impl IntoIterator<Item = PathBuf>,
        written: &[PathBuf],
        quiet: impl Fn(&Path) -> bool,
    ) -> Changed {
        let mut last = std::mem::take(&mut self.0);
        self.0 = changed
            .into_iter()
            .map(|path| {
                let times = last.remove(&path).unwrap_or(0);
                (path, times.saturating_add(1))
            })
            .collect();
        for (path, times) in &mut self.0 {
            if (*times >= WRITES && written.contains(path)) || *times >= KNOWN {
                *times = KNOWN;
            } else if *times >= LOADS {
                *times = if quiet(path) { KNOWN } else { LOADS };
            }
        }
        let own = |path: &&PathBuf| self.0[*path] >= KNOWN;
        let (own, others) = self.0.keys().partition::<Vec<&PathBuf>, _>(own);
        Changed {
            own: own.into_iter().cloned().collect(),
            others: others.into_iter().cloned().collect(),
        }
    }
}
