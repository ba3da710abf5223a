//! Settings of `.coatepec.yml`: the only reader of settings.
//!
//! Every key has a default; [`EXAMPLE`] lists them all and says why and in which unit.

pub mod glob;
mod keys;
pub mod nearest;
pub mod sandbox;
mod value;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
pub use sandbox::Sandbox;

/// The name of the file, directly below the root.
pub const FILE: &str = ".coatepec.yml";

/// The default configuration with an explanation of each key: the documentation of this module.
pub const EXAMPLE: &str = include_str!("../../.coatepec.yml.example");

/// A larger file is refused.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// A message quotes at most this much of a wrong value.
const MAX_MESSAGE_CHARS: usize = 400;

/// The settings of one project, all of them in range.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "settings, such as `fork: never`")]
pub struct Config {
    /// The words that precede `bundle exec`; `None` means that Ruby is looked for.
    #[serde(deserialize_with = "value::command")]
    pub ruby_command: Option<Vec<String>>,
    /// What the worker loads to boot the app, relative to the root; `None` means the usual places.
    #[serde(deserialize_with = "value::path")]
    pub boot: Option<PathBuf>,
    /// How long a boot may take, 1 to 3,600 seconds.
    #[serde(deserialize_with = "value::within::<1, 3600, _, _>")]
    pub boot_timeout_seconds: u64,
    /// How long a process may take from TERM to KILL, 0 to 60 seconds.
    #[serde(deserialize_with = "value::within::<0, 60, _, _>")]
    pub grace_seconds: u64,
    /// Globs of directories that hold specs, besides the built-in ones, relative to the root.
    #[serde(deserialize_with = "value::globs")]
    pub spec_roots: Vec<String>,
    /// Files to load along with the test helper, relative to the root.
    #[serde(deserialize_with = "value::paths")]
    pub preload: Vec<PathBuf>,
    /// Whether runs are forked from the warm process.
    #[serde(deserialize_with = "value::word")]
    pub fork: Fork,
    /// Gems that must not be loaded in a process that forks, besides the built-in ones.
    #[serde(deserialize_with = "value::names")]
    pub fork_unsafe_gems: Vec<String>,
    /// Whether runs may be forked on macOS.
    pub macos_fork: bool,
    /// As `fork_unsafe_gems`, on macOS only.
    #[serde(deserialize_with = "value::names")]
    pub macos_fork_unsafe_gems: Vec<String>,
    /// Memory of all processes of a run together, 64 to 1,048,576 MiB.
    #[serde(deserialize_with = "value::within::<64, 1048576, _, _>")]
    pub max_memory_mib: u64,
    /// Processes of a run at a time, 1 to 100,000.
    #[serde(deserialize_with = "value::within::<1, 100000, _, _>")]
    pub max_processes: usize,
    /// Memory of the warm processes together, 256 to 1,048,576 MiB; above it they are started anew.
    #[serde(deserialize_with = "value::within::<256, 1048576, _, _>")]
    pub max_warm_memory_mib: u64,
    /// The largest file that a process may write, 1 to 1,048,576 MiB.
    #[serde(deserialize_with = "value::within::<1, 1048576, _, _>")]
    pub max_file_mib: u64,
    /// The size of a whole answer, 4,096 to 1,048,576 bytes.
    #[serde(deserialize_with = "value::within::<4096, 1048576, _, _>")]
    pub max_result_bytes: usize,
    /// What is kept of each of a run's output streams, 1,024 to 262,144 bytes.
    #[serde(deserialize_with = "value::within::<1024, 262144, _, _>")]
    pub max_output_bytes: usize,
    /// How long a shared server stays without a client, 0 to 86,400 seconds.
    #[serde(deserialize_with = "value::within::<0, 86400, _, _>")]
    pub idle_timeout_seconds: u64,
    /// What the processes of the app may do.
    #[serde(deserialize_with = "value::section")]
    pub sandbox: Sandbox,
    /// What a call gets that does not say otherwise.
    #[serde(deserialize_with = "value::section")]
    pub defaults: Defaults,
    /// What `rails_check` looks for.
    #[serde(deserialize_with = "value::section")]
    pub check: Check,
}

/// Whether runs are forked from the warm process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fork {
    /// Fork where it is safe.
    #[default]
    Auto,
    /// Fork whatever the guards say.
    Always,
    /// A fresh process for each run.
    Never,
}

/// What a call gets that does not say otherwise, per tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a section, such as `defaults: {spec_run: {timeout_seconds: 60}}`"
)]
pub struct Defaults {
    #[serde(deserialize_with = "value::section")]
    pub spec_run: SpecRun,
    #[serde(deserialize_with = "value::section")]
    pub routes: Routes,
}

/// Defaults of `rails_spec_run`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a section, such as `spec_run: {timeout_seconds: 60}`"
)]
pub struct SpecRun {
    /// Whether the result lists the examples that passed.
    pub include_passing: bool,
    /// When the result has what the run wrote to stdout.
    #[serde(deserialize_with = "value::word")]
    pub include_stdout: IncludeStdout,
    /// How long a run may take, 1 to 900 seconds.
    #[serde(deserialize_with = "value::within::<1, 900, _, _>")]
    pub timeout_seconds: u64,
}

