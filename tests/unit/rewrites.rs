//! What changes during each load is the load's own doing.

use std::path::PathBuf;

use coatepec::supervisor::rewrites::Rewrites;

/// Of each load: what changed, and what of it is taken for the load's own doing.
fn loads(table: &[(&[&str], &[&str])]) {
    let mut rewrites = Rewrites::default();
    for (number, (changed, own)) in table.iter().enumerate() {
        let found = rewrites.note(changed.iter().map(PathBuf::from), &[], |_| true);
        let is_own = |path: &&&str| own.contains(*path);
        let (expected, others): (Vec<&&str>, Vec<&&str>) = changed.iter().partition(is_own);
        let paths = |list: &[&&str]| list.iter().map(PathBuf::from).collect();
        assert_eq!(
            (found.own, found.others),
            (paths(&expected), paths(&others)),
            "load {number}"
        );
    }
}

#[test]
fn five_loads_in_a_row_make_a_file_their_own() {
    loads(&[
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &["a"]),
        (&["a"], &["a"]),
    ]);
}

#[test]
fn what_is_known_to_be_their_own_can_be_asked_for() {
    let mut rewrites = Rewrites::default();
    for own in [&[][..], &[], &[], &[], &["a"]] {
        rewrites.note(["a"].map(PathBuf::from), &[], |_| true);
        assert_eq!(rewrites.own(), own.iter().map(PathBuf::from).collect());
    }
}

#[test]
fn a_load_that_changes_nothing_breaks_the_row() {
    loads(&[
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&[], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a"], &["a"]),
        (&[], &[]),
        (&["a"], &[]),
    ]);
}

#[test]
fn each_file_has_a_row_of_its_own() {
    loads(&[
        (&["a", "b"], &[]),
        (&["a"], &[]),
        (&["a"], &[]),
        (&["a", "b"], &[]),
        (&["a", "b"], &["a"]),
        (&["b", "c"], &[]),
        (&["b"], &[]),
        (&["b"], &["b"]),
    ]);
}

#[test]
fn what_a_load_says_to_have_written_is_its_own_the_second_time() {
    let mut rewrites = Rewrites::default();
    let written = [PathBuf::from("a")];
    let found = rewrites.note(["a", "b"].map(PathBuf::from), &written, |_| true);
    assert_eq!(found.own, [].into());
    let found = rewrites.note(["a", "b"].map(PathBuf::from), &written, |_| true);
    assert_eq!(found.own, written.into());
    let found = rewrites.note(["a"].map(PathBuf::from), &[], |_| false);
    assert_eq!(found.own, [PathBuf::from("a")].into(), "and stays so");
}

/// Who saves a file again and again meets each load.
#[test]
fn what_was_saved_shortly_before_each_load_is_nobodys_own() {
    let mut rewrites = Rewrites::default();
    let note = |rewrites: &mut Rewrites, quiet: bool| rewrites.note(["a"].map(PathBuf::from), &[], |_| quiet).own.len();
    for _ in 0..20 {
        assert_eq!(note(&mut rewrites, false), 0);
    }
    rewrites.note_in_vain(["a"].map(PathBuf::from));
    assert_eq!(rewrites.own().len(), 0);
    assert_eq!(note(&mut rewrites, true), 1);
}
