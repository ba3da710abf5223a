//! Differences between two texts, as `diff -u` shows them.

use similar::TextDiff;

use super::style::{Style, harmless};

/// From the old text to the new one; empty when they are the same.
pub fn between(file: &str, old: &str, new: &str, style: Style) -> String {
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(3).header(file, file).to_string();
    coloured(&text, style)
}

/// A unified diff, made by whomever.
pub fn coloured(diff: &str, style: Style) -> String {
    let mut lines: Vec<String> = diff.split('\n').map(|line| line_of(&harmless(line), style)).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
        lines.push(String::new());
    }
    lines.join("\n")
}

fn line_of(line: &str, style: Style) -> String {
    match line.as_bytes().first() {
        _ if line.starts_with("---") || line.starts_with("+++") => style.bold(line),
        Some(b'+') => style.green(line),
        Some(b'-') => style.red(line),
        Some(b'@') => style.cyan(line),
        _ => line.to_owned(),
    }
}
