//! What a run may take: output, memory, processes. Whatever was cut says so, with counts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup};

/// Far more than a server may grow by, and far less than what is written.
const GROWTH: u64 = 64 * 1024 * 1024;

#[test]
fn a_flood_of_output_is_counted_and_the_server_stays_small() {
    let megabytes: u64 = 192;
    let app = App::copy();
    let server = app.server_with(Setup::default().env("FLOOD_MB", &megabytes.to_string()));
    let mut wrong = Deviations::default();
    assert_eq!(server.run(["spec/services/price_list_spec.rb"])["outcome"], "passed");
    let before = peak(&server);
    for (path, outcome, page, streams) in [
        (
            "spec/faults/floods_stdout_spec.rb",
            "failed",
            "zażółć gęślą jaźń ✓\n",
            &["stdout", "stderr"][..],
        ),
        (
            "spec/faults/floods_stderr_spec.rb",
            "passed",
            "grüße aus Köln ✓\n",
            &["stderr"][..],
        ),
    ] {
        for fork in ["always", "never"] {
            let report = server.run_with([path], json!({"fork": fork}));
            wrong.equal(&format!("{path} {fork}"), &report["outcome"], outcome);
            wrong.equal(&format!("{path} {fork}"), &report["summary"]["examples"], 2);
            for name in streams {
                flooded(
                    &mut wrong,
                    &format!("{path} {fork} {name}"),
                    &report[name],
                    page,
                    megabytes,
                );
            }
        }
    }
    let grown = peak(&server).saturating_sub(before);
    wrong.check(grown < GROWTH, || format!("the server grew by {grown} bytes"));
    wrong.none();
    server.stop();
}

/// `page` is one line of the 40,000 of a page, of which as many are written as make up the megabytes.
fn flooded(wrong: &mut Deviations, what: &str, stream: &Value, page: &str, megabytes: u64) {
    let page_bytes = page.len() as u64 * 40_000;
    let written = (megabytes * 1_048_576).div_ceil(page_bytes) * page_bytes;
    let text = stream["text"].as_str().unwrap_or_default();
    wrong.equal(&format!("{what}: bytes"), stream["bytes"].as_u64(), Some(written));
    wrong.check(stream["dropped"].as_u64() >= Some(written - 2 * 262_144), || {
        format!("{what}: dropped: {stream}")
    });
    wrong.check(text.ends_with(page), || {
        format!(
            "{what}: the end is not kept: {:?}",
            text.get(text.len().saturating_sub(60)..)
        )
    });
    wrong.check(!text.contains('\u{fffd}'), || format!("{what}: cut within a character"));
}

/// Bytes: the most that the server ever had.
fn peak(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("it lives");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("Linux tells");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kilobytes * 1024
}

/// Many calls leave as many descriptors and processes as one.
#[test]
fn many_calls_leave_no_more_than_one() {
    let app = App::copy();
    let server = app.server();
    let run = |fork: &str| server.run_with(["spec/faults/retries_spec.rb"], json!({"fork": fork}));
    let count = || {
        let status = server.at_rest();
        let fds = |pid: &Value| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        [
            fds(&json!(server.pid())),
            fds(&status["worker_pid"]),
            fds(&status["zygote_pid"]),
            server.processes().len(),
        ]
    };
    for fork in ["always", "never", "always"] {
        assert_eq!(run(fork)["outcome"], "passed");
    }
    assert!(server.beside_the_warm_tree().is_empty());
    let before = count();
    for number in 0..60 {
        let report = run(if number % 10 == 0 { "never" } else { "always" });
        assert_eq!(report["outcome"], "passed", "{report}");
    }
    assert!(server.beside_the_warm_tree().is_empty());
    assert_eq!(count(), before, "descriptors of server, worker and zygote; processes");
    server.stop();
}

/// But for the locks, which are there for whoever comes next.
#[test]
fn no_file_of_ours_is_left_in_the_temp_dir() {
    let app = App::copy();
    let server = app.server();
    for fork in ["always", "never"] {
        assert_eq!(
            server.run_with(["spec/services/price_list_spec.rb"], json!({"fork": fork}))["outcome"],
            "passed"
        );
    }
    server.stop();
    let left: Vec<_> = fs::read_dir(app.beside("tmp"))
        .expect("it is there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| !holds_locks_only(path))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

fn holds_locks_only(path: &Path) -> bool {
    let is_lock = |entry: fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "lock");
    fs::read_dir(path).is_ok_and(|entries| entries.flatten().all(is_lock))
}

#[test]
fn a_run_that_takes_too_much_is_ended_and_told_how_much_it_was() {
    let app = App::copy();
    app.setting("max_memory_mib: 512\nmax_processes: 64\nmax_file_mib: 16");
    let setup = Setup::default()
        .env("ALLOCATE_MB", "8000")
        .env("BOMB_SIZE", "100000")
        .env("BIG_FILE_MB", "64");
    let server = app.server_with(setup);
    let mut wrong = Deviations::default();
    for (fault, outcome, says) in [
        ("allocates_endlessly", "memory_exceeded", "MiB"),
        ("fork_bomb", "too_many_processes", "processes"),
        ("writes_big_file", "file_too_large", "grew"),
    ] {
        for fork in ["always", "never"] {
            let report = server.run_with([format!("spec/faults/{fault}_spec.rb")], json!({"fork": fork}));
            wrong.check(report["outcome"] == outcome, || format!("{fault} {fork}: {report}"));
            wrong.check(
                report["reason"].as_str().is_some_and(|reason| reason.contains(says)),
                || format!("{fault}: {report}"),
            );
            let left = server.beside_the_warm_tree();
            wrong.check(left.is_empty(), || {
                format!("after {fault} {fork}: {} processes", left.len())
            });
            let next = server.run(["spec/services/price_list_spec.rb"]);
            wrong.check(next["outcome"] == "passed", || format!("after {fault} {fork}: {next}"));
        }
    }
    wrong.none();
    server.stop();
}
