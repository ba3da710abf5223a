//! `db/schema.rb`, read without Ruby.

use serde_json::{Map, Value};

use super::ruby_statements::{Statement, statements};
use super::tables::{Check, Column, Dump, ForeignKey, Index, Table};

/// What the file says. What is not understood is left out; no text is an error.
pub fn parse(text: &str) -> Dump {
    let mut reader = Reader::default();
    for statement in statements(text) {
        reader.read(&statement);
    }
    reader.close();
    reader.dump
}

#[derive(Default)]
struct Reader {
    dump: Dump,
    /// Between `create_table … do |t|` and its `end`.
    open: Option<Table>,
}

impl Reader {
    fn read(&mut self, statement: &Statement) {
        match (statement.receiver.as_deref(), statement.name.as_str()) {
            (_, "define") => self.dump.version = statement.options.get("version").map(digits),
            (_, "create_table") => {
                self.close();
                self.open = text(statement, 0).map(|name| new_table(name, &statement.options));
            }
            (_, "create_view") => self.view(statement),
            (None, "end") => self.close(),
            (None, "add_index") => self.on_table(statement, |table, rest| table.indexes.extend(index(rest))),
            (None, "add_foreign_key") => self.on_table(statement, foreign_key),
            (None, "add_check_constraint") => self.on_table(statement, |table, rest| table.checks.extend(check(rest))),
            (Some(_), _) => {
                if let Some(table) = &mut self.open {
                    define(table, statement);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        self.dump.tables.extend(self.open.take());
    }

    fn view(&mut self, statement: &Statement) {
        let Some(name) = text(statement, 0) else { return };
        self.close();
        self.dump.tables.push(Table {
            view: true,
            ..Table::new(name)
        });
    }

    /// The first argument names the table; the others are as they would be within it.
    fn on_table(&mut self, statement: &Statement, apply: impl FnOnce(&mut Table, &Statement)) {
        self.close();
        let name = text(statement, 0);
        let table = self
            .dump
            .tables
            .iter_mut()
            .rfind(|table| Some(table.name.as_str()) == name);
        if let Some(table) = table {
            let mut rest = statement.clone();
            rest.arguments.remove(0);
            apply(table, &rest);
        }
    }
}

fn digits(version: &Value) -> String {
    version.to_string().chars().filter(char::is_ascii_digit).collect()
}

fn text(statement: &Statement, at: usize) -> Option<&str> {
    statement.arguments.get(at)?.as_str()
}

fn option(statement: &Statement, name: &str) -> Value {
    statement.options.get(name).cloned().unwrap_or_default()
}

fn name_option(statement: &Statement) -> Option<String> {
    option(statement, "name").as_str().map(str::to_owned)
}

fn is_true(options: &Map<String, Value>, name: &str) -> bool {
    options.get(name) == Some(&Value::Bool(true))
}

/// With its key: `id` unless told otherwise, of the columns that follow when there are several.
fn new_table(name: &str, options: &Map<String, Value>) -> Table {
    let mut table = Table::new(name);
    let id = options.get("id");
    if id == Some(&Value::Bool(false)) {
        return table;
    }
    table.primary_key = options.get("primary_key").cloned().unwrap_or_else(|| "id".into());
    if let Some(key) = table.primary_key.as_str() {
        let key = key_column(key, id);
        table.columns.push(key);
    }
    table
}

/// `id: :uuid`, or `id: { type: :string, limit: 36 }`.
fn key_column(name: &str, id: Option<&Value>) -> Column {
    let (kind, options) = match id {
        Some(Value::String(kind)) => (kind.as_str(), Map::new()),
        Some(Value::Object(options)) => (
            options.get("type").and_then(Value::as_str).unwrap_or("integer"),
            options.clone(),
        ),
        _ => ("integer", Map::new()),
    };
    Column {
        null: false,
        ..column(name, kind, &options)
    }
}

/// A line within a table.
fn define(table: &mut Table, statement: &Statement) {
    match statement.name.as_str() {
        "index" => table.indexes.extend(index(statement)),
        "unique_constraint" => table
            .indexes
            .extend(index(statement).map(|index| Index { unique: true, ..index })),
        "check_constraint" => table.checks.extend(check(statement)),
        "foreign_key" => foreign_key(table, statement),
        "exclusion_constraint" => {}
        "timestamps" => timestamps(table),
        "references" | "belongs_to" => references(table, statement),
        "column" => {
            if let (Some(name), Some(kind)) = (text(statement, 0), text(statement, 1)) {
                table.columns.push(column(name, kind, &statement.options));
            }
        }
        kind => {
            let names = statement.arguments.iter().filter_map(Value::as_str);
            let columns = names.map(|name| column(name, kind, &statement.options));
            table.columns.extend(columns);
        }
    }
}

/// In files that were written by hand.
fn timestamps(table: &mut Table) {
    for name in ["created_at", "updated_at"] {
        table.columns.push(Column {
            null: false,
            ..Column::new(name, "datetime")
        });
    }
}

fn references(table: &mut Table, statement: &Statement) {
    let polymorphic = statement
        .options
        .get("polymorphic")
        .is_some_and(|value| *value != Value::Bool(false));
    for name in statement.arguments.iter().filter_map(Value::as_str) {
        if polymorphic {
            let kind = format!("{name}_type");
            table.columns.push(column(&kind, "string", &statement.options));
        }
        let kind = option(statement, "type");
        let kind = kind.as_str().unwrap_or("integer");
        table
            .columns
            .push(column(&format!("{name}_id"), kind, &statement.options));
    }
}

fn column(name: &str, kind: &str, options: &Map<String, Value>) -> Column {
    let option = |name: &str| options.get(name).cloned().unwrap_or_default();
    let (kind, sql_type, computed) = kind_of(kind, options);
    let (default, function) = default_of(option("default"), option("as"));
    let default_function = function.or_else(|| generated(sql_type.as_deref()?));
    Column {
        sql_type,
        null: options.get("null") != Some(&Value::Bool(false)),
        default,
        default_function,
        limit: option("limit"),
        precision: option("precision"),
        scale: option("scale"),
        array: is_true(options, "array"),
        computed,
        comment: option("comment"),
        ..Column::new(name, kind)
    }
}

/// The kind as the live database tells it, and the text where it is a text of its own (`"decimal GENERATED …"`).
fn kind_of(kind: &str, options: &Map<String, Value>) -> (String, Option<String>, bool) {
    let own = |name: &str| options.get(name).and_then(Value::as_str).map(str::to_owned);
    match kind {
        "virtual" => (own("type").unwrap_or_else(|| "virtual".to_owned()), None, true),
        "enum" => ("enum".to_owned(), own("enum_type"), false),
        "bigint" => ("integer".to_owned(), Some("bigint".to_owned()), false),
        _ => match kind.split_once(' ') {
            Some((first, rest)) => (
                first.to_lowercase(),
                Some(kind.to_owned()),
                rest.to_uppercase().contains("GENERATED"),
            ),
            None => (kind.to_owned(), None, false),
        },
    }
}

/// The expression of `… GENERATED ALWAYS AS (expression) VIRTUAL`.
pub(super) fn generated(sql: &str) -> Option<String> {
    let upper = sql.to_ascii_uppercase();
    let from = upper.find(" AS (")? + " AS (".len();
    let to = upper.rfind(')')?;
    Some(sql.get(from..to)?.trim().to_owned())
}

/// A value, or what the database computes.
fn default_of(default: Value, generated: Value) -> (Value, Option<String>) {
    let function = match &default {
        Value::Object(lambda) => lambda.get("function").and_then(Value::as_str),
        _ => generated.as_str(),
    };
    let function = function.map(str::to_owned);
    let is_lambda = matches!(&default, Value::Object(lambda) if lambda.contains_key("function"));
    (if is_lambda { Value::Null } else { default }, function)
}

fn index(statement: &Statement) -> Option<Index> {
    let columns = match statement.arguments.first()? {
        // One column may stand without brackets; an expression is no name.
        Value::String(column) if is_name(column) => Value::Array(vec![column.clone().into()]),
        other => other.clone(),
    };
    Some(Index {
        name: name_option(statement),
        columns,
        unique: is_true(&statement.options, "unique"),
        condition: option(statement, "where"),
        using: using(option(statement, "using")),
    })
}

/// The usual kind of index goes without saying.
fn using(value: Value) -> Value {
    if value == "btree" { Value::Null } else { value }
}

fn is_name(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_alphanumeric() || character == '_')
}

fn check(statement: &Statement) -> Option<Check> {
    Some(Check {
        name: name_option(statement),
        expression: text(statement, 0)?.to_owned(),
    })
}

fn foreign_key(table: &mut Table, statement: &Statement) {
    let Some(to_table) = text(statement, 0) else { return };
    let column = match option(statement, "column") {
        Value::Null => guessed_column(table, to_table),
        told => told,
    };
    table.foreign_keys.push(ForeignKey {
        column,
        to_table: to_table.to_owned(),
        primary_key: option(statement, "primary_key"),
        on_delete: option(statement, "on_delete"),
        on_update: option(statement, "on_update"),
    });
}

/// The dump leaves out `NAME_id` when NAME is the singular of the other table. Which of its singulars it is, the columns
/// say; null if none of them does.
fn guessed_column(table: &Table, to_table: &str) -> Value {
    let base = to_table.rsplit('.').next().unwrap_or(to_table);
    let known = singulars(base).into_iter().find(|column| table.has_column(column));
    known.map(Value::String).unwrap_or_default()
}

fn singulars(plural: &str) -> Vec<String> {
    let endings = [
        ("ies", "y"),
        ("ves", "f"),
        ("ves", "fe"),
        ("es", ""),
        ("s", ""),
        ("people", "person"),
        ("children", "child"),
    ];
    let stems = endings
        .iter()
        .filter_map(|(plural_end, end)| Some(format!("{}{end}_id", plural.strip_suffix(plural_end)?)));
    let mut all: Vec<String> = stems.collect();
    all.push(format!("{plural}_id"));
    all
}
