//! A line of the log.

use super::style::{Style, harmless};
use crate::journal::Entry;
use crate::journal::entry::Event;

/// One line: when, who, what, of what, how it ended, how long it took.
pub fn line(entry: &Entry, with_root: bool, style: Style) -> String {
    let time = entry.time.get(..19).unwrap_or(&entry.time).replace('T', " ");
    let mut parts = vec![style.dim(&time), harmless(&what(entry)), ended(entry, style)];
    parts.push(style.dim(&took(entry.milliseconds)));
    parts.extend((with_root).then(|| style.dim(&harmless(&entry.root))));
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("  ")
}

/// Whether it is the end of a run that a call was answered with.
pub fn told_by_its_call(entry: &Entry, all: &[Entry]) -> bool {
    let tells = |call: &Entry| {
        call.event == Event::Call
            && call.run_id == entry.run_id
            && call.outcome == entry.outcome
            && call.pid == entry.pid
    };
    entry.event == Event::Run && all.iter().any(tells)
}

fn what(entry: &Entry) -> String {
    let who = entry
        .client
        .as_deref()
        .map(|client| format!("{client}: "))
        .unwrap_or_default();
    let what = match entry.event {
        Event::Call => entry.tool.clone().unwrap_or_default(),
        Event::Run => entry.run_id.clone().unwrap_or_default(),
    };
    let more = match entry.more_paths {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let paths = entry.paths.join(" ");
    format!("{who}{what} {paths}{more}").trim_end().to_owned()
}

fn ended(entry: &Entry, style: Style) -> String {
    let mode = entry
        .mode
        .as_deref()
        .map(|mode| format!(" ({mode})"))
        .unwrap_or_default();
    match (entry.code.as_deref(), entry.outcome.as_deref()) {
        (Some(code), _) => style.yellow(code),
        (None, Some("passed")) => style.green("passed") + &mode,
        (None, Some(outcome @ ("running" | "cancelled"))) => style.yellow(outcome) + &mode,
        (None, Some(outcome)) => style.red(outcome) + &mode,
        (None, None) => String::new(),
    }
}

fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        _ => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
    }
}
