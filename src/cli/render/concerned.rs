//! Which tests changed files concern, for people.

use super::style::{Style, harmless};
use super::words::counted;
use crate::project::concerned::{Confidence, Row};
use crate::supervisor::concern::{ConcernReport, ConcernedRun};

/// Selectors, one per line.
pub fn paths(paths: &[&String]) -> String {
    paths.iter().map(|path| format!("{path}\n")).collect()
}

/// What selectors alone don't tell: for which files there are none, and what else may be missing.
pub fn beside_paths(report: &ConcernReport, style: Style) -> String {
    let lost = report.cut.as_ref().map_or(0, |cut| cut.paths);
    let lost = (lost > 0).then(|| style.yellow(&format!("left out: {lost} selectors; ask for fewer files")));
    let lines = unmatched(report, style).chain(warnings(report, style)).chain(lost);
    lines.map(|line| line + "\n").collect()
}

fn unmatched(report: &ConcernReport, style: Style) -> impl Iterator<Item = String> {
    report.unmatched.iter().map(move |file| {
        let run = match file.run.is_empty() {
            true => String::new(),
            false => format!("; run {}", harmless(&file.run.join(" and "))),
        };
        format!(
            "{} {}: {}{run}",
            style.yellow("?"),
            harmless(&file.path),
            harmless(&file.reason)
        )
    })
}

fn warnings(report: &ConcernReport, style: Style) -> impl Iterator<Item = String> {
    let warnings = report.warnings.iter();
    warnings.map(move |warning| format!("{} {}", style.yellow("warning"), harmless(warning)))
}

pub fn told(report: &ConcernReport, style: Style) -> String {
    let mut lines = Vec::new();
    for run in &report.runs {
        lines.extend(one(run, style));
    }
    lines.extend(unmatched(report, style));
    let nothing = report.irrelevant.iter();
    lines.extend(nothing.map(|file| style.dim(&format!("- {}: {}", harmless(&file.path), harmless(&file.reason)))));
    lines.extend(warnings(report, style));
    lines.extend(report.cut.as_ref().map(|cut| {
        let entries = cut.tests + cut.unmatched + cut.irrelevant + cut.because + cut.warnings;
        match cut.paths {
            0 => style.dim(&format!("left out: {entries} entries; --paths has all")),
            paths => style.yellow(&format!(
                "left out: {entries} entries and {paths} selectors; raise `max_result_bytes`, or ask for fewer files"
            )),
        }
    }));
    if lines.is_empty() {
        lines.push(match &report.since {
            Some(since) => format!("nothing differs from {}", harmless(since)),
            None => "nothing is concerned".to_owned(),
        });
    }
    lines.join("\n") + "\n"
}

fn one(run: &ConcernedRun, style: Style) -> Vec<String> {
    let name = run.framework.name();
    let mut lines = vec![match (run.all, run.grouped) {
        (true, _) => style.bold(&format!("{name}: everything")),
        (false, true) => style.bold(&format!("{name}: {} tests, by directories", run.total)),
        (false, false) => style.bold(&format!(
            "{name}: {}",
            counted(run.total as u64, "test file", "test files")
        )),
    }];
    let because = run.because.iter();
    lines.extend(because.map(|because| format!("  {}: {}", harmless(&because.path), harmless(&because.reason))));
    lines.extend(run.tests.iter().map(|row| self::row(row, style)));
    lines.push(style.dim(&format!("  coatepec run {}", quoted(&run.paths))));
    lines
}

fn row(row: &Row, style: Style) -> String {
    let sure = match row.confidence {
        Confidence::High => style.green("high  "),
        Confidence::Medium => style.yellow("medium"),
        Confidence::Low => style.dim("low   "),
    };
    let reasons = harmless(&row.reasons.join("; "));
    format!("  {sure} {} {}", harmless(&row.path), style.dim(&reasons))
}

fn quoted(paths: &[String]) -> String {
    let plain = |path: &str| path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    let word = |path: &String| match plain(path) {
        true => path.clone(),
        false => format!("'{}'", harmless(path).replace('\'', r"'\''")),
    };
    paths.iter().map(word).collect::<Vec<_>>().join(" ")
}
