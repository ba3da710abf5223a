//! The tools: names, arguments, descriptions.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema;
use crate::config::{Fork, IncludeStdout};
use crate::error::{Error, Kind, Result};
use crate::reading::check::Check;
use crate::reading::controller::Controller;
use crate::reading::job::Job;
use crate::reading::model::Model;
use crate::reading::routes::Routes;
use crate::reading::schema::Schema;
use crate::reading::{Arguments, Question};
use crate::run::progress::Progress;
use crate::run::report::{FailureReport, Report};
use crate::supervisor::board::Status;
use crate::supervisor::call::RunArguments;
use crate::supervisor::concern::ConcernArguments;
use crate::supervisor::coverage::Scope;
use crate::supervisor::flaky::FlakyArguments;
use crate::supervisor::listing::ListArguments;
use crate::supervisor::results::StreamName;
use crate::supervisor::runs::Ongoing;

pub(super) const SPEC_RUN: &str = "rails_spec_run";
/// Accepted for `rails_spec_run`, and not listed.
pub(super) const SPEC_RUN_ALIAS: &str = "rails_test_run";
pub(super) const SPEC_LIST: &str = "rails_spec_list";
pub(super) const SPEC_FOR: &str = "rails_spec_for";
pub(super) const FLAKY: &str = "rails_spec_flaky_check";
/// Accepted for `rails_spec_flaky_check`, and not listed.
pub(super) const FLAKY_ALIAS: &str = "rails_test_flaky_check";
pub(super) const STATUS: &str = "rails_runtime_status";
pub(super) const RESULT: &str = "rails_run_result";
pub(super) const RESTART: &str = "rails_runtime_restart";

/// What the server is good for, told to the model once. Clients cut it at 2 KB.
pub(super) const INSTRUCTIONS: &str = "\
Runs exactly the RSpec or Minitest files, lines or ids you name in a warm Rails test process: much faster than a \
shell, and each run is isolated, bounded and cleaned up. Prefer rails_spec_run over the shell whenever you want to know \
whether specs or tests pass. Code, config and Gemfile changes are picked up by themselves before every run; never restart \
anything after an edit.

Read `outcome` first: only `passed` means that everything selected ran and passed. Each failure has `rerun`, the \
selector that runs exactly that example, and `backtrace` with the app's frames first. `command` is what a person would \
type. Selectors are relative to the app: `spec/models/user_spec.rb`, `spec/models/user_spec.rb:12:40`, \
`spec/models/user_spec.rb[1:2]`, `test/models/user_test.rb#test_name`, `spec/models`; `@failed` and `@last` stand for the last \
failures and the last selection. rails_spec_for says which specs your changes concern; \
`coverage: \"lines\"`, which of your changed lines a run executed (with `coverage_files`, which lines of these).

rails_routes, rails_model and their like answer from the running app while specs run, and are never older than the files. \
Lists are paged: `limit`, and `cursor` with the `next_cursor` of the page before. There is no console, no SQL, no shell and no \
Rake here.";

/// Arguments of `rails_spec_run`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecRun {
    /// Files, directories, `file:LINE(:LINE)`, `file[ID]`, `file#test_name`, `@failed`, `@last`.
    #[schemars(length(min = 1, max = 100))]
    paths: Vec<String>,
    /// Part of full descriptions.
    example: Option<String>,
    #[schemars(range(max = 4_294_967_295_u32))]
    seed: Option<u32>,
    fail_fast: Option<bool>,
    /// Default 120.
    #[schemars(range(min = 1, max = 900))]
    timeout_seconds: Option<u64>,
    include_passing: Option<bool>,
    /// Default `failures`.
    include_stdout: Option<IncludeStdout>,
    /// `never`: a fresh process.
    fork: Option<Fork>,
    // Explained in the instructions.
    coverage: Option<Coverage>,
    coverage_files: Option<Vec<String>>,
    // Where the time goes; the name says it.
    profile: Option<bool>,
    /// Then answer `running`. Default 45.
    #[schemars(range(min = 0, max = 900))]
    pub(super) wait_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Coverage {
    Lines,
}

/// Arguments of `rails_run_result`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunResult {
    pub(super) run_id: String,
    #[schemars(range(min = 0, max = 900))]
    pub(super) wait_seconds: Option<u64>,
    /// This one in full, from 1.
    pub(super) failure: Option<usize>,
    /// A page of it.
    pub(super) output: Option<StreamName>,
    pub(super) offset: Option<usize>,
}

impl RunResult {
    /// # Errors
    /// `InvalidArguments`: it asks for two things, or for a page of none.
    pub(super) fn check(&self) -> Result<()> {
        let (message, hint) = match (self.failure, self.output, self.offset) {
            (Some(_), Some(_), _) => ("`failure` and `output` are two questions", "ask for one at a time"),
            (_, None, Some(_)) => (
                "`offset` is of a page of `output`, which is not there",
                "add `output`: `stdout` or `stderr`",
            ),
            _ => return Ok(()),
        };
        Err(Error::new(Kind::InvalidArguments, message).hint(hint))
    }
}

