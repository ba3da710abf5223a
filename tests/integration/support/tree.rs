//! The processes that a test has started, however they have tried to get away.
//!
//! The test process adopts orphans (it is a child subreaper), so whatever was started by a server is below the server or
//! below the test process itself, also after setsid, double forks and the death of everyone between.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::sync::{Mutex, Once, PoisonError};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// The processes that tests of this test process have started themselves: these are no orphans.
static STARTED: Mutex<Option<HashSet<i32>>> = Mutex::new(None);

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Proc {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// As in /proc/PID/stat; Z and X are gone.
    pub(crate) state: char,
    pub(crate) command: String,
}

impl Proc {
    pub(super) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

impl fmt::Debug for Proc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}, below {}): {}",
            self.pid, self.state, self.parent, self.command
        )
    }
}

/// From now on orphans come to us.
pub(super) fn adopt() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| nix::sys::prctl::set_child_subreaper(true).expect("Linux has subreapers"));
}

pub(super) fn started(pid: i32) {
    change(|started| started.insert(pid));
}

/// It has ended, and was waited for.
pub(super) fn ended(pid: i32) {
    change(|started| started.remove(&pid));
}

fn change(change: impl FnOnce(&mut HashSet<i32>) -> bool) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    change(started.get_or_insert_default());
}

/// Everything below `pid`, without the dead.
pub(super) fn below(pid: i32) -> Vec<Proc> {
    descendants(&all(), pid)
}

/// What has lost its parent and came to us.
pub(super) fn orphans() -> Vec<Proc> {
    let all = all();
    let started = STARTED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
        .unwrap_or_default();
    let me = std::process::id().cast_signed();
    let mut found = Vec::new();
    for proc in all
        .values()
        .filter(|proc| proc.parent == me && !started.contains(&proc.pid))
    {
        found.extend(alive(proc).cloned());
        found.extend(descendants(&all, proc.pid));
    }
    found
}

pub(super) fn kill(pid: i32, signal: Signal) {
    #[expect(clippy::disallowed_methods, reason = "a test plays the user who kills")]
    let _ = nix::sys::signal::kill(Pid::from_raw(pid), signal);
}

/// KILL to everything below us, until nothing is left.
pub(super) fn kill_all() {
    for _ in 0..200 {
        let left = below(std::process::id().cast_signed());
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|proc| kill(proc.pid, Signal::SIGKILL));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn descendants(all: &HashMap<i32, Proc>, pid: i32) -> Vec<Proc> {
    let mut found = Vec::new();
    let mut todo = vec![pid];
    while let Some(pid) = todo.pop() {
        for child in all.values().filter(|proc| proc.parent == pid) {
            todo.push(child.pid);
            found.extend(alive(child).cloned());
        }
    }
    found
}

fn alive(proc: &Proc) -> Option<&Proc> {
    (!proc.is_dead()).then_some(proc)
}

fn all() -> HashMap<i32, Proc> {
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, read(pid)?))).collect()
}

/// `PID (NAME) STATE PARENT …`, where the name may hold anything.
pub(super) fn read(pid: i32) -> Option<Proc> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let line = line.trim();
    let command = if line.is_empty() {
        format!("[{name}]")
    } else {
        line.chars().take(120).collect()
    };
    Some(Proc {
        pid,
        parent,
        state,
        command,
    })
}
