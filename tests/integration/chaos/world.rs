//! An app, its server, and what is known of both: plays a round, and tells what is not as it must be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::Round;
use super::acts::{Act, Victim, When};
use super::content::{Content, Expected, Spec};
use crate::support::{App, Deviations, Pending, Server, Setup, eventually};

/// Of the whole test.
const LIMIT: Duration = Duration::from_secs(2_300);

/// Beside every run that is hit: nobody hits this one.
const CALM: &str = "spec/services/price_list_spec.rb";

pub(super) struct World {
    app: App,
    server: Server,
    mark: String,
    content: Content,
    wrong: Deviations,
    /// Answered calls of this server by outcome, and those that were given up.
    answered: BTreeMap<String, u64>,
    given_up: u64,
    /// Descriptors of this server at rest.
    descriptors: Option<usize>,
    figures: Figures,
}

/// Of all servers.
#[derive(Debug, Default)]
struct Figures {
    rounds: u64,
    servers: u64,
    boots: u64,
    outcomes: BTreeMap<String, u64>,
    acts: BTreeMap<String, u64>,
    /// Acts that found nothing to hit.
    missed: u64,
    /// Bytes: the most that a server ever had.
    peak: u64,
    since: Option<Instant>,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let app = App::copy().lasting(LIMIT);
        app.setting("boot_timeout_seconds: 30");
        let content = Content::write_all(&app);
        let mark = format!("chaos-{seed}-{}", std::process::id());
        World {
            server: start(&app, &mark),
            app,
            mark,
            content,
            wrong: Deviations::default(),
            answered: BTreeMap::new(),
            given_up: 0,
            descriptors: None,
            figures: Figures {
                servers: 1,
                since: Some(Instant::now()),
                ..Figures::default()
            },
        }
    }

    pub(super) fn play(&mut self, round: Round) {
        let started = Instant::now();
        self.figures.rounds += 1;
        *self
            .figures
            .acts
            .entry(format!("{:?} {:?}", round.when, round.act))
            .or_default() += 1;
        let ended = match round.when {
            When::Before => self.act_and_call(round),
            When::During => self.call_and_act(round),
        };
        eprintln!("{:3} {ended} {:.1?}: {}", round.number, started.elapsed(), told(round));
        self.look_around(round);
    }

    /// The act is over when the call comes, which must be answered as ever.
    fn act_and_call(&mut self, round: Round) -> String {
        match round.act {
            Act::Edit(part) => self.content.edit(&self.app, part, round.right),
            Act::Hit(victim, signal) => self.hit_and_wait(victim, signal),
            Act::CloseStdin | Act::KillServer => self.end_server(round),
            _ => unreachable!("not among the acts"),
        }
        let trace = self.trace();
        let call = self.begin(round);
        self.must_be(round, call, &[self.content.expects(round.spec)], trace)
    }

    fn call_and_act(&mut self, round: Round) -> String {
        let trace = self.trace();
        let before = self.content.expects(round.spec);
        let call = self.begin(round);
        sleep(round.moment);
        match round.act {
            Act::Nothing => self.status_answers(),
            Act::Edit(part) => self.content.edit(&self.app, part, round.right),
            Act::Hit(victim, signal) => self.hit(victim, signal),
            Act::Pause => self.pause(),
            Act::CallAgain => return self.call_again(round, call, before, trace),
            Act::Cancel => return self.cancel(round, call, trace),
            Act::CloseStdin | Act::KillServer => {
                self.end_server(round);
                return "(server ended)".to_owned();
            }
        }
        self.must_be(round, call, &[before, self.content.expects(round.spec)], trace)
    }

    fn begin(&self, round: Round) -> Pending {
        let seconds = match round.act {
            Act::Hit(Victim::Run, Signal::SIGSTOP) => 3,
            _ if round.spec.hangs() => 2,
            _ => 60,
        };
        let arguments = json!({"fork": round.fork, "timeout_seconds": seconds});
        self.server.begin([round.spec.path()], arguments)
    }

    // ---- Acts

    fn status_answers(&mut self) {
        let status = self.server.status();
        self.wrong
            .check(status["state"].is_string(), || format!("status: {status}"));
    }

    fn pause(&self) {
        self.server.signal(Signal::SIGSTOP);
        sleep(Duration::from_millis(200));
        self.server.signal(Signal::SIGCONT);
    }

    /// The newest of its kind, if there is one at this moment.
    fn find(&self, victim: Victim) -> Option<i32> {
        let name = match victim {
            Victim::Run => "coatepec run",
            Victim::Zygote => "coatepec zygote",
            Victim::App => "coatepec app",
            Victim::Worker => "coatepec worker",
            Victim::Keeper => "__jail",
        };
        let all = self.server.processes();
        let found = all.iter().filter(|proc| proc.command.contains(name));
        found.map(|proc| proc.pid).max()
    }

    fn hit(&mut self, victim: Victim, signal: Signal) {
        match self.find(victim) {
            Some(pid) => self.server.signal_to(pid, signal),
            None => self.figures.missed += 1,
        }
    }

    fn hit_and_wait(&mut self, victim: Victim, signal: Signal) {
        self.server.at_rest();
        let Some(pid) = self.find(victim) else {
            self.figures.missed += 1;
            return;
        };
        self.server.signal_to(pid, signal);
        eventually("it is hit", || {
            let alive = self.server.processes().into_iter().find(|proc| proc.pid == pid);
            alive.is_none_or(|proc| proc.state == 'T').then_some(())
        });
    }

    fn cancel(&mut self, round: Round, call: Pending, trace: usize) -> String {
        self.server.cancel(&call);
        self.given_up += 1;
        self.server.at_rest();
        self.ran_once(round, trace, 1);
        "(cancelled)".to_owned()
    }

    fn call_again(&mut self, round: Round, first: Pending, expected: Expected, trace: usize) -> String {
        let second = self.server.begin([CALM], json!({}));
        let ended = self.must_be(round, first, &[expected], trace);
        let calm = Expected {
            outcome: "passed",
            counts: Some((3, 0)),
        };
        let next = Round {
            spec: Spec::Known(CALM, calm),
            ..round
        };
        let trace = self.trace();
        self.must_be(next, second, &[calm], trace);
        ended
    }

    /// The server ends well or badly, whatever it was doing; another one takes its place.
    fn end_server(&mut self, round: Round) {
        self.note_peak();
        match round.act {
            Act::KillServer => self.server.signal(Signal::SIGKILL),
            _ => self.server.close_stdin(),
        }
        let status = self.server.wait();
        let code = (round.act != Act::KillServer).then_some(0);
        self.wrong.equal(&told(round), status.code(), code);
        self.nothing_is_left();
        self.server = start(&self.app, &self.mark);
        self.answered.clear();
        self.given_up = 0;
        self.descriptors = None;
        self.figures.servers += 1;
    }

    // ---- Verdicts

    /// One of the expected verdicts, or one that the act excuses. Returns the outcome.
    fn must_be(&mut self, round: Round, call: Pending, expected: &[Expected], trace: usize) -> String {
        let answer = call.wait();
        if answer.is_refusal() {
            let refusal = answer.refusal();
            self.wrong
                .check(false, || format!("{}: refused: {refusal}", told(round)));
            return "(refused)".to_owned();
        }
        let report = answer.success(&self.server.tool("rails_spec_run")["outputSchema"]);
        let outcome = report["outcome"].as_str().unwrap_or_default().to_owned();
        *self.answered.entry(outcome.clone()).or_default() += 1;
        *self.figures.outcomes.entry(outcome.clone()).or_default() += 1;
        let exact = expected.iter().any(|expected| expected.is(&report));
        let right = exact || (round.when == When::During && excused(round, &report));
        self.wrong
            .check(right, || format!("{}: is not {expected:?}: {report}", told(round)));
        let crashed = round.act == Act::Hit(Victim::Run, Signal::SIGSEGV) && report["mode"] == "spawn_after_crash";
        let most = if crashed { 2 } else { 1 };
        self.ran_once(round, trace, most);
        outcome
    }

    /// Nothing is silently run twice.
    fn ran_once(&mut self, round: Round, before: usize, most: usize) {
        let runs = self.trace() - before;
        self.wrong
            .check(runs <= most, || format!("{}: was run {runs} times", told(round)));
    }

    /// How often our spec was run.
    fn trace(&self) -> usize {
        fs::read(self.app.path("tmp/trace")).map_or(0, |trace| trace.len())
    }

    // ---- What is left

    /// After each round.
    fn look_around(&mut self, round: Round) {
        let status = self.server.at_rest();
        let left = self.server.beside_the_warm_tree();
        self.wrong
            .check(left.is_empty(), || format!("{}: left: {left:?}", told(round)));
        self.count(round, &status);
        if status["zygote_pid"].is_i64() {
            self.count_descriptors(round);
        }
        self.figures.boots = self.figures.boots.max(status["boot_id"].as_u64().unwrap_or(0));
    }

    /// What the server counts is what was answered; a call that was given up may have come to any end, or to none.
    fn count(&mut self, round: Round, status: &Value) {
        let empty = serde_json::Map::new();
        let counted = status["runs"]["outcomes"].as_object().unwrap_or(&empty);
        let counted: BTreeMap<&str, u64> = counted
            .iter()
            .map(|(name, n)| (name.as_str(), n.as_u64().unwrap_or(0)))
            .collect();
        let (all, answered) = (counted.values().sum::<u64>(), self.answered.values().sum::<u64>());
        let each = self
            .answered
            .iter()
            .all(|(name, n)| counted.get(name.as_str()) >= Some(n));
        let right = each && (answered..=answered + self.given_up).contains(&all);
        let (known, given_up) = (&self.answered, self.given_up);
        self.wrong.check(right, || {
            format!(
                "{}: counts {counted:?}, was {known:?} and {given_up} given up",
                told(round)
            )
        });
    }

    /// As many at rest as ever. What ends in the background gets the time for it.
    fn count_descriptors(&mut self, round: Round) {
        let path = format!("/proc/{}/fd", self.server.pid());
        let count = || fs::read_dir(&path).map_or(0, Iterator::count);
        let over = Instant::now() + Duration::from_secs(5);
        let known = *self.descriptors.get_or_insert_with(count);
        while count() > known && Instant::now() < over {
            sleep(Duration::from_millis(20));
        }
        let is = count();
        self.wrong.check(is <= known, || {
            format!("{}: {is} descriptors, were {known}", told(round))
        });
    }

    /// The server has ended.
    fn nothing_is_left(&mut self) {
        self.server.nothing_is_left();
        let (marked, files) = (marked(&self.mark), files_of_ours(&self.app.beside("tmp")));
        self.wrong
            .check(marked.is_empty(), || format!("marked processes: {marked:?}"));
        self.wrong
            .check(files.is_empty(), || format!("temporary files: {files:?}"));
        let stray = self.server.stray_lines();
        self.wrong.check(stray.is_empty(), || format!("on stdout: {stray:?}"));
    }

    fn note_peak(&mut self) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        self.figures.peak = self.figures.peak.max(kilobytes.unwrap_or(0) * 1024);
    }

    pub(super) fn end(mut self) {
        self.note_peak();
        self.server.close_stdin();
        let status = self.server.wait();
        self.wrong.equal("the end", status.code(), Some(0));
        self.nothing_is_left();
        let seconds = self.figures.since.take().map(|since| since.elapsed().as_secs());
        eprintln!("chaos: {seconds:?} s, {:#?}", self.figures);
        self.wrong.none();
    }
}