/// A run that goes on after the time to wait.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Running {
    pub(super) run_id: String,
    pub(super) outcome: &'static str,
    pub(super) progress: Progress,
    /// The one that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) failures: Vec<FailureReport>,
    pub(super) seconds: f64,
    pub(super) hint: &'static str,
}

impl Running {
    pub(super) fn of(ongoing: &Ongoing) -> Running {
        Running {
            run_id: ongoing.id.to_string(),
            outcome: "running",
            progress: ongoing.progress().borrow().clone().within(ongoing.max_bytes / 2),
            failures: Vec::new(),
            seconds: ongoing.since.elapsed().as_secs_f64().round(),
            hint: "call rails_run_result with this run_id to go on waiting",
        }
    }

    /// With one failure in full, and no names of the others.
    pub(super) fn with(ongoing: &Ongoing, failure: FailureReport) -> Running {
        let running = Running::of(ongoing);
        Running {
            progress: running.progress.within(0),
            failures: vec![failure],
            ..running
        }
    }
}

/// Arguments of `rails_spec_list`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecList {
    paths: Vec<String>,
    example: Option<String>,
    offset: Option<usize>,
    cursor: Option<String>,
    /// Default 100.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

/// Arguments of `rails_spec_for`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecFor {
    files: Option<Vec<String>>,
    since: Option<String>,
}

/// Arguments of `rails_spec_flaky_check`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FlakyCheck {
    paths: Vec<String>,
    example: Option<String>,
    /// Default 10.
    #[schemars(range(min = 2, max = 100))]
    rounds: Option<u32>,
    /// Of each round.
    #[schemars(range(min = 1, max = 900))]
    timeout_seconds: Option<u64>,
    /// Default 45.
    #[schemars(range(min = 1, max = 900))]
    budget_seconds: Option<u64>,
    /// Find what must run before a failure.
    bisect: Option<bool>,
    /// Its selector.
    failure: Option<String>,
}

/// Arguments of `rails_runtime_status`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeStatus {
    /// Boot first.
    pub(super) boot: Option<bool>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

/// What `rails_runtime_restart` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Restarted {
    /// The boot that was ended; absent when nothing was booted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_boot_id: Option<u64>,
    pub(super) next: &'static str,
}

/// A tool that reads the app: `rails_` and what it reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    what: &'static str,
    pub(super) question: fn(Value) -> Result<Question>,
    title: &'static str,
    description: &'static str,
    schemas: fn() -> (Arc<JsonObject>, Arc<JsonObject>),
}

const READINGS: &[Reading] = &[
    Reading::of::<Routes>("Routes", "Routes with their places in the code. A verb of \"\" is any."),
    Reading::of::<Controller>(
        "Controller",
        "A controller's actions with places and routes, callbacks, rescue_from, layout.",
    ),
    Reading::of::<Model>(
        "Models",
        "What ActiveRecord models are made of, with places. Counts, and in full what `fields` names.",
    ),
    Reading::of::<Schema>("Schema", "Tables and views of the test databases, pending migrations."),
    Reading::of::<Job>(
        "Jobs, mailers, channels",
        "Jobs (queue, retries, arguments), mailers and channels, with places.",
    ),
    Reading::of::<Check>(
        "Check",
        "Where the app's parts don't fit: routes, associations, indexes, validators, enums, jobs; with places.",
    ),
];

impl Reading {
    const fn of<T: Arguments + DeserializeOwned + JsonSchema>(title: &'static str, description: &'static str) -> Self {
        Reading {
            what: T::WHAT,
            question: |arguments| Question::new(&parse::<T>(arguments)?),
            title,
            description,
            schemas: || (schema::of_input::<T>(), schema::of_named_fields(T::RESULT)),
        }
    }

    /// The one that goes by this name.
    pub(super) fn named(name: &str) -> Option<Reading> {
        let what = name.strip_prefix("rails_")?;
        READINGS.iter().find(|reading| reading.what == what).copied()
    }

    fn tool(&self) -> Tool {
        let name = format!("rails_{}", self.what);
        tool(name, self.description, (self.schemas)(), reads_only(self.title))
    }
}

impl From<SpecRun> for RunArguments {
    fn from(input: SpecRun) -> Self {
        RunArguments {
            paths: input.paths,
            example: input.example,
            seed: input.seed,
            fail_fast: input.fail_fast,
            timeout_seconds: input.timeout_seconds,
            include_passing: input.include_passing,
            include_stdout: input.include_stdout,
            fork: input.fork,
            coverage: match (input.coverage, input.coverage_files) {
                (_, Some(files)) => Some(Scope::Files(files)),
                (Some(Coverage::Lines), None) => Some(Scope::Changed),
                (None, None) => None,
            },
            profile: input.profile.unwrap_or(false),
            ..RunArguments::default()
        }
    }
}

