//! Where the supervisor may make cgroups, each run has one, and none is left.

use std::fs;
use std::path::PathBuf;

use coatepec::process::cgroup;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{App, Server, eventually};

/// Where this server would have them; `None` where none can be made, which is said.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn home(server: &Server) -> Option<PathBuf> {
    let own = cgroup::own();
    let probe = own
        .as_ref()
        .map(|own| own.join(format!("coatepec-test-{}", std::process::id())));
    match probe {
        Some(probe) if fs::create_dir(&probe).is_ok() => {
            fs::remove_dir(probe).expect("it is empty");
            own.map(|own| own.join(format!("coatepec-{}", server.pid())))
        }
        _ => {
            eprintln!("skipped: no cgroup can be made in {own:?}");
            None
        }
    }
}

/// The pids in the only cgroup of a run that there is.
fn members(home: &PathBuf) -> Option<Vec<i32>> {
    let run = fs::read_dir(home).ok()?.flatten().find(|entry| entry.path().is_dir())?;
    let pids = fs::read_to_string(run.path().join("cgroup.procs")).ok()?;
    let pids: Vec<i32> = pids.lines().filter_map(|pid| pid.parse().ok()).collect();
    (!pids.is_empty()).then_some(pids)
}

#[test]
fn a_run_has_a_cgroup_of_its_own_and_leaves_none() {
    let app = App::copy();
    let server = app.server();
    let Some(home) = home(&server) else {
        return server.stop();
    };
    for fork in ["always", "never"] {
        let call = server.begin(
            ["spec/faults/hangs_spec.rb"],
            json!({"fork": fork, "timeout_seconds": 20}),
        );
        let pids = eventually("the run is in a cgroup", || members(&home));
        let worker = server.status()["worker_pid"].as_i64();
        assert!(
            pids.iter().all(|pid| Some(i64::from(*pid)) != worker),
            "{pids:?} has {worker:?}"
        );
        let report = server.report(call);
        assert_eq!(report["outcome"], "timed_out", "{report}");
        assert_eq!(members(&home), None, "{fork}: after the run");
    }
    server.stop();
    assert!(!home.exists(), "{} is left", home.display());
}

#[test]
fn no_cgroup_is_left_of_a_server_that_is_killed_during_a_run() {
    let app = App::copy();
    let server = app.server();
    let Some(home) = home(&server) else {
        return server.stop();
    };
    let _call = server.begin(["spec/faults/ignores_term_and_setsid_spec.rb"], json!({}));
    eventually("the run is in a cgroup", || members(&home));
    server.signal(Signal::SIGKILL);
    server.nothing_is_left();
    eventually("the cgroup is gone", || (!home.exists()).then_some(()));
}
