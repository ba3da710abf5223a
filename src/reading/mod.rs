//! What can be asked of an app without running anything of it: arguments, checked before Ruby is asked, and results,
//! kept within a byte budget. The answers themselves come from Rails, in `worker/reading/`.

mod brief;
pub mod budget;
pub mod check;
pub mod controller;
pub mod job;
pub mod model;
pub mod page;
pub mod routes;
pub mod ruby_statements;
pub mod schema;
pub mod schema_file;
pub mod schema_ruby;
pub mod schema_sql;
pub mod sql_cursor;
pub mod sql_tokens;
pub mod sql_types;
pub mod tables;

use page::Cursor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::Config;
use crate::error::{Error, Kind, Result};

/// Bytes of a name or of a text to look for.
const TEXT_BYTES: usize = 200;

/// Rows of one page, at most.
const MAX_LIMIT: u32 = 200;
/// What an offset can be.
const MAX_OFFSET: u32 = 1_000_000;

/// The arguments of one tool that reads.
pub trait Arguments: Serialize + DeserializeOwned {
    /// Which part of the Ruby side answers (`PARTS` in worker/reading.rb).
    const WHAT: &'static str;

    /// The fields of a result, with their types as JSON Schema names them.
    const RESULT: &'static [(&'static str, &'static str)];

    /// What the schema can't say.
    ///
    /// # Errors
    /// `invalid_arguments` with the argument's name and what it may be.
    fn check(&self) -> Result<()>;

    /// Gives what the caller left out the value that the project wants.
    fn complete(&mut self, _config: &Config) {}
}

/// A question whose arguments are known to be good.
#[derive(Debug, Clone)]
pub struct Question {
    pub what: &'static str,
    arguments: Value,
    complete: fn(Value, &Config) -> Value,
}

impl Question {
    /// # Errors
    /// What is wrong with the arguments.
    pub fn new<T: Arguments>(arguments: &T) -> Result<Question> {
        arguments.check()?;
        let plain_arguments = plain(arguments);
        check_list(
            plain_arguments["cursor"].as_str(),
            &page::list(T::WHAT, &plain_arguments),
        )?;
        Ok(Question {
            what: T::WHAT,
            arguments: plain_arguments,
            complete: |arguments, config| {
                let mut arguments: T =
                    serde_json::from_value(arguments).expect("arguments are read as they are written");
                arguments.complete(config);
                plain(&arguments)
            },
        })
    }

    /// Which list it asks for a page of.
    pub fn list(&self) -> String {
        page::list(self.what, &self.arguments)
    }

    /// As the project's settings complete them.
    pub fn arguments(&self, config: &Config) -> Value {
        (self.complete)(self.arguments.clone(), config)
    }
}

fn plain(arguments: &impl Serialize) -> Value {
    serde_json::to_value(arguments).expect("arguments are plain data")
}

/// A text to look for: 1 to 200 bytes, if it is given at all.
fn check_text(argument: &str, text: Option<&str>) -> Result<()> {
    match text {
        Some(text) if text.is_empty() || text.len() > TEXT_BYTES || text.contains('\0') => Err(invalid(
            format!("`{argument}` must be 1 to {TEXT_BYTES} bytes of text without NUL"),
            "give a part of what you look for, or leave it out",
        )),
        _ => Ok(()),
    }
}

/// Where a page of a list begins, and how much is on it.
fn check_page(limit: Option<u32>, offset: Option<u32>, cursor: Option<&str>) -> Result<()> {
    check_range("limit", limit, 1, MAX_LIMIT)?;
    check_range("offset", offset, 0, MAX_OFFSET)?;
    check_cursor(cursor, offset.is_some())
}

/// A cursor as a page gave it, which says where the next one begins, so that nothing else may.
///
/// # Errors
/// `invalid_arguments`.
pub fn check_cursor(cursor: Option<&str>, elsewhere: bool) -> Result<()> {
    let (problem, hint) = match cursor {
        Some(_) if elsewhere => (
            "`cursor` and `offset` exclude each other".to_owned(),
            "leave out `offset`",
        ),
        Some(text) if Cursor::parse(text).is_none() => (
            format!("`cursor` is {}, which no page gave", excerpt(text)),
            "it is the `next_cursor` of the page before; without it, a list begins at its first row",
        ),
        _ => return Ok(()),
    };
    Err(invalid(problem, hint))
}

/// A cursor says where a page of one list begins, and nothing of any other.
///
/// # Errors
/// `invalid_arguments`.
pub fn check_list(cursor: Option<&str>, list: &str) -> Result<()> {
    match cursor.and_then(Cursor::parse) {
        Some(cursor) if !cursor.is_of(list) => Err(invalid(
            "`cursor` is of another list: of another tool, or of other arguments".to_owned(),
            "give all arguments but `limit` as for the page before, or begin again without `cursor`",
        )),
        _ => Ok(()),
    }
}

/// A number within its range, if it is given at all.
fn check_range(argument: &str, value: Option<u32>, least: u32, most: u32) -> Result<()> {
    match value {
        Some(value) if !(least..=most).contains(&value) => Err(invalid(
            format!("`{argument}` is {value}, and must be {least} to {most}"),
            "leave it out for its default",
        )),
        _ => Ok(()),
    }
}

/// The name of a Ruby class: `Widget`, `Ops::Thing`; ASCII, and no leading `::`. Or of its file or table, which is none of a
/// class, but leads to it by the hint that Ruby refuses it with.
fn check_constant(argument: &str, name: &str) -> Result<()> {
    if name.len() <= TEXT_BYTES && (is_constant(name) || is_path(name)) {
        return Ok(());
    }
    Err(invalid(
        format!("`{argument}` is {}, which is not the name of a class", excerpt(name)),
        "a name is like `Widget` or `Admin::Widget`, without a leading `::`, and has at most 200 characters",
    ))
}

/// `widgets`, `admin/widgets`.
fn is_path(name: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.split('/')
        .all(|part| part.starts_with(|first: char| first.is_ascii_lowercase()) && part.bytes().all(word))
}

fn is_constant(name: &str) -> bool {
    name.split("::").all(|part| {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        part.starts_with(|first: char| first.is_ascii_uppercase()) && part.bytes().all(word)
    })
}

fn excerpt(text: &str) -> String {
    let quoted: String = text.chars().take(60).collect();
    let more = if quoted.len() < text.len() { "…" } else { "" };
    format!("{quoted:?}{more}")
}

fn invalid(message: String, hint: &str) -> Error {
    Error::new(Kind::InvalidArguments, message).hint(hint)
}
