//! What can be told of an app that can't be asked: what its files say by themselves.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::{Error, Kind, Result};
use crate::reading::Question;
use crate::reading::schema::Schema;
use crate::reading::schema_file::{self, Files};

/// Bytes of one schema file; those of the largest apps have a few.
const SCHEMA_BYTES: u64 = 16 * 1024 * 1024;

/// The answer from files, which says why it is one; else `error`, why the app can't be asked.
pub(super) fn answer(root: &Path, question: &Question, arguments: Value, error: Error) -> Result<Value> {
    if question.what != "schema" || !matches!(error.kind, Kind::BootFailed | Kind::ReloadFailed | Kind::NoDatabase) {
        return Err(error);
    }
    let Ok(arguments) = serde_json::from_value::<Schema>(arguments) else {
        return Err(error);
    };
    match from_files(root, &arguments) {
        Ok(mut told) => {
            told["instead"] = json!(format!("from files, since {}", error.with_hint()));
            Ok(told)
        }
        // Without a schema file, that it can't boot is what there is to mend.
        Err(no_file) if no_file.kind == Kind::NoDatabase => Err(error),
        Err(other) => Err(other),
    }
}

fn from_files(root: &Path, arguments: &Schema) -> Result<Value> {
    let paths = below_db(root);
    let schemas = paths.iter().filter(|path| schema_file::is_schema(path));
    let schemas: Vec<(String, String)> = schemas
        .filter_map(|path| Some((path.clone(), text(root, path)?)))
        .collect();
    let migrations: Vec<String> = paths
        .into_iter()
        .filter(|path| schema_file::is_migration(path))
        .collect();
    schema_file::from_files(
        Files {
            schemas: &schemas,
            migrations: &migrations,
        },
        arguments,
    )
}

/// Files of db/ and of the directories in it, relative to the root.
fn below_db(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for name in names(&root.join("db")) {
        let inner = names(&root.join("db").join(&name));
        paths.extend(inner.iter().map(|inner| format!("db/{name}/{inner}")));
        paths.push(format!("db/{name}"));
    }
    paths.sort_unstable();
    paths
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

fn text(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path);
    let small = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= SCHEMA_BYTES);
    let bytes = small.then(|| fs::read(&path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
