//! A few lines of a file around the one that matters.

use super::style::{Style, harmless};

/// Lines before and after it.
const AROUND: usize = 2;

/// A place in the app: `spec/models/widget_spec.rb:16:in 'block'` → the file and the line. Nothing outside of the app.
pub fn place(frame: &str) -> Option<(&str, usize)> {
    let (file, rest) = frame.split_once(".rb:")?;
    let file = &frame[..file.len() + ".rb".len()];
    let line = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let inside = !file.starts_with(['/', '[', '~']) && !file.split('/').any(|part| part == "..");
    inside.then_some((file, line))
}

/// Lines from 1; empty when the file has no such line any more.
pub fn excerpt(text: &str, line: usize, style: Style) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if line == 0 || line > lines.len() {
        return String::new();
    }
    let first = line.saturating_sub(AROUND).max(1);
    let last = (line + AROUND).min(lines.len());
    let digits = last.to_string().len();
    let shown = (first..=last).map(|number| {
        let text = harmless(lines[number - 1]).replace('\t', "  ");
        match number == line {
            true => format!("{} {}", style.red(&format!("▸ {number:digits$} │")), style.bold(&text)),
            false => style.dim(&format!("  {number:digits$} │ {text}")),
        }
    });
    shown.map(|line| line.trim_end().to_owned() + "\n").collect()
}
