//! `coatepec for`: which tests changed files concern.

use std::process::ExitCode;

use serde_json::json;

use super::Context;
use super::render::concerned;
use super::session::{ask, within};
use crate::error::{Error, Result};
use crate::supervisor::concern::ConcernReport;

/// Which tests changed files concern, and why
///
/// Without files: all that differs from the last commit, or from where the branch left REF.
#[derive(Debug, clap::Args)]
pub(super) struct For {
    /// Files of the app, relative to its root
    files: Vec<String>,
    /// What differs since the branch left this commit, branch or tag
    #[arg(long, value_name = "REF")]
    since: Option<String>,
    /// Only the selectors, one per line, for `coatepec run`
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn concerned(arguments: &For, context: &Context) -> Result<ExitCode> {
    let mut asked = json!({});
    if !arguments.files.is_empty() {
        asked["files"] = json!(arguments.files);
    }
    if let Some(since) = &arguments.since {
        asked["since"] = json!(since);
    }
    let answer = within(context, async |client, _| ask(client, "rails_spec_for", asked).await)?;
    let terminal = &context.terminal;
    if arguments.json {
        terminal.say(&(answer.to_string() + "\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let report: ConcernReport = serde_json::from_value(answer)
        .map_err(|error| Error::internal("the answer was not understood").source(error))?;
    match arguments.paths {
        true => terminal.say(&concerned::paths(&report)),
        false => terminal.say(&concerned::told(&report, terminal.out)),
    }
    Ok(ExitCode::SUCCESS)
}
