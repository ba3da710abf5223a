//! What would let a file be had that was refused, on a disk that is really there.

use std::fs;
use std::path::Path;

use coatepec::config::Config;
use coatepec::config::sandbox::Mode;
use coatepec::run::allow::Remedy;
use coatepec::sandbox::Kind;
use coatepec::sandbox::rules::Place;
use coatepec::supervisor::remedies::Remedies;
use tempfile::TempDir;

fn scene() -> (TempDir, Place) {
    // Not among temporary files, which are open.
    let home = std::env::home_dir().unwrap();
    fs::create_dir_all(&home).unwrap();
    let dir = tempfile::tempdir_in(home).unwrap();
    let at = dir.path().canonicalize().unwrap();
    for place in ["home/.ssh", "home/.config", "home/other", "app/.git", "app/app"] {
        fs::create_dir_all(at.join(place)).unwrap();
    }
    for file in [
        "home/.ssh/id",
        "home/other/a.rb",
        "app/.git/HEAD",
        "app/Gemfile",
        "sock",
    ] {
        fs::write(at.join(file), "").unwrap();
    }
    let place = Place {
        root: at.join("app"),
        home: Some(at.join("home")),
        temporary: "/nowhere".into(),
        sockets: vec![at.join("sock")],
        ..Place::default()
    };
    (dir, place)
}

/// Each row: the least, what was refused, and the remedy with the place that it is of.
#[test]
fn a_remedy_opens_no_more_than_it_must() {
    let (_dir, place) = scene();
    let at = place.root.parent().unwrap().to_owned();
    let sandbox = Config::parse("sandbox: {mode: standard}").unwrap().sandbox;
    let table = [
        (Mode::Off, Kind::Write, "app", "Elsewhere"),
        (Mode::Off, Kind::Write, "home", "Elsewhere"),
        (Mode::Off, Kind::Write, "", "Elsewhere"),
        (Mode::Off, Kind::Write, "home/.ssh", "Elsewhere"),
        (Mode::Off, Kind::Write, "app/.git", "Elsewhere"),
        (Mode::Off, Kind::Write, "home/.ssh/new", "Make home/.ssh/new"),
        (Mode::Off, Kind::Write, "home/.config/new", "Make home/.config/new"),
        (Mode::Off, Kind::Write, "home/new/a/b", "Make home/new"),
        (Mode::Off, Kind::Write, "app/.git/new", "Make app/.git/new"),
        (Mode::Off, Kind::Read, "home/.ssh/id", "Name home/.ssh/id"),
        (Mode::Off, Kind::Write, "app/.git/HEAD", "Name app/.git/HEAD"),
        (Mode::Off, Kind::Write, "home/other/a.rb", "NameFile home/other/a.rb"),
        (Mode::Off, Kind::Write, "home/other/b.rb", "Name home/other"),
        (Mode::Off, Kind::Write, "app/app/x", "Restart"),
        (Mode::Off, Kind::Write, "app/Gemfile", "RestartOrMove"),
        (Mode::Off, Kind::Network, "sock", "Name sock"),
        (Mode::Off, Kind::Read, "/proc/1/environ", "Off"),
        (Mode::Standard, Kind::Read, "home/.ssh/id", "Floor"),
        (Mode::Standard, Kind::Write, "home/other/b.rb", "Floor"),
        (Mode::Standard, Kind::Network, "sock", "Floor"),
        (Mode::Standard, Kind::Write, "app/app/x", "Restart"),
    ];
    for (at_least, kind, path, expected) in table {
        let remedies = Remedies::new(place.clone(), &sandbox, at_least);
        let path = if path.is_empty() { at.clone() } else { at.join(path) };
        assert_eq!(
            told(&remedies.of(kind, &path), &at),
            expected,
            "{at_least} {kind:?} {}",
            path.display()
        );
    }
}

fn told(remedy: &Remedy, at: &Path) -> String {
    let (name, place) = match remedy {
        Remedy::Name(place) => ("Name", Some(place)),
        Remedy::NameFile(place) => ("NameFile", Some(place)),
        Remedy::Make(place) => ("Make", Some(place)),
        Remedy::Undeny(place) => ("Undeny", Some(place)),
        Remedy::Restart => ("Restart", None),
        Remedy::RestartOrMove => ("RestartOrMove", None),
        Remedy::Elsewhere => ("Elsewhere", None),
        Remedy::Floor => ("Floor", None),
        Remedy::Off => ("Off", None),
    };
    let place = place.map(|place| format!(" {}", place.strip_prefix(at).unwrap_or(place).display()));
    format!("{name}{}", place.unwrap_or_default())
}
