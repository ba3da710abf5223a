//! `db/structure.sql` of PostgreSQL, MySQL and SQLite, read without a database.

use serde_json::Value;

use super::sql_cursor::Cursor;
use super::sql_tokens::{Kind, statements};
use super::sql_types::{default_of, new_column};
use super::tables::{Check, Column, Dump, ForeignKey, Index, Table};

/// Tables in which Rails keeps its own books.
const OWN: &[&str] = &["schema_migrations", "ar_internal_metadata"];

/// What makes a statement of another thing than a table.
const FOREIGN: &[&str] = &[
    "FUNCTION",
    "PROCEDURE",
    "TRIGGER",
    "TYPE",
    "EVENT",
    "RULE",
    "EXTENSION",
    "SEQUENCE",
    "AGGREGATE",
];

/// How far into a statement the word may be that says what it makes (`CREATE ALGORITHM=… DEFINER=… VIEW`).
const HEAD: usize = 24;

/// What ends the type of a column, or its default.
const CLAUSES: &[&str] = &[
    "NOT",
    "NULL",
    "DEFAULT",
    "PRIMARY",
    "UNIQUE",
    "REFERENCES",
    "GENERATED",
    "COLLATE",
    "COMMENT",
    "CHECK",
    "CONSTRAINT",
    "AUTO_INCREMENT",
    "AUTOINCREMENT",
    "AS",
    "ON",
    "STORED",
    "VIRTUAL",
    "CHARSET",
    "INVISIBLE",
    "DEFERRABLE",
    "INITIALLY",
];

/// What the file says. What is not understood is left out; no text is an error.
pub fn parse(text: &str) -> Dump {
    let mut dump = Dump::default();
    for tokens in statements(text) {
        read(&mut dump, &Cursor::new(text, &tokens));
    }
    dump.tables.retain(|table| !OWN.contains(&table.name.as_str()));
    let versions = dump.versions.iter().flatten();
    dump.version = versions.max_by_key(|digits| (digits.len(), (*digits).clone())).cloned();
    dump
}

fn read(dump: &mut Dump, statement: &Cursor<'_>) {
    let mut cursor = statement.clone();
    if cursor.accept("CREATE") {
        create(dump, cursor);
    } else if cursor.accept("ALTER") && cursor.accept("TABLE") {
        alter(dump, cursor);
    } else if cursor.accept("INSERT") {
        insert(dump, &cursor);
    }
}

fn create(dump: &mut Dump, mut cursor: Cursor<'_>) {
    let mut unique = false;
    for _ in 0..HEAD {
        if FOREIGN.iter().any(|word| cursor.is(word)) {
            return;
        }
        unique |= cursor.is("UNIQUE");
        if cursor.accept("TABLE") {
            return create_table(dump, cursor);
        } else if cursor.accept("INDEX") {
            return create_index(dump, cursor, unique);
        } else if cursor.accept("VIEW") {
            return create_view(dump, cursor);
        }
        cursor.skip();
    }
}

fn create_table(dump: &mut Dump, mut cursor: Cursor<'_>) {
    cursor.accept_all(&["IF", "NOT", "EXISTS"]);
    let Some(name) = cursor.qualified_name() else { return };
    let mut table = Table::new(name);
    if let Some(inside) = cursor.group() {
        for item in inside.items() {
            define(&mut table, item);
        }
    }
    replace(dump, table);
}

/// MySQL makes a stand-in for a view before it makes the view.
fn replace(dump: &mut Dump, table: Table) {
    dump.tables.retain(|known| known.name != table.name);
    dump.tables.push(table);
}

fn create_view(dump: &mut Dump, mut cursor: Cursor<'_>) {
    cursor.accept_all(&["IF", "NOT", "EXISTS"]);
    if let Some(name) = cursor.qualified_name() {
        replace(
            dump,
            Table {
                view: true,
                ..Table::new(name)
            },
        );
    }
}

