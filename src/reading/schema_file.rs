//! The answer of `rails_schema` from schema files: for an app that can't boot, or has no database.

use serde::Serialize;
use serde_json::{Value, json};

use super::page::{Cursor, List};
use super::schema::{Detail, LIMIT, Schema};
use super::tables::{Dump, Table};
use super::{schema_ruby, schema_sql};
use crate::config::nearest::nearest;
use crate::error::{Error, Kind, Result};

const PRIMARY: &str = "primary";
/// Of the migrations that the files don't contain.
const PENDING: usize = 50;

/// What is on disk, by paths relative to the app's root.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// Those of which `is_schema` is true, with their texts.
    pub schemas: &'a [(String, String)],
    /// Those of which `is_migration` is true; their names are enough.
    pub migrations: &'a [String],
}

/// `db/schema.rb` and `db/structure.sql`, and the same of other databases (`db/audit_schema.rb`).
pub fn is_schema(path: &str) -> bool {
    database_of_schema(path).is_some()
}

/// `db/migrate/20240102090000_create_widgets.rb`, and the same of other databases (`db/audit_migrate/…`).
pub fn is_migration(path: &str) -> bool {
    Migration::new(path).is_some()
}

/// # Errors
/// `no_database` without any, `table_not_found` for a table that is in none of them.
pub fn from_files(files: Files<'_>, arguments: &Schema) -> Result<Value> {
    let sources = sources(files.schemas);
    if sources.is_empty() {
        let hint = "`bin/rails db:schema:dump` writes db/schema.rb, `bin/rails db:test:prepare` makes the database";
        return Err(Error::new(Kind::NoDatabase, "there is neither a test database nor a schema file").hint(hint));
    }
    let tables = tables(&sources);
    let chosen = choose(&tables, arguments)?;
    let pending = pending(&sources, files.migrations);
    Ok(answer(&sources, &chosen, &pending, arguments))
}

/// A database and its schema file.
struct Source<'a> {
    database: String,
    file: &'a str,
    dump: Dump,
}

impl Source<'_> {
    fn contains(&self, version: &str) -> bool {
        match &self.dump.versions {
            Some(versions) => versions.iter().any(|known| known == version),
            None => self
                .dump
                .version
                .as_deref()
                .is_some_and(|last| number(version) <= number(last)),
        }
    }
}

/// As numbers of any length are compared.
fn number(digits: &str) -> (usize, &str) {
    let digits = digits.trim_start_matches('0');
    (digits.len(), digits)
}

fn database_of_schema(path: &str) -> Option<String> {
    let name = path.strip_prefix("db/")?;
    let stem = name
        .strip_suffix("schema.rb")
        .or_else(|| name.strip_suffix("structure.sql"))?;
    database_of(stem)
}

/// `audit_` stands for the database `audit`, nothing for the first one.
fn database_of(prefix: &str) -> Option<String> {
    match prefix.strip_suffix('_') {
        _ if prefix.is_empty() => Some(PRIMARY.to_owned()),
        Some(name) if !name.is_empty() && !name.contains('/') => Some(name.to_owned()),
        _ => None,
    }
}

/// The first database first. Of two files for one database, the one with the later migration.
fn sources(files: &[(String, String)]) -> Vec<Source<'_>> {
    let mut sources: Vec<Source<'_>> = files.iter().filter_map(|(file, text)| source(file, text)).collect();
    sources.sort_by(|a, b| {
        let rank = |source: &Source<'_>| (source.database != PRIMARY, source.database.clone());
        let version = |source: &Source<'_>| source.dump.version.clone().map(|digits| (digits.len(), digits));
        rank(a).cmp(&rank(b)).then_with(|| version(b).cmp(&version(a)))
    });
    sources.dedup_by(|later, first| later.database == first.database);
    sources
}

fn source<'a>(file: &'a str, text: &str) -> Option<Source<'a>> {
    let database = database_of_schema(file)?;
    let dump = if file.ends_with(".sql") {
        schema_sql::parse(text)
    } else {
        schema_ruby::parse(text)
    };
    Some(Source { database, file, dump })
}

