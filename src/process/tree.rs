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

/// How long killing may take in all. What forks before it is found again and again is given up then.
const LONGEST: Duration = Duration::from_secs(10);

/// How long what ends by itself may take to follow the root, before it counts as leaked: a browser that was told
/// to quit, the other end of a shell's pipe.
pub const SETTLE: Duration = Duration::from_millis(200);

/// How many leaked processes are named. A fork bomb leaks thousands.
pub const NAMED: usize = 20;

/// How long what was told to stop may take, after the last one was found. Then it is killed as it is.
const FREEZE: Duration = Duration::from_millis(500);

/// How long new ones may be found, before what was found is killed.
const OUTRUN: Duration = Duration::from_secs(3);

/// How long one look at a tree may take: beside many that fork all the time, we come to little.
const LOOK: Duration = Duration::from_secs(1);

const PAUSE: Duration = Duration::from_millis(1);

/// Which processes are meant.
#[derive(Debug, Clone)]
pub struct Target {
    root: Identity,
    keeper: Pid,
    /// What was there before and must survive, with everything below it.
    baseline: HashSet<Identity>,
    /// Sessions with others in them. All others are its own: nobody can enter the session of another.
    shared: HashSet<Pid>,
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
    /// What even KILL did not end within [`PATIENCE`], which keeps its KILL and goes when the kernel lets it; or what
    /// was too quick for all the time that is given to it.
    pub survivors: Vec<Leftover>,
}

impl Target {
    /// The run of `child`, one of possibly many things below `keeper`. Everything else that is there at this
    /// moment is left alone for good, so call it when the child has said its pid, and before it may go on.
    ///
    /// One run at a time: what another run leaks after this moment would be taken for this run's.
    pub fn run(keeper: Pid, child: Pid) -> Option<Self> {
        let mut target = Target::below(keeper, procfs::stat(child)?.id);
        let mut others = Vec::new();
        let mut walk = Walk::new(&target);
        walk.seen.insert(child);
        walk.adopted(&mut |found| others.push((found.id, found.session)));
        for (id, session) in others {
            target.baseline.insert(id);
            target.shared.insert(session);
        }
        Some(target)
    }

    /// The processes of `root` that have not lost their parents: beside a run, whoever has may be that run's.
    pub fn alone(root: Pid) -> Option<Self> {
        procfs::stat(root).map(|found| Target::below(root, found.id))
    }

