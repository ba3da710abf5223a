//! How far a run is, in one line that is drawn over.

use super::data::cut;
use super::style::{Style, harmless};
use crate::run::progress::{Phase, Progress};

/// Columns of the bar, where there are as many, and those without which it is left out.
const BAR: usize = 24;
const LEAST: usize = 4;
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// At most `width` columns. `tick` counts up with each drawing, so that one sees that something moves.
pub fn line(progress: &Progress, seconds: u64, tick: usize, width: usize, style: Style) -> String {
    let spinner = SPINNER[tick % SPINNER.len()];
    let Some(examples) = progress.examples.filter(|_| progress.phase == Phase::Running) else {
        return cut(
            &format!("{spinner} {} ({seconds} s)", harmless(&progress.sentence())),
            width,
        );
    };
    let failures = match progress.failures {
        0 => String::new(),
        failures => format!("{failures} failed  "),
    };
    let numbers = format!("{spinner} {}/{examples} ", progress.finished);
    let current = harmless(progress.current.as_deref().unwrap_or_default()).replace('\n', " ");
    let room = width.saturating_sub(numbers.chars().count() + 2 + failures.len());
    let columns = if room < LEAST { 0 } else { room.min(BAR) };
    if columns == 0 {
        return cut(&format!("{numbers}{failures}{current}"), width);
    }
    let (done, rest) = bar(progress.finished, examples, columns);
    let current = cut(&current, room - columns);
    let done = if progress.failures > 0 {
        style.red(&done)
    } else {
        style.green(&done)
    };
    format!("{numbers}{done}{}  {}{current}", style.dim(&rest), style.red(&failures))
}

fn bar(finished: u32, of: u32, columns: usize) -> (String, String) {
    let done = match of {
        0 => columns,
        of => columns * finished.min(of) as usize / of as usize,
    };
    ("━".repeat(done), "━".repeat(columns - done))
}
