//! `coatepec list | status | routes | model | controller | schema | job | check`: what tools tell of the app, as tables.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::Context;
use super::render::data;
use super::run::exit::exit_code;
use super::session::{ask, within};
use crate::error::Result;

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
    #[arg(long, value_delimiter = ',', requires = "names")]
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
    /// Of the list, only this kind: job, mailer or channel
    #[arg(long, conflicts_with = "name")]
    kind: Option<String>,
    /// Of the list, only what contains this
    #[arg(long, conflicts_with = "name")]
    query: Option<String>,
    #[command(flatten)]
    form: Form,
}

/// The examples of a selection, without running them
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Files, directories, `file:LINE(:LINE)`, `file[ID,ID]` or `file#NAME`
    #[arg(required = true)]
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
    read(context, "rails_model", asked, "models", arguments.form)?;
    Ok(ExitCode::SUCCESS)
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

/// With the exit code of a run whose files can't be loaded.
pub(super) fn list(arguments: &List, context: &Context) -> Result<ExitCode> {
    let asked = given(json!({ "paths": arguments.selectors, "example": arguments.example, "limit": EXAMPLES }));
    let listed = read(context, "rails_spec_list", asked, "examples", arguments.form)?;
    let outcome = serde_json::from_value(listed["report"]["outcome"].clone());
    Ok(outcome.map_or(ExitCode::SUCCESS, |outcome| ExitCode::from(exit_code(outcome))))
}

pub(super) fn check(arguments: &Check, context: &Context) -> Result<ExitCode> {
    let only = Some(&arguments.only).filter(|only| !only.is_empty());
    let asked = given(json!({ "only": only, "limit": PAGE }));
    let found = read(context, "rails_check", asked, "findings", arguments.form)?;
    let any = found["matched"].as_u64().unwrap_or(0) > 0;
    Ok(if any { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// All pages of the answer, in one.
fn read(context: &Context, tool: &str, asked: Map<String, Value>, list: &str, form: Form) -> Result<Value> {
    let answer = within(context, async |client, _| {
        let mut whole = ask(client, tool, Value::Object(asked.clone())).await?;
        while let Some(cursor) = whole.get("next_cursor").cloned() {
            let mut next = asked.clone();
            next.insert("cursor".into(), cursor);
            let page = ask(client, tool, Value::Object(next)).await?;
            if !append(&mut whole, page, list) {
                break;
            }
        }
        Ok(whole)
    })?;
    show(&answer, form, context);
    Ok(answer)
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

/// Without what was not said.
pub(super) fn given(arguments: Value) -> Map<String, Value> {
    let all = match arguments {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
