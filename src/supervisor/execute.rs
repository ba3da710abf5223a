//! Executes one run: gives its process the pipes, watches it, and ends it when it must be ended. Everything that has
//! to be decided is decided by `run::state`; this file does it.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::net::unix::pipe;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::runs::Ongoing;
use crate::process::cgroup::Cgroup;
use crate::process::fds;
use crate::process::keeper::Exit;
use crate::process::kernel_view::{self, KernelThread};
use crate::process::lines::{LineError, LineReader};
use crate::process::pidfd::PidFd;
use crate::process::procfs::Identity;
use crate::process::spawn::{self, Kept};
use crate::process::tree::{self, Ended, Leftover, NAMED, PATIENCE, Target};
use crate::process::usage;
use crate::run::Limits;
use crate::run::blocked::Refusals;
use crate::run::log::RunLog;
use crate::run::outcome::{End, Stop};
use crate::run::output::Captured;
use crate::run::said;
use crate::run::state::{Action, Event, State};
use crate::sandbox::grants::{Disk, RefusedFile};
use crate::sandbox::{Act, Enforcement};
use crate::worker::launch::Plan;
use crate::worker::protocol::{Record, RunEvent, RunRequest};
use crate::worker::tail::Tail;
use crate::worker::zygote::{ForkEnd, Zygote};

/// How often the memory and the processes of a run are looked at: often enough to be faster than a machine that runs
/// out of memory.
const POLL: Duration = Duration::from_millis(250);

/// The signal that asks a run for the backtraces of its threads (worker/child.rb).
const ASK_THREADS: Signal = Signal::SIGQUIT;

/// A run that is over.
#[derive(Debug)]
pub struct Ran {
    pub log: RunLog,
    pub end: End,
    /// Why it was ended, if it was: not when its last record had been heard by then.
    pub stop: Option<Stop>,
    pub stdout: Captured,
    pub stderr: Captured,
    pub leftovers: Vec<Leftover>,
    /// How many there were in all; only the first are listed.
    pub leftovers_total: usize,
    /// What even KILL did not end.
    pub survivors: Vec<Leftover>,
    /// What the kernel said of it, when it had to be ended and could not speak.
    pub kernel_threads: Vec<KernelThread>,
    /// From `go` to the end of the process.
    pub seconds: f64,
    /// How its processes were confined.
    pub sandbox: Enforcement,
    /// What the sandbox refused to them, as far as it is known.
    pub refused: Refusals,
}

/// Why nothing was run. Nothing of the app has happened then, so that the caller may try again.
#[derive(Debug)]
pub enum NotStarted {
    /// Forking or starting a process failed.
    Refused(String),
    /// The zygote is gone or does not answer.
    Lost(String),
    /// Its code has seen other tables than the databases have.
    Outdated,
}

/// Runs in a fork of the zygote.
pub async fn forked(
    zygote: &Zygote,
    warm: &Kept,
    request: RunRequest,
    limits: Limits,
    ongoing: &Ongoing,
) -> Result<Ran, NotStarted> {
    let ran = fork(zygote, Some(warm), request, limits, ongoing).await?;
    Ok(Ran {
        sandbox: warm.enforcement(),
        ..ran
    })
}

/// The same while something else may be running. What the sandbox refuses, and what is adopted by the keeper, is that run's.
pub async fn beside(
    zygote: &Zygote,
    request: RunRequest,
    limits: Limits,
    ongoing: &Ongoing,
) -> Result<Ran, NotStarted> {
    fork(zygote, None, request, limits, ongoing).await
}

async fn fork(
    zygote: &Zygote,
    warm: Option<&Kept>,
    request: RunRequest,
    limits: Limits,
    ongoing: &Ongoing,
) -> Result<Ran, NotStarted> {
    let (given, pipes) = give().map_err(refused)?;
    let directory = request.root.clone();
    let fds = given.each_ref().map(AsFd::as_fd);
    let pid = match zygote.fork(request, &fds).await {
        ForkEnd::Forked(pid) => pid,
        ForkEnd::Refused(reason) => return Err(NotStarted::Refused(reason)),
        ForkEnd::Lost(cause) => return Err(NotStarted::Lost(cause)),
    };
    drop(given);
    // It is gone before it was told to go: with the zygote, whose child it is.
    let child = Forked::hold(zygote, warm, pid).map_err(|error| NotStarted::Lost(error.to_string()))?;
    let Pipes {
        stdout,
        stderr,
        events,
        mut go,
    } = pipes;
    // Its keeper ends all that is below it then, this one too: the child has not been told to go.
    if warm.is_some_and(|warm| !warm.runs()) {
        return Err(NotStarted::Lost("the worker is gone".to_owned()));
    }
    let cgroup = Cgroup::of(child.target.root(), limits.memory, limits.processes);
    // It waits for this byte; a child that died meanwhile is seen by its end.
    let _ = go.write_all(b"g");
    let watched = Watched {
        cgroup,
        directory,
        ..Watched::new(stdout, stderr, events, RunLog::of_child(pid), limits)
    };
    let ran = watched.watch(&Process::Forked(child), ongoing).await;
    if ran.log.outdated && ran.stop.is_none() {
        return Err(NotStarted::Outdated);
    }
    Ok(ran)
}

