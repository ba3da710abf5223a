//! Which tests a save concerns, by their names first: it has to be told at once. Pure.

use super::answer::{Confidence, Row};
use super::names::namesakes;
use super::subject::Subject;
use crate::project::suffix::readings;
use crate::project::{Framework, Rules};

/// What a save concerns, among what is being watched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved {
    /// The tests that were saved, and those that are named after what was, as they were selected.
    pub tests: Vec<String>,
    /// Files that no test of the selection is named after: each may concern all of them.
    pub others: Vec<String>,
}

/// What was saved (`changed`: paths relative to the root), held against what is being watched (`selected`). `exists`: whether
/// there is such a file.
pub fn saved(changed: &[String], selected: &[String], rules: &Rules, exists: &dyn Fn(&str) -> bool) -> Saved {
    let changed = changed.iter().map(String::as_str);
    let changed: Vec<&str> = changed.filter(|path| may_concern(path, rules)).collect();
    let mut saved = Saved::default();
    // A test that was deleted, or has another name now, can't be run.
    for path in changed.into_iter().filter(|path| !is_test(path) || exists(path)) {
        let tests = tests_of(path, exists);
        let tests: Vec<String> = tests.into_iter().filter_map(|test| within(&test, selected)).collect();
        match tests.is_empty() {
            true => saved.others.push(path.to_owned()),
            false => saved.tests.extend(tests),
        }
    }
    saved.tests.sort();
    saved.tests.dedup();
    saved
}

/// The tests among what is being watched that a file concerns, by all that is known of it, if one of them surely is meant.
/// The less sure ones come along.
pub fn surely(rows: &[&Row], selected: &[String]) -> Option<Vec<String>> {
    let watched = rows
        .iter()
        .filter_map(|row| Some((row.confidence, within(&row.path, selected)?)));
    let watched: Vec<(Confidence, String)> = watched.collect();
    let sure = watched.iter().any(|(confidence, _)| *confidence == Confidence::High);
    sure.then(|| watched.into_iter().map(|(_, test)| test).collect())
}

/// Of what is being watched, what there is, and what is gone by now.
pub fn there(selected: &[String], exists: &dyn Fn(&str) -> bool) -> (Vec<String>, Vec<String>) {
    let selected = selected.iter().cloned();
    selected.partition(|selector| readings(selector).into_iter().any(|reading| exists(reading.path)))
}

fn is_test(path: &str) -> bool {
    Framework::of_file(path).is_some()
}

/// What editors leave beside the file that they save.
const OF_EDITORS: [&str; 7] = ["~", "#", ".swp", ".swo", ".swx", ".tmp", "___"];

/// Directories that runs write to, or that hold nothing of the app.
const WRITTEN: [&str; 7] = ["log", "tmp", "storage", "coverage", "node_modules", "public", ".git"];

/// Whether a person saved it.
pub fn is_edit(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    !WRITTEN.contains(&first) && name.contains('.') && !OF_EDITORS.iter().any(|ending| name.ends_with(ending))
}

fn may_concern(path: &str, rules: &Rules) -> bool {
    let hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    is_edit(path)
        && match Subject::of(path, rules) {
            Subject::Everything(..) => true,
            Subject::Nothing(_) => false,
            // What lies in the root and concerns tests is known by name.
            Subject::Other => path.contains('/') && !hidden,
            _ => !hidden,
        }
}

/// The test itself, or those that are named after the file.
fn tests_of(path: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    if is_test(path) {
        return vec![path.to_owned()];
    }
    let names = namesakes(path).into_iter().map(|namesake| namesake.path);
    names.filter(|test| exists(test)).collect()
}

/// As selected: lines or ids of the file, if these were named; the file, if a directory above it was.
fn within(test: &str, selected: &[String]) -> Option<String> {
    let named = |selector: &&String| {
        let rest = selector.strip_prefix(test);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '[', '#']))
    };
    if let Some(selector) = selected.iter().find(named) {
        return Some(selector.clone());
    }
    let above = |dir: &String| {
        test.strip_prefix(dir.trim_end_matches('/'))
            .is_some_and(|rest| rest.starts_with('/'))
    };
    selected.iter().any(above).then(|| test.to_owned())
}
