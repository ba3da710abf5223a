//! Codes are what programs match on.

use std::collections::BTreeSet;

use coatepec::error::Kind;

/// The codes as they are written in `Kind::code`.
fn codes() -> BTreeSet<&'static str> {
    let code = include_str!("../../src/error.rs");
    let body = code.split("pub fn code(self)").nth(1).unwrap();
    let body = body.split("\n    }\n").next().unwrap();
    body.split('"').skip(1).step_by(2).collect()
}

#[test]
fn each_kind_is_found_by_its_code() {
    let codes = codes();
    assert!(codes.len() > 15, "{codes:?}");
    for code in codes {
        assert_eq!(Kind::of_code(code).map(Kind::code), Some(code), "{code} is not in ALL");
    }
    assert_eq!(Kind::of_code("splendid"), None);
}
