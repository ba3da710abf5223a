//! Answers that are kept as files, and held against what is answered now. With `COATEPEC_GOLDEN=write` they are written
//! anew; what has changed is then for `git diff` to show.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// The answer must be what is in `tests/integration/golden/NAME.json`, whatever Ruby and Rails are.
#[track_caller]
pub(crate) fn golden(name: &str, answer: &Value) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/integration/golden/{name}.json"));
    let text = shown(answer);
    if std::env::var_os("COATEPEC_GOLDEN").is_some_and(|wish| wish == "write") {
        fs::write(&path, &text).expect("it can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let different = kept.lines().zip(text.lines()).find(|(kept, now)| kept != now);
    if let Some((kept, now)) = different {
        panic!("{name}: other than it was\n  kept: {kept}\n  now:  {now}");
    }
    assert_eq!(kept.len(), text.len(), "{name}: one is longer\n{text}");
}

/// A line for each field, and for each item of a list that a field has.
fn shown(answer: &Value) -> String {
    let mut text = String::from("{\n");
    let fields = answer.as_object().expect("an answer is an object");
    for (at, (name, value)) in fields.iter().enumerate() {
        let comma = if at + 1 < fields.len() { "," } else { "" };
        match value {
            Value::Array(items) if items.iter().any(|item| item.is_array() || item.is_object()) => {
                let lines: Vec<String> = items.iter().map(|item| format!("    {item}")).collect();
                writeln!(text, "  {name:?}: [\n{}\n  ]{comma}", lines.join(",\n"))
            }
            plain => writeln!(text, "  {name:?}: {plain}{comma}"),
        }
        .expect("a string takes everything");
    }
    text + "}\n"
}