    /// Everything below `keeper`, which was started for `root` alone.
    pub fn below(keeper: Pid, root: Identity) -> Self {
        let parent = procfs::stat(root.pid).map(|found| found.parent);
        let others = [Some(keeper), parent].into_iter().flatten().filter_map(procfs::stat);
        Target {
            root,
            keeper,
            baseline: HashSet::new(),
            shared: others.map(|found| found.session).collect(),
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
        self.each(|found| {
            if !found.gone() {
                members.push(found.clone());
            }
        });
        members
    }

    /// What is left of it, at most [`NAMED`].
    pub fn remains(&self) -> Vec<Leftover> {
        self.members().iter().take(NAMED).map(Leftover::of).collect()
    }

    /// Whether all that is left waits in the kernel, where a signal does not reach it.
    pub fn is_stuck(&self) -> bool {
        self.members().iter().all(|found| found.state == 'D')
    }

    /// Whether nothing of its root can run any more.
    pub fn root_is_gone(&self) -> bool {
        current(self.root).is_none_or(|found| found.gone())
    }

    /// What is gone and was not reaped yet, too. The adopted come last: whatever loses its parent during the walk moves to
    /// them. Says whether all were read that were there.
    fn each(&self, mut visit: impl FnMut(&Proc)) -> bool {
        let mut walk = Walk::new(self);
        walk.root(&mut visit);
        walk.adopted(&mut visit);
        !walk.late() && !walk.missed
    }

    /// Nothing is left: twice in a row the same are dead and none is alive. A process can be missed once, while it moves
    /// from a parent that ends to the keeper; and where another one has died meanwhile, there may be one that it forked.
    fn empty(&self) -> bool {
        let dead = self.dead();
        dead.is_some() && self.dead() == dead
    }

    /// All that is found, if all of it is gone.
    fn dead(&self) -> Option<HashSet<Pid>> {
        let (mut dead, mut alive) = (HashSet::new(), false);
        let all = self.each(|found| {
            alive |= !found.gone();
            dead.insert(found.id.pid);
        });
        (all && !alive).then_some(dead)
    }

    /// Stops every process that was not killed yet, so that none can fork while the others are being found. A
    /// process's children are read after it was told to stop: a pass therefore overtakes whatever forks more slowly
    /// than we read.
    fn freeze(&self, killed: &HashSet<Identity>) -> Vec<Proc> {
        let mut known = HashSet::new();
        let start = Instant::now();
        let mut over = start + FREEZE;
        loop {
            let (mut members, mut news, mut told) = (Vec::new(), false, HashSet::new());
            self.each(|found| {
                if !found.stopped() {
                    self.stop(found, &mut told);
                }
                if !found.gone() && !killed.contains(&found.id) {
                    members.push(found.clone());
                    news |= known.insert(found.id);
                }
            });
            let now = Instant::now();
            if news && now < start + OUTRUN {
                over = now + FREEZE;
            } else if members.iter().all(Proc::held) || now >= over {
                return members;
            } else {
                thread::sleep(PAUSE);
            }
        }
    }

    /// With all of its group, where that is ours: the kernel lets nobody fork out of a group while it signals it. So what
    /// forks as fast as it dies is stopped by way of any of its dead.
    fn stop(&self, found: &Proc, told: &mut HashSet<Pid>) {
        if self.shared.contains(&found.session) {
            let _ = pidfd::send(found.id, Signal::SIGSTOP);
        } else if told.insert(found.group) {
            stop_group(found.group);
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

    /// Kills all of it at once, without asking. Blocks until nothing is left, or nothing more went in [`PATIENCE`], or it
    /// took too long.
    pub fn kill(&self) -> Ended {
        let mut tally = Tally::default();
        let mut least = usize::MAX;
        let start = Instant::now();
        let mut over = start + PATIENCE;
        let mut survivors = Vec::new();
        while !self.kill_once(&mut tally) {
            let (left, now) = (self.members().len(), Instant::now());
            if left < least {
                least = left;
                over = now + PATIENCE;
            }
            if now > over.min(start + LONGEST) {
                survivors = self.remains();
                break;
            }
            thread::sleep(PAUSE);
        }
        Ended {
            forced: false,
            leaked: tally.leaked,
            survivors,
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
    let target = target.clone();
    let ended = tokio::task::spawn_blocking(move || target.kill())
        .await
        .unwrap_or_default();
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

/// Somebody in this group was seen a moment ago. Its number could be a stranger's only after as many forks as there are
/// numbers.
#[expect(clippy::disallowed_methods, reason = "part of the one kill path")]
fn stop_group(group: Pid) {
    // The kernel gives 0 and -1 for what can't be told; to kill(2) they mean other things.
    if group.as_raw() > 1 {
        let _ = killpg(group, Signal::SIGSTOP);
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
    /// One was listed and then was not there any more.
    missed: bool,
    over: Instant,
}

impl<'a> Walk<'a> {
    fn new(target: &'a Target) -> Self {
        Walk {
            target,
            children: Children::look(),
            seen: HashSet::new(),
            missed: false,
            over: Instant::now() + LOOK,
        }
    }

    fn late(&self) -> bool {
        Instant::now() >= self.over
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
    /// its children after it. The newest come first: of what forks as fast as it dies, these are the living.
    fn down(&mut self, children: Vec<Pid>, parent: Pid, visit: &mut impl FnMut(&Proc)) {
        let mut todo = vec![(children, parent)];
        while let Some((children, parent)) = todo.pop() {
            for pid in children.into_iter().rev() {
                if self.late() {
                    return;
                }
                if let Some(found) = self.read(pid, parent) {
                    visit(&found);
                    // Its children have lost it before it was gone.
                    if !found.gone() {
                        todo.push((self.children.of(pid), pid));
                    }
                }
            }
        }
    }

    /// None for what is not to be visited.
    fn read(&mut self, pid: Pid, parent: Pid) -> Option<Proc> {
        // Since its pid was listed, it may have lost its parent to the keeper; or the pid passed to a stranger.
        let ours = |found: &Proc| found.parent == parent || found.parent == self.target.keeper;
        let found = procfs::stat(pid).filter(ours);
        self.missed |= found.is_none();
        let found = found?;
        (!self.target.baseline.contains(&found.id) && self.seen.insert(pid)).then_some(found)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Read;
    use std::process::{Child, Command, Stdio};

    use nix::sys::signal::Signal;
    use nix::unistd::Pid;

    use super::{HashSet, Identity, Instant, PATIENCE, Proc, Target, pidfd, procfs, thread};

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

    /// Who forks as fast as it dies is found dead only.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test needs something to end")]
    fn what_is_found_dead_has_the_rest_of_its_group_stopped() {
        let mut dead = Command::new("setsid")
            .args(["sh", "-c", "sleep 100 >&2 & echo $!"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let root = procfs::stat(Pid::from_raw(dead.id().cast_signed())).unwrap().id;
        let mut said = String::new();
        dead.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let rest = procfs::stat(Pid::from_raw(said.trim().parse().unwrap())).unwrap().id;
        let is = |id: Identity, so: fn(&Proc) -> bool| {
            let over = Instant::now() + 12 * PATIENCE;
            while !procfs::stat(id.pid).is_some_and(|found| found.id == id && so(&found)) {
                assert!(Instant::now() < over, "{:?}", procfs::stat(id.pid));
                thread::yield_now();
            }
        };
        is(root, Proc::gone);
        let target = Target::below(Pid::from_raw(i32::MAX), root);
        assert!(target.members().is_empty());
        assert!(target.freeze(&HashSet::new()).is_empty());
        is(rest, Proc::stopped);
        pidfd::send(rest, Signal::SIGKILL).unwrap();
        dead.wait().unwrap();
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
