//! Any answer of a tool for people: fields below each other, lists of alike things as tables.

use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use super::style::{Style, harmless};

const INDENT: &str = "  ";
const GAP: &str = "  ";
/// A column that is cut keeps at least so much.
const LEAST: usize = 8;

/// `width`: columns of a terminal, or none when every line may be as long as it is. Ends with a line feed.
pub fn show(answer: &Value, width: Option<usize>, style: Style) -> String {
    let view = View { width, style };
    let mut lines = match answer {
        Value::Object(fields) if fields.values().any(is_said) => view.fields(fields),
        other => vec![flat(other)],
    };
    lines.push(String::new());
    lines.join("\n")
}

#[derive(Clone, Copy)]
struct View {
    width: Option<usize>,
    style: Style,
}

impl View {
    fn fields(self, fields: &Map<String, Value>) -> Vec<String> {
        // A table by columns and rows is the answer itself; its column names are its head.
        let rows = |name: &str| {
            fields
                .get("columns")
                .filter(|_| name == "rows")
                .and_then(Value::as_array)
        };
        let is_head = |name: &str| name == "columns" && fields.contains_key("rows");
        let shown = fields.iter().filter(|(name, value)| is_said(value) && !is_head(name));
        let longest = shown
            .clone()
            .filter(|(_, value)| is_flat(value))
            .map(|(name, _)| name.width());
        let names = longest.max().unwrap_or(0);
        shown
            .flat_map(|(name, value)| match rows(name) {
                Some(columns) => self.matrix(columns, value),
                None => self.field(name, value, names),
            })
            .collect()
    }

    fn field(self, name: &str, value: &Value, names: usize) -> Vec<String> {
        let title = self.style.bold(&harmless(name));
        if is_flat(value) {
            let pad = " ".repeat(names.saturating_sub(name.width()));
            return vec![format!("{title}{pad}{GAP}{}", flat(value))];
        }
        let below = match value {
            Value::Object(fields) => self.narrower().fields(fields),
            Value::Array(items) => self.narrower().list(items),
            other => vec![flat(other)],
        };
        std::iter::once(title).chain(indented(below)).collect()
    }

    /// Of objects: as a table when each is one line, else one after the other.
    fn list(self, items: &[Value]) -> Vec<String> {
        let objects: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
        match objects {
            Some(objects)
                if objects
                    .iter()
                    .all(|object| object.values().all(|value| is_flat(value) || !is_said(value))) =>
            {
                self.table_of(&objects)
            }
            Some(objects) => {
                let mut blocks = objects.iter().map(|object| self.fields(object));
                let first = blocks.next().unwrap_or_default();
                first
                    .into_iter()
                    .chain(blocks.flat_map(|block| [vec![String::new()], block].concat()))
                    .collect()
            }
            None => items.iter().map(flat).collect(),
        }
    }

    fn table_of(self, objects: &[&Map<String, Value>]) -> Vec<String> {
        let heads = heads(objects);
        let cell = |object: &Map<String, Value>, name: &str| object.get(name).map_or(String::new(), self::cell);
        let rows = objects
            .iter()
            .map(|object| heads.iter().map(|name| cell(object, name)).collect());
        self.table(&heads, rows.collect())
    }

    fn matrix(self, columns: &[Value], rows: &Value) -> Vec<String> {
        let heads: Vec<String> = columns.iter().map(flat).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
        let cells = |row: &Value| row.as_array().into_iter().flatten().map(cell).collect();
        self.table(&heads, rows.iter().map(cells).collect())
    }

    fn table(self, heads: &[&str], rows: Vec<Vec<String>>) -> Vec<String> {
        let widest = |at: usize| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
        };
        // A column in which nothing is said is no column.
        let used: Vec<usize> = (0..heads.len())
            .filter(|at| rows.is_empty() || widest(*at) > 0)
            .collect();
        let mut widths: Vec<usize> = used.iter().map(|at| widest(*at).max(heads[*at].width())).collect();
        if let Some(width) = self.width {
            narrow(&mut widths, width);
        }
        let line = |cell: &dyn Fn(usize) -> String| {
            let cells = used.iter().zip(&widths).map(|(at, width)| padded(&cell(*at), *width));
            cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
        };
        let head = self.style.dim(&line(&|at| heads[at].to_owned()));
        let body = rows
            .iter()
            .map(|row| line(&|at| row.get(at).cloned().unwrap_or_default()));
        std::iter::once(head).chain(body).collect()
    }

    fn narrower(self) -> View {
        let width = self.width.map(|width| width.saturating_sub(INDENT.len()));
        View { width, ..self }
    }
}

/// Names of columns: first those that each row has, as they come, then those that only some have.
fn heads<'a>(objects: &[&'a Map<String, Value>]) -> Vec<&'a str> {
    let mut heads: Vec<&str> = Vec::new();
    for name in objects.iter().flat_map(|object| object.keys()) {
        if !heads.contains(&name.as_str()) {
            heads.push(name);
        }
    }
    let (of_all, of_some): (Vec<&str>, Vec<&str>) = heads
        .into_iter()
        .partition(|name| objects.iter().all(|object| object.get(*name).is_some_and(is_said)));
    [of_all, of_some].concat()
}

/// Takes from the widest columns until all fit.
fn narrow(widths: &mut [usize], most: usize) {
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > most {
        match widths.iter_mut().max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            _ => return,
        }
    }
}

fn padded(cell: &str, width: usize) -> String {
    let cut = cut(cell, width);
    let pad = width.saturating_sub(cut.width());
    cut + &" ".repeat(pad)
}

/// At most so many columns; what is missing shows as an ellipsis.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    if width == 0 {
        return String::new();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if kept.width() + c.to_string().width() + 1 > width {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// Whether there is anything in it: what is empty has no place.
fn is_said(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_said),
        _ => true,
    }
}

/// Whether it is told in one line: a scalar, or a list of scalars.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => items.iter().all(|item| !item.is_array() && !item.is_object()),
        _ => true,
    }
}

/// In a table nothing is said by a place that is empty.
fn cell(value: &Value) -> String {
    match is_said(value) {
        true => flat(value),
        false => String::new(),
    }
}

/// In one line, whatever it is.
fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(within).collect::<Vec<_>>().join(", "),
        Value::Object(fields) if is_said(value) => {
            let said = fields.iter().filter(|(_, value)| is_said(value));
            let pairs = said.map(|(name, value)| format!("{}: {}", harmless(name), within(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        Value::Null | Value::Array(_) | Value::Object(_) => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => harmless(text).replace(['\n', '\t'], " "),
        Value::Number(number) => number.to_string(),
    }
}

/// As a part of a line that has others.
fn within(value: &Value) -> String {
    match value {
        Value::Array(_) if is_said(value) => format!("[{}]", flat(value)),
        Value::Object(_) if is_said(value) => format!("{{{}}}", flat(value)),
        other => flat(other),
    }
}

fn indented(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| match line.as_str() {
        "" => line,
        _ => format!("{INDENT}{line}"),
    })
}
