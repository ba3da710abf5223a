//! A run's processes: finding them all, and the one kill path.
//!
//! What belongs to a run is its root and everything below, wherever it went: what loses its parent is adopted by
//! the keeper, so that it is found there. What ends the keeper itself is left to [`super::orphans`].

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::pidfd::{self, PidFd};
use super::procfs::{self, Children, Identity, Proc};

/// How long what was killed may take until the next one of it goes, before the rest is reported as survivors. A
/// process stuck in a dead file system can outlast any limit; one that has gigabytes to give back needs part of a
/// second.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How long killing is waited for in all. Processes that fork as fast as they die can outrun it for as long as they like:
/// it goes on, and [`end`] does not wait for it.
const WAITED_FOR: Duration = Duration::from_secs(10);

/// How long what ends by itself may take to follow the root, before it counts as leaked: a browser that was told
/// to quit, the other end of a shell's pipe.
pub const SETTLE: Duration = Duration::from_millis(200);

/// How many leaked processes are named. A fork bomb leaks thousands.
pub const NAMED: usize = 20;

/// How long what was told to stop may take, after the last one was found. Then it is killed as it is.
const FREEZE: Duration = Duration::from_millis(500);

const PAUSE: Duration = Duration::from_millis(1);

/// Which processes are meant.
#[derive(Debug, Clone)]
pub struct Target {
    root: Identity,
    keeper: Pid,
    /// What was there before and must survive, with everything below it.
    baseline: HashSet<Identity>,
}

/// A process that was still there when it should have ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub pid: i32,
    /// The start of its command line, as the process itself chose to show it.
    pub command: String,
}

/// What was killed, the root aside: the first [`NAMED`] by name, and how many in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaked {
    pub named: Vec<Leftover>,
    pub total: usize,
}

/// How a tree ended.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// The root was still there after TERM and the grace.
    pub forced: bool,
    pub leaked: Leaked,
    /// What even KILL did not end within [`PATIENCE`], or not within all the time that is given to it. It keeps its KILL,
    /// and goes when the kernel lets it.
    pub survivors: Vec<Leftover>,
}

impl Target {
    /// The run of `child`, one of possibly many things below `keeper`. Everything else that is there at this
    /// moment is left alone for good, so call it when the child has said its pid, and before it may go on.
    ///
    /// One run at a time: what another run leaks after this moment would be taken for this run's.
    pub fn run(keeper: Pid, child: Pid) -> Option<Self> {
        let mut target = Target::below(keeper, procfs::stat(child)?.id);
        let mut baseline = HashSet::new();
        let mut walk = Walk::new(&target);
        walk.seen.insert(child);
        walk.adopted(&mut |found| _ = baseline.insert(found.id));
        target.baseline = baseline;
        Some(target)
    }

    /// The processes of `root` that have not lost their parents: beside a run, whoever has may be that run's.
    pub fn alone(root: Pid) -> Option<Self> {
        procfs::stat(root).map(|found| Target::below(root, found.id))
    }

    /// Everything below `keeper`, which was started for `root` alone.
    pub fn below(keeper: Pid, root: Identity) -> Self {
        Target {
            root,
            keeper,
            baseline: HashSet::new(),
        }
    }

    pub fn root(&self) -> Identity {
        self.root
    }

    /// TERM to the root's process group, without waiting.
    pub fn terminate(&self) {
        ask_to_end(self.root);
    }

    /// A signal to the root alone; none if it is gone.
    pub fn signal_root(&self, signal: Signal) {
        let _ = pidfd::send(self.root, signal);
    }

    /// Its processes that are not gone, parents before their children.
    pub fn members(&self) -> Vec<Proc> {
        let mut members = Vec::new();
        self.each(|found| members.push(found.clone()));
        members
    }

    /// What is left of it besides its root: cheap once the root is gone.
    pub fn leftovers(&self) -> Vec<Leftover> {
        self.members()
            .iter()
            .filter(|found| found.id != self.root)
            .map(Leftover::of)
            .collect()
    }

    /// The adopted come last: whatever loses its parent during the walk moves to them.
    fn each(&self, mut visit: impl FnMut(&Proc)) {
        let mut unless_gone = |found: &Proc| {
            if !found.gone() {
                visit(found);
            }
        };
        let mut walk = Walk::new(self);
        walk.root(&mut unless_gone);
        walk.adopted(&mut unless_gone);
    }

