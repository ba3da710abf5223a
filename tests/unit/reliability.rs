//! docs/reliability.md names what there is, and says of it what its test says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

fn path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn page() -> String {
    read("docs/reliability.md")
}

/// Pairs that a pattern with two groups finds.
fn pairs(text: &str, pattern: &str) -> BTreeSet<(String, String)> {
    let pattern = Regex::new(pattern).unwrap();
    let found = pattern.captures_iter(text);
    found.map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
}

#[test]
fn each_fault_has_the_outcome_that_is_tested() {
    let tests = read("tests/integration/faults.rs");
    let mut tested = pairs(&tests, r#"fault\(\s*"(\w+)",\s*"(\w+)""#);
    tested.extend(pairs(&tests, r#"name: "(\w+)",\s*outcome: "(\w+)""#));
    assert!(tested.len() > 80, "{}", tested.len());
    let told = pairs(&page(), r"(?m)^\| `(\w+)` \|.*\| `(\w+)`[^|]*\|$");
    assert_eq!(told, tested);
}

#[test]
fn each_spec_that_misbehaves_is_named() {
    let page = page();
    for entry in fs::read_dir(path("fixture_app/spec/faults")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix("_spec.rb") else {
            continue;
        };
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn each_test_that_is_named_exists() {
    let named = pairs(&page(), r"`(\w+)::(\w+)`");
    assert!(named.len() > 40, "{}", named.len());
    for (file, test) in named {
        let file = format!("tests/integration/{file}");
        let file = if path(&file).is_dir() {
            file + "/mod.rs"
        } else {
            file + ".rs"
        };
        assert!(read(&file).contains(&format!("fn {test}()")), "{file} has no {test}");
    }
}
