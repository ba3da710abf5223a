//! What supervisor, worker, zygote and runs say to each other: the wire types, and the only place that knows them.
//!
//! One JSON object per line, each message under its own name: `{"id": 1, "fds": 0, "ask": {"ping": {}}}` is answered by
//! `{"id": 1, "told": {"pong": {}}}`. Descriptors travel with the line that counts them in `fds` (SCM_RIGHTS).
//! A message that changes its meaning raises [`VERSION`], here and in worker.rb.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::project::Framework;
pub use crate::sandbox::grants::RefusedFile;

/// Version of everything in this file; the worker's `hello` must carry the same.
pub const VERSION: u32 = 2;

/// Supervisor to the worker or to what was forked.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Worker: load the app, as far as none of its classes is loaded. Answered by `booted` or `boot_failed`.
    Boot { root: PathBuf, environment: PathBuf },
    /// Worker: fork one that loads the rest; brings its socket, stdout and stderr. Answered by `forked` or `refused`; it
    /// then says `ready` or `load_failed` on its own socket.
    App {
        /// Why not all classes can be loaded: then it loads none.
        eager_load_error: Option<Failure>,
    },
    /// App: fork a zygote; brings its socket, stdout and stderr. Answered by `forked` or `refused`; the zygote
    /// then says `loaded` or `load_failed` on its own socket.
    Zygote {
        framework: Framework,
        preload: Vec<PathBuf>,
    },
    /// App: fork a reader; brings its socket, stdout and stderr. Answered by `forked` or `refused`; the reader then
    /// says `loaded` on its own socket.
    Reader {},
    /// Reader: what the app is made of. Answered by `read`, `not_read` or `read_failed`.
    Read {
        what: &'static str,
        arguments: serde_json::Value,
    },
    /// Zygote: fork a run; brings stdout, stderr, events and the pipe it waits on for `go`. Answered by `forked`.
    Run(RunRequest),
    /// What decides whether forking is safe. Answered by `facts`.
    Facts { gems: Vec<GemProbe> },
    /// Wait for a child that has ended. Answered by `reaped`.
    Reap { pid: i32 },
    /// Answered by `pong`: alive and listening.
    Ping {},
}

/// A line to one of them: the question, its number and how many descriptors come with it.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    pub id: u64,
    pub fds: usize,
    pub ask: &'a Ask,
}

/// What a run is to do, for a fork and for a fresh process alike.
#[derive(Debug, Clone, Serialize)]
pub struct RunRequest {
    /// The run's id, for the process title.
    pub run: String,
    pub root: PathBuf,
    pub mode: ProcessMode,
    pub framework: Framework,
    /// Of RSpec: validated selectors as the framework's own arguments; each begins with `./`.
    pub arguments: Vec<String>,
    /// The files of these selectors: nothing else may be loaded as a spec, whatever patterns the project has.
    pub files: Vec<String>,
    /// The same in parts: Minitest has no arguments for them, and each is asked what it matched.
    pub chosen: Vec<Chosen>,
    /// Directories among what the caller named: the project's exclude pattern applies to what is below them.
    pub directories: Vec<String>,
    /// Everything that the caller named.
    pub named: Vec<String>,
    pub example: Option<String>,
    pub seed: Option<u32>,
    pub fail_fast: bool,
    /// Load the files and tell what they hold; run nothing.
    pub list: bool,
    /// The files of which it shall tell what lines were executed, relative to the root; none if nothing is to be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Vec<String>>,
    /// Tell where the time goes.
    pub profile: bool,
    /// The largest file that a process of the run may write, in bytes.
    pub max_file_bytes: u64,
    /// Whether to notice files that can't be had although their permissions allow it.
    pub notice_refusals: bool,
    /// Whether a fork shall run only if the tables of the databases are those that its code has seen.
    pub ask_tables: bool,
    /// Whether databases shall take nothing but questions.
    #[serde(skip_serializing_if = "is_false")]
    pub read_only: bool,
    /// Whether the order is the project's, also with a seed.
    #[serde(skip_serializing_if = "is_false")]
    pub keep_order: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Tests of a file: those at the lines, those of the ids, those of the name, or all if there is none of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Chosen {
    pub path: String,
    pub lines: Vec<u32>,
    pub ids: Vec<String>,
    pub name: Option<String>,
}

/// Whether the process of a run was forked warm or started fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessMode {
    Fork,
    Spawn,
}

/// A line from one of them: the answer to the question of that number, or said unasked.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    pub id: Option<u64>,
    pub told: Told,
}

