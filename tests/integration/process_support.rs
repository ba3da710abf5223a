//! What the tests of processes share: starting small shell scripts below a keeper, and finding what they leave.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use coatepec::process::Pid;
use coatepec::process::spawn::{Kept, Launch, spawn_by};
use nix::sys::signal::{Signal, kill};

/// Far beyond what any machine needs; only a failing test waits this long.
pub(crate) const GENEROUS: Duration = Duration::from_secs(60);

/// A value of the environment that only the processes of one test carry, so that they can be found whatever they
/// did to their session, group and parent.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Mark(format!(
            "mark-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ))
    }

    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("MARK".into(), (&self.0).into()),
        ]
    }

    /// The processes that carry the mark and can still run.
    pub(crate) fn alive(&self) -> Vec<Pid> {
        let pids = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.map(Pid::from_raw)
            .filter(|pid| self.marks(*pid) && !is_gone(*pid))
            .collect()
    }

    fn marks(&self, pid: Pid) -> bool {
        let line = format!("MARK={}", self.0);
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|found| found == line.as_bytes())
    }
}

/// Ends a test that failed, too, without leaving anything.
impl Drop for Mark {
    fn drop(&mut self) {
        self.alive().into_iter().for_each(|pid| send(pid, Signal::SIGKILL));
    }
}

pub(crate) fn is_gone(pid: Pid) -> bool {
    coatepec::process::procfs::stat(pid).is_none_or(|found| found.gone())
}

pub(crate) fn coatepec() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_coatepec"))
}

pub(crate) fn shell(mark: &Mark, script: &str, fds: Vec<(OwnedFd, RawFd)>) -> Launch {
    Launch {
        argv: ["sh", "-c", script].map(OsString::from).to_vec(),
        cwd: "/".into(),
        env: mark.env(),
        fds,
        policy: Default::default(),
    }
}

pub(crate) fn start(launch: Launch) -> Kept {
    spawn_by(coatepec(), launch).unwrap()
}

/// Runs a script to its end; what it wrote to stdout.
pub(crate) async fn output(launch: Launch) -> String {
    let (mut read, write) = std::io::pipe().unwrap();
    let mut launch = launch;
    launch.fds.push((write.into(), 1));
    let kept = start(launch);
    kept.started().await.unwrap();
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    kept.cleared().await;
    text
}

/// Looks again and again until it holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let over = Instant::now() + GENEROUS;
    while !holds() {
        assert!(Instant::now() < over, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test is the outside world, which may send any signal"
)]
pub(crate) fn send(pid: Pid, signal: Signal) {
    let _ = kill(pid, signal);
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test is the outside world, which may start anything"
)]
pub(crate) fn outside(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}
