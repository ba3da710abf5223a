//! The log of calls on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, UNIX_EPOCH};

use coatepec::cli::render::{log, style::Style};
use coatepec::journal::entry::{Entry, Event};
use coatepec::journal::{LogFile, time};

fn entry(number: u64) -> Entry {
    Entry {
        tool: Some("rails_routes".to_owned()),
        milliseconds: number,
        ..Entry::default()
    }
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.milliseconds).collect()
}

fn all(_: &Entry) -> bool {
    true
}

#[test]
fn what_was_appended_is_read_in_order_and_followed() {
    let dir = tempfile::tempdir().unwrap();
    let log = LogFile::within(dir.path().to_owned(), 1_000_000);
    assert_eq!(log.last(10, all).0, []);
    (1..=5).for_each(|number| log.append(&entry(number)).unwrap());
    let (last, mut follow) = log.last(3, all);
    assert_eq!(numbers(&last), [3, 4, 5]);
    assert_eq!(numbers(&log.last(3, |entry| entry.milliseconds % 2 == 0).0), [2, 4]);
    assert_eq!(follow.more(), []);
    log.append(&entry(6)).unwrap();
    assert_eq!(numbers(&follow.more()), [6]);
    assert_eq!(follow.more(), []);
    let mode = fs::metadata(dir.path().join("calls.ndjson"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_log_has_an_end_and_the_last_ones_are_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = LogFile::within(dir.path().to_owned(), 500);
    let (_, mut follow) = log.last(0, all);
    let mut followed = Vec::new();
    for number in 1..=100 {
        log.append(&entry(number)).unwrap();
        // Not at each one, so that some are written before a new file is begun and some after it.
        if number % 3 == 0 || number == 100 {
            followed.extend(numbers(&follow.more()));
        }
    }
    assert_eq!(followed, Vec::from_iter(1..=100), "nobody who follows misses anything");
    let sizes = fs::read_dir(dir.path())
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len());
    let sizes: Vec<u64> = sizes.filter(|size| *size > 0).collect();
    assert_eq!(sizes.len(), 4, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size < 700), "{sizes:?}");
    let (last, _) = log.last(8, all);
    assert_eq!(numbers(&last), Vec::from_iter(93..=100));
}

#[test]
fn half_a_line_waits_for_its_end_and_nonsense_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let log = LogFile::within(dir.path().to_owned(), 1_000_000);
    let path = dir.path().join("calls.ndjson");
    log.append(&entry(1)).unwrap();
    let line = serde_json::to_string(&entry(2)).unwrap();
    let (half, rest) = line.split_at(20);
    let append = |text: &str| fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
    append("nonsense\n{}\n");
    append(half);
    let (found, mut follow) = log.last(10, all);
    assert_eq!(numbers(&found), [1]);
    append(&format!("{rest}\n"));
    assert_eq!(numbers(&follow.more()), [2]);
}

#[test]
fn a_log_that_can_not_be_written_is_an_error_and_nothing_else() {
    let log = LogFile::within("/dev/null/nowhere".into(), 1000);
    assert!(log.append(&entry(1)).is_err());
    assert_eq!(log.last(10, all).0, []);
}

#[test]
fn of_many_and_long_paths_some_are_kept() {
    let long = "a".repeat(1000);
    let paths = [long.as_str(), "b\n\u{1b}[31m", "c", "d", "e", "f", "g"];
    let entry = Entry::default().with_paths(paths).with_client(Some("agent\r\n7"));
    assert_eq!(entry.paths[0].len(), 200);
    assert_eq!(entry.paths[1..], ["b[31m", "c", "d", "e"]);
    assert_eq!(entry.more_paths, 2);
    assert_eq!(entry.client.as_deref(), Some("agent7"));
}

#[test]
fn a_moment_is_told_as_the_calendar_has_it() {
    let table = [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399, "2000-02-28T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (1_709_251_200, "2024-03-01T00:00:00.000Z"),
        (1_798_761_599, "2026-12-31T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
    ];
    for (seconds, text) in table {
        assert_eq!(time::utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
    }
    assert_eq!(
        time::utc(UNIX_EPOCH + Duration::from_millis(1234)),
        "1970-01-01T00:00:01.234Z"
    );
}

#[test]
fn a_line_says_who_did_what_and_how_it_ended() {
    let call = Entry {
        time: "2026-11-30T18:20:12.123Z".to_owned(),
        root: "/app".to_owned(),
        client: Some("agent".to_owned()),
        tool: Some("rails_spec_run".to_owned()),
        run_id: Some("run-7".to_owned()),
        paths: vec!["spec/a_spec.rb".to_owned()],
        more_paths: 2,
        outcome: Some("failed".to_owned()),
        mode: Some("fork".to_owned()),
        milliseconds: 1250,
        ..Entry::default()
    };
    let plain = |entry: &Entry, with_root| log::line(entry, with_root, Style::PLAIN);
    let line = "2026-11-30 18:20:12  agent: rails_spec_run spec/a_spec.rb and 2 more  failed (fork)  1.2 s";
    assert_eq!(plain(&call, false), line);
    let run = Entry {
        event: Event::Run,
        client: None,
        more_paths: 0,
        milliseconds: 12,
        ..call.clone()
    };
    assert_eq!(
        plain(&run, true),
        "2026-11-30 18:20:12  run-7 spec/a_spec.rb  failed (fork)  12 ms  /app"
    );
    let refused = Entry {
        code: Some("busy".to_owned()),
        outcome: None,
        mode: None,
        ..call
    };
    assert!(
        plain(&refused, false).contains("  busy  "),
        "{}",
        plain(&refused, false)
    );
}
