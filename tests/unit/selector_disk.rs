//! The same rules on a real disk, by both ways to look at it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use coatepec::project::disk::Disk;
use coatepec::project::selector::select_in;
use coatepec::project::tree::{EntryKind, Found, Tree};
use coatepec::project::{Refusal, Rules, Selection, Selector, select};
use tempfile::TempDir;

fn app() -> TempDir {
    let app = tempfile::tempdir().unwrap();
    for file in [
        "spec/models/widget_spec.rb",
        "spec/a:2_spec.rb",
        "spec/-e_spec.rb",
        "packs/parcels/spec/parcel_spec.rb",
        "vendored/spec/far_spec.rb",
    ] {
        let path = app.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let link = |to: &str, at: &str| symlink(to, app.path().join(at)).unwrap();
    link("../vendored", "packs/linked");
    link("models", "spec/linked");
    link("models/widget_spec.rb", "spec/linked_spec.rb");
    link("nowhere", "spec/dangling_spec.rb");
    link("loop_spec.rb", "spec/loop_spec.rb");
    nix::unistd::mkfifo(&app.path().join("spec/fifo_spec.rb"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    app
}

type Answer = Result<Selection, Vec<Refusal>>;

/// The answers of the system's own look-up and of the one by single names.
fn both(root: &Path, named: &[&str]) -> [Answer; 2] {
    let root = root.canonicalize().unwrap();
    let disk = Disk::open(&root).unwrap();
    [
        select(&root, &Rules::default(), named),
        select_in(&disk, &Rules::default(), named),
    ]
}

fn arguments(answer: &Answer) -> Vec<String> {
    let selection = answer.as_ref().unwrap();
    selection.selectors.iter().map(Selector::to_argument).collect()
}

#[test]
fn files_are_found_by_either_way() {
    for answer in both(app().path(), &["spec/a:2_spec.rb:3", "spec/-e_spec.rb", "packs"]) {
        let expected = [
            "./spec/a:2_spec.rb:3",
            "./spec/-e_spec.rb",
            "./packs/parcels/spec/parcel_spec.rb",
        ];
        assert_eq!(arguments(&answer), expected);
    }
}

#[test]
fn links_are_named_by_either_way() {
    let table = [
        ("spec/linked/widget_spec.rb:3", "`spec/linked`"),
        ("packs/linked/spec/far_spec.rb", "`packs/linked`"),
        ("spec/linked_spec.rb", "`spec/linked_spec.rb`"),
        ("spec/dangling_spec.rb", "`spec/dangling_spec.rb`"),
        ("spec/loop_spec.rb", "`spec/loop_spec.rb`"),
    ];
    let app = app();
    for (named, link) in table {
        for answer in both(app.path(), &[named]) {
            let refused = answer.unwrap_err();
            assert_eq!(refused[0].code, "symlink", "{named}");
            assert!(refused[0].reason.contains(link), "{refused:?}");
        }
    }
}

#[test]
fn what_is_no_file_is_refused_by_either_way() {
    let app = app();
    for (named, code) in [
        ("spec/fifo_spec.rb", "wrong_kind"),
        ("spec/missing_spec.rb", "not_found"),
        ("spec/models/widget_spec.rb/x", "not_found"),
    ] {
        for answer in both(app.path(), &[named]) {
            assert_eq!(answer.unwrap_err()[0].code, code, "{named}");
        }
    }
    let name = format!("spec/{}_spec.rb", "x".repeat(300));
    for answer in both(app.path(), &[&name]) {
        assert_eq!(answer.unwrap_err()[0].code, "not_found", "longer than a name can be");
    }
}

#[test]
fn a_directory_is_expanded_without_following_links() {
    for answer in both(app().path(), &["."]) {
        let selection = answer.unwrap();
        let files: Vec<_> = selection.selectors.iter().map(Selector::to_string).collect();
        let expected = [
            "packs/parcels/spec/parcel_spec.rb",
            "spec/-e_spec.rb",
            "spec/a:2_spec.rb",
            "spec/models/widget_spec.rb",
        ];
        assert_eq!(files, expected);
        let skipped: Vec<_> = selection.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
        let expected = [
            "packs/linked",
            "spec/dangling_spec.rb",
            "spec/fifo_spec.rb",
            "spec/linked",
            "spec/linked_spec.rb",
            "spec/loop_spec.rb",
        ];
        assert_eq!(skipped, expected);
    }
}

#[test]
fn a_name_that_is_not_utf8_is_skipped_in_a_directory() {
    use std::os::unix::ffi::OsStrExt;
    let app = app();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9_spec.rb");
    if fs::write(app.path().join("spec/models").join(name), "").is_err() {
        return; // Some file systems take no such name.
    }
    for answer in both(app.path(), &["spec/models"]) {
        let selection = answer.unwrap();
        assert_eq!(selection.skipped[0].path, "spec/models/caf\u{fffd}_spec.rb");
        assert_eq!(selection.selectors.len(), 1);
    }
}

#[test]
fn a_directory_that_can_not_be_read_is_skipped() {
    let app = app();
    let closed = app.path().join("spec/closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        return; // The superuser reads everything.
    }
    for answer in both(app.path(), &["spec"]) {
        let skipped = answer.unwrap().skipped;
        assert_eq!(skipped[0].path, "spec/closed");
    }
}

#[test]
fn a_root_that_is_gone_is_a_refusal() {
    let gone = app().path().to_owned();
    let refused = select(&gone, &Rules::default(), &["spec"]).unwrap_err();
    assert_eq!(refused[0].code, "not_found");
}

#[test]
fn a_file_with_two_names_keeps_the_one_that_was_asked_for() {
    let app = app();
    let spec = app.path().join("spec");
    fs::hard_link(spec.join("models/widget_spec.rb"), spec.join("Ab_spec.rb")).unwrap();
    // Where case is ignored there can be only one of them.
    let _ = fs::hard_link(spec.join("Ab_spec.rb"), spec.join("aB_SPEC.RB"));
    for answer in both(app.path(), &["spec/Ab_spec.rb"]) {
        assert_eq!(arguments(&answer), ["./spec/Ab_spec.rb"]);
    }
}

#[test]
fn a_directory_is_not_listed_through_a_link() {
    let app = app();
    let disk = Disk::open(&app.path().canonicalize().unwrap()).unwrap();
    assert!(disk.list("packs/linked/spec").is_err());
    assert!(disk.list("packs/linked").is_err());
    assert_eq!(disk.probe("packs"), Found::Directory("packs".into()));
    let kinds: Vec<_> = disk
        .list("packs")
        .unwrap()
        .into_iter()
        .map(|entry| entry.kind)
        .collect();
    assert!(kinds.contains(&EntryKind::Symlink { to_directory: true }), "{kinds:?}");
}
