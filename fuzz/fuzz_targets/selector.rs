//! Any names on the disk, and any names asked for: one per line, the two lists parted by an empty line.
#![no_main]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use coatepec::project::roots::Place;
use coatepec::project::selector::select_in;
use coatepec::project::tree::{Entry, EntryKind, Found, Tree};
use coatepec::project::{Rules, Selection};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (files, named) = text.split_once("\n\n").unwrap_or(("", text));
    let tree = Listed::new(files.lines());
    let named: Vec<String> = named.split('\n').map(str::to_owned).collect();
    match select_in(&tree, &Rules::default(), &named) {
        Ok(selection) => can_be_run(&tree, &selection),
        Err(refusals) => {
            assert!(!refusals.is_empty());
            assert!(
                refusals.iter().all(|refusal| !refusal.reason.is_empty()),
                "{refusals:?}"
            );
        }
    }
});

fn can_be_run(tree: &Listed, selection: &Selection) {
    assert!(!selection.selectors.is_empty());
    for selector in &selection.selectors {
        let path = &selector.path;
        assert_eq!(tree.0.get(path), Some(&EntryKind::File), "{path}");
        assert_eq!(Rules::default().place(path), Place::Within, "{path}");
        assert!(path.ends_with("_spec.rb") && !path.contains(char::is_control), "{path}");
        assert!(path.split('/').all(|name| !matches!(name, "" | "." | "..")), "{path}");
        let argument = selector.to_argument();
        assert!(argument.starts_with("./"), "{argument}");
        let again = select_in(tree, &Rules::default(), &[&argument]).expect("it was accepted before");
        assert_eq!(again.selectors, [selector.clone()]);
    }
}

/// Entries by path. `name/` is a directory, `name@` a link, `name|` a pipe, anything else a file.
struct Listed(BTreeMap<String, EntryKind>);

impl Listed {
    fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Listed {
        let mut entries = BTreeMap::from([(String::new(), EntryKind::Directory)]);
        for line in lines.filter(|line| !line.starts_with('/')) {
            let (path, kind) = understand(line);
            let good = path.split('/').all(|name| !matches!(name, "" | "." | ".."));
            let parents = || path.match_indices('/').map(|(slash, _)| &path[..slash]);
            let below_directories =
                parents().all(|parent| matches!(entries.get(parent), None | Some(EntryKind::Directory)));
            if good && below_directories && !entries.contains_key(path) {
                let made: Vec<String> = parents().map(str::to_owned).collect();
                entries.extend(made.into_iter().map(|parent| (parent, EntryKind::Directory)));
                entries.insert(path.to_owned(), kind);
            }
        }
        Listed(entries)
    }
}

fn understand(line: &str) -> (&str, EntryKind) {
    match line.char_indices().last() {
        Some((at, '/')) => (&line[..at], EntryKind::Directory),
        Some((at, '@')) => (&line[..at], EntryKind::Symlink { to_directory: false }),
        Some((at, '|')) => (&line[..at], EntryKind::Other),
        _ => (line, EntryKind::File),
    }
}

impl Tree for Listed {
    fn root(&self) -> &Path {
        Path::new("/srv/shop")
    }

    fn probe(&self, path: &str) -> Found {
        let ends = path.match_indices('/').map(|(slash, _)| slash).chain([path.len()]);
        let link = ends
            .map(|end| &path[..end])
            .find(|path| matches!(self.0.get(*path), Some(EntryKind::Symlink { .. })));
        if let Some(link) = link {
            return Found::Symlink(link.to_owned());
        }
        match self.0.get(path) {
            Some(EntryKind::File) => Found::File(path.to_owned()),
            Some(EntryKind::Directory) => Found::Directory(path.to_owned()),
            Some(_) => Found::Other(path.to_owned()),
            None => Found::Missing,
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<Entry>> {
        if self.0.get(path) != Some(&EntryKind::Directory) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let below = self.0.iter().filter(|(other, _)| !other.is_empty());
        let entries = below.filter_map(|(other, kind)| {
            let (parent, name) = other.rsplit_once('/').unwrap_or(("", other));
            (parent == path).then(|| Entry {
                name: OsString::from(name),
                kind: *kind,
            })
        });
        Ok(entries.collect())
    }
}
