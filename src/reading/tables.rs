//! What a database is made of, as a schema file tells it: the shape of what `worker/reading/schema.rb` tells.

use serde::Serialize;
use serde_json::Value;

/// One schema file, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dump {
    /// The last migration it contains: digits only.
    pub version: Option<String>,
    /// All migrations it contains, if it says so.
    pub versions: Option<Vec<String>>,
    pub tables: Vec<Table>,
}

/// A table or a view.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub view: bool,
    /// A column's name, a list of them, or null.
    pub primary_key: Value,
    pub columns: Vec<Column>,
    pub indexes: Vec<Index>,
    pub foreign_keys: Vec<ForeignKey>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// As the database calls it, where the file says so and the type does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql_type: Option<String>,
    pub null: bool,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub default: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_function: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub limit: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub precision: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub scale: Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub array: bool,
    /// Computed by the database.
    #[serde(rename = "virtual", skip_serializing_if = "std::ops::Not::not")]
    pub computed: bool,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub comment: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Index {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Names of columns, or an expression.
    pub columns: Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
    #[serde(rename = "where", skip_serializing_if = "Value::is_null")]
    pub condition: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub using: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ForeignKey {
    /// A column's name, or a list of them.
    pub column: Value,
    pub to_table: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub primary_key: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub on_delete: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub on_update: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Check {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub expression: String,
}

impl Column {
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Column {
        Column {
            name: name.into(),
            kind: kind.into(),
            sql_type: None,
            null: true,
            default: Value::Null,
            default_function: None,
            limit: Value::Null,
            precision: Value::Null,
            scale: Value::Null,
            array: false,
            computed: false,
            comment: Value::Null,
        }
    }
}

impl Table {
    pub fn new(name: impl Into<String>) -> Table {
        Table {
            name: name.into(),
            ..Table::default()
        }
    }

    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }
}