/// All tables by database and name; those of the first database don't name it.
fn tables(sources: &[Source<'_>]) -> Vec<Table> {
    let mut all = Vec::new();
    for source in sources {
        let database = Some(source.database.clone()).filter(|name| name != PRIMARY);
        let mut tables = source.dump.tables.clone();
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        for table in &mut tables {
            table.database.clone_from(&database);
        }
        all.append(&mut tables);
    }
    all
}

/// `events`, or `audit.events`.
fn full_name(table: &Table) -> String {
    match &table.database {
        Some(database) => format!("{database}.{}", table.name),
        None => table.name.clone(),
    }
}

fn choose<'a>(tables: &'a [Table], arguments: &Schema) -> Result<Vec<&'a Table>> {
    let mut chosen: Vec<&Table> = tables.iter().collect();
    if let Some(wanted) = &arguments.table {
        chosen.retain(|table| table.name == *wanted || full_name(table) == *wanted);
        if chosen.is_empty() {
            return Err(table_not_found(wanted, tables));
        }
    }
    if let Some(query) = &arguments.query {
        let query = query.to_lowercase();
        chosen.retain(|table| mentions(table, &query));
    }
    Ok(chosen)
}

fn mentions(table: &Table, query: &str) -> bool {
    let names = table.columns.iter().map(|column| &column.name);
    names
        .chain([&full_name(table)])
        .any(|name| name.to_lowercase().contains(query))
}

fn table_not_found(wanted: &str, tables: &[Table]) -> Error {
    let known: Vec<String> = tables.iter().map(full_name).collect();
    let near = nearest(wanted, known.iter().map(String::as_str));
    let error = Error::new(
        Kind::TableNotFound,
        format!("there is no table `{wanted}` in the schema files"),
    );
    match near {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    }
}

#[derive(Debug, Serialize)]
struct Migration {
    version: String,
    name: String,
    file: String,
    #[serde(skip)]
    database: String,
}

impl Migration {
    fn new(path: &str) -> Option<Migration> {
        let (directory, file) = path.strip_prefix("db/")?.split_once('/')?;
        let database = database_of(directory.strip_suffix("migrate")?)?;
        let stem = file.rsplit('/').next()?.strip_suffix(".rb")?;
        let (version, name) = stem.split_once('_')?;
        let digits = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| Migration {
            version: version.to_owned(),
            // An engine's name follows it: `create_invoices.billing`.
            name: name.split('.').next().unwrap_or(name).to_owned(),
            file: path.to_owned(),
            database,
        })
    }
}

fn pending(sources: &[Source<'_>], paths: &[String]) -> Vec<Migration> {
    let of = |name: &str| sources.iter().find(|source| source.database == name);
    let migrations = paths.iter().filter_map(|path| Migration::new(path));
    let mut pending: Vec<_> = migrations
        .filter(|migration| of(&migration.database).is_some_and(|source| !source.contains(&migration.version)))
        .collect();
    pending.sort_by(|a, b| (number(&a.version), &a.file).cmp(&(number(&b.version), &b.file)));
    pending
}

fn answer(sources: &[Source<'_>], chosen: &[&Table], pending: &[Migration], arguments: &Schema) -> Value {
    let detail = arguments.detail();
    let names: Vec<String> = chosen.iter().map(|table| full_name(table)).collect();
    let list = List::of(names.iter().map(String::as_str));
    let cursor = arguments.cursor.as_deref().and_then(Cursor::parse);
    let (start, since) = list.start(arguments.offset.unwrap_or(0) as usize, cursor.as_ref());
    let end = start.saturating_add(arguments.limit.unwrap_or(LIMIT) as usize);
    let page = chosen.iter().skip(start).take(end - start);
    let mut answer = json!({
        "source": "schema_file",
        "databases": sources.iter().map(database).collect::<Vec<_>>(),
        "detail": detail,
        "matched": chosen.len(),
        "tables": page.map(|table| shown(table, detail)).collect::<Vec<_>>(),
        "pending_migrations": pending.iter().take(PENDING).collect::<Vec<_>>(),
        "pending_count": pending.len(),
        "page": list.rows(start, end, since),
    });
    if end < chosen.len() {
        answer["next_offset"] = end.into();
    }
    answer
}

fn database(source: &Source<'_>) -> Value {
    json!({
        "name": source.database,
        "file": source.file,
        "version": source.dump.version,
        "tables": source.dump.tables.len(),
    })
}

fn shown(table: &Table, detail: Detail) -> Value {
    match detail {
        Detail::Names => full_name(table).into(),
        Detail::Full => serde_json::to_value(table).unwrap_or_default(),
        Detail::Summary => {
            let mut value = serde_json::to_value(table).unwrap_or_default();
            for list in ["columns", "indexes", "foreign_keys", "checks"] {
                if let Some(Value::Array(items)) = value.get(list) {
                    value[list] = items.len().into();
                }
            }
            value
        }
    }
}
