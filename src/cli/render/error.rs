//! The one renderer of errors: what happened, where, and what to do next.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::style::{Style, harmless};
use super::words::of_error;
use crate::error::Error;

/// Several lines, the last one ended.
pub fn error(error: &Error, style: Style) -> String {
    let label = style.bold(&style.red("error"));
    let code = style.dim(&format!("[{}]", error.kind.code()));
    let said = |text: &str| harmless(&of_error(error.kind, text));
    let mut lines = vec![format!("{label}: {} {code}", said(&error.to_string()))];
    if let Some(details) = error.details.as_deref() {
        lines.extend(excerpt(details, style));
        lines.extend(refused(details, style));
    }
    if let Some(hint) = &error.hint {
        lines.push(format!("{}: {}", style.cyan("hint"), said(hint)));
    }
    lines.join("\n") + "\n"
}

/// The line of a file that is wrong, with what is wrong in it marked.
fn excerpt(details: &Value, style: Style) -> Option<String> {
    let file = details.get("file")?.as_str()?;
    let line = details.get("line")?.as_u64()?;
    let text = harmless(details.get("text")?.as_str()?).replace('\t', " ");
    let place = format!("  {file}:{line}");
    let gutter = " ".repeat(place.width());
    let bar = style.dim("│");
    let mut excerpt = format!("{} {bar} {text}", style.dim(&place));
    if let Some((from, length)) = marked(&text, details) {
        let mark = style.red(&"^".repeat(length));
        excerpt += &format!("\n{gutter} {bar} {}{mark}", " ".repeat(from));
    }
    Some(excerpt)
}

/// Columns of the wrong word.
fn marked(text: &str, details: &Value) -> Option<(usize, usize)> {
    let word = details.get("word")?.as_str()?;
    let at = text.find(word)?;
    Some((text[..at].width(), word.width().max(1)))
}

/// Selectors that were refused, each with its reason; of a single one the message says it all.
fn refused(details: &Value, style: Style) -> Vec<String> {
    let refused = details
        .get("refused")
        .and_then(Value::as_array)
        .filter(|refused| refused.len() > 1)
        .map_or(&[][..], Vec::as_slice);
    let text = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(harmless);
    let line = |entry: &Value| {
        let selector = text(entry, "selector").or_else(|| text(entry, "path"))?;
        let reason = text(entry, "reason").unwrap_or_default();
        let hint = text(entry, "hint").map_or(String::new(), |hint| style.dim(&format!(" ({hint})")));
        Some(format!("  {}: {reason}{hint}", style.bold(&selector)))
    };
    let more = details.get("more_refused").and_then(Value::as_u64);
    let more = more.map(|more| style.dim(&format!("  and {more} more")));
    refused.iter().filter_map(line).chain(more).collect()
}
