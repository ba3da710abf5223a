//! Which tests a save concerns, by their names alone: it has to be told at once. Pure.

use super::names::namesakes;
use super::subject::Subject;
use crate::project::{Framework, Rules};

/// The selectors to run after `changed` (paths relative to the root) was saved. `selected`: what is being watched.
/// `exists`: whether there is such a file. None: there is nothing to run.
pub fn concerned(
    changed: &[String],
    selected: &[String],
    rules: &Rules,
    exists: &dyn Fn(&str) -> bool,
) -> Option<Vec<String>> {
    let changed = changed.iter().map(String::as_str);
    let changed: Vec<&str> = changed.filter(|path| may_concern(path, rules)).collect();
    let mut run: Vec<String> = Vec::new();
    // A test that was deleted, or has another name now, can't be run.
    for path in changed.into_iter().filter(|path| !is_test(path) || exists(path)) {
        let tests = tests_of(path, exists);
        let tests: Vec<String> = tests.into_iter().filter_map(|test| within(&test, selected)).collect();
        // What no test is named after may concern all of them.
        if tests.is_empty() {
            return Some(selected.to_vec());
        }
        run.extend(tests);
    }
    run.sort();
    run.dedup();
    (!run.is_empty()).then_some(run)
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