/// Runs in a process of its own.
pub async fn spawned(plan: &Plan, request: &RunRequest, limits: Limits, ongoing: &Ongoing) -> Result<Ran, NotStarted> {
    let (launch, pipes) = plan.spawn(request).map_err(refused)?;
    let kept = spawn::spawn(launch).map_err(|error| NotStarted::Refused(error.to_string()))?;
    let root = timeout(limits.deadline, kept.started())
        .await
        .map_err(|_| NotStarted::Refused("the process did not start before the deadline".to_owned()))?
        .map_err(|error| NotStarted::Refused(error.to_string()))?;
    let log = RunLog::of_fresh_process();
    // What it has forked by now, such as a Git that Bundler asks, stays outside; its tree is walked like any other.
    let watched = Watched {
        cgroup: Cgroup::of(root, limits.memory, limits.processes),
        directory: request.root.clone(),
        ..Watched::new(pipes.stdout, pipes.stderr, pipes.events, log, limits)
    };
    let sandbox = kept.enforcement();
    Ok(Ran {
        sandbox,
        ..watched
            .watch(&Process::Spawned(Spawned::hold(kept, root)), ongoing)
            .await
    })
}

fn refused(error: io::Error) -> NotStarted {
    NotStarted::Refused(error.to_string())
}

struct Pipes {
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    events: pipe::Receiver,
    go: io::PipeWriter,
}

/// What a forked run gets, in the order that worker/zygote.rb takes it, and our ends of it.
fn give() -> io::Result<([OwnedFd; 4], Pipes)> {
    let (stdout, out) = fds::pipe()?;
    let (stderr, err) = fds::pipe()?;
    let (events, records) = fds::pipe()?;
    let (wait, go) = io::pipe()?;
    Ok((
        [out, err, records, wait.into()],
        Pipes {
            stdout,
            stderr,
            events,
            go,
        },
    ))
}

/// The process of a run, however it came to be.
enum Process<'a> {
    Forked(Forked<'a>),
    Spawned(Spawned),
}

struct Forked<'a> {
    zygote: &'a Zygote,
    /// None beside another run, whose it is then.
    warm: Option<&'a Kept>,
    handle: PidFd,
    target: Target,
}

struct Spawned {
    kept: Kept,
    handle: Option<PidFd>,
    target: Target,
}

impl<'a> Forked<'a> {
    /// The child waits for `go` and the zygote reaps it only when told, so this pid is the child's.
    fn hold(zygote: &'a Zygote, warm: Option<&'a Kept>, pid: i32) -> io::Result<Forked<'a>> {
        let handle = PidFd::open(Pid::from_raw(pid))?;
        let target = match warm {
            Some(warm) => Target::run(warm.keeper(), Pid::from_raw(pid)),
            None => Target::alone(Pid::from_raw(pid)),
        };
        let target = target.ok_or(io::ErrorKind::NotFound)?;
        Ok(Forked {
            zygote,
            warm,
            handle,
            target,
        })
    }
}

