//! All tests of a project, as selectors: a run is one framework's, so those of each framework by themselves.

use std::path::Path;

use super::concerned::roots;
use super::expand::expand;
use super::framework::Framework;
use super::refusal::Refusal;
use super::roots::Rules;
use super::selector::{Disk, EXPANSION};
use super::tree::Tree;

/// Of each framework that has any, the highest directories that hold no test of another one. Reads the disk.
///
/// # Errors
/// The root can't be read, or there are too many files.
pub fn everything(root: &Path, rules: &Rules) -> Result<Vec<Vec<String>>, Refusal> {
    let disk = Disk::open(root).map_err(|error| Refusal::no_root(&error))?;
    everything_in(&disk, rules)
}

/// As [`everything`], in any tree.
///
/// # Errors
/// There are too many files.
pub fn everything_in(tree: &impl Tree, rules: &Rules) -> Result<Vec<Vec<String>>, Refusal> {
    let found = expand(tree, rules, "", EXPANSION);
    if found.cut {
        return Err(Refusal::too_many_files("."));
    }
    let of = |framework| {
        found
            .files
            .iter()
            .filter(move |path| Framework::of_file(path) == Some(framework))
    };
    let parts = Framework::ALL.map(|framework| {
        let own = roots(of(framework), rules).into_iter();
        own.flat_map(|root| unmixed(root, framework, &found.files))
            .collect::<Vec<_>>()
    });
    Ok(parts.into_iter().filter(|selectors| !selectors.is_empty()).collect())
}

/// The directory, or the files of the framework in it if there are others as well.
fn unmixed(root: String, framework: Framework, files: &[String]) -> Vec<String> {
    let within = files
        .iter()
        .filter(|path| path.strip_prefix(&root).is_some_and(|rest| rest.starts_with('/')));
    let (own, others): (Vec<&String>, Vec<&String>) =
        within.partition(|path| Framework::of_file(path) == Some(framework));
    match others.is_empty() {
        true => vec![root],
        false => own.into_iter().cloned().collect(),
    }
}