/// When a result has what the run wrote to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IncludeStdout {
    /// If the run did not pass.
    #[default]
    Failures,
    Always,
    Never,
}

/// Defaults of `rails_routes`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a section, such as `routes: {engines: include}`"
)]
pub struct Routes {
    /// What to do with the routes of mounted engines.
    #[serde(deserialize_with = "value::word")]
    pub engines: EngineRoutes,
}

/// What to do with the routes of mounted engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineRoutes {
    Include,
    #[default]
    Exclude,
    Only,
}

/// What `rails_check` looks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a section, such as `check: {ignore: [foreign_key_not_indexed]}`"
)]
pub struct Check {
    /// Findings that the project does not want to hear of.
    #[serde(deserialize_with = "value::words")]
    pub ignore: Vec<Finding>,
}

/// Where the parts of an app don't fit each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    RouteWithoutController,
    RouteWithoutAction,
    ActionWithoutRoute,
    TableMissing,
    AssociationClassMissing,
    AssociationInvalid,
    AssociationTableMissing,
    AssociationColumnMissing,
    InverseMissing,
    EnumColumnMissing,
    ValidatorColumnMissing,
    ForeignKeyNotIndexed,
    UniquenessNotIndexed,
    JobMissing,
    MailerMissing,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            ruby_command: None,
            boot: None,
            boot_timeout_seconds: 300,
            grace_seconds: 3,
            spec_roots: Vec::new(),
            preload: Vec::new(),
            fork: Fork::default(),
            fork_unsafe_gems: Vec::new(),
            macos_fork: true,
            macos_fork_unsafe_gems: Vec::new(),
            max_memory_mib: 4096,
            max_processes: 512,
            max_file_mib: 4096,
            max_warm_memory_mib: 2048,
            max_result_bytes: 24 * 1024,
            max_output_bytes: 256 * 1024,
            idle_timeout_seconds: 300,
            sandbox: Sandbox::default(),
            defaults: Defaults::default(),
            check: Check::default(),
        }
    }
}

impl Default for SpecRun {
    fn default() -> Self {
        SpecRun {
            include_passing: false,
            include_stdout: IncludeStdout::default(),
            timeout_seconds: 120,
        }
    }
}

impl Config {
    /// Reads `.coatepec.yml` below `root`; without such a file, everything has its default.
    ///
    /// # Errors
    /// `InvalidConfig` if it can't be read, is larger than 64 KiB, or says what [`Config::parse`]
    /// does not accept.
    pub fn load(root: &Path) -> Result<Config> {
        match text(&root.join(FILE)) {
            Ok(text) => Config::parse(&text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(invalid(format!("failed to read `{FILE}`")).source(error)),
        }
    }

    /// Reads the text of a `.coatepec.yml`.
    ///
    /// # Errors
    /// `InvalidConfig`, with the line, if the text is no YAML, or has an unknown key or a value that
    /// is out of range.
    pub fn parse(text: &str) -> Result<Config> {
        let config: Option<Config> = serde_yaml::from_str(text).map_err(|error| explain(&error, text))?;
        Ok(config.unwrap_or_default())
    }
}

fn text(path: &Path) -> std::io::Result<String> {
    // Opening a fifo would wait for a writer for ever.
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(std::io::Error::other("it is larger than 64 KiB"));
    }
    Ok(text)
}

fn explain(error: &serde_yaml::Error, text: &str) -> Error {
    let said = error.to_string();
    // Serde's two sentences about an unknown word put it first and what it knows behind it, each
    // between backticks.
    let mut words = said.split('`').skip(1).step_by(2);
    let unknown = said.contains("unknown field `") || said.contains("unknown variant `");
    let (true, Some(word)) = (unknown, words.next()) else {
        return invalid(format!("`{FILE}` is not valid: {}", excerpt(&said))).details(place(error, text, None));
    };
    let is_key = said.contains("unknown field `");
    let what = if is_key { "key" } else { "value" };
    let line = error.location().map_or(0, |at| at.line());
    let message = format!("`{FILE}` has an unknown {what} `{}` in line {line}", excerpt(word));
    let known: Vec<&str> = words.collect();
    let hint = match nearest::nearest(word, known.iter().copied()) {
        _ if is_key => keys::advice(word, &known),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", known.join(", ")),
    };
    Error::new(Kind::InvalidConfig, message)
        .hint(hint)
        .details(place(error, text, Some(word)))
}

/// Where in the file: for programs, and for showing the line. `word`: what is wrong in that line.
fn place(error: &serde_yaml::Error, text: &str, word: Option<&str>) -> serde_json::Value {
    let Some(at) = error.location() else {
        return serde_json::json!({ "file": FILE });
    };
    let line = text.lines().nth(at.line().saturating_sub(1)).unwrap_or_default();
    let rest: String = line.chars().skip(at.column().saturating_sub(1)).collect();
    let word = word.unwrap_or(rest.trim_end());
    serde_json::json!({ "file": FILE, "line": at.line(), "text": excerpt(line), "word": excerpt(word) })
}

fn excerpt(text: &str) -> String {
    text.chars().take(MAX_MESSAGE_CHARS).collect()
}

fn invalid(message: String) -> Error {
    Error::new(Kind::InvalidConfig, message).hint("`.coatepec.yml.example` explains every key and its range")
}
