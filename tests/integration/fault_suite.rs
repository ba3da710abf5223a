//! Files that misbehave, through a server: the frame around the tables of [`crate::faults`] and [`crate::minitest_faults`].

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup, has_text};

pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) outcome: &'static str,
    /// Examples, failures, pending, errors outside, not run; `None` where they say nothing about the truth.
    pub(crate) counts: Option<[u64; 5]>,
    /// Must be somewhere in the report.
    pub(crate) says: &'static str,
}

/// Where faults are, and a harmless run beside them.
pub(crate) struct Suite {
    pub(crate) dir: &'static str,
    pub(crate) ending: &'static str,
    pub(crate) harmless: &'static str,
    /// A file around the text of a trick.
    pub(crate) trick: fn(&str) -> String,
}

pub(crate) const fn fault(name: &'static str, outcome: &'static str, counts: [u64; 5], says: &'static str) -> Fault {
    Fault {
        name,
        outcome,
        counts: Some(counts),
        says,
    }
}

/// Seconds after which a hanging one is ended: enough to come to where it hangs on a busy machine.
pub(crate) const FORKED: u64 = 3;
pub(crate) const SPAWNED: u64 = 8;

impl Suite {
    pub(crate) fn each_has_a_row(&self, known: impl Fn(&str) -> bool) {
        let app = App::bare();
        let mut missing = Deviations::default();
        for entry in std::fs::read_dir(app.path(self.dir)).expect("it is in the fixture") {
            let name = entry
                .expect("it can be listed")
                .file_name()
                .to_string_lossy()
                .into_owned();
            if let Some(name) = name.strip_suffix(self.ending) {
                missing.check(known(name), || format!("{name} has no row"));
            }
        }
        missing.none();
    }

    /// Runs all of them through one server, and after each of them a harmless one.
    pub(crate) fn forked(&self, rows: &[Fault], seconds: u64) {
        let app = App::copy();
        let server = server(&app);
        let mut wrong = Deviations::default();
        for fault in rows {
            let report = server.run_with([self.path(fault)], json!({"timeout_seconds": seconds}));
            check(&mut wrong, fault, &report, "fork");
            nothing_lasts(&mut wrong, fault, &server);
            let next = server.run_with([self.harmless], json!({"fork": "always"}));
            wrong.check(next["outcome"] == "passed" && next["mode"] == "fork", || {
                format!("after {}: the next run: {next}", fault.name)
            });
        }
        wrong.none();
        server.stop();
    }

    /// Each in a process of its own, one after the other, so that each is the next run of another one.
    pub(crate) fn spawned(&self, rows: &[&Fault], seconds: u64) {
        let app = App::copy();
        let server = server(&app);
        let mut wrong = Deviations::default();
        for fault in rows {
            let report = server.run_with([self.path(fault)], json!({"fork": "never", "timeout_seconds": seconds}));
            check(&mut wrong, fault, &report, "spawn");
            nothing_lasts(&mut wrong, fault, &server);
        }
        wrong.none();
        server.stop();
    }

    /// In few lines each: what it says, its outcome, what must be somewhere in the report.
    pub(crate) fn tricks(&self, tricks: &[(&str, &str, &str)]) {
        let app = App::copy();
        let server = app.server();
        let mut wrong = Deviations::default();
        let (above, _) = self
            .dir
            .split_once('/')
            .expect("it is below the directory of all tests");
        let file = format!("{above}/trick{}", self.ending);
        for (text, outcome, says) in tricks {
            app.write(&file, (self.trick)(text));
            let report = server.run_with([&file], json!({"timeout_seconds": 60}));
            wrong.check(report["outcome"] == *outcome, || {
                format!("{text}: should be {outcome}: {report}")
            });
            wrong.check(has_text(&report, says), || {
                format!("{text}: nothing says `{says}`: {report}")
            });
        }
        let left = server.beside_the_warm_tree();
        wrong.check(left.is_empty(), || format!("left behind: {left:?}"));
        wrong.none();
        server.stop();
    }

    pub(crate) fn a_matter_of_chance(&self) {
        let app = App::copy();
        let server = app.server();
        let runs = (0..8).map(|_| server.run([self.named("flaky")]));
        for report in runs {
            let failures = report["summary"]["failures"].as_u64();
            let outcome = if failures == Some(0) { "passed" } else { "failed" };
            assert_eq!(report["outcome"], outcome, "{report}");
            assert_eq!(report["summary"]["examples"], 2, "{report}");
        }
        server.stop();
    }