impl Process<'_> {
    async fn exited(&self) {
        match self {
            Process::Forked(child) => child.handle.exited().await,
            Process::Spawned(spawned) => spawned.exited().await,
        }
    }

    /// Who knows what was refused to it.
    fn kept(&self) -> Option<&Kept> {
        match self {
            Process::Forked(child) => child.warm,
            Process::Spawned(spawned) => Some(&spawned.kept),
        }
    }

    fn target(&self) -> &Target {
        match self {
            Process::Forked(child) => &child.target,
            Process::Spawned(spawned) => &spawned.target,
        }
    }

    /// KILL to everything that is left of it.
    async fn kill(&self) -> Ended {
        let target = self.target().clone();
        tokio::task::spawn_blocking(move || target.kill())
            .await
            .unwrap_or_default()
    }

    /// What is left of it although it is gone itself. Its keeper kills that of a fresh process, and so knows what it was.
    async fn end_leftovers(&self) -> Option<Ended> {
        match self {
            Process::Forked(child) if !child.target.root_is_gone() => None,
            Process::Forked(child) => Some(tree::end(&child.target, Duration::ZERO).await),
            Process::Spawned(spawned) => Some(spawned.kept.end(Duration::ZERO).await),
        }
    }

    /// Ends what was too quick for everything else by ending all that is below its keeper. What waits in the kernel for
    /// good would not go by that.
    async fn end_all_below_the_keeper(&self) {
        if let (Some(warm), false) = (self.warm(), self.target().is_stuck()) {
            warm.kill();
            let _ = timeout(PATIENCE, warm.cleared()).await;
        }
    }

    fn warm(&self) -> Option<&Kept> {
        match self {
            Process::Forked(child) => child.warm,
            Process::Spawned(_) => None,
        }
    }

    async fn status(&self) -> End {
        match self {
            Process::Forked(child) => match child.zygote.reap(child.handle.pid().as_raw()).await {
                Some((_, Some(signal))) => End::Signaled(signal),
                Some((Some(status), None)) => End::Exited(status),
                _ => End::Unknown,
            },
            Process::Spawned(spawned) => spawned.status().await,
        }
    }
}

impl Spawned {
    fn hold(kept: Kept, root: Identity) -> Spawned {
        Spawned {
            // `None` when it has ended already.
            handle: PidFd::open_exactly(root).ok(),
            target: Target::below(kept.keeper(), root),
            kept,
        }
    }

    /// The keeper tells of it, unless somebody has stopped the keeper.
    async fn exited(&self) {
        let seen = async {
            match &self.handle {
                Some(handle) => handle.exited().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = seen => {}
            _ = self.kept.exited() => {}
        }
    }

    async fn status(&self) -> End {
        self.kept.wake();
        match timeout(PATIENCE, self.kept.exited()).await {
            Ok(Exit::Code(status)) => End::Exited(status),
            Ok(Exit::Signal(signal)) => End::Signaled(signal),
            Ok(Exit::Unknown) | Err(_) => End::Unknown,
        }
    }
}

/// One run while it is being watched.
struct Watched {
    stdout: Tail,
    stderr: Tail,
    events: Option<LineReader<pipe::Receiver>>,
    log: RunLog,
    limits: Limits,
    cgroup: Option<Cgroup>,
    /// The most memory that it had, if the kernel ended it because of that.
    starved: Option<u64>,
    end: End,
    leftovers: Ended,
    /// When to look at what it uses.
    look_at: Instant,
    kernel_threads: Vec<KernelThread>,
    refused: Refusals,
    /// Where the run began.
    directory: PathBuf,
}

impl Watched {
    fn new(
        stdout: pipe::Receiver,
        stderr: pipe::Receiver,
        events: pipe::Receiver,
        log: RunLog,
        limits: Limits,
    ) -> Self {
        Watched {
            stdout: Tail::with_limit(stdout, limits.output),
            stderr: Tail::with_limit(stderr, limits.output),
            events: Some(LineReader::new(events)),
            log,
            limits,
            cgroup: None,
            starved: None,
            end: End::Unknown,
            leftovers: Ended::default(),
            kernel_threads: Vec::new(),
            refused: Refusals::default(),
            directory: PathBuf::new(),
            look_at: Instant::now() + POLL,
        }
    }

    async fn watch(mut self, process: &Process<'_>, ongoing: &Ongoing) -> Ran {
        let started = Instant::now();
        ongoing.prints(self.stdout.heard(), self.stderr.heard());
        // What somebody else did before is not this run's.
        if let Some(kept) = process.kept() {
            kept.take_blocked();
        }
        let mut ended = None;
        let mut over_before_stop = false;
        let mut state = State::Running {
            deadline: started + self.limits.deadline,
        };
        while !matches!(state, State::Done { .. }) {
            let event = self.next_event(state, process, ongoing).await;
            let (next, actions) = state.on(event, Instant::now(), self.limits.grace);
            if event == Event::Exited {
                ended.get_or_insert_with(Instant::now);
            }
            if state.stop().is_none() && next.stop().is_some() {
                over_before_stop = self.log.exit.is_some();
            }
            for action in actions {
                self.act(*action, process).await;
            }
            state = next;
        }
        let starved = self.starved.filter(|_| self.log.exit.is_none()).map(Stop::OutOfMemory);
        let stop = state.stop().filter(|_| !over_before_stop).or(starved);
        self.settle_refusals(u64::MAX);
        self.note_said(process.kept());
        self.over(stop, ended.unwrap_or_else(Instant::now) - started)
    }

