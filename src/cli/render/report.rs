//! A run that is over, for people: what failed, what else is to be known, and one line that says it all.

use super::coverage;
use super::diff;
use super::profile::profile;
use super::style::{Style, harmless, harmless_line};
use super::words::{counted, of_shell};
use crate::run::outcome::Outcome;
use crate::run::report::{ErrorReport, FailureReport, Mode, Report, Stream};
use crate::sandbox::Kind;

/// Characters of the selectors of one run of several.
const SELECTORS: usize = 60;

/// Frames of a backtrace.
const FRAMES: usize = 6;

/// Everything beside the failures and the last line. `excerpt` gives the lines of a file around the place that a frame
/// names.
pub fn body(report: &Report, excerpt: &dyn Fn(&str) -> String, style: Style) -> String {
    let mut text = String::new();
    for outside in &report.errors_outside {
        text += &titled(
            &style.red(&harmless(outside.context.trim())),
            &error(&outside.error, excerpt, style),
        );
    }
    if let Some(error) = &report.error {
        let title = style.red(&words(report.outcome));
        text += &titled(&title, &self::error(error, excerpt, style));
    }
    for example in &report.unfinished {
        let what = format!("{}\n{}", harmless(&example.description), style.dim(&example.id));
        text += &titled(&style.red("did not finish"), &what);
    }
    for thread in &report.threads {
        let title = format!(
            "thread {} ({})",
            harmless_line(&thread.name),
            harmless_line(&thread.status)
        );
        text += &titled(&style.yellow(&title), &frames(&thread.backtrace, style));
    }
    text += &report
        .coverage
        .as_ref()
        .map_or(String::new(), |covered| coverage::told(covered, style));
    text += &output("stdout", report.stdout.as_ref(), style);
    text += &output("stderr", report.stderr.as_ref(), style);
    text += &report
        .profile
        .as_ref()
        .map_or(String::new(), |told| profile(told, style));
    text + &remarks(report, style)
}

pub fn failure(number: usize, failure: &FailureReport, excerpt: &dyn Fn(&str) -> String, style: Style) -> String {
    let place = format!("{}:{}", failure.file, failure.line);
    let mut text = format!(
        "\n{} {}\n   {}\n\n",
        style.red(&format!("{number}.")),
        style.bold(&harmless(&failure.description)),
        style.dim(&place)
    );
    let message = headline(&failure.class, &failure.message);
    text += &indented(&style.red(&message));
    if let Some(diff) = &failure.diff {
        text += "\n";
        text += &indented(diff::coloured(diff, style).trim_end());
    }
    for part in failure.parts.iter().chain(&failure.causes) {
        text += "\n";
        text += &indented(&error(part, excerpt, style));
    }
    // Each part of an aggregated failure has its own.
    if failure.parts.is_empty() {
        text += &traced(&failure.backtrace, excerpt, style);
    }
    text + &indented(&rerun(&failure.rerun, style))
}

/// One that says the same as an earlier one.
pub fn also(number: usize, id: &str, description: &str, like: &str, style: Style) -> String {
    let head = format!(
        "\n{} {}\n",
        style.red(&format!("{number}.")),
        style.bold(&harmless(description))
    );
    let like = style.dim(&format!("as of: {}", harmless(like)));
    head + &indented(&format!("{like}\n{}", rerun(id, style)))
}

fn rerun(selector: &str, style: Style) -> String {
    format!("{} coatepec run '{selector}'", style.dim("rerun:"))
}

/// One line, and what to do next if that is not plain.
pub fn summary(report: &Report, style: Style) -> String {
    let counts = counts(report, style);
    let how = format!("({})", how(report));
    let seconds = format!("in {:.2} s", report.summary.seconds);
    let mut lines = Vec::new();
    let outcome = style.bold(&coloured(report.outcome, &words(report.outcome), style));
    lines.push(format!("{outcome}: {counts} {seconds} {}", style.dim(&how)));
    lines.extend(report.reason.as_deref().map(|reason| harmless(&of_shell(reason))));
    let hint = report.hint.as_deref().map(|hint| harmless(&of_shell(hint)));
    lines.extend(hint.map(|hint| format!("{}: {hint}", style.cyan("hint"))));
    lines.join("\n") + "\n"
}