    /// Nothing is left. Asked twice, because a process can be missed once, while it moves from a parent that ends
    /// to the keeper.
    fn empty(&self) -> bool {
        (0..2).all(|_| self.members().is_empty())
    }

    /// Stops every process that was not killed yet, so that none can fork while the others are being found. A
    /// process's children are read after it was told to stop: a pass therefore overtakes whatever forks more slowly
    /// than we read.
    fn freeze(&self, killed: &HashSet<Identity>) -> Vec<Proc> {
        let mut known = HashSet::new();
        let start = Instant::now();
        let mut over = start + FREEZE;
        loop {
            let (mut members, mut news) = (Vec::new(), false);
            self.each(|found| {
                if killed.contains(&found.id) {
                    return;
                }
                members.push(found.clone());
                news |= known.insert(found.id);
                if !found.stopped() {
                    let _ = pidfd::send(found.id, Signal::SIGSTOP);
                }
            });
            let now = Instant::now();
            if news && now < start + PATIENCE {
                over = now + FREEZE;
            } else if members.iter().all(Proc::held) || now >= over {
                return members;
            } else {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Stops, notes and kills what is there now and was not killed yet; says whether nothing is left.
    pub(super) fn kill_once(&self, tally: &mut Tally) -> bool {
        if cfg!(not(target_os = "linux")) {
            signal_group(self.root, Signal::SIGKILL);
            return true;
        }
        for found in self.freeze(&tally.killed) {
            // Its command line goes with it.
            let leftover = Leftover::of(&found);
            if pidfd::send(found.id, Signal::SIGKILL).is_ok() {
                tally.note(found.id, leftover, self.root);
            }
        }
        self.empty()
    }

    /// Kills all of it at once, without asking. Blocks until nothing is left, or nothing more went in [`PATIENCE`].
    pub fn kill(&self) -> Ended {
        let mut tally = Tally::default();
        let mut least = usize::MAX;
        let mut over = Instant::now() + PATIENCE;
        while !self.kill_once(&mut tally) {
            let survivors = self.members();
            if survivors.len() < least {
                least = survivors.len();
                over = Instant::now() + PATIENCE;
            } else if Instant::now() > over {
                let survivors = survivors.iter().take(NAMED).map(Leftover::of).collect();
                return Ended {
                    forced: false,
                    leaked: tally.leaked,
                    survivors,
                };
            }
            thread::sleep(PAUSE);
        }
        Ended {
            forced: false,
            leaked: tally.leaked,
            survivors: Vec::new(),
        }
    }
}

/// Ends a run: TERM to the root's process group, KILL to everything that is left after `grace`. For a run whose
/// root is gone already it only kills what that left behind, which costs next to nothing when there is nothing.
///
/// The root may be a zombie: whoever forked it has to reap it, and may do so only after this.
pub async fn end(target: &Target, grace: Duration) -> Ended {
    let ended_itself = term(target.root, grace).await;
    if ended_itself && settle(target).await {
        return Ended::default();
    }
    let killed = target.clone();
    let killing = tokio::task::spawn_blocking(move || killed.kill());
    let ended = match tokio::time::timeout(WAITED_FOR, killing).await {
        Ok(ended) => ended.unwrap_or_default(),
        Err(_) => Ended {
            survivors: target.members().iter().take(NAMED).map(Leftover::of).collect(),
            ..Ended::default()
        },
    };
    Ended {
        forced: !ended_itself,
        ..ended
    }
}

/// Asks a process and its group to end; says whether it did within `grace`.
pub(super) async fn term(root: Identity, grace: Duration) -> bool {
    let Ok(handle) = PidFd::open_exactly(root) else {
        return true;
    };
    if current(root).is_none_or(|found| found.gone()) {
        return true;
    }
    ask_to_end(root);
    tokio::time::timeout(grace, handle.exited()).await.is_ok()
}

/// A stopped process takes the TERM only once it continues.
fn ask_to_end(root: Identity) {
    for signal in [Signal::SIGTERM, Signal::SIGCONT] {
        signal_group(root, signal);
    }
}

/// To the group when the process leads one, since its helpers in a shell's pipe are there; else to it alone.
#[expect(clippy::disallowed_methods, reason = "part of the one kill path")]
fn signal_group(root: Identity, signal: Signal) {
    match current(root) {
        Some(found) if found.group == root.pid => _ = killpg(root.pid, signal),
        Some(_) => _ = pidfd::send(root, signal),
        None => {}
    }
}

/// Whether nothing is left, at the latest after [`SETTLE`].
async fn settle(target: &Target) -> bool {
    let over = Instant::now() + SETTLE;
    loop {
        if target.empty() {
            return true;
        }
        if Instant::now() >= over {
            return false;
        }
        tokio::time::sleep(5 * PAUSE).await;
    }
}

fn current(id: Identity) -> Option<Proc> {
    procfs::stat(id.pid).filter(|found| found.id == id)
}

impl Leftover {
    pub fn of(found: &Proc) -> Self {
        Leftover {
            pid: found.id.pid.as_raw(),
            command: procfs::command(found),
        }
    }
}

/// What was killed so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) leaked: Leaked,
    killed: HashSet<Identity>,
}

impl Tally {
    fn note(&mut self, id: Identity, leftover: Leftover, root: Identity) {
        self.killed.insert(id);
        if id == root {
            return;
        }
        self.leaked.total += 1;
        if self.leaked.named.len() < NAMED {
            self.leaked.named.push(leftover);
        }
    }
}

/// One pass over a target.
struct Walk<'a> {
    target: &'a Target,
    children: Children,
    seen: HashSet<Pid>,
}

impl<'a> Walk<'a> {
    fn new(target: &'a Target) -> Self {
        Walk {
            target,
            children: Children::look(),
            seen: HashSet::new(),
        }
    }

