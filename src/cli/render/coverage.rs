//! Which lines a run executed, for people.

use super::style::{Style, harmless};
use crate::run::coverage::{CoverageReport, FileCoverage};

pub fn told(coverage: &CoverageReport, style: Style) -> String {
    let whose = match &coverage.since {
        Some(since) => format!("lines that differ from {}", harmless(since)),
        None => "lines".to_owned(),
    };
    let all = coverage.executed_lines + coverage.not_executed_lines;
    let mut lines = vec![match all {
        0 => format!("there are no {whose} to be executed"),
        all => format!("{} of {all} {whose} were executed", coverage.executed_lines),
    }];
    lines.extend(coverage.files.iter().map(|covered| file(covered, style)));
    let unmeasured = coverage.unmeasured.iter();
    lines.extend(unmeasured.map(|file| style.dim(&format!("{}: {}", harmless(&file.path), harmless(&file.reason)))));
    if let Some(error) = &coverage.error {
        let hint = error.hint.as_deref().unwrap_or_default();
        lines = vec![style.yellow(&harmless(&error.message)), style.dim(&harmless(hint))];
    }
    let body: String = lines.iter().map(|line| format!("   {line}\n")).collect();
    format!("\n{}\n{body}", style.bold("coverage"))
}

fn file(covered: &FileCoverage, style: Style) -> String {
    let path = harmless(&covered.path);
    match (covered.not_executed_lines, covered.not_loaded) {
        (0, _) => format!("{path} {}", style.green(&covered.executed)),
        (_, true) => format!("{path} {}", style.red("was not loaded")),
        (_, false) => {
            let executed = style.green(&covered.executed);
            format!("{path} {executed} not executed: {}", style.red(&covered.not_executed))
        }
    }
}
