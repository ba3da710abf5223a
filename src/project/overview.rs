//! What kind of app this is, from its files alone: nothing is booted for it.

use std::path::Path;

use serde::Serialize;

use super::{Framework, Project, Rules, select};
use crate::config::Config;

/// Names of one kind that are listed.
const LISTED: usize = 200;

/// Where the parts of an app lie, if it has parts.
const PARTS: [&str; 3] = ["packs", "engines", "gems"];

#[derive(Debug, Clone, Serialize)]
pub struct Overview {
    pub root: String,
    pub kind: Kind,
    /// What is loaded to boot it, relative to the root.
    pub boot: String,
    pub frameworks: Vec<Framework>,
    /// Directories that hold specs or tests: nothing outside these is run.
    pub test_roots: Vec<String>,
    pub test_files: usize,
    /// Packs, engines and gems within the app.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    App,
    /// Tested in a dummy app.
    Engine,
}

impl Overview {
    /// Reads the disk, and waits for it.
    pub fn of(project: &Project, config: &Config) -> Overview {
        let rules = Rules::new(&config.spec_roots);
        let files = test_files(&project.root, &rules);
        let has = |framework: &Framework| files.iter().any(|file| file.ends_with(framework.ending()));
        let mut parts: Vec<String> = PARTS.iter().flat_map(|dir| children(&project.root, dir)).collect();
        parts.truncate(LISTED);
        Overview {
            root: project.root.display().to_string(),
            kind: match project.root.join("config/application.rb").is_file() {
                true => Kind::App,
                false => Kind::Engine,
            },
            boot: project.boot.display().to_string(),
            frameworks: Framework::ALL.into_iter().filter(has).collect(),
            test_roots: roots(&project.root, &rules).into_iter().take(LISTED).collect(),
            test_files: files.len(),
            parts,
        }
    }
}

/// Everything that may be named as a file, sorted within each of the directories.
pub fn test_files(root: &Path, rules: &Rules) -> Vec<String> {
    let selected = roots(root, rules)
        .into_iter()
        .filter_map(|dir| select(root, rules, &[dir]).ok());
    let mut files: Vec<String> = selected
        .flat_map(|selection| selection.selectors)
        .map(|selector| selector.path)
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The files that somebody may mean who has written this much: first those that begin with it.
pub fn completions<'a>(files: &'a [String], text: &str) -> Vec<&'a str> {
    let text = text.trim_start_matches("./").to_lowercase();
    let matching = files.iter().filter(|file| file.to_lowercase().contains(&text));
    let (mut first, rest): (Vec<&str>, Vec<&str>) = matching
        .map(String::as_str)
        .partition(|file| file.to_lowercase().starts_with(&text));
    first.extend(rest);
    first
}

fn roots(root: &Path, rules: &Rules) -> Vec<String> {
    let dirs = rules.dirs(root).into_iter();
    let relative = dirs.filter_map(|dir| Some(dir.strip_prefix(root).ok()?.to_str()?.to_owned()));
    let mut roots: Vec<String> = relative.collect();
    roots.sort_unstable();
    roots.dedup();
    roots
}

fn children(root: &Path, dir: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(dir)).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = dirs
        .filter_map(|entry| Some(format!("{dir}/{}", entry.file_name().to_str()?)))
        .collect();
    names.sort_unstable();
    names
}