fn create_index(dump: &mut Dump, mut cursor: Cursor<'_>, unique: bool) {
    cursor.accept("CONCURRENTLY");
    cursor.accept_all(&["IF", "NOT", "EXISTS"]);
    let name = if cursor.is("ON") { None } else { cursor.qualified_name() };
    if !cursor.accept("ON") {
        return;
    }
    cursor.accept("ONLY");
    let table = cursor.qualified_name();
    let using = using(&mut cursor);
    let Some(columns) = cursor.group() else { return };
    let condition = if cursor.skip_to("WHERE") {
        cursor.text()
    } else {
        String::new()
    };
    let index = Index {
        name,
        columns: index_columns(&columns),
        unique,
        condition: text_or_null(without_brackets(&condition)),
        using,
    };
    if let Some(table) = find(dump, table) {
        table.indexes.push(index);
    }
}

fn text_or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

/// `(slug IS NOT NULL)`, if one pair is around all of it.
fn without_brackets(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(text)
}

/// The usual kind of index goes without saying.
fn using(cursor: &mut Cursor<'_>) -> Value {
    if !cursor.accept("USING") {
        return Value::Null;
    }
    let method = cursor.name().unwrap_or_default().to_lowercase();
    if method == "btree" { Value::Null } else { method.into() }
}

fn find(dump: &mut Dump, name: Option<String>) -> Option<&mut Table> {
    let name = name?;
    dump.tables.iter_mut().find(|table| table.name == name)
}

fn alter(dump: &mut Dump, mut cursor: Cursor<'_>) {
    cursor.accept_all(&["IF", "EXISTS"]);
    cursor.accept("ONLY");
    let name = cursor.qualified_name();
    let Some(table) = find(dump, name) else { return };
    for mut action in cursor.items() {
        if action.accept("ADD") {
            named_constraint(table, action);
        } else if action.accept("ALTER") {
            set_default(table, action);
        }
    }
}

/// `ALTER COLUMN id SET DEFAULT nextval('…')`
fn set_default(table: &mut Table, mut action: Cursor<'_>) {
    action.accept("COLUMN");
    let name = action.name();
    if action.accept_all(&["SET", "DEFAULT"])
        && let Some(column) = table
            .columns
            .iter_mut()
            .find(|column| Some(&column.name) == name.as_ref())
    {
        (column.default, column.default_function) = default_of(&column.kind, &action);
    }
}

fn insert(dump: &mut Dump, cursor: &Cursor<'_>) {
    let mut cursor = cursor.clone();
    if cursor.accept("INTO") && cursor.qualified_name().is_some_and(|name| name == "schema_migrations") {
        let versions = cursor.tokens().iter().filter_map(|token| match &token.kind {
            Kind::Text(version) => Some(version.clone()),
            _ => None,
        });
        dump.versions.get_or_insert_default().extend(versions);
    }
}

/// A column or a constraint, between the brackets of a table.
fn define(table: &mut Table, item: Cursor<'_>) {
    const CONSTRAINTS: &[&str] = &[
        "CONSTRAINT",
        "PRIMARY",
        "UNIQUE",
        "FOREIGN",
        "CHECK",
        "KEY",
        "INDEX",
        "FULLTEXT",
        "SPATIAL",
        "EXCLUDE",
        "LIKE",
    ];
    if CONSTRAINTS.iter().any(|word| item.is(word)) {
        named_constraint(table, item);
    } else {
        column(table, item);
    }
}

fn named_constraint(table: &mut Table, mut item: Cursor<'_>) {
    let name = if item.accept("CONSTRAINT") { item.name() } else { None };
    if item.accept_all(&["PRIMARY", "KEY"]) {
        using(&mut item);
        primary_key(table, item.group());
    } else if item.accept_all(&["FOREIGN", "KEY"]) {
        foreign_key(table, item);
    } else if item.accept("CHECK") {
        let expression = item.group().map(|inside| inside.text());
        table
            .checks
            .extend(expression.map(|expression| Check { name, expression }));
    } else {
        key(table, name, item);
    }
}

fn primary_key(table: &mut Table, columns: Option<Cursor<'_>>) {
    let names = columns.map(|columns| columns.names()).unwrap_or_default();
    for column in &mut table.columns {
        column.null &= !names.contains(&column.name);
    }
    table.primary_key = one_or_many(names);
}

fn one_or_many(mut names: Vec<String>) -> Value {
    match names.len() {
        0 => Value::Null,
        1 => names.remove(0).into(),
        _ => names.into(),
    }
}

