//! `coatepec flaky`: runs a selection again and again, and tells what fails only now and then.

use std::process::ExitCode;

use serde_json::json;

use super::Context;
use super::reading::{Form, given};
use super::render::flaky;
use super::run::exit::exit_code;
use super::session::{ask, within};
use crate::error::{Error, Result};
use crate::supervisor::flaky::{FlakyOutcome, FlakyReport};

/// Seconds for all of it where a person waits: more than the client of an agent would.
const BUDGET: u64 = 300;

/// Run tests many times with fresh seeds: what fails now and then, and after what
///
/// It ends early once everything that failed has passed as well. Exit codes: 0 nothing failed; 1 something did; those of
/// `coatepec run` if a round tested nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Flaky {
    /// Files, directories, `file:LINE(:LINE)`, `file[ID,ID]` or `file#NAME`
    #[arg(required = true)]
    selectors: Vec<String>,
    /// Only examples whose full description contains this
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    example: Option<String>,
    /// At most so many [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    rounds: Option<u32>,
    /// Seconds for all of it
    #[arg(long, value_name = "SECONDS", default_value_t = BUDGET, value_parser = clap::value_parser!(u64).range(1..=900))]
    budget: u64,
    /// Wall time of each round in seconds [default: 120, or as the project says]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=900))]
    timeout: Option<u64>,
    /// Find what must run before a failure
    #[arg(long)]
    bisect: bool,
    /// The selector of the failure to find that for [default: the first flaky one]
    #[arg(long, value_name = "SELECTOR", requires = "bisect")]
    failure: Option<String>,
    #[command(flatten)]
    form: Form,
}

pub(super) fn flaky(arguments: &Flaky, context: &Context) -> Result<ExitCode> {
    let asked = given(json!({
        "paths": arguments.selectors, "example": arguments.example, "rounds": arguments.rounds,
        "budget_seconds": arguments.budget, "timeout_seconds": arguments.timeout,
        "bisect": arguments.bisect, "failure": arguments.failure,
    }));
    let terminal = &context.terminal;
    if terminal.watched && !arguments.form.json {
        terminal.remark(&format!("running for at most {} s; Ctrl-C ends it\n", arguments.budget));
    }
    let answer = within(context, async |client, _| {
        ask(client, "rails_spec_flaky_check", asked.into()).await
    })?;
    if arguments.form.json {
        terminal.say(&(answer.to_string() + "\n"));
    }
    let report: FlakyReport = serde_json::from_value(answer)
        .map_err(|error| Error::internal("the result was not understood").source(error))?;
    if !arguments.form.json {
        terminal.say(&flaky::report(&report, terminal.out));
    }
    Ok(ExitCode::from(code(&report)))
}

fn code(report: &FlakyReport) -> u8 {
    match (report.outcome, &report.report) {
        (FlakyOutcome::NeverFailed, _) => 0,
        (FlakyOutcome::NotRun, Some(round)) => exit_code(round.outcome),
        _ => 1,
    }
}