    fn adopted(&mut self, visit: &mut impl FnMut(&Proc)) {
        let keeper = self.target.keeper;
        self.down(self.children.of(keeper), keeper, visit);
    }

    fn root(&mut self, visit: &mut impl FnMut(&Proc)) {
        if let Some(root) = current(self.target.root) {
            self.down(vec![root.id.pid], root.parent, visit);
        }
    }

    /// The children of `parent` and everything below them. Each is read at the last moment before its visit, and
    /// its children after it.
    fn down(&mut self, children: Vec<Pid>, parent: Pid, visit: &mut impl FnMut(&Proc)) {
        let mut todo = vec![(children, parent)];
        while let Some((children, parent)) = todo.pop() {
            for pid in children {
                if let Some(found) = self.read(pid, parent) {
                    visit(&found);
                    todo.push((self.children.of(pid), pid));
                }
            }
        }
    }

    /// None for what is not to be visited.
    fn read(&mut self, pid: Pid, parent: Pid) -> Option<Proc> {
        // Since its pid was listed, it may have lost its parent to the keeper; or the pid passed to a stranger.
        let ours = |found: &Proc| found.parent == parent || found.parent == self.target.keeper;
        let found = procfs::stat(pid).filter(ours)?;
        (!self.target.baseline.contains(&found.id) && self.seen.insert(pid)).then_some(found)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command};

    use nix::unistd::Pid;

    use super::{HashSet, Instant, PATIENCE, Target, procfs, thread};

    #[expect(clippy::disallowed_methods, reason = "a test needs something to end")]
    fn sleepers() -> (Child, Target) {
        let child = Command::new("sh")
            .args(["-c", "sleep 100 & sleep 100 & sleep 100"])
            .spawn()
            .unwrap();
        let root = procfs::stat(Pid::from_raw(child.id().cast_signed())).unwrap().id;
        (child, Target::below(Pid::from_raw(i32::MAX), root))
    }

    #[test]
    fn what_is_found_is_stopped_before_it_is_killed() {
        let (mut child, target) = sleepers();
        // Named so, they have been executed, and their parent waits for none of them within the kernel.
        while target.members().iter().filter(|found| found.name == "sleep").count() < 3 {
            thread::yield_now();
        }
        assert_eq!(target.freeze(&HashSet::new()).len(), 4);
        // On a machine with much else to do, that they were told may be all that was waited for.
        let over = Instant::now() + 12 * PATIENCE;
        while !target.members().iter().all(|found| found.stopped()) {
            assert!(Instant::now() < over, "{:?}", target.members());
            thread::yield_now();
        }
        let ended = target.kill();
        assert_eq!((ended.leaked.total, ended.survivors.len()), (3, 0));
        child.wait().unwrap();
    }

    #[test]
    fn nothing_below_a_keeper_that_is_not_there_is_nothing_to_kill() {
        let (mut child, target) = sleepers();
        target.kill();
        child.wait().unwrap();
        let ended = target.kill();
        assert_eq!((ended.leaked.total, ended.survivors.len()), (0, 0));
    }
}