/// `UNIQUE KEY name (columns)`, and MySQL's other keys.
fn key(table: &mut Table, name: Option<String>, mut item: Cursor<'_>) {
    let unique = item.accept("UNIQUE");
    let kind = ["FULLTEXT", "SPATIAL"].into_iter().find(|kind| item.accept(kind));
    if !(item.accept("KEY") || item.accept("INDEX") || unique) {
        return;
    }
    let name = item.name().or(name);
    if let Some(columns) = item.group() {
        table.indexes.push(Index {
            name,
            columns: index_columns(&columns),
            unique,
            condition: Value::Null,
            using: kind.map(|kind| kind.to_lowercase().into()).unwrap_or_default(),
        });
    }
}

/// Names where all are names, else the whole expression.
fn index_columns(inside: &Cursor<'_>) -> Value {
    let names: Option<Vec<Value>> = inside
        .items()
        .iter()
        .map(|item| item.index_column().map(Value::from))
        .collect();
    names.map_or_else(|| inside.text().into(), Value::Array)
}

fn foreign_key(table: &mut Table, mut item: Cursor<'_>) {
    let _name = item.name();
    let columns = item.group().map(|columns| columns.names()).unwrap_or_default();
    if item.accept("REFERENCES") {
        table.foreign_keys.extend(references(columns, item));
    }
}

fn references(columns: Vec<String>, mut item: Cursor<'_>) -> Option<ForeignKey> {
    let to_table = item.qualified_name()?;
    let keys = item.group().map(|keys| keys.names()).unwrap_or_default();
    let primary_key = if keys == ["id"] { Value::Null } else { one_or_many(keys) };
    Some(ForeignKey {
        column: one_or_many(columns),
        to_table,
        primary_key,
        on_delete: action(&item, "DELETE"),
        on_update: action(&item, "UPDATE"),
    })
}

/// In the words of Rails.
fn action(item: &Cursor<'_>, event: &str) -> Value {
    let mut item = item.clone();
    while item.skip_to("ON") {
        if !item.accept(event) {
            continue;
        }
        let rules = [("CASCADE", "cascade"), ("RESTRICT", "restrict")];
        let known = rules.iter().find(|(sql, _)| item.is(sql)).map(|(_, name)| *name);
        return match known {
            Some(name) => name.into(),
            None if item.accept_all(&["SET", "NULL"]) => "nullify".into(),
            None => Value::Null,
        };
    }
    Value::Null
}

fn column(table: &mut Table, mut item: Cursor<'_>) {
    let Some(name) = item.name() else { return };
    let sql_type = item.take_until(|token, first| {
        let charset = !first && token.is("CHARACTER");
        charset || CLAUSES.iter().any(|word| token.is(word))
    });
    let column = new_column(&name, &sql_type.text());
    table.columns.push(column);
    while !item.is_empty() {
        clause(table, &name, &mut item);
    }
}

fn clause(table: &mut Table, name: &str, item: &mut Cursor<'_>) {
    if item.accept_all(&["PRIMARY", "KEY"]) {
        table.primary_key = name.into();
        last(table, |column| column.null = false);
    } else if item.accept_all(&["NOT", "NULL"]) {
        last(table, |column| column.null = false);
    } else if item.accept("DEFAULT") {
        let value = item.take_until(|token, first| !first && CLAUSES.iter().any(|word| token.is(word)));
        last(table, |column| {
            (column.default, column.default_function) = default_of(&column.kind, &value);
        });
    } else if item.accept("AS") {
        computed(table, item);
    } else if item.accept("UNIQUE") {
        table.indexes.push(Index {
            columns: vec![name].into(),
            unique: true,
            ..Index::default()
        });
    } else if item.accept("REFERENCES") {
        let key = references(vec![name.to_owned()], item.clone());
        table.foreign_keys.extend(key);
    } else if item.accept("COMMENT") {
        let comment = item.take_text();
        last(table, |column| {
            column.comment = comment.map(Value::from).unwrap_or_default();
        });
    } else {
        item.skip();
    }
}

fn last(table: &mut Table, change: impl FnOnce(&mut Column)) {
    if let Some(column) = table.columns.last_mut() {
        change(column);
    }
}

/// `GENERATED ALWAYS AS (expression)`; an identity has no expression.
fn computed(table: &mut Table, item: &mut Cursor<'_>) {
    if let Some(expression) = item.group() {
        last(table, |column| {
            column.computed = true;
            column.default_function = Some(expression.text());
        });
    }
}
