//! What would let a run do what was refused to it, in words.

use std::path::{Path, PathBuf};

use coatepec::config::sandbox::Mode;
use coatepec::run::allow::{Remedy, hint, variables};
use coatepec::run::blocked::Refused;
use coatepec::sandbox::Kind;

fn told(refused: &[(Kind, &str)]) -> Option<String> {
    let refused: Vec<Refused> = refused
        .iter()
        .map(|(kind, what)| Refused {
            kind: *kind,
            what: (*what).to_owned(),
            example: None,
            count: 1,
        })
        .collect();
    hint(&refused, Mode::Off, remedy)
}

fn remedy(_: Kind, path: &Path) -> Remedy {
    let place = PathBuf::from(path);
    match path.to_str().and_then(|path| path.split('/').nth(1)) {
        Some("later") => Remedy::Restart,
        Some("missing") => Remedy::Make(place),
        Some("proc") => Remedy::Off,
        Some("denied") => Remedy::Undeny(place),
        Some("home") => Remedy::Elsewhere,
        Some("root") => Remedy::RestartOrMove,
        Some("file") => Remedy::NameFile(place),
        Some("closed") => Remedy::Floor,
        _ => Remedy::Name(place),
    }
}

/// Each row: what was refused, and what the hint says among other things.
#[test]
fn each_sort_of_refusal_has_its_setting() {
    let table = [
        (Kind::Write, "/a", r#"`sandbox: {write: ["/a"]}` in .coatepec.yml"#),
        (Kind::Read, "/a", r#"`sandbox: {read: ["/a"]}`"#),
        (Kind::Write, "/missing/a", r#"`sandbox: {write: ["/missing/a"]}`"#),
        (Kind::Write, "/missing/a", r#"make "/missing/a" first"#),
        (Kind::Write, "/later", "`rails_runtime_restart`"),
        (Kind::Read, "/denied", r#"`sandbox.deny` has "/denied""#),
        (Kind::Read, "/proc/1/environ", "only `sandbox: {mode: off}`"),
        (Kind::Network, "10.0.0.1:80", "`sandbox: {network: allow}`"),
        (Kind::Network, "[fd00::1]:80", "`sandbox: {network: allow}`"),
        (Kind::Network, "an internet socket", "`sandbox: {network: allow}`"),
        (
            Kind::Network,
            "/run/docker.sock",
            r#"`sandbox: {write: ["/run/docker.sock"]}`"#,
        ),
        (Kind::Write, "/home", "belongs in a directory of its own"),
        (Kind::Write, "/root/x", "`rails_runtime_restart`"),
        (Kind::Write, "/root/x", "belongs in a directory of its own"),
        (Kind::Write, "/file", "name its directory"),
        (Kind::Read, "/a", "to write what `read` has, name it in `write` instead"),
        (Kind::Network, "a socket of protocol 262", "`sandbox: {network: allow}`"),
        (Kind::Network, "a multicast group", "`sandbox: {network: allow}`"),
        (Kind::Network, "a raw socket", "`sandbox: {mode: off}`"),
        (Kind::Network, "a socket of family 17", "`sandbox: {mode: off}`"),
        (Kind::Syscall, "keyctl", "`sandbox: {mode: off}`"),
        (Kind::Write, "/a\n\"b", r#"["/a\n\"b"]"#),
    ];
    for (kind, what, expected) in table {
        let told = told(&[(kind, what)]).unwrap();
        assert!(told.contains(expected), "{what}: {told}");
    }
}

#[test]
fn all_are_told_in_one_hint_and_many_places_are_not_listed() {
    assert_eq!(told(&[]), None);
    let many = [
        (Kind::Write, "/a"),
        (Kind::Write, "/a"),
        (Kind::Write, "/b"),
        (Kind::Write, "/c"),
        (Kind::Write, "/d"),
        (Kind::Write, "/a/within"),
        (Kind::Read, "/e"),
        (Kind::Network, "10.0.0.1:80"),
    ];
    assert_eq!(
        told(&many).unwrap(),
        r#"where tests are meant to do what `refused` lists: `sandbox: {write: ["/a", "/b", "/c", …], read: ["/e"], network: allow}` in .coatepec.yml allows it (to write what `read` has, name it in `write` instead)"#
    );
}

/// Each row: what was refused, and what would be refused as a setting.
#[test]
fn what_the_server_was_started_with_is_no_setting() {
    let table = [
        (Mode::Standard, Kind::Syscall, "keyctl", "mode: off"),
        (Mode::Strict, Kind::Network, "10.0.0.1:80", "network: allow"),
        (Mode::Standard, Kind::Write, "/closed", "write:"),
    ];
    for (at_least, kind, what, setting) in table {
        let refused = [Refused {
            kind,
            what: what.to_owned(),
            example: None,
            count: 1,
        }];
        let told = hint(&refused, at_least, remedy).unwrap();
        assert!(told.contains(&format!("`--sandbox-at-least {at_least}`")), "{told}");
        assert!(!told.contains(setting), "{told}");
    }
}

#[test]
fn a_variable_is_told_if_the_failure_names_it() {
    let held_back = ["A_TOKEN".to_owned(), "B_TOKEN".to_owned()];
    let of = |text: &'static str| variables(&held_back, Mode::Off, [text].into_iter());
    assert_eq!(of("expected 1"), None);
    let told = of("key not found: \"B_TOKEN\"").unwrap();
    assert!(told.contains("`sandbox: {env: {keep: [B_TOKEN]}}`"), "{told}");
    assert!(!told.contains("A_TOKEN"), "{told}");
    let told = variables(&held_back, Mode::Standard, ["B_TOKEN"].into_iter()).unwrap();
    assert!(told.contains("--sandbox-at-least standard"), "{told}");
    assert!(!told.contains("keep:"), "{told}");
}