    /// Waits for whatever can happen in this state. Records come first: what was said before the end counts.
    async fn next_event(&mut self, state: State, process: &Process<'_>, ongoing: &Ongoing) -> Event {
        let draining = matches!(state, State::Draining { .. });
        let running = matches!(state, State::Running { .. });
        loop {
            tokio::select! {
                biased;
                line = next_line(&mut self.events) => {
                    // What was refused before this was said has been told by now, and is to be heard first.
                    if let Some(kept) = process.kept() {
                        kept.caught_up().await;
                        self.hear_refusals(kept);
                    }
                    if let Some(event) = self.hear(line, process.kept(), ongoing) {
                        return event;
                    }
                }
                () = process.exited(), if !draining => return Event::Exited,
                () = closed(&mut self.stdout, &mut self.stderr), if draining && self.events.is_none() => return Event::Closed,
                () = ongoing.cancel.cancelled(), if running => {}
                () = ongoing.hurry.cancelled(), if alive(state) => {}
                () = until(state.wake_at()) => {}
                () = until(Some(self.look_at)), if alive(state) => {}
            }
            // After each line, too: a run that never stops talking must not talk away its deadline or a limit.
            if let Some(event) = self.due(state, process.target(), ongoing) {
                return event;
            }
        }
    }

    /// What is to happen at this moment whether or not the run has something to say.
    fn due(&mut self, state: State, target: &Target, ongoing: &Ongoing) -> Option<Event> {
        let now = Instant::now();
        if state.wake_at().is_some_and(|at| now >= at) {
            return Some(Event::Tick);
        }
        if alive(state) && ongoing.hurry.is_cancelled() {
            return Some(Event::Hurried);
        }
        if matches!(state, State::Running { .. }) && ongoing.cancel.is_cancelled() {
            return Some(Event::Cancelled);
        }
        if now < self.look_at || !alive(state) {
            return None;
        }
        self.look_at = now + POLL;
        self.excess(target).map(Event::Over)
    }

    /// Whether the run uses more than it may at this moment.
    fn excess(&self, target: &Target) -> Option<Stop> {
        let usage = usage::of(target, self.limits.memory);
        if usage.processes > self.limits.processes {
            return Some(Stop::Processes(usage.processes));
        }
        (usage.memory > self.limits.memory).then_some(Stop::Memory(usage.memory))
    }

    fn hear_refusals(&mut self, kept: &Kept) {
        let blocked = kept.take_blocked();
        self.refused.unlisted += blocked.total - blocked.acts.len() as u64;
        self.refused.hear(blocked.acts);
    }

    /// Whatever was refused before `at` was refused to the example that was running until then. The run may be ahead of
    /// us: of what was refused later, later records tell.
    fn settle_refusals(&mut self, at: u64) {
        let example = self.log.unfinished().last().map(|example| example.id.as_str());
        self.refused.settle(at, example);
    }

    /// Of the files that could not be had, those that the sandbox has something against.
    fn note_files(&mut self, kept: Option<&Kept>, record: &Record) {
        let granted = kept.and_then(Kept::granted);
        let (RunEvent::FilesRefused { files, more }, Some(granted)) = (&record.e, granted) else {
            return;
        };
        let example = self.log.unfinished().last().map(|example| example.id.as_str());
        self.refused.unlisted += more;
        for file in files {
            if let Some(kind) = granted.forbids(file, &Disk) {
                let act = Act::new(kind, file.path.to_string_lossy());
                self.refused.note(act, file.count, example);
            }
        }
    }

    /// Of the files that programs said they could not have, those that the sandbox has something against.
    fn note_said(&mut self, kept: Option<&Kept>) {
        let Some(granted) = kept.and_then(Kept::granted) else {
            return;
        };
        let text = [self.stdout.so_far().text, self.stderr.so_far().text].join("\n");
        for name in said::denied(&text) {
            let Some(file) = RefusedFile::named(&name, &self.directory) else {
                continue;
            };
            let what = file.path.to_string_lossy();
            if let Some(kind) = granted.forbids(&file, &Disk)
                && !self.refused.has(kind, &what)
            {
                self.refused.note(Act::new(kind, what), 1, None);
            }
        }
    }