fn start(app: &App, mark: &str) -> Server {
    app.server_with(Setup::default().env("FLOOD_MB", "4").env("CHAOS_MARK", mark))
}

fn told(round: Round) -> String {
    let Round {
        number,
        spec,
        fork,
        when,
        act,
        right,
        moment,
    } = round;
    format!(
        "round {number}, {} (fork {fork}), {when:?} {moment:?} {act:?} {right}",
        spec.path()
    )
}

impl Expected {
    fn is(&self, report: &Value) -> bool {
        let counted = ["examples", "failures"].map(|name| report["summary"][name].as_u64());
        let counts = self
            .counts
            .is_none_or(|(examples, failures)| counted == [Some(examples), Some(failures)]);
        report["outcome"] == self.outcome && counts
    }
}

/// Whether a call that was disturbed may end like this.
fn excused(round: Round, report: &Value) -> bool {
    let outcome = report["outcome"].as_str().unwrap_or_default();
    if round.act.excuses().contains(&outcome) {
        return true;
    }
    let class = report["error"]["class"].as_str().unwrap_or_default();
    let lost =
        ["boot_failed", "load_error"].contains(&outcome) && ["WorkerDied", "AppDied", "ZygoteDied"].contains(&class);
    // A fresh process is not tried again.
    let crashed = outcome == "crashed" && matches!(round.act, Act::Hit(Victim::Run, _)) && report["mode"] != "fork";
    crashed || swallowed(round, report) || (lost && round.act.excuses_nothing_run())
}

/// RSpec itself may lose a signal, as it does while it tells of the start of an example: then what fails by it says so.
fn swallowed(round: Round, report: &Value) -> bool {
    let failures = report["failures"].as_array().into_iter().flatten();
    let mut causes = failures.flat_map(|failure| [&failure["causes"], &failure["parts"]]);
    round.act == Act::Hit(Victim::Run, Signal::SIGTERM)
        && report["outcome"] == "failed"
        && causes.any(|causes| causes.to_string().contains("\"SignalException\""))
}

/// Processes that were started with the server's environment.
fn marked(mark: &str) -> BTreeSet<String> {
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    let holds = |path: &Path| fs::read(path.join("environ")).is_ok_and(|all| contains(&all, mark.as_bytes()));
    let found = entries.map(|entry| entry.path()).filter(|path| holds(path));
    found.map(|path| path.display().to_string()).collect()
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// But for the locks, which are there for whoever comes next.
fn files_of_ours(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files_of_ours(&path));
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            found.push(path.display().to_string());
        }
    }
    found
}
