//! What only shows after a thousand calls. Ignored, since it takes minutes:
//! `cargo nextest run --run-ignored only -E 'test(soak)'`.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::support::{App, Deviations, Server};

const CALLS: usize = 1_000;

/// Until everything that grows once has grown: caches, pools, what is read for the first time.
const BEFORE: usize = 100;

/// Bytes by which a process may grow over all calls.
const GROWTH: i64 = 24 * 1024 * 1024;

const SPECS: &[(&str, &str)] = &[
    ("spec/services/price_list_spec.rb", "passed"),
    ("spec/models/widget_spec.rb", "passed"),
    ("spec/faults/fails_spec.rb", "failed"),
    ("spec/faults/exits_bang_midway_spec.rb", "incomplete"),
    ("spec/faults/leaks_grandchild_spec.rb", "passed"),
    ("spec/faults/syntax_error_spec.rb", "load_error"),
    ("spec/faults/fails_35_times_spec.rb", "failed"),
];

/// What is held, at rest.
#[derive(Debug, PartialEq)]
struct Held {
    /// Descriptors of server, keeper, worker and zygote.
    descriptors: Vec<usize>,
    processes: usize,
    /// Resident bytes of server, keeper, worker and zygote.
    memory: Vec<i64>,
}

impl Held {
    fn by(server: &Server) -> Held {
        let status = server.at_rest();
        let left = server.beside_the_warm_tree();
        assert!(left.is_empty(), "{left:?}");
        let all = server.processes();
        let keeper = all
            .iter()
            .find(|proc| proc.command.contains("__jail"))
            .expect("a keeper");
        let pid = |name: &str| status[name].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let warm = ["worker_pid", "zygote_pid"].map(|name| pid(name).expect("it is warm"));
        let pids = [server.pid(), keeper.pid, warm[0], warm[1]];
        Held {
            descriptors: pids.iter().map(|pid| descriptors(*pid)).collect(),
            processes: all.len(),
            memory: pids.iter().map(|pid| resident(*pid)).collect(),
        }
    }
}

fn descriptors(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

fn resident(pid: i32) -> i64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<i64>().ok());
    kilobytes.expect("Linux tells") * 1024
}

#[test]
#[ignore = "takes minutes"]
#[expect(clippy::print_stderr, reason = "the figures are what it is run for")]
fn soak_a_thousand_warm_calls_leave_nothing_and_grow_nothing() {
    let app = App::copy().lasting(Duration::from_secs(1_100));
    let server = app.server();
    let mut wrong = Deviations::default();
    calls(&mut wrong, &server, BEFORE);
    let (boot, before) = (server.status()["boot_id"].clone(), Held::by(&server));
    calls(&mut wrong, &server, CALLS);
    let after = Held::by(&server);
    eprintln!("before: {before:?}\nafter {CALLS} calls: {after:?}");
    wrong.equal("the same boot", &server.status()["boot_id"], &boot);
    wrong.equal("descriptors", &after.descriptors, &before.descriptors);
    wrong.equal("processes", after.processes, before.processes);
    let grown = after
        .memory
        .iter()
        .zip(&before.memory)
        .map(|(after, before)| after - before);
    wrong.check(grown.clone().all(|grown| grown < GROWTH), || {
        format!("grown by {:?} bytes", grown.collect::<Vec<_>>())
    });
    wrong.none();
    server.stop();
}

fn calls(wrong: &mut Deviations, server: &Server, count: usize) {
    for (path, outcome) in SPECS.iter().cycle().take(count) {
        let report = server.run_with([path], json!({"fork": "always"}));
        wrong.check(report["outcome"] == *outcome, || {
            format!("{path}: should be {outcome}: {report}")
        });
    }
}
