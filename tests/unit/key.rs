//! Who shares a daemon with whom.

use std::path::Path;

use coatepec::config::sandbox::Mode;
use coatepec::daemon::key::Key;
use coatepec::supervisor::setup::Site;
use coatepec::worker::environment::{Variables, boot_key};

fn site(root: &str, sandbox_at_least: Mode) -> Site {
    Site {
        root: root.into(),
        sandbox_at_least,
    }
}

fn key(root: &str, environment: &[(&str, &str)], binary: &str) -> Key {
    let environment: Variables = environment
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    Key::new(&site(root, Mode::Off), boot_key(&environment), binary)
}

#[test]
fn only_the_same_checkout_environment_and_build_share() {
    let env = &[("PATH", "/bin"), ("DATABASE_URL", "postgres://one")][..];
    let base = key("/app", env, "1.0");
    assert_eq!(key("/app", env, "1.0"), base);
    let another_terminal = [env, &[("TERM", "dumb"), ("SHLVL", "3"), ("CLAUDECODE", "1")]].concat();
    assert_eq!(key("/app", &another_terminal, "1.0"), base);
    let others = [
        key("/app2", env, "1.0"),
        key("/app", env, "1.1"),
        key("/app", &[("PATH", "/bin"), ("DATABASE_URL", "postgres://two")], "1.0"),
        key("/app", &[("PATH", "/bin")], "1.0"),
    ];
    for other in others {
        assert_ne!(other, base);
        assert_ne!(other.to_string(), base.to_string());
    }
}

#[test]
fn all_keys_of_a_checkout_begin_alike() {
    let prefix = Key::of_root(Path::new("/app"));
    assert!(key("/app", &[], "1.0").to_string().starts_with(&prefix));
    assert!(key("/app", &[("A", "b")], "2.0").to_string().starts_with(&prefix));
    assert!(!key("/ap", &[], "1.0").to_string().starts_with(&prefix));
}

/// The name of a socket has room for about a hundred bytes.
#[test]
fn a_key_is_short() {
    assert_eq!(key("/a/very/long/root", &[], "1.0").to_string().len(), 33);
}

/// Or whoever starts the daemon first would decide for all.
#[test]
fn who_insists_on_a_sandbox_shares_with_nobody_who_does_not() {
    let key = |mode| Key::new(&site("/app", mode), boot_key(&Variables::new()), "1.0");
    assert_ne!(key(Mode::Standard), key(Mode::Off));
    assert_ne!(key(Mode::Standard), key(Mode::Strict));
}
