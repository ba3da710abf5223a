//! What was probably meant by a path that can't be run.

use std::collections::BTreeSet;

use crate::config::nearest::{distance, tolerance};

const SUGGESTIONS: usize = 3;

/// At most three of `files`, or of the directories above them, that resemble `wanted`, closest
/// first. `app/models/widget.rb` resembles `spec/models/widget_spec.rb`.
pub(super) fn near_misses(wanted: &str, files: &[String]) -> Vec<String> {
    let Some(stem) = wanted.strip_suffix(".rb") else {
        return closest(wanted, directories(files));
    };
    let stem = stem.strip_suffix("_spec").unwrap_or(stem);
    let files = files.iter().map(String::as_str);
    closest(&format!("{stem}_spec.rb"), files.collect())
}

fn directories(files: &[String]) -> BTreeSet<&str> {
    let above = |file: &'_ str| file.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    files
        .iter()
        .flat_map(|file| above(file).into_iter().map(move |at| &file[..at]))
        .collect()
}

fn closest(wanted: &str, known: BTreeSet<&str>) -> Vec<String> {
    let mut scored: Vec<_> = known
        .into_iter()
        .filter_map(|path| Some((slips(name(wanted), name(path))?, distance(wanted, path), path)))
        .collect();
    scored.sort();
    scored.truncate(SUGGESTIONS);
    scored.into_iter().map(|(_, _, path)| path.to_owned()).collect()
}

/// The last name counts most: a right name in a wrong directory is the usual slip.
fn slips(wanted: &str, known: &str) -> Option<usize> {
    let forgiven = tolerance(wanted.strip_suffix("_spec.rb").unwrap_or(wanted));
    // Saves the costly comparison with most of the names.
    if wanted.len().abs_diff(known.len()) > 4 * forgiven {
        return None;
    }
    Some(distance(wanted, known)).filter(|slips| *slips <= forgiven)
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