impl From<SpecList> for ListArguments {
    fn from(input: SpecList) -> Self {
        ListArguments {
            run: RunArguments {
                paths: input.paths,
                example: input.example,
                ..RunArguments::default()
            },
            offset: input.offset,
            cursor: input.cursor,
            limit: input.limit,
        }
    }
}

impl From<SpecFor> for ConcernArguments {
    fn from(input: SpecFor) -> Self {
        ConcernArguments {
            files: input.files.unwrap_or_default(),
            since: input.since,
        }
    }
}

impl From<FlakyCheck> for FlakyArguments {
    fn from(input: FlakyCheck) -> Self {
        FlakyArguments {
            run: RunArguments {
                paths: input.paths,
                example: input.example,
                timeout_seconds: input.timeout_seconds,
                ..RunArguments::default()
            },
            rounds: input.rounds,
            budget_seconds: input.budget_seconds,
            bisect: input.bisect.unwrap_or(false),
            failure: input.failure,
        }
    }
}

/// The tool that an alias stands for.
pub(super) fn listed(name: &str) -> &str {
    match name {
        SPEC_RUN_ALIAS => SPEC_RUN,
        FLAKY_ALIAS => FLAKY,
        name => name,
    }
}

/// Whether there is a tool of this name, listed or not.
pub(super) fn exists(name: &str) -> bool {
    listed(name) != name
        || [SPEC_RUN, SPEC_LIST, SPEC_FOR, FLAKY, RESULT, STATUS, RESTART].contains(&name)
        || Reading::named(name).is_some()
}

/// Of arguments that fit the schema; what remains is what a schema can't say.
pub(super) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|error| {
        Error::new(
            Kind::InvalidArguments,
            format!("the arguments were not understood: {error}"),
        )
        .hint("see the tool's input schema")
    })
}

pub(super) fn all() -> Vec<Tool> {
    let mut tools = vec![
        tool(
            SPEC_RUN,
            "Run RSpec or Minitest in the warm Rails process: verdict, failures with diff, backtrace and `rerun`.",
            (schema::of_input::<SpecRun>(), schema::of_run::<Report>()),
            runs("Run specs"),
        ),
        tool(
            SPEC_LIST,
            "List the examples of a selection without running them.",
            (
                schema::of_input::<SpecList>(),
                schema::of_named_fields(&[
                    ("total", "integer"),
                    ("examples", "array"),
                    ("next_offset", "integer"),
                    ("next_cursor", "string"),
                    ("changed", "string"),
                    ("files", "array"),
                ]),
            ),
            reads_only("List specs"),
        ),
        tool(
            SPEC_FOR,
            "Which specs `files`, or changes since a Git ref (HEAD), concern: `paths` to run.",
            (
                schema::of_input::<SpecFor>(),
                schema::of_named_fields(&[("files", "integer"), ("runs", "array"), ("unmatched", "array")]),
            ),
            reads_only("Specs for"),
        ),
        tool(
            FLAKY,
            "What fails now and then, in many rounds, and after what.",
            (
                schema::of_input::<FlakyCheck>(),
                schema::of_named_fields(&[
                    ("outcome", "string"),
                    ("inconsistent", "array"),
                    ("consistently_failing", "array"),
                    ("bisect", "object"),
                ]),
            ),
            runs("Flaky check"),
        ),
        tool(
            RESULT,
            "Wait on for a run that is `running`, or fetch more of one that is over.",
            (schema::of_input::<RunResult>(), schema::of_run::<Report>()),
            reads_only("Run result"),
        ),
        tool(
            STATUS,
            "What the warm process does, at once: state, versions, queue, runs, defaults.",
            (schema::of_input::<RuntimeStatus>(), schema::of_output::<Status>()),
            reads_only("Runtime status"),
        ),
        tool(
            RESTART,
            "Ends the warm process and boots anew. Never needed after an edit.",
            (schema::of_input::<NoArguments>(), schema::of_output::<Restarted>()),
            ToolAnnotations::with_title("Restart")
                .read_only(false)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
        ),
    ];
    tools.extend(READINGS.iter().map(Reading::tool));
    tools
}

/// Specs write to the test database and may write files; nothing else is touched.
fn runs(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false)
}

fn reads_only(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(true)
        .idempotent(true)
        .open_world(false)
}

fn tool(
    name: impl Into<Cow<'static, str>>,
    description: &'static str,
    (input, output): (Arc<JsonObject>, Arc<JsonObject>),
    annotations: ToolAnnotations,
) -> Tool {
    Tool::new(name, description, input)
        .with_raw_output_schema(output)
        .with_annotations(annotations)
}
