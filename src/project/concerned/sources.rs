//! Reads the tests and the code of an app, to see what they name.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::answer::Source;
use super::mentions::Mentions;
use crate::project::{Rules, overview};

/// Bytes that are read of one file: no test is longer.
const FILE: u64 = 512 * 1024;

/// Bytes that are read in all.
const ALL: usize = 64 * 1024 * 1024;

/// Files of the app's own code.
const CODE: usize = 20_000;

/// Directories of the root without code of the app's own.
const LEFT_OUT: [&str; 9] = [
    "node_modules",
    "vendor",
    "tmp",
    "log",
    "storage",
    "public",
    "coverage",
    "bin",
    "db",
];

/// Whatever of an app names something.
#[derive(Debug, Default)]
pub struct Sources {
    /// All tests there are, sorted by path.
    pub tests: Vec<Source>,
    pub code: Vec<Source>,
    /// Files of which only the name is known, since too much was read before.
    pub unread: usize,
}

/// Reads files as long as there is room.
#[derive(Debug)]
pub struct Texts<'a> {
    root: &'a Path,
    left: usize,
    unread: usize,
}

impl Sources {
    /// Reads the disk, and waits for it.
    pub fn read(root: &Path, rules: &Rules) -> Sources {
        let mut texts = Texts::new(root);
        let tests = overview::test_files(root, rules);
        let tests = tests.into_iter().map(|path| texts.source(path, Mentions::of)).collect();
        let mut code = Vec::new();
        find_code(root, "", &mut code);
        let code = code
            .into_iter()
            .map(|path| texts.source(path, Mentions::of_code))
            .collect();
        Sources {
            tests,
            code,
            unread: texts.unread,
        }
    }
}

impl<'a> Texts<'a> {
    pub fn new(root: &'a Path) -> Self {
        Texts {
            root,
            left: ALL,
            unread: 0,
        }
    }

    /// Empty if it is not there.
    pub fn text(&mut self, path: &str) -> String {
        if self.left == 0 {
            self.unread += 1;
            return String::new();
        }
        let mut bytes = Vec::new();
        let regular = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let at = self.root.join(path);
        if regular(&at) {
            let _ = File::open(at).map(|file| file.take(FILE).read_to_end(&mut bytes));
        }
        self.left = self.left.saturating_sub(bytes.len());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn source(&mut self, path: String, mentions: fn(&str) -> Mentions) -> Source {
        Source {
            mentions: mentions(&self.text(&path)),
            path,
        }
    }
}

/// Ruby below a directory `app` or `lib`, wherever that is. Links are not followed.
fn find_code(root: &Path, directory: &str, found: &mut Vec<String>) {
    let entries = fs::read_dir(root.join(directory)).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        let path = match directory {
            "" => name.clone(),
            directory => format!("{directory}/{name}"),
        };
        let left_out = name.starts_with('.') || directory.is_empty() && LEFT_OUT.contains(&name.as_str());
        if kind.is_dir() && !left_out && !matches!(name.as_str(), "spec" | "test" | "node_modules") {
            find_code(root, &path, found);
        } else if kind.is_file()
            && name.ends_with(".rb")
            && super::names::Code::of(&path).is_some()
            && found.len() < CODE
        {
            found.push(path);
        }
    }
}