/// To the supervisor.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    Hello {
        protocol: u32,
        code: String,
        pid: i32,
        ruby: String,
    },
    Booted {
        seconds: f64,
        inputs: Box<Inputs>,
    },
    BootFailed {
        seconds: f64,
        error: Failure,
    },
    Ready(Box<Ready>),
    Forked {
        pid: i32,
    },
    Loaded {
        seconds: f64,
        features: Vec<PathBuf>,
        #[serde(default)]
        traces: Traces,
        versions: Versions,
        /// Zygote: classes were loaded when the tables of a database were not what they are now.
        #[serde(default)]
        outdated: bool,
    },
    LoadFailed {
        seconds: f64,
        error: Failure,
    },
    Facts(Facts),
    /// `status` or `signal`; neither when the child was not ours to wait for.
    Reaped {
        status: Option<i32>,
        signal: Option<i32>,
    },
    Read {
        result: serde_json::Value,
    },
    /// The question can't be answered; `code` is what callers see.
    NotRead {
        code: String,
        message: String,
        hint: Option<String>,
    },
    /// The app failed while it was asked.
    ReadFailed {
        error: Failure,
    },
    Pong {},
    Refused {
        reason: String,
    },
}

/// A gem to look for, with the constant that its code defines, if one is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GemProbe {
    pub gem: String,
    pub constant: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Facts {
    /// Ruby's threads besides the main one, by name, else by where they were started.
    pub threads: Vec<String>,
    /// Threads that Ruby doesn't know of, by the kernel's name for them.
    pub native: Vec<String>,
    pub loaded: Vec<String>,
    pub live: Vec<String>,
}

/// An app with its classes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Ready {
    pub seconds: f64,
    pub versions: Versions,
    pub inputs: Inputs,
    pub eager_load_error: Option<Failure>,
    /// As in [`Facts`].
    pub threads: Vec<String>,
    pub native: Vec<String>,
    /// The databases that tests use, each by a name that is the same for everyone who uses it.
    pub databases: Vec<String>,
    /// Ports and sockets that the app listens on; runs don't inherit them.
    pub listening: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct Versions {
    pub ruby: Option<String>,
    pub rails: Option<String>,
    pub rspec: Option<String>,
    pub minitest: Option<String>,
}

/// What an app depended on, by what a change of it calls for; absolute paths. The worker tells its part of it, and the app
/// all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Inputs {
    /// The worker has loaded classes, too: what calls for another app calls for another worker.
    #[serde(default)]
    pub whole: bool,
    /// Files of the app that the worker has loaded.
    pub features: Vec<PathBuf>,
    /// `config` directories of the app and of engines that are not installed gems.
    #[serde(default)]
    pub config_dirs: Vec<PathBuf>,
    /// Every file the bundle was made from, the lock file included.
    pub gemfiles: Vec<PathBuf>,
    /// Directories of which code is found by its name, and which the worker has listed.
    #[serde(default)]
    pub code_dirs: Vec<PathBuf>,
    /// Files that the boot wrote itself, and that are as it used them.
    #[serde(default)]
    pub vouched: Vec<PathBuf>,
    #[serde(default)]
    pub boot_traces: Traces,
    /// The worker has asked a database for its tables.
    #[serde(default)]
    pub asks_tables: bool,
    /// Directories of the app's classes.
    pub reload_dirs: Vec<PathBuf>,
    /// Files outside of them that are read along with the classes: routes, locales.
    pub reload_files: Vec<PathBuf>,
    /// Others that were loaded along with them.
    #[serde(default)]
    pub app_features: Vec<PathBuf>,
    #[serde(default)]
    pub class_traces: Traces,
}

/// What a load read besides the code that `require` keeps a list of; absolute paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Traces {
    pub files: Vec<PathBuf>,
    /// Directories of which any file may have been read: there were too many to name.
    pub dirs: Vec<PathBuf>,
    pub listings: Vec<Listing>,
    /// What the load wrote itself.
    #[serde(default)]
    pub written: Vec<PathBuf>,
}

/// A look for files: below `dir`, by a pattern of `Dir.glob` without braces.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Listing {
    pub dir: PathBuf,
    pub pattern: String,
}

/// An exception as data (worker/failure.rb). Texts are clipped there.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
pub struct Failure {
    pub class: String,
    pub message: String,
    #[serde(default)]
    pub frames: Vec<String>,
    /// Where a SyntaxError is, which its backtrace doesn't say.
    pub location: Option<Location>,
    #[serde(default)]
    pub causes: Vec<Failure>,
    /// The failures that an aggregated failure holds.
    #[serde(default)]
    pub parts: Vec<Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
}

