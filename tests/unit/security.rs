//! docs/security.md names what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use coatepec::sandbox::rules::PROTECTED;
use regex::Regex;

fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all tests in a file.
fn tests_of(text: &str) -> BTreeSet<String> {
    let test = Regex::new(r"(?m)^#\[test\]\n(?:#\[expect[^\]]*\]\n)*fn (\w+)\(\)").unwrap();
    test.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn file_of(module: &str) -> PathBuf {
    let dir = Path::new("tests/integration/wall");
    match module {
        "" => dir.join("mod.rs"),
        module => dir.join(module.trim_end_matches("::")).with_extension("rs"),
    }
}

#[test]
fn the_tests_that_are_named_are_those_that_there_are() {
    let page = read("docs/security.md");
    let name = Regex::new(r"`wall::(\w+::)?(\w+)`").unwrap();
    let named: BTreeSet<(String, String)> = name
        .captures_iter(&page)
        .map(|found| {
            (
                found.get(1).map_or("", |module| module.as_str()).to_owned(),
                found[2].to_owned(),
            )
        })
        .collect();
    assert!(named.len() > 10, "{named:?}");
    for (module, test) in &named {
        assert!(
            tests_of(&read(file_of(module))).contains(test),
            "there is no wall::{module}{test}"
        );
    }
    for test in tests_of(&read(file_of(""))) {
        assert!(named.contains(&(String::new(), test.clone())), "{test} is not named");
    }
}

#[test]
fn everything_that_is_protected_is_named() {
    let page = read("docs/security.md");
    for name in PROTECTED {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
