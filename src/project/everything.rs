//! Tests as selectors of the runs that it takes: a run is one framework's, so those of each framework by themselves.

use std::path::Path;

use super::concerned::roots;
use super::expand::expand;
use super::framework::Framework;
use super::policy::normal;
use super::refusal::Refusal;
use super::roots::Rules;
use super::selector::{Disk, EXPANSION, select_in};
use super::tree::Tree;

/// All tests of a project: of each framework that has any, the highest directories that hold no test of another one. Reads
/// the disk.
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
    let parts = below(tree, rules, "")?.into_iter();
    Ok(parts.filter(|selectors| !selectors.is_empty()).collect())
}

/// What was named, in the runs that it takes. What can't be run is left to whoever says why: then all is one. Reads the disk.
pub fn apart(root: &Path, rules: &Rules, named: &[String]) -> Vec<Vec<String>> {
    let parts = Disk::open(root).ok().and_then(|disk| apart_in(&disk, rules, named));
    parts.unwrap_or_else(|| vec![named.to_vec()])
}

/// As [`apart`], in any tree; none where something can't be run.
pub fn apart_in(tree: &impl Tree, rules: &Rules, named: &[String]) -> Option<Vec<Vec<String>>> {
    let mut parts = Framework::ALL.map(|_| Vec::new());
    for text in named {
        let of_each = match select_in(tree, rules, &[text]) {
            Ok(selection) => Framework::ALL.map(|of| {
                if of == selection.framework() {
                    vec![text.clone()]
                } else {
                    Vec::new()
                }
            }),
            Err(refused) if refused.iter().all(Refusal::is_of_both) => below(tree, rules, &normal(text)?).ok()?,
            Err(_) => return None,
        };
        parts
            .iter_mut()
            .zip(of_each)
            .for_each(|(part, selectors)| part.extend(selectors));
    }
    Some(parts.into_iter().filter(|selectors| !selectors.is_empty()).collect())
}

/// What is of each framework in a directory.
fn below(tree: &impl Tree, rules: &Rules, dir: &str) -> Result<[Vec<String>; 2], Refusal> {
    let found = expand(tree, rules, dir, EXPANSION);
    if found.cut {
        return Err(Refusal::too_many_files(if dir.is_empty() { "." } else { dir }));
    }
    let of = |framework| {
        found
            .files
            .iter()
            .filter(move |path| Framework::of_file(path) == Some(framework))
    };
    Ok(Framework::ALL.map(|framework| {
        let own = roots(of(framework), rules).into_iter();
        own.flat_map(|root| unmixed(root, framework, &found.files)).collect()
    }))
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
