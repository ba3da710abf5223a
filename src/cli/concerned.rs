//! `coatepec for`: which tests changed files concern.

use std::process::ExitCode;

use serde_json::json;

use super::Context;
use super::render::concerned;
use super::session::{ask, within};
use crate::error::{Error, Result};
use crate::project::Framework;
use crate::supervisor::concern::{ConcernReport, ConcernedRun};

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
    /// With --paths, those of one framework only
    #[arg(long, value_name = "FRAMEWORK", requires = "paths", value_parser = named)]
    framework: Option<Framework>,
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
        true => {
            terminal.say(&concerned::paths(&chosen(&report, arguments.framework)));
            terminal.remark(&concerned::beside_paths(&report, terminal.err));
        }
        false => terminal.say(&concerned::told(&report, terminal.out)),
    }
    Ok(ExitCode::SUCCESS)
}

fn named(text: &str) -> std::result::Result<Framework, String> {
    let named = |framework: &Framework| framework.name().eq_ignore_ascii_case(text);
    let found = Framework::ALL.into_iter().find(named);
    found.ok_or_else(|| "it is `rspec` or `minitest`".to_owned())
}

fn chosen(report: &ConcernReport, framework: Option<Framework>) -> Vec<&String> {
    let wanted = |run: &&ConcernedRun| framework.is_none_or(|framework| framework == run.framework);
    report.runs.iter().filter(wanted).flat_map(|run| &run.paths).collect()
}
