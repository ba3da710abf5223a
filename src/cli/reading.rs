//! `coatepec list | status | routes | model | controller | schema | job | check`: what tools tell of the app, as tables.

use std::collections::VecDeque;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value, json};

use super::Context;
use super::parts::parts;
use super::render::{data, report};
use super::run::exit::{Asked, exit_code_of_all};
use super::session::{ask, within};
use crate::config::Finding;
use crate::daemon::client::Client;
use crate::error::{Error, Kind, Result};
use crate::reading::job::JobKind;
use crate::reading::model::Field;
use crate::run::outcome::Outcome;
use crate::run::report::Report;

/// What the warm process is doing
#[derive(Debug, clap::Args)]
pub(super) struct Status {
    /// Boot the app first if it is not booted
    #[arg(long)]
    boot: bool,
    #[command(flatten)]
    form: Form,
}

/// The routes of the app
#[derive(Debug, clap::Args)]
pub(super) struct Routes {
    /// Part of a name, verb, path, controller, action or engine; `widgets#show` too
    query: Option<String>,
    /// `admin/widgets` or `Admin::WidgetsController`
    #[arg(long)]
    controller: Option<String>,
    /// Routes that accept it, such as GET
    #[arg(long)]
    verb: Option<String>,
    /// Routes of mounted engines
    #[arg(long, value_parser = ["include", "exclude", "only"])]
    engines: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// What models are made of; without a name, which there are
#[derive(Debug, clap::Args)]
pub(super) struct Model {
    /// Such as `Admin::User`
    names: Vec<String>,
    /// What to tell of them [default: columns, associations, validators, enums, scopes, callbacks]
    #[arg(long, value_delimiter = ',', requires = "names", value_parser = choices::<Field>())]
    fields: Vec<String>,
    /// Of the list, only models whose name or table contains this
    #[arg(long, conflicts_with = "names")]
    query: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// Actions, callbacks and routes of a controller
#[derive(Debug, clap::Args)]
pub(super) struct Controller {
    /// `Admin::WidgetsController` or `admin/widgets`
    name: String,
    #[command(flatten)]
    form: Form,
}

/// The tables of the database
#[derive(Debug, clap::Args)]
pub(super) struct Schema {
    /// Only this table, in full
    table: Option<String>,
    /// Only tables whose name or columns contain this
    #[arg(long, conflicts_with = "table")]
    query: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// Jobs, mailers and channels; without a name, which there are
#[derive(Debug, clap::Args)]
pub(super) struct Job {
    /// Such as `Ops::SweepJob`
    name: Option<String>,
    /// Of the list, only this kind
    #[arg(long, conflicts_with = "name", value_parser = choices::<JobKind>())]
    kind: Option<String>,
    /// Of the list, only what contains this
    #[arg(long, conflicts_with = "name")]
    query: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// The examples of a selection, without running them
///
/// Those of RSpec and those of Minitest, if there are of both, one after the other; --json tells an object per line.
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Files, directories, `file:LINE(:LINE)`, `file[ID,ID]` or `file#NAME` [default: all tests of the app]
    selectors: Vec<String>,
    /// Only examples whose full description contains this
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    example: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// Where parts of the app don't fit each other; ends with status 1 if there is anything
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Only findings of these codes
    #[arg(value_name = "CODE", value_parser = choices::<Finding>())]
    only: Vec<String>,
    #[command(flatten)]
    form: Form,
}

#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Form {
    /// Tell it as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Examples of one page: the most that the tool gives.
const EXAMPLES: u32 = 500;

/// What a model is asked for by people, who see less at once than programs.
const MODEL_FIELDS: [&str; 6] = ["columns", "associations", "validators", "enums", "scopes", "callbacks"];

/// Entries of one page: the most that a tool gives.
const PAGE: u32 = 200;

pub(super) fn status(arguments: &Status, context: &Context) -> Result<ExitCode> {
    let status = within(context, async |client, _| {
        ask(client, "rails_runtime_status", json!({ "boot": arguments.boot })).await
    })?;
    show(&status, arguments.form, context);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn routes(arguments: &Routes, context: &Context) -> Result<ExitCode> {
    let asked = given(json!({
        "query": arguments.query, "controller": arguments.controller, "verb": arguments.verb,
        "engines": arguments.engines, "limit": PAGE,
    }));
    read(context, "rails_routes", asked, "rows", arguments.form)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn model(arguments: &Model, context: &Context) -> Result<ExitCode> {
    let asked = match arguments.names.is_empty() {
        true => given(json!({ "query": arguments.query, "limit": PAGE })),
        false => {
            let usual = || MODEL_FIELDS.map(str::to_owned).to_vec();
            let fields = Some(arguments.fields.clone()).filter(|fields| !fields.is_empty());
            given(json!({ "names": arguments.names, "fields": fields.unwrap_or_else(usual) }))
        }
    };
    let answer = read(context, "rails_model", asked, "models", arguments.form)?;
    let models = answer["models"].as_array().map_or(&[][..], Vec::as_slice);
    let missing = models
        .iter()
        .find_map(|model| Kind::of_code(model["error"]["code"].as_str()?));
    Ok(missing.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.exit_code())))
}

pub(super) fn controller(arguments: &Controller, context: &Context) -> Result<ExitCode> {
    let asked = given(json!({ "name": arguments.name }));
    read(context, "rails_controller", asked, "", arguments.form)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn schema(arguments: &Schema, context: &Context) -> Result<ExitCode> {
    let asked = given(json!({ "table": arguments.table, "query": arguments.query, "limit": PAGE }));
    read(context, "rails_schema", asked, "tables", arguments.form)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn job(arguments: &Job, context: &Context) -> Result<ExitCode> {
    let asked = match &arguments.name {
        Some(name) => given(json!({ "name": name })),
        None => given(json!({ "kind": arguments.kind, "query": arguments.query, "limit": PAGE })),
    };
    read(context, "rails_job", asked, "classes", arguments.form)?;
    Ok(ExitCode::SUCCESS)
}

/// With the exit code of a run of the same: of files that can't be loaded, or of a selector that matched nothing.
pub(super) fn list(arguments: &List, context: &Context) -> Result<ExitCode> {
    let outcomes = within(context, async |client, root| {
        let mut outcomes = Vec::new();
        let mut parts = VecDeque::from(parts(root, &arguments.selectors)?);
        while let Some(part) = parts.pop_front() {
            let (outcome, others) = list_part(arguments, &part, client, context).await?;
            outcomes.push(outcome);
            parts.extend(others.into_iter().map(|others| vec![others]));
        }
        Ok(outcomes)
    })?;
    let asked = Asked::of(&arguments.selectors, arguments.example.as_deref());
    Ok(ExitCode::from(exit_code_of_all(outcomes, asked)))
}

/// What became of it, and what stands for the examples that `@failed` or `@last` left out.
async fn list_part(
    arguments: &List,
    selectors: &[String],
    client: &Client,
    context: &Context,
) -> Result<(Outcome, Vec<String>)> {
    let asked = given(json!({ "paths": selectors, "example": arguments.example, "limit": EXAMPLES }));
    let mut listed = pages(client, "rails_spec_list", asked, "examples").await?;
    let unmatched = listed.get("unmatched").map(|_| Outcome::NoExamples);
    let others = ["also_failed", "also_last"].map(|name| listed[name].as_str().map(str::to_owned));
    let report: Option<Report> = serde_json::from_value(listed["report"].clone()).ok();
    if let Some(report) = report.as_ref().filter(|_| !arguments.form.json) {
        let style = context.terminal.out;
        let told = report::body(report, &|_| String::new(), style);
        context
            .terminal
            .say(&format!("{told}\n{}", report::summary(report, style)));
        listed = json!({ "examples": listed["examples"] });
    }
    if report.is_none() || arguments.form.json || listed["examples"][0].is_object() {
        show(&listed, arguments.form, context);
    }
    let outcome = report.map(|report| report.outcome).or(unmatched);
    Ok((
        outcome.unwrap_or(Outcome::Passed),
        others.into_iter().flatten().collect(),
    ))
}

pub(super) fn check(arguments: &Check, context: &Context) -> Result<ExitCode> {
    let only = Some(&arguments.only).filter(|only| !only.is_empty());
    let asked = given(json!({ "only": only, "limit": PAGE }));
    let found = read(context, "rails_check", asked, "findings", arguments.form)?;
    let any = found["matched"].as_u64().unwrap_or(0) > 0;
    Ok(if any { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// All pages of the answer, in one, as it was shown.
fn read(context: &Context, tool: &str, asked: Map<String, Value>, list: &str, form: Form) -> Result<Value> {
    let answer = within(context, async |client, _| pages(client, tool, asked, list).await)?;
    show(&answer, form, context);
    Ok(answer)
}

async fn pages(client: &Client, tool: &str, asked: Map<String, Value>, list: &str) -> Result<Value> {
    let first = ask(client, tool, Value::Object(asked.clone())).await;
    let mut whole = first.map_err(|error| or_list(error, tool))?;
    while let Some(cursor) = whole.get("next_cursor").cloned() {
        let mut next = asked.clone();
        next.insert("cursor".into(), cursor);
        let page = ask(client, tool, Value::Object(next)).await?;
        if !append(&mut whole, page, list) {
            break;
        }
    }
    Ok(whole)
}

/// Where nothing is near, the list of all tells what there is.
fn or_list(error: Error, tool: &str) -> Error {
    let list = match (error.kind, tool) {
        (Kind::ModelNotFound, _) => "`coatepec model` lists all",
        (Kind::TableNotFound, _) => "`coatepec schema` lists all",
        (Kind::JobNotFound, _) => "`coatepec job` lists all",
        (Kind::ControllerNotFound, _) => "`coatepec routes` names those that are routed to",
        _ => return error,
    };
    match error.hint {
        Some(_) => error,
        None => error.hint(list),
    }
}

/// The next page behind what there is; whether it had anything.
fn append(whole: &mut Value, mut page: Value, list: &str) -> bool {
    let next = ["next_offset", "next_cursor"].map(|name| (name, page.get(name).cloned()));
    let changed = page.get("changed").cloned();
    let (Some(Value::Array(more)), Some(Value::Array(all))) = (page.get_mut(list), whole.get_mut(list)) else {
        return false;
    };
    let any = !more.is_empty();
    all.append(more);
    if let Some(fields) = whole.as_object_mut() {
        for (name, next) in next {
            match next {
                Some(next) => fields.insert(name.into(), next),
                None => fields.shift_remove(name),
            };
        }
        fields.extend(changed.map(|changed| ("changed".to_owned(), changed)));
    }
    any
}

fn show(answer: &Value, form: Form, context: &Context) {
    let terminal = &context.terminal;
    let text = match form.json {
        true => answer.to_string() + "\n",
        false => data::show(answer, terminal.width_of_out, terminal.out),
    };
    terminal.say(&text);
}

/// The values of an argument, as the tool has them: for help, completions, and what is said of a wrong one.
fn choices<T: JsonSchema>() -> PossibleValuesParser {
    let schema = schema_for!(T);
    let plain = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let told = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let told = told.flat_map(|one| {
        one.get("const")
            .into_iter()
            .chain(one["enum"].as_array().into_iter().flatten())
    });
    let names = plain.chain(told).filter_map(Value::as_str);
    // The parser wants them for ever; it is built once or twice.
    names
        .map(|name| &*name.to_owned().leak())
        .collect::<Vec<&'static str>>()
        .into()
}

/// Without what was not said.
pub(super) fn given(arguments: Value) -> Map<String, Value> {
    let all = match arguments {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