/// Of several runs of one selection, in a line: what became of each, and what was not run any more. Nothing of one that
/// was all.
pub fn together(runs: &[(String, &Report)], left_out: &[String], style: Style) -> String {
    if runs.len() < 2 && left_out.is_empty() {
        return String::new();
    }
    let told = runs.iter().map(|(selectors, report)| {
        let outcome = style.bold(&coloured(report.outcome, &words(report.outcome), style));
        format!("{outcome} in {}", named(selectors))
    });
    let left_out =
        (!left_out.is_empty()).then(|| format!("{} {}", style.yellow("not run:"), named(&left_out.join(" "))));
    format!("\ntogether: {}\n", told.chain(left_out).collect::<Vec<_>>().join("; "))
}

/// Selectors, as far as they fit into a line.
fn named(selectors: &str) -> String {
    let mut short: String = selectors.chars().take(SELECTORS).collect();
    if short.len() < selectors.len() {
        short.push('…');
    }
    harmless_line(&short)
}

/// `timed_out` → `timed out`.
pub fn words(outcome: Outcome) -> String {
    name(outcome).replace('_', " ")
}

fn coloured(outcome: Outcome, text: &str, style: Style) -> String {
    match outcome {
        Outcome::Passed => style.green(text),
        Outcome::NoExamples | Outcome::AllPending | Outcome::DryRun | Outcome::Cancelled => style.yellow(text),
        _ => style.red(text),
    }
}

fn name(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

fn counts(report: &Report, style: Style) -> String {
    let summary = &report.summary;
    let warnings = u32::try_from(report.warnings.len()).unwrap_or(u32::MAX);
    let told = [
        (summary.failures, "failed", style.red("")),
        (summary.errors_outside, outside(summary.errors_outside), style.red("")),
        (summary.pending, "pending", style.yellow("")),
        (summary.not_run, "not run", style.yellow("")),
        (
            warnings,
            if warnings == 1 { "warning" } else { "warnings" },
            style.yellow(""),
        ),
    ];
    let examples = counted(summary.examples.into(), "example", "examples");
    let others = told.iter().filter(|(count, ..)| *count > 0);
    let others = others.map(|(count, what, _)| format!("{count} {what}"));
    std::iter::once(examples).chain(others).collect::<Vec<_>>().join(", ")
}

fn how(report: &Report) -> String {
    let mode = report.mode.map(|mode| match (mode, &report.mode_reason) {
        (Mode::Fork, _) => "warm".to_owned(),
        (_, Some(reason)) => format!("fresh process: {}", harmless(reason)),
        (_, None) => "fresh process".to_owned(),
    });
    let seed = report.seed.map(|seed| format!("seed {seed}"));
    let trigger = report.trigger.as_deref().map(harmless_line);
    let parts: Vec<String> = mode
        .into_iter()
        .chain(trigger)
        .chain(before(report))
        .chain(seed)
        .collect();
    match parts.is_empty() {
        true => report.run_id.clone(),
        false => parts.join("; "),
    }
}

fn outside(errors: u32) -> &'static str {
    match errors {
        1 => "error outside of examples",
        _ => "errors outside of examples",
    }
}

/// What took long before the first example.
fn before(report: &Report) -> impl Iterator<Item = String> {
    let timing = report.timing;
    let parts = [
        ("boot", timing.boot),
        ("waiting", timing.wait),
        ("loading", timing.load),
    ];
    let long = parts.into_iter().filter(|(_, seconds)| *seconds >= 0.5);
    long.map(|(what, seconds)| format!("{what} {seconds:.1} s"))
}

