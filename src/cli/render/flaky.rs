//! What several rounds have told, for people. Pure.

use super::report;
use super::style::{Style, harmless};
use super::words::{counted, of_shell};
use crate::run::cause::{BisectReport, Cause};
use crate::run::flaky::Tally;
use crate::supervisor::flaky::{Ended, FlakyOutcome, FlakyReport};

pub fn report(told: &FlakyReport, style: Style) -> String {
    let warning = |text: &String| format!("{} {}\n", style.yellow("warning"), harmless(&of_shell(text)));
    let mut text: String = told.warnings.iter().map(warning).collect();
    text += &tallies("fails now and then", &told.inconsistent, style);
    text += &tallies("fails always", &told.consistently_failing, style);
    let cut = told.cut.iter().filter(|(place, _)| !place.contains('.'));
    for (list, more) in cut {
        text += &format!("\n{more} more in `{list}`\n");
    }
    text += &told
        .bisect
        .as_ref()
        .map_or(String::new(), |bisect| found(bisect, style));
    if let Some(round) = &told.report {
        text += &report::body(round, &|_| String::new(), style);
        text += "\n";
        text += &report::summary(round, style);
    }
    text += &changed(&told.changed, style);
    text + &summary(told, style)
}

/// At most so many files are named.
const NAMED: usize = 5;

fn changed(files: &[String], style: Style) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> = files.iter().take(NAMED).map(|file| harmless(file)).collect();
    if let more @ 1.. = files.len().saturating_sub(NAMED) {
        lines.push(counted(more as u64, "more file", "more files"));
    }
    let title = style.yellow("files changed, and the rounds after that would not be of the same code:");
    format!("\n{title}\n{}", indented(&lines.join("\n")))
}

fn tallies(title: &str, tallies: &[Tally], style: Style) -> String {
    tallies.iter().map(|tally| told_of(title, tally, style)).collect()
}

fn told_of(title: &str, tally: &Tally, style: Style) -> String {
    let rounds = tally.failed + tally.passed;
    let first = match (tally.first_failing_round, tally.first_failing_seed) {
        (Some(round), Some(seed)) => format!(", first in round {round} with seed {seed}"),
        (Some(round), None) => format!(", first in round {round}"),
        _ => String::new(),
    };
    let head = format!(
        "\n{}: {} of {rounds} rounds{first}\n   {}\n",
        style.red(title),
        tally.failed,
        style.bold(&harmless(&tally.description))
    );
    let id = match tally.id.as_str() {
        "" => String::new(),
        id => format!("   {}\n", style.dim(&harmless(id))),
    };
    head + &id + &indented(tally.message.as_deref().unwrap_or_default())
}

fn found(bisect: &BisectReport, style: Style) -> String {
    let id = harmless(&bisect.failure);
    let mut text = format!("\n{} {id}: {} ({})\n", style.cyan("bisect"), why(bisect), runs(bisect));
    let of_others = matches!(bisect.cause, Cause::Order | Cause::NeedsAnother);
    if of_others {
        text += &indented(&bisect.minimal.join("\n"));
    }
    if of_others && !bisect.complete {
        text += "   it was ended before its time: some of them may not be needed\n";
    }
    let shows = match bisect.cause {
        Cause::NeedsAnother => "shows it pass:",
        _ => "shows it:",
    };
    let command = bisect.command.iter();
    let command = command.map(|command| format!("   {} {}\n", style.dim(shows), harmless(command)));
    text + &command.collect::<String>()
}

fn why(bisect: &BisectReport) -> &'static str {
    match (bisect.cause, bisect.complete) {
        (Cause::Order, _) => "fails after the others of these, in this order, and not without them",
        (Cause::NeedsAnother, _) => "passes after the others of these, in this order, and fails without them",
        (Cause::Alone, _) => "with its seed it fails alone, too, and with another it does not: what is random decides",
        (Cause::Always, _) => "fails alone, whatever the seed",
        (Cause::Chance, _) => {
            "with the same seed and the same examples it failed and passed: neither order nor seed decides"
        }
        (Cause::NeverFailed, _) => "did not fail in any round",
        (Cause::Unknown, false) => "it was ended before anything was found",
        (Cause::Unknown, true) => "no fewer examples than all of a round show it",
    }
}

/// Where nothing else decides, the rate is all there is to tell.
fn runs(bisect: &BisectReport) -> String {
    let runs = bisect.runs.into();
    match bisect.cause {
        Cause::Chance => format!(
            "failed in {} of {}",
            bisect.failed,
            counted(runs, "more run", "more runs")
        ),
        _ => counted(runs, "run", "runs"),
    }
}

fn summary(told: &FlakyReport, style: Style) -> String {
    let (outcome, colour): (_, fn(Style, &str) -> String) = match told.outcome {
        FlakyOutcome::Flaky => ("flaky", |style, text| style.red(text)),
        FlakyOutcome::ConsistentlyFailing => ("consistently failing", |style, text| style.red(text)),
        FlakyOutcome::NeverFailed => ("never failed", |style, text| style.green(text)),
        FlakyOutcome::NotRun => ("not run", |style, text| style.yellow(text)),
    };
    let ended = match told.ended {
        Ended::Proven => "; everything that failed has passed as well",
        Ended::Budget => "; the time was used up",
        Ended::Changed => "; files changed meanwhile",
        Ended::Rounds | Ended::NotRun => "",
    };
    let outcome = style.bold(&colour(style, outcome));
    let rounds = format!(
        "{} of {} rounds in {:.1} s",
        told.rounds, told.rounds_planned, told.seconds
    );
    let command = match &told.command {
        Some(command) if told.outcome == FlakyOutcome::Flaky => {
            format!("{} {}\n", style.dim("to see it fail:"), harmless(command))
        }
        _ => String::new(),
    };
    format!("\n{outcome}: {rounds}{ended}\n{command}")
}

fn indented(text: &str) -> String {
    let lines = harmless(text);
    lines.lines().map(|line| format!("   {line}\n")).collect()
}
