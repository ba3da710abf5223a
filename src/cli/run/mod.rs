//! `coatepec run`: runs tests as an agent would, and shows a person what happens.

pub mod exit;
mod follow;
mod told;
mod watch;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::Context;
use super::parts::parts;
use super::render::{junit, report, source};
use super::session::{Server, with_server};
use crate::daemon::client::Client;
use crate::error::{Error, Kind, Result};
use crate::mcp::CONTINUES;
use crate::run::outcome::Outcome;
use crate::run::report::{FailureReport, Report};
use exit::Asked;
use follow::Interrupts;
use told::Told;

/// Run tests in the warm process
///
/// Exit codes: 0 passed; 1 something failed; 2 the call was wrong; 3 nothing was tested; 4 the run did not come to its end
/// (timed out, crashed, …); 5 the app or the tests could not be loaded; 70 something of Coatepec broke; 74 the result
/// could not be written; 75 busy, try again; 130 stopped by Ctrl-C (between two runs of --watch: the code of the last). A
/// run is one framework's: where there are tests of both, one runs after the other, --json tells an object per line, and
/// the highest code counts; a 3 of one of them only if nothing of the other is wrong, and with --example or without
/// selectors only if it is that of both.
#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// Files, directories, `file:LINE(:LINE)`, `file[ID,ID]` or `file#NAME` [default: all tests of the app]
    selectors: Vec<String>,
    /// Only examples whose full description contains this
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    example: Option<String>,
    /// Order and random numbers as in an earlier run
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Stop at the first failure
    #[arg(long)]
    fail_fast: bool,
    /// Wall time of the run in seconds [default: 120, or as the project says]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=900))]
    timeout: Option<u64>,
    /// Whether to fork the warm process
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    fork: Option<String>,
    /// Tell which of the lines that differ from the last commit were executed
    #[arg(long)]
    coverage: bool,
    /// Tell which lines of this file were executed; may be given several times
    #[arg(long, value_name = "FILE")]
    coverage_file: Vec<String>,
    /// Tell where the time goes: the slowest examples, queries, factories, garbage collection
    #[arg(long)]
    profile: bool,
    /// Run again what a save concerns, until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "junit"])]
    watch: bool,
    /// Tell the result as JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// Write the result to a file as JUnit's XML, too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Failures that are fetched one by one because the answer had no room for all of them.
const FETCHED: usize = 100;

/// What a shell says of a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

pub(super) fn run(arguments: &Run, context: &Context) -> Result<ExitCode> {
    match session(arguments, context) {
        Err(error) if error.kind == Kind::Cancelled => {
            context.terminal.complain(&error);
            Ok(ExitCode::from(INTERRUPTED))
        }
        done => done,
    }
}

fn session(arguments: &Run, context: &Context) -> Result<ExitCode> {
    with_server(context, async |server| {
        let interrupts = Interrupts::listen()?;
        let root = server.root();
        let parts = parts(root, &arguments.selectors)?;
        let mut job = Job {
            arguments,
            context,
            client: server.connect().await?,
            server,
            root,
            interrupts,
        };
        let done = match arguments.watch {
            true => watch::watch(&mut job, parts).await,
            false => job.each(&parts).await.map(ExitCode::from),
        };
        job.client.close().await;
        done
    })
}

fn listed(names: &[String]) -> Option<Value> {
    (!names.is_empty()).then(|| json!(names))
}

/// What all runs of one command have in common.
struct Job<'a> {
    arguments: &'a Run,
    context: &'a Context,
    server: &'a Server<'a>,
    client: Client,
    root: &'a Path,
    interrupts: Interrupts,
}

/// The runs of one selection, one after the other.
#[derive(Default)]
struct Ran {
    reports: Vec<Report>,
    /// Of each of them.
    selectors: Vec<Vec<String>>,
    /// Of those that there were none of any more.
    left_out: Vec<String>,
}

/// Whether it can be written, before anybody waits for what it is to hold.
fn check(file: &Path) -> std::io::Result<()> {
    let found = std::fs::metadata(file);
    // A pipe is opened once: who reads it takes the first end for the last.
    if found.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    std::fs::File::options().append(true).create(true).open(file)?;
    match found {
        Ok(_) => Ok(()),
        Err(_) => std::fs::remove_file(file),
    }
}

fn unwritable(kind: Kind, file: &Path, error: std::io::Error) -> Error {
    Error::new(kind, format!("failed to write `{}`", file.display())).source(error)
}

