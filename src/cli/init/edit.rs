//! A configuration with our entry in it: everything else stays as it is, comments and spaces included. Pure.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::hosts::{Format, Host, NAME};

/// What becomes of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The entry is there already.
    Unchanged,
    /// There is an entry of this name that starts something else.
    Different,
    Changed(String),
}

/// `text` is empty when there is no file. `replace`: an entry that starts something else is made to start us; what else it
/// has (an environment, time limits) stays.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn edit(text: &str, host: Host, entry: &Value, replace: bool) -> Result<Edit, String> {
    // Some editors put it there. Whoever reads the file minds it no more than before.
    let (mark, body) = match text.strip_prefix(BYTE_ORDER) {
        Some(body) => (BYTE_ORDER, body),
        None => ("", text),
    };
    let edited = match host.format() {
        Format::Jsonc => edit_jsonc(body, host, entry, replace),
        Format::Toml => edit_toml(body, host, entry, replace),
    };
    Ok(match edited? {
        Edit::Changed(new) => Edit::Changed(format!("{mark}{}", with_line_ends_of(body, new))),
        edit => edit,
    })
}

/// The program that the entry of our name starts, if there is one.
pub fn command(text: &str, host: Host) -> Option<String> {
    let body = text.strip_prefix(BYTE_ORDER).unwrap_or(text);
    match host.format() {
        Format::Jsonc => {
            let root = CstRootNode::parse(body, &comments_and_commas()).ok()?;
            let whole: Value = root.to_serde_value()?;
            let command = &whole[host.section()][NAME]["command"];
            Some(command.as_str().or_else(|| command[0].as_str())?.to_owned())
        }
        Format::Toml => {
            let document: DocumentMut = body.parse().ok()?;
            let command = document.get(host.section())?.get(NAME)?.get("command");
            plain(command).into_iter().next()
        }
    }
}

const BYTE_ORDER: &str = "\u{feff}";

/// Lines of Windows in a file whose lines all are.
fn with_line_ends_of(old: &str, new: String) -> String {
    let ends = old.matches('\n').count();
    match ends > 0 && old.matches("\r\n").count() == ends {
        true => new.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => new,
    }
}

fn edit_jsonc(text: &str, host: Host, entry: &Value, replace: bool) -> Result<Edit, String> {
    let root = CstRootNode::parse(text, &comments_and_commas()).map_err(|error| error.to_string())?;
    let not_an_object = |what: &str| format!("{what} is not an object");
    let whole = root
        .object_value_or_create()
        .ok_or_else(|| not_an_object("the whole"))?;
    let section = host.section();
    let servers = whole
        .object_value_or_create(section)
        .ok_or_else(|| not_an_object(&format!("`{section}`")))?;
    match servers.get(NAME) {
        None => {
            servers.append(NAME, input(entry));
        }
        Some(there) => {
            let there = there
                .object_value()
                .ok_or_else(|| not_an_object(&format!("`{section}.{NAME}`")))?;
            if starts_us(&there.to_serde_value().unwrap_or_default(), entry) {
                return Ok(Edit::Unchanged);
            }
            if !replace {
                return Ok(Edit::Different);
            }
            overwrite(&there, entry);
        }
    }
    let mut edited = root.to_string();
    if !edited.ends_with('\n') {
        edited.push('\n');
    }
    Ok(Edit::Changed(edited))
}

/// What the editors accept, and nothing more: what they would not read must not pass here.
fn comments_and_commas() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Whether an entry has what ours has; it may have more.
fn starts_us(there: &Value, entry: &Value) -> bool {
    let mut ours = entry.as_object().into_iter().flatten();
    ours.all(|(key, value)| match there.get(key) {
        // Nothing said is as good as an empty list.
        None => value.as_array().is_some_and(Vec::is_empty),
        Some(there) => there == value,
    })
}

fn overwrite(there: &CstObject, entry: &Value) {
    for (key, value) in entry.as_object().into_iter().flatten() {
        match there.get(key) {
            Some(property) => property.set_value(input(value)),
            None => {
                there.append(key, input(value));
            }
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn edit_toml(text: &str, host: Host, entry: &Value, replace: bool) -> Result<Edit, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let section = host.section();
    let not_a_table = |what: &str| format!("`{what}` is not a table");
    let servers = document
        .entry(section)
        .or_insert_with(|| Item::Table(implicit()))
        .as_table_like_mut()
        .ok_or_else(|| not_a_table(section))?;
    let known = servers.contains_key(NAME);
    let ours = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let ours = ours
        .as_table_like_mut()
        .ok_or_else(|| not_a_table(&format!("{section}.{NAME}")))?;
    let entry = entry.as_object().into_iter().flatten();
    let entry: Vec<(&String, Item)> = entry.map(|(key, value)| (key, item(value))).collect();
    let same = |(key, wanted): &(&String, Item)| plain(ours.get(key)) == plain(Some(wanted));
    if known && entry.iter().all(same) {
        return Ok(Edit::Unchanged);
    }
    if known && !replace {
        return Ok(Edit::Different);
    }
    for (key, wanted) in entry {
        ours.insert(key, wanted);
    }
    Ok(Edit::Changed(document.to_string()))
}

/// Its own header is not written: only those of the servers below it.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn item(json: &Value) -> Item {
    match json {
        Value::Array(items) => {
            let words: Array = items.iter().filter_map(Value::as_str).collect();
            value(words)
        }
        other => value(other.as_str().unwrap_or_default()),
    }
}

/// The words, however they are written; an empty list is as good as none.
fn plain(item: Option<&Item>) -> Vec<String> {
    match item {
        None => Vec::new(),
        Some(item) => match item.as_array() {
            Some(items) => items
                .iter()
                .map(|word| word.as_str().unwrap_or_default().to_owned())
                .collect(),
            None => item.as_str().map(str::to_owned).into_iter().collect(),
        },
    }
}