    /// `writes`: what needs the database.
    pub(crate) fn a_locked_database(&self, writes: &str) {
        let app = App::copy();
        let server = app.server();
        let report = server.run([self.named("locks_database")]);
        assert_eq!(report["outcome"], "failed", "{report}");
        assert!(
            has_text(&report, "BusyException") || has_text(&report, "locked"),
            "{report}"
        );
        let next = server.run([writes]);
        assert_eq!(next["outcome"], "passed", "{next}");
        server.stop();
    }

    pub(crate) fn a_parent_that_is_killed(&self) {
        let app = App::copy();
        let server = app.server();
        for _ in 0..4 {
            let report = server.run([self.named("kills_its_parent")]);
            let outcome = report["outcome"].as_str().unwrap_or_default();
            assert!(["passed", "crashed", "incomplete"].contains(&outcome), "{report}");
            assert!(outcome == "passed" || report["reason"].is_string(), "{report}");
            let next = server.run([self.harmless]);
            assert_eq!(next["outcome"], "passed", "{next}");
        }
        server.stop();
    }

    fn path(&self, fault: &Fault) -> String {
        self.named(fault.name)
    }

    fn named(&self, name: &str) -> String {
        format!("{}/{name}{}", self.dir, self.ending)
    }
}

fn server(app: &App) -> Server {
    app.server_with(
        Setup::default()
            .env("ALLOCATE_MB", "64")
            .env("SLOW_SECONDS", "1")
            .env("FLOOD_MB", "4"),
    )
}

fn check(wrong: &mut Deviations, fault: &Fault, report: &Value, mode: &str) {
    let name = fault.name;
    wrong.check(report["outcome"] == fault.outcome, || {
        format!(
            "{name}: is {}, should be {}: {report}",
            report["outcome"], fault.outcome
        )
    });
    if let Some(counts) = fault.counts {
        let names = ["examples", "failures", "pending", "errors_outside", "not_run"];
        let is = names.map(|name| report["summary"][name].as_u64().unwrap_or(u64::MAX));
        wrong.check(is == counts, || {
            format!("{name}: counts are {is:?}, should be {counts:?}: {report}")
        });
    }
    let in_this_mode = !(mode == "spawn" && fault.says == "spawn_after_crash");
    wrong.check(!in_this_mode || report.to_string().contains(fault.says), || {
        format!("{name}: nothing says `{}`: {report}", fault.says)
    });
    // What crashed in a fork may have been tried again.
    let retried = fault.outcome == "crashed" || fault.says == "spawn_after_crash";
    let expected = report["mode"] == mode || (retried && report["mode"] == "spawn_after_crash");
    wrong.check(expected, || {
        format!("{name}: mode is {}, should be {mode}", report["mode"])
    });
    wrong.check(
        plausible(&report["summary"]["seconds"]) && plausible(&report["timing"]["run"]),
        || format!("{name}: times that can't be: {report}"),
    );
    // In pending and passing runs nothing needs it; everything else says what it was.
    let plain = ["passed", "failed"].contains(&fault.outcome);
    wrong.check(plain || report["reason"].is_string(), || {
        format!("{name}: no reason: {report}")
    });
    let unfinished = report["unfinished"].as_array().map_or(0, Vec::len);
    let second = fault.says == "[1:2]" || fault.says.contains("#test_2");
    let in_an_example = ["crashed", "timed_out", "incomplete"].contains(&fault.outcome) && second;
    wrong.check(!in_an_example || unfinished == 1, || {
        format!("{name}: which example was it in: {report}")
    });
}

/// Whatever the app does to the clocks.
fn plausible(seconds: &Value) -> bool {
    seconds.as_f64().is_some_and(|seconds| (0.0..600.0).contains(&seconds))
}

/// Only the warm tree is there.
fn nothing_lasts(wrong: &mut Deviations, fault: &Fault, server: &Server) {
    let left = server.beside_the_warm_tree();
    wrong.check(left.is_empty(), || format!("{}: left behind: {left:?}", fault.name));
}
