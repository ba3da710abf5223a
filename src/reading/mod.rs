//! What can be asked of an app without running anything of it: arguments, checked before Ruby is asked, and results,
//! kept within a byte budget. The answers themselves come from Rails, in `worker/reading/`.

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

use serde::Serialize;
use serde_json::Value;

use crate::error::Result;

/// The arguments of one tool that reads.
pub trait Arguments: Serialize {
    /// Which part of the Ruby side answers (`PARTS` in worker/reading.rb).
    const WHAT: &'static str;

    /// The fields of a result, with their types as JSON Schema names them.
    const RESULT: &'static [(&'static str, &'static str)];

    /// What the schema can't say.
    ///
    /// # Errors
    /// `invalid_arguments` with the argument's name and what it may be.
    fn check(&self) -> Result<()>;
}

/// A question whose arguments are known to be good.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub what: &'static str,
    pub arguments: Value,
}

impl Question {
    /// # Errors
    /// What is wrong with the arguments.
    pub fn new<T: Arguments>(arguments: &T) -> Result<Question> {
        arguments.check()?;
        Ok(Question {
            what: T::WHAT,
            arguments: serde_json::to_value(arguments).expect("arguments are plain data"),
        })
    }
}
