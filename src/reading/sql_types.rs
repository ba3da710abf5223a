//! Types and defaults of SQL in the words of Rails.

use serde_json::Value;

use super::sql_cursor::Cursor;
use super::sql_tokens::Kind;
use super::tables::Column;

/// By the first words of the type, longest first.
const KINDS: &[(&str, &str)] = &[
    ("character varying", "string"),
    ("double precision", "float"),
    ("tinyint(1)", "boolean"),
    ("timestamp with time zone", "timestamptz"),
    ("timestamptz", "timestamptz"),
    ("timestamp", "datetime"),
    ("datetime", "datetime"),
    ("date", "date"),
    ("time", "time"),
    ("varchar", "string"),
    ("character", "string"),
    ("char", "string"),
    ("tinytext", "text"),
    ("mediumtext", "text"),
    ("longtext", "text"),
    ("text", "text"),
    ("bigserial", "integer"),
    ("serial", "integer"),
    ("bigint", "integer"),
    ("smallint", "integer"),
    ("mediumint", "integer"),
    ("tinyint", "integer"),
    ("integer", "integer"),
    ("int", "integer"),
    ("boolean", "boolean"),
    ("bool", "boolean"),
    ("decimal", "decimal"),
    ("numeric", "decimal"),
    ("double", "float"),
    ("float", "float"),
    ("real", "float"),
    ("bytea", "binary"),
    ("tinyblob", "binary"),
    ("mediumblob", "binary"),
    ("longblob", "binary"),
    ("blob", "binary"),
    ("varbinary", "binary"),
    ("binary", "binary"),
];

pub(super) fn new_column(name: &str, sql_type: &str) -> Column {
    let lower = sql_type.to_lowercase();
    let kind = kind(&lower);
    let mut column = Column::new(name, kind.clone());
    let numbers = numbers(&lower);
    match kind.as_str() {
        "string" | "binary" => column.limit = number(&numbers, 0),
        "decimal" => (column.precision, column.scale) = (number(&numbers, 0), number(&numbers, 1)),
        _ => {}
    }
    column.array = lower.ends_with("[]");
    column.sql_type = Some(sql_type.to_owned()).filter(|text| !text.is_empty() && !text.eq_ignore_ascii_case(&kind));
    column
}

/// A type that is none of SQL's own is called as it is: `jsonb`, or the name of an enumeration.
fn kind(lower: &str) -> String {
    if lower.starts_with("timestamp") && lower.contains("with time zone") {
        return "timestamptz".to_owned();
    }
    let begins = |sql: &str| {
        let after = lower.strip_prefix(sql)?.chars().next();
        (!after.is_some_and(|next| next.is_alphanumeric() || next == '_')).then_some(())
    };
    let known = KINDS.iter().find(|(sql, _)| begins(sql).is_some());
    let own = lower.split(['(', ' ', '[']).next().unwrap_or(lower);
    known.map_or_else(
        || own.trim_start_matches("public.").to_owned(),
        |(_, kind)| (*kind).to_owned(),
    )
}

/// Those in brackets.
fn numbers(lower: &str) -> Vec<u64> {
    let inside = lower.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let parts = inside.map(|(inside, _)| inside.split(','));
    parts
        .into_iter()
        .flatten()
        .filter_map(|part| part.trim().parse().ok())
        .collect()
}

fn number(numbers: &[u64], at: usize) -> Value {
    numbers.get(at).map(|number| Value::from(*number)).unwrap_or_default()
}

/// A value, or what the database computes.
pub(super) fn default_of(kind: &str, expression: &Cursor<'_>) -> (Value, Option<String>) {
    if expression.is("NULL") || expression.is_empty() {
        return (Value::Null, None);
    }
    match literal(expression) {
        Some(text) => (of_kind(kind, text), None),
        None => (Value::Null, Some(expression.text())),
    }
}

/// `'open'::character varying`, `(0)`, `-1.5`, `true`: nothing that would have to be computed.
fn literal(expression: &Cursor<'_>) -> Option<Value> {
    let mut expression = expression.clone();
    if let Some(inside) = expression.group() {
        return literal_within(&inside).filter(|_| is_cast(&expression));
    }
    literal_within(&expression)
}

fn literal_within(expression: &Cursor<'_>) -> Option<Value> {
    let mut rest = expression.clone();
    if let Some(text) = rest.take_text() {
        return is_cast(&rest).then_some(Value::String(text));
    }
    let text = expression.text();
    let plain = text.split("::").next().unwrap_or(&text);
    match plain.to_lowercase().as_str() {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        lower if lower.starts_with(|first: char| first.is_ascii_digit() || first == '-') => {
            serde_json::from_str::<serde_json::Number>(lower)
                .ok()
                .map(Value::Number)
        }
        _ => None,
    }
}

/// Nothing but `::type`.
fn is_cast(rest: &Cursor<'_>) -> bool {
    rest.tokens().iter().all(|token| match &token.kind {
        Kind::Word(_) | Kind::Name(_) => true,
        Kind::Mark(mark) => matches!(mark, ':' | '(' | ')' | '[' | ']' | '.'),
        Kind::Text(_) => false,
    })
}

/// MySQL quotes numbers, and SQLite writes booleans as numbers.
fn of_kind(kind: &str, value: Value) -> Value {
    match (kind, &value) {
        ("boolean", Value::String(text)) => match text.as_str() {
            "1" | "t" | "true" => true.into(),
            "0" | "f" | "false" => false.into(),
            _ => value,
        },
        ("boolean", Value::Number(number)) => (number.as_u64() == Some(1)).into(),
        ("integer", Value::String(text)) => text.parse::<i64>().map_or(value, Value::from),
        _ => value,
    }
}
