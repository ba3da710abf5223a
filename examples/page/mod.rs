//! A transcript that a person can read: plain text, with colour on a terminal only (https://no-color.org).

use std::io::IsTerminal;
use std::time::Duration;

use serde_json::Value;

/// Columns of a label.
const LABEL: usize = 18;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";

pub(crate) struct Page {
    colour: bool,
    headings: usize,
    promises: Vec<(&'static str, bool)>,
}

impl Page {
    pub(crate) fn new() -> Page {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let terminal = std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Page {
            colour: terminal && !refused,
            headings: 0,
            promises: Vec::new(),
        }
    }

    pub(crate) fn heading(&mut self, title: &str) {
        self.headings += 1;
        println!("\n{}\n", self.paint(BOLD, &format!("{}. {title}", self.headings)));
    }

    pub(crate) fn say(&self, text: &str) {
        println!("{text}");
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) {
        println!("{}", self.paint(DIM, &format!("→ {tool} {arguments}")));
    }

    pub(crate) fn outcome(&self, outcome: &str, rest: &str) {
        let colour = if outcome == "passed" { GREEN } else { RED };
        println!("  {}  {rest}", self.paint(colour, outcome));
    }

    /// Nothing when there is nothing to say. Further lines stand below the first.
    pub(crate) fn field(&self, label: &str, text: &str) {
        for (number, line) in text.lines().enumerate() {
            let label = if number == 0 { label } else { "" };
            println!("  {label:<LABEL$} {line}");
        }
    }

    /// Notes what was promised, and whether it was so. Said twice, it must be so twice.
    pub(crate) fn promise(&mut self, promise: &'static str, kept: bool) {
        match self.promises.iter_mut().find(|(known, _)| *known == promise) {
            Some((_, all)) => *all &= kept,
            None => self.promises.push((promise, kept)),
        }
    }

    pub(crate) fn promises(&self) {
        println!();
        for (promise, kept) in &self.promises {
            let mark = if *kept {
                self.paint(GREEN, "ok ")
            } else {
                self.paint(RED, "NOT")
            };
            println!("  {mark}  {promise}");
        }
        println!();
    }

    pub(crate) fn all_kept(&self) -> bool {
        self.promises.iter().all(|(_, kept)| *kept)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1000.0)
}

/// Of a number of seconds in a result.
pub(crate) fn seconds(value: &Value) -> String {
    milliseconds(Duration::from_secs_f64(value.as_f64().unwrap_or_default()))
}