/// One line of a run's events pipe: which process wrote it, and what happened.
#[derive(Debug, Clone, Deserialize)]
pub struct Record {
    pub pid: i32,
    /// When, in nanoseconds of the monotonic clock.
    pub at: u64,
    pub e: RunEvent,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEvent {
    /// A fresh process is about to load the framework.
    Hello {},
    /// All files are loaded; examples come next.
    Started(Started),
    /// More ids of what `Started` counts, of a selection that is too large for one line.
    Selected {
        ids: Vec<String>,
    },
    /// Of a listing: the selected examples, in the order they are written. There may be several of these.
    Listed {
        examples: Vec<ListedExample>,
    },
    ExampleStarted(Identity),
    ExampleFinished(ExampleFinished),
    /// What the framework would tell a person ("All examples were filtered out").
    Message {
        text: String,
    },
    /// An error while loading a file, or in a hook around the suite or a group.
    OutsideError {
        context: String,
        failure: Failure,
    },
    /// The framework's runner came back.
    Finished {
        status: i32,
        quit: bool,
        /// Examples looked as if they had passed, and their bodies were not run.
        #[serde(default)]
        dry_run: bool,
        outside: u32,
    },
    /// The exit handlers that count have run; the process leaves with this status.
    Exit {
        status: i32,
    },
    /// Of a fresh process, once the app is loaded: as in [`Ready`].
    Databases {
        names: Vec<String>,
    },
    /// Of a fork, instead of all the others: the tables of a database are not those that its code has seen.
    Outdated {},
    /// Files could not be had although their permissions allow it, since the last record.
    FilesRefused {
        files: Vec<RefusedFile>,
        /// Of those that are not listed, because there were too many different ones.
        more: u64,
    },
    /// Of a run that is to tell where its time goes, before its end; the last one counts.
    Profile(ProfileTotal),
    /// A coverage tool was there and was silenced.
    CoverageSkipped {},
    /// Lines that were executed, or why they can't be told. There may be several of these.
    Covered {
        lines: Vec<CoveredFile>,
        #[serde(default)]
        broken: Option<String>,
    },
    /// Files of the app of which the tests of a file executed lines.
    Touched {
        test: String,
        files: Vec<String>,
    },
    /// Asked for at the deadline.
    Threads {
        threads: Vec<ThreadDump>,
    },
}

/// Ranges of lines, `3-7,12`; without them it is no Ruby that can be compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct CoveredFile {
    pub path: String,
    #[serde(default)]
    pub loaded: bool,
    pub executed: Option<String>,
    pub missed: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Started {
    /// Time it took to load the files, in seconds.
    pub seconds: f64,
    pub selected: u32,
    /// Examples in the loaded files, before filters.
    pub loaded: u32,
    /// The first selected ids, in the order they are to run.
    pub ids: Vec<String>,
    /// `None` for one that is no seed we could pass.
    pub seed: Option<u32>,
    /// Whether the seed decided the order.
    pub random: bool,
    pub dry_run: bool,
    pub fail_fast: bool,
    /// Files of named directories that the project's exclude pattern leaves out.
    #[serde(default)]
    pub excluded: Vec<String>,
    pub filters: Filters,
    /// Selectors that nothing matched: the first of them, if there are very many.
    #[serde(default)]
    pub unmatched: Vec<String>,
    /// Of Minitest, where paths and lines don't lead a person to the same tests.
    #[serde(default)]
    pub known_as: Vec<KnownAs>,
    pub outside: u32,
}

/// What Minitest itself compares with a pattern for names: with the class, unless that has no name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct KnownAs {
    pub class: Option<String>,
    pub name: String,
}

/// Filters that the project configured; they hide examples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Filters {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Identity {
    pub id: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub line: u32,
}

/// One example of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ListedExample {
    pub example: Identity,
    /// Metadata that its author gave it: `focus`, `type: model`.
    #[serde(default)]
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ExampleFinished {
    pub example: Identity,
    pub status: ExampleStatus,
    pub seconds: Option<f64>,
    /// Of Minitest: how much it checked.
    pub assertions: Option<u32>,
    pub reason: Option<String>,
    pub failure: Option<Failure>,
    pub pending_fixed: Option<bool>,
    /// Of a run that is to tell where its time goes.
    pub cost: Option<Cost>,
}

/// What an example took of what all share.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Cost {
    pub sql: Option<Expense>,
    pub factories: Option<Expense>,
    pub gc_seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct Expense {
    pub count: u64,
    pub seconds: f64,
}

/// Where the time of a run went; what the app does not have is absent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ProfileTotal {
    pub sql: Option<SqlTotal>,
    pub factories: Option<FactoryTotal>,
    pub gc: Option<GcTotal>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SqlTotal {
    pub count: u64,
    pub seconds: f64,
    pub failed: u64,
    pub cached: u64,
    pub statements: u64,
    pub queries: Vec<QueryUse>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct QueryUse {
    pub sql: String,
    pub count: u64,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FactoryTotal {
    pub count: u64,
    pub seconds: f64,
    pub raised: u64,
    pub names: u64,
    pub by_name: Vec<FactoryUse>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
pub struct FactoryUse {
    pub name: String,
    /// How often by `create`, `build`, …
    pub strategies: BTreeMap<String, u64>,
    /// With the objects that it needs.
    pub seconds: f64,
    /// Without them.
    pub own: f64,
    /// How often it raised and made nothing.
    #[serde(default, skip_serializing_if = "none")]
    pub raised: u64,
}

pub(crate) fn none(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct GcTotal {
    pub runs: u64,
    pub major: u64,
    pub seconds: f64,
    pub allocated: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExampleStatus {
    Passed,
    Failed,
    Pending,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ThreadDump {
    pub name: Option<String>,
    pub main: bool,
    pub status: String,
    pub frames: Vec<String>,
}