fn remarks(report: &Report, style: Style) -> String {
    let mut lines = Vec::new();
    for pending in &report.pending {
        let reason = harmless(&pending.reason).replace('\n', " ");
        lines.push(format!(
            "{} {} ({reason})",
            style.yellow("pending"),
            harmless(&pending.description)
        ));
    }
    let warn = |text: String| format!("{} {text}", style.yellow("warning"));
    lines.extend(report.warnings.iter().map(|warning| warn(harmless(&of_shell(warning)))));
    let left = report.leftovers.iter();
    lines.extend(left.map(|left| {
        warn(format!(
            "left a process behind, which was killed: {}",
            harmless_line(&left.command)
        ))
    }));
    let skipped = report.skipped.iter();
    lines.extend(skipped.map(|skipped| {
        warn(format!(
            "skipped {}: {}",
            harmless_line(&skipped.path),
            harmless(&skipped.reason)
        ))
    }));
    let refused = report.refused.iter();
    lines.extend(refused.map(|refused| {
        warn(format!(
            "the sandbox refused {}{}{}{}",
            refusal_of(refused.kind),
            harmless_line(&refused.what),
            times(refused.count),
            refused
                .example
                .as_deref()
                .map_or(String::new(), |example| format!(", in {}", harmless_line(example)))
        ))
    }));
    if !report.held_back.is_empty() {
        let names = harmless_line(&report.held_back.join(", "));
        lines.push(style.dim(&format!(
            "the sandbox kept from the app what looks like a secret: {names} (`env: {{keep: …}}` in .coatepec.yml)"
        )));
    }
    if let Some(crash) = &report.crashed_fork {
        lines.push(warn(format!(
            "a fork crashed with {}; this is a fresh process",
            crash.signal
        )));
    }
    lines.extend(report.cut.as_ref().map(|cut| {
        let entries = cut.failures + cut.errors_outside + cut.pending + cut.passing + cut.not_run + cut.other;
        style.dim(&format!("left out: {entries} entries, {} bytes of text", cut.bytes))
    }));
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{}\n", lines.join("\n")),
    }
}

fn error(error: &ErrorReport, excerpt: &dyn Fn(&str) -> String, style: Style) -> String {
    let head = headline(&error.class, &error.message);
    let place = match (&error.file, error.line) {
        (Some(file), Some(line)) if error.backtrace.is_empty() => vec![format!("{file}:{line}")],
        _ => error.backtrace.clone(),
    };
    let traced = traced(&place, excerpt, style);
    format!("{}\n{}", style.red(&head), unindented(&traced))
}

/// The message, after the class where that says more than that something failed.
fn headline(class: &str, message: &str) -> String {
    let message = harmless(message.trim_matches('\n'));
    match class {
        "" | "RSpec::Expectations::ExpectationNotMetError" | "Minitest::Assertion" => message,
        class => format!("{}: {message}", harmless(class)),
    }
}

/// The source at the first frame, and the frames.
fn traced(backtrace: &[String], excerpt: &dyn Fn(&str) -> String, style: Style) -> String {
    let source = backtrace.first().map_or(String::new(), |frame| excerpt(frame));
    let mut text = String::new();
    if !source.is_empty() {
        text += "\n";
        text += &indented(source.trim_end_matches('\n'));
    }
    if !backtrace.is_empty() {
        text += "\n";
        text += &indented(&frames(backtrace, style));
    }
    text
}

fn frames(backtrace: &[String], style: Style) -> String {
    let shown = backtrace.iter().take(FRAMES).map(|frame| style.dim(&harmless(frame)));
    let more = backtrace.len().saturating_sub(FRAMES);
    let more = (more > 0).then(|| style.dim(&format!("… {more} more")));
    shown.chain(more).collect::<Vec<_>>().join("\n")
}

fn output(name: &str, stream: Option<&Stream>, style: Style) -> String {
    let Some(stream) = stream.filter(|stream| !stream.text.trim().is_empty()) else {
        return String::new();
    };
    let dropped = match stream.dropped {
        0 => String::new(),
        dropped => format!(" ({dropped} of {} bytes are not shown)", stream.bytes),
    };
    titled(
        &style.dim(&format!("{name}{dropped}")),
        harmless(&stream.text).trim_end(),
    )
}

fn titled(title: &str, text: &str) -> String {
    format!("\n{title}\n{}", indented(text.trim_end_matches('\n')))
}

fn indented(text: &str) -> String {
    let line = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("   {line}\n"),
    };
    text.split('\n').map(line).collect()
}

fn unindented(text: &str) -> String {
    let lines = text.lines().map(|line| line.strip_prefix("   ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn refusal_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Network => "",
        Kind::Read => "to read ",
        Kind::Write => "to write ",
        Kind::Syscall => "the system call ",
    }
}

fn times(count: u64) -> String {
    match count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    }
}
