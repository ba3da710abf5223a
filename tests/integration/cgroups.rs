//! Where the supervisor may make cgroups, each run has one, and none is left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use coatepec::process::cgroup::{self, Cgroup};
use coatepec::process::procfs;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::json;

use crate::support::{App, Server, Setup, eventually};

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

/// Whoever keeps the limit says so, and a run that is over it has the same outcome.
#[test]
fn who_keeps_the_limit_of_memory_is_told() {
    let app = App::copy();
    app.setting("max_memory_mib: 300");
    let server = app.server_with(Setup::default().env("ALLOCATE_MB", "8000"));
    assert!(server.status().get("memory_limit").is_none(), "nothing is booted");
    let report = server.run(["spec/faults/allocates_endlessly_spec.rb"]);
    assert_eq!(report["outcome"], "memory_exceeded", "{report}");
    let by = server.status()["memory_limit"].clone();
    let hands_down = home(&server).is_some_and(|home| {
        let own = home.parent().expect("it is below ours");
        let controllers = fs::read_to_string(own.join("cgroup.subtree_control")).unwrap_or_default();
        controllers.split_whitespace().any(|name| name == "memory")
    });
    assert_eq!(by, if hands_down { "kernel" } else { "polled" });
    let reason = report["reason"].as_str().unwrap_or_default();
    // A look may come first, which counts what the run shares with the zygote, too.
    assert!(by == "kernel" || !reason.contains("kernel"), "{reason}");
    let next = server.run(["spec/services/price_list_spec.rb"]);
    assert_eq!(next["outcome"], "passed", "{next}");
    server.stop();
}

/// No run, so that nobody else looks at it: what the kernel does by itself, and that it is known.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#[expect(clippy::disallowed_methods, reason = "it stands in for a run")]
fn what_is_over_the_limit_of_the_kernel_is_ended_by_it_and_known() {
    if !cgroup::keeps_memory() {
        eprintln!(
            "skipped: no cgroup with a limit of memory can be made in {:?}",
            cgroup::own()
        );
        return cgroup::home().into_iter().for_each(cgroup::remove);
    }
    let mut process = Command::new("sh")
        .args(["-c", "read go; head -c 300M /dev/zero | tail; sleep 600"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("there is a shell");
    let found = procfs::stat(Pid::from_raw(process.id().cast_signed())).expect("it is there");
    let cgroup = Cgroup::of(found.id, 64 << 20, 64).expect("it joins");
    assert_eq!(cgroup.out_of_memory(), None);
    drop(process.stdin.take());
    let status = process.wait().expect("it ends");
    assert_eq!(status.signal(), Some(Signal::SIGKILL as i32), "all of it is ended");
    let most = cgroup.out_of_memory().expect("it is known");
    assert!((32 << 20..=64 << 20).contains(&most), "{most}");
    assert!(cgroup.end().is_empty());
    cgroup::home().into_iter().for_each(cgroup::remove);
}
