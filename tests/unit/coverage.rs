//! Which lines were executed: what is told of what a run told, and what is kept of it.

use std::path::Path;

use coatepec::error::{Error, Kind};
use coatepec::journal::touched::{TestRecord, TouchedFile, TouchedStore, hash};
use coatepec::project::Lines;
use coatepec::run::coverage::{CoverageLog, CoverageReport, Target, Targets, Unmeasured};
use coatepec::worker::protocol::CoveredFile;

fn told(path: &str, executed: &str, missed: &str) -> CoveredFile {
    CoveredFile {
        path: path.to_owned(),
        loaded: true,
        executed: Some(executed.to_owned()),
        missed: Some(missed.to_owned()),
    }
}

fn target(path: &str, lines: Option<&str>) -> Target {
    Target {
        path: path.to_owned(),
        lines: lines.map(Lines::parse),
    }
}

fn report(targets: &[Target], covered: &[CoveredFile], saved: &str) -> CoverageReport {
    let targets = Targets {
        files: targets.to_vec(),
        ..Targets::default()
    };
    let log = CoverageLog {
        covered: covered.to_vec(),
        ..CoverageLog::default()
    };
    CoverageReport::new(&targets, &log, &|path| path == saved)
}

#[test]
fn of_changed_lines_only_those_are_told() {
    for (lines, executed, missed) in [
        (None, "1-4,9", "6-7"),
        (Some("3-7"), "3-4", "6-7"),
        (Some("2-3"), "3", ""),
        (Some("4,9"), "4,9", ""),
        (Some("7"), "", "7"),
    ] {
        let told = report(&[target("a.rb", lines)], &[told("a.rb", "1,3-4,9", "6-7")], "");
        let file = &told.files[0];
        assert_eq!((&*file.executed, &*file.not_executed), (executed, missed), "{lines:?}");
        assert_eq!(told.executed_lines, file.executed_lines);
    }
}

#[test]
fn lines_that_cannot_be_executed_count_for_nothing() {
    let told = report(&[target("a.rb", None)], &[told("a.rb", "1,5", "9")], "");
    assert_eq!((told.executed_lines, told.not_executed_lines), (2, 1));
    assert_eq!(told.files[0].executed, "1-5");
}

#[test]
fn a_file_of_which_nothing_is_to_be_told_says_why() {
    let broken = CoveredFile {
        path: "broken.rb".to_owned(),
        ..CoveredFile::default()
    };
    let covered = [told("saved.rb", "1", ""), broken, told("comments.rb", "1", "")];
    let targets = ["saved.rb", "broken.rb", "comments.rb", "untold.rb"].map(|path| target(path, Some("2-3")));
    let told = report(&targets, &covered, "saved.rb");
    let reasons: Vec<&str> = told.unmeasured.iter().map(|file| &*file.reason).collect();
    assert!(told.files.is_empty(), "{told:?}");
    for (reason, word) in reasons.iter().zip(["saved", "compile", "can be executed", "ended"]) {
        assert!(reason.contains(word), "{reasons:?}");
    }
    assert_eq!(reasons.len(), 4);
}

#[test]
fn what_was_missed_most_comes_first_and_what_git_said_is_told() {
    let targets = Targets {
        since: Some("HEAD".to_owned()),
        files: ["a.rb", "b.rb", "c.rb"].map(|path| target(path, None)).to_vec(),
        unmeasured: vec![Unmeasured {
            path: "x.erb".into(),
            reason: "no Ruby".into(),
        }],
        error: Some(Error::new(Kind::GitUnavailable, "no Git").hint("install it")),
    };
    let log = CoverageLog {
        covered: vec![told("a.rb", "1", ""), told("b.rb", "1", "2-5"), told("c.rb", "1", "")],
        ..CoverageLog::default()
    };
    let told = CoverageReport::new(&targets, &log, &|_| false);
    let order: Vec<&str> = told.files.iter().map(|file| &*file.path).collect();
    assert_eq!(order, ["b.rb", "a.rb", "c.rb"]);
    assert_eq!((told.executed_lines, told.not_executed_lines), (3, 4));
    assert_eq!(told.unmeasured[0].path, "x.erb");
    assert_eq!(told.error.unwrap().code, "git_unavailable");
}

fn record(test: &str, time: &str, whole: bool, files: &[&str]) -> TestRecord {
    TestRecord {
        test: test.to_owned(),
        hash: hash(test.as_bytes()),
        time: time.to_owned(),
        whole,
        files: files
            .iter()
            .map(|path| TouchedFile {
                path: (*path).to_owned(),
                hash: hash(b"1"),
            })
            .collect(),
    }
}

fn paths(record: &TestRecord) -> Vec<&str> {
    record.files.iter().map(|file| &*file.path).collect()
}

#[test]
fn a_part_of_a_test_file_adds_to_what_is_known_and_all_of_it_replaces_that() {
    let dir = tempfile::tempdir().unwrap();
    let store = TouchedStore::within(dir.path().join("touched"), Path::new("/srv/shop"), 100_000);
    assert_eq!(store.read(), []);
    store
        .learn(vec![record("a_spec.rb", "1", true, &["x.rb", "y.rb"])])
        .unwrap();
    store
        .learn(vec![record("a_spec.rb", "2", false, &["y.rb", "z.rb"])])
        .unwrap();
    let known = store.read();
    assert_eq!(paths(&known[0]), ["y.rb", "z.rb", "x.rb"]);
    assert!(known[0].whole);
    store.learn(vec![record("a_spec.rb", "3", true, &["z.rb"])]).unwrap();
    assert_eq!(paths(&store.read()[0]), ["z.rb"]);
    let other = TouchedStore::within(dir.path().join("touched"), Path::new("/srv/other"), 100_000);
    assert_eq!(other.read(), []);
}

#[test]
fn the_oldest_is_forgotten_when_it_is_full_and_damage_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let store = TouchedStore::within(dir.path().to_owned(), Path::new("/srv/shop"), 1000);
    for time in 10..40 {
        let test = format!("spec/number_{time}_spec.rb");
        store
            .learn(vec![record(&test, &time.to_string(), true, &["app/a.rb"])])
            .unwrap();
    }
    let times: Vec<String> = store.read().into_iter().map(|record| record.time).collect();
    assert!((2..10).contains(&times.len()), "{times:?}");
    assert_eq!(times[0], "39");
    let file = std::fs::read_dir(dir.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let file = file
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "ndjson"))
        .unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{{\n{text}[]\n")).unwrap();
    assert_eq!(store.read().len(), times.len());
}