    /// Takes a line of the events pipe; some are events for the machine, too.
    fn hear(
        &mut self,
        line: Result<Option<Vec<u8>>, LineError>,
        kept: Option<&Kept>,
        ongoing: &Ongoing,
    ) -> Option<Event> {
        match line {
            Ok(Some(line)) => match serde_json::from_slice::<Record>(&line) {
                Ok(record) => {
                    let told = matches!(record.e, RunEvent::Threads { .. });
                    if self.log.believes(&record) {
                        self.settle_refusals(record.at);
                        self.note_files(kept, &record);
                        ongoing.hear(&record.e);
                    }
                    self.log.apply(record);
                    return told.then_some(Event::Told);
                }
                Err(_) => self.log.ignore_line(),
            },
            Ok(None) => self.events = None,
            Err(LineError::TooLong { .. } | LineError::Half(_)) => self.log.ignore_line(),
            Err(LineError::Io(_)) => self.events = None,
        }
        None
    }

    async fn act(&mut self, action: Action, process: &Process<'_>) {
        match action {
            Action::AskThreads => process.target().signal_root(ASK_THREADS),
            Action::Term => {
                self.look_from_outside(process);
                process.target().terminate();
            }
            Action::KillTree => self.leftovers = process.kill().await,
            Action::Collect => self.collect(process).await,
            Action::Finish => {}
        }
    }

    /// When Ruby can't say where it hangs, the kernel can say a little.
    fn look_from_outside(&mut self, process: &Process<'_>) {
        if self.log.threads.is_none() {
            self.kernel_threads = kernel_view::threads(process.target().root().pid);
        }
    }

    /// The process is gone: what it left behind is killed first, so that nothing holds the pipes.
    async fn collect(&mut self, process: &Process<'_>) {
        if let Some(ended) = process.end_leftovers().await {
            self.leftovers.leaked.named.extend(ended.leaked.named);
            self.leftovers.leaked.total += ended.leaked.total;
            self.leftovers.survivors = ended.survivors;
        }
        self.end_cgroup().await;
        // Waiting for what can't be killed would wedge whoever waits.
        if process.target().root_is_gone() {
            self.end = process.status().await;
        }
        if !self.leftovers.survivors.is_empty() {
            self.end_survivors(process).await;
        }
    }

    async fn end_survivors(&mut self, process: &Process<'_>) {
        let before = process.target().remains();
        process.end_all_below_the_keeper().await;
        let after = process.target().remains();
        self.leaked(before.into_iter().filter(|found| !after.contains(found)).collect());
        self.leftovers.survivors = after;
    }

    /// The last look, and the surest kill: of what the walk may have missed.
    async fn end_cgroup(&mut self) {
        let Some(cgroup) = self.cgroup.take() else { return };
        self.starved = cgroup.out_of_memory();
        let missed = spawn_blocking(move || cgroup.end()).await.unwrap_or_default();
        self.leaked(missed);
    }

    fn leaked(&mut self, found: Vec<Leftover>) {
        let leaked = &mut self.leftovers.leaked;
        leaked.total += found.len();
        let room = NAMED.saturating_sub(leaked.named.len());
        leaked.named.extend(found.into_iter().take(room));
    }

    fn over(self, stop: Option<Stop>, took: Duration) -> Ran {
        Ran {
            log: self.log,
            end: self.end,
            stop,
            stdout: self.stdout.so_far(),
            stderr: self.stderr.so_far(),
            leftovers: self.leftovers.leaked.named,
            leftovers_total: self.leftovers.leaked.total,
            survivors: self.leftovers.survivors,
            kernel_threads: self.kernel_threads,
            seconds: took.as_secs_f64(),
            sandbox: Enforcement::default(),
            refused: self.refused,
        }
    }
}

/// It may still do something, and use more than it may.
fn alive(state: State) -> bool {
    matches!(
        state,
        State::Running { .. } | State::Asking { .. } | State::Terminating { .. }
    )
}

async fn next_line(events: &mut Option<LineReader<pipe::Receiver>>) -> Result<Option<Vec<u8>>, LineError> {
    match events {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

async fn closed(stdout: &mut Tail, stderr: &mut Tail) {
    stdout.closed().await;
    stderr.closed().await;
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
