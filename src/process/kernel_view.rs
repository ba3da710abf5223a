//! What the kernel knows of a process that can't speak for itself any more.

use std::fs;
use std::path::Path;

use nix::unistd::Pid;

/// Threads looked at; a process that hangs in native code seldom has more that matter.
const THREADS: usize = 20;

/// One thread, as the kernel sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelThread {
    pub name: String,
    /// The first thread of its process.
    pub main: bool,
    /// "sleeping in futex_do_wait (system call 202)"
    pub doing: String,
}

/// Empty where the kernel doesn't tell, and for a process that is gone.
pub fn threads(pid: Pid) -> Vec<KernelThread> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    tasks
        .take(THREADS)
        .filter_map(|task| thread(&task.path(), pid))
        .collect()
}

fn thread(task: &Path, pid: Pid) -> Option<KernelThread> {
    let read = |name: &str| fs::read_to_string(task.join(name)).ok();
    let state = read("status")?
        .lines()
        .find_map(|line| line.strip_prefix("State:").map(|state| words(state.trim())))?;
    let place = read("wchan").filter(|place| place != "0" && !place.is_empty());
    let place = place.map_or(String::new(), |place| format!(" in {place}"));
    // "running" while it computes; needs the right to trace the process, which its parent's user has.
    let call = read("syscall").and_then(|line| line.split(' ').next()?.trim().parse::<u32>().ok());
    let call = call.map_or(String::new(), |number| format!(" (system call {number})"));
    Some(KernelThread {
        name: read("comm")?.trim().to_owned(),
        main: task.ends_with(pid.to_string()),
        doing: format!("{state}{place}{call}"),
    })
}

/// `S (sleeping)` → `sleeping`.
fn words(state: &str) -> String {
    match state.split_once('(') {
        Some((_, word)) => word.trim_end_matches(')').to_owned(),
        None => state.to_owned(),
    }
}