impl Job<'_> {
    /// One run after the other.
    async fn each(&self, parts: &[Vec<String>]) -> Result<u8> {
        if let Some(file) = &self.arguments.junit {
            check(file).map_err(|error| unwritable(Kind::InvalidArguments, file, error))?;
        }
        let mut ran = Ran::default();
        let done = self.all(parts, &mut ran).await;
        self.conclude(&ran);
        let Ran { reports, left_out, .. } = ran;
        // Also if a later one could not be had.
        if let Some(file) = self.arguments.junit.as_ref().filter(|_| !reports.is_empty()) {
            let xml = junit::junit(&reports, &left_out);
            std::fs::write(file, xml).map_err(|error| unwritable(Kind::Unwritten, file, error))?;
        }
        let asked = Asked::of(&self.arguments.selectors, self.arguments.example.as_deref());
        done.map(|()| exit::exit_code_of_all(reports.iter().map(|report| report.outcome), asked))
    }

    async fn all(&self, parts: &[Vec<String>], ran: &mut Ran) -> Result<()> {
        let mut parts = VecDeque::from(parts.to_vec());
        let mut several = parts.len() > 1;
        while let Some(selectors) = parts.pop_front() {
            if several && !self.arguments.json {
                let terminal = &self.context.terminal;
                terminal.remark(&terminal.err.dim(&format!("{}\n", selectors.join(" "))));
            }
            let report = self.once(&selectors, ran.reports.last()).await?;
            let outcome = report.outcome;
            // `@failed` and `@last` stand for what is one framework's, and whoever typed them means all.
            let others = [&report.also_failed, &report.also_last].into_iter().flatten();
            parts.extend(others.map(|others| vec![others.clone()]));
            several |= !parts.is_empty();
            ran.reports.push(report);
            ran.selectors.push(selectors);
            let stops = outcome == Outcome::Cancelled || self.arguments.fail_fast && exit::exit_code(outcome) != 0;
            if stops {
                break;
            }
        }
        ran.left_out = parts.into_iter().flatten().collect();
        Ok(())
    }

    /// Of several runs, what became of each, and of which there was none.
    fn conclude(&self, ran: &Ran) {
        let terminal = &self.context.terminal;
        let parts: Vec<(String, &Report)> = ran
            .selectors
            .iter()
            .map(|selectors| selectors.join(" "))
            .zip(&ran.reports)
            .collect();
        match self.arguments.json {
            true if ran.left_out.is_empty() => {}
            true => terminal.say(&(json!({ "left_out": ran.left_out }).to_string() + "\n")),
            false => terminal.say(&report::together(&parts, &ran.left_out, terminal.out)),
        }
    }

    async fn once(&self, selectors: &[String], before: Option<&Report>) -> Result<Report> {
        let mut told = Told::default();
        let answer = follow::follow(self, self.call(selectors, before), &mut told).await?;
        if self.arguments.json {
            self.context.terminal.say(&(answer.to_string() + "\n"));
        }
        let report: Report = serde_json::from_value(answer)
            .map_err(|error| Error::internal("the result was not understood").source(error))?;
        let report = self.whole(report).await;
        if !self.arguments.json {
            told.tell_rest(self, &report);
            self.show(&report);
        }
        Ok(report)
    }

    /// `before`: the run of the same selection that came before.
    fn call(&self, selectors: &[String], before: Option<&Report>) -> Value {
        let meta = before.map_or_else(|| json!({}), |before| json!({ CONTINUES: before.run_id }));
        json!({ "name": "rails_spec_run", "arguments": self.request(selectors), "_meta": meta })
    }

    fn request(&self, selectors: &[String]) -> Value {
        let arguments = self.arguments;
        let mut request = json!({ "paths": selectors, "wait_seconds": follow::WAIT });
        let optional = [
            ("example", arguments.example.clone().map(Value::from)),
            ("seed", arguments.seed.map(Value::from)),
            ("fail_fast", arguments.fail_fast.then_some(true.into())),
            ("timeout_seconds", arguments.timeout.map(Value::from)),
            ("fork", arguments.fork.clone().map(Value::from)),
            ("coverage", arguments.coverage.then_some("lines".into())),
            ("coverage_files", listed(&arguments.coverage_file)),
            ("profile", arguments.profile.then_some(true.into())),
            ("include_passing", arguments.junit.is_some().then_some(true.into())),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                request[name] = value;
            }
        }
        request
    }

    /// With each failure in full: an answer is kept small for agents, and a person scrolls.
    async fn whole(&self, mut report: Report) -> Report {
        if report.cut.is_none() || report.summary.failures == 0 {
            return report;
        }
        let mut failures = Vec::new();
        for number in 1..=FETCHED {
            match self.failure(&report.run_id, number).await {
                Some(failure) => failures.push(failure),
                None => break,
            }
        }
        let failures = FailureReport::rolled_up(failures.into_iter());
        if failures.len() >= report.failures.len() {
            report.failures = failures;
            if let Some(cut) = &mut report.cut {
                let told: usize = report.failures.iter().map(|failure| 1 + failure.also.len()).sum();
                cut.failures = (report.summary.failures as usize).saturating_sub(told);
            }
        }
        report
    }

    async fn failure(&self, run_id: &str, number: usize) -> Option<FailureReport> {
        let uri = format!("coatepec://runs/{run_id}/failures/{number}");
        let answer = self.client.read(&uri).await.ok()?;
        let report: Report = serde_json::from_value(answer).ok()?;
        report.failures.into_iter().next()
    }

    fn show(&self, report: &Report) {
        let terminal = &self.context.terminal;
        let excerpt = |frame: &str| self.excerpt(frame).unwrap_or_default();
        let body = report::body(report, &excerpt, terminal.out);
        let gap = if body.is_empty() && report.failures.is_empty() {
            ""
        } else {
            "\n"
        };
        terminal.say(&format!("{body}{gap}{}", report::summary(report, terminal.out)));
        if self.context.share && report.summary.failures > 1 {
            terminal.say(&format!(
                "{}: `coatepec run @failed` runs these again\n",
                terminal.out.cyan("hint")
            ));
        }
    }

    fn excerpt(&self, frame: &str) -> Option<String> {
        let (file, line) = source::place(frame)?;
        let text = std::fs::read_to_string(self.root.join(file)).ok()?;
        Some(source::excerpt(&text, line, self.context.terminal.out))
    }
}
