//! What was probably meant by a path that can't be run.

use std::collections::BTreeSet;

use super::framework::Framework;
use crate::config::nearest::{distance, tolerance};

const SUGGESTIONS: usize = 3;

/// At most three of `files`, or of the directories above them, that resemble `wanted`, closest
/// first. `app/models/widget.rb` resembles `spec/models/widget_spec.rb`.
pub(super) fn near_misses(wanted: &str, files: &[String]) -> Vec<String> {
    let Some(stem) = wanted.strip_suffix(".rb") else {
        return closest(&[wanted], directories(files));
    };
    let bare = stem.strip_suffix("_spec").or_else(|| stem.strip_suffix("_test"));
    let bare = bare.unwrap_or(stem);
    let wanted = Framework::ALL.map(|framework| format!("{bare}{}", framework.ending()));
    closest(
        &wanted.each_ref().map(String::as_str),
        files.iter().map(String::as_str).collect(),
    )
}

fn directories(files: &[String]) -> BTreeSet<&str> {
    let above = |file: &'_ str| file.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    files
        .iter()
        .flat_map(|file| above(file).into_iter().map(move |at| &file[..at]))
        .collect()
}

fn closest(wanted: &[&str], known: BTreeSet<&str>) -> Vec<String> {
    let score = |path: &str| {
        let scores = wanted.iter().filter_map(|wanted| {
            let slips = slips(name(wanted), name(path))?;
            Some((slips, distance(wanted, path)))
        });
        scores.min()
    };
    let scored = known.into_iter().filter_map(|path| Some((score(path)?, path)));
    let mut scored: Vec<_> = scored.collect();
    scored.sort();
    scored.truncate(SUGGESTIONS);
    scored.into_iter().map(|(_, path)| path.to_owned()).collect()
}

/// The last name counts most: a right name in a wrong directory is the usual slip.
fn slips(wanted: &str, known: &str) -> Option<usize> {
    let ending = Framework::of_file(wanted).map_or(0, |framework| framework.ending().len());
    let forgiven = tolerance(&wanted[..wanted.len() - ending]);
    // Saves the costly comparison with most of the names.
    if wanted.len().abs_diff(known.len()) > 4 * forgiven {
        return None;
    }
    Some(distance(wanted, known)).filter(|slips| *slips <= forgiven)
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
