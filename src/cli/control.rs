//! `coatepec restart | stop`.

use std::process::ExitCode;

use serde_json::json;

use super::Context;
use super::session::{ask, within};
use crate::daemon;
use crate::error::Result;

/// End the warm process and boot anew; never needed after an edit
#[derive(Debug, clap::Args)]
pub(super) struct Restart {
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
}

/// End everything that is warm for this checkout
///
/// Clients that are connected go on: the next call starts what it needs.
#[derive(Debug, clap::Args)]
pub(super) struct Stop {
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn restart(arguments: &Restart, context: &Context) -> Result<ExitCode> {
    let answer = within(context, async |client, _| {
        ask(client, "rails_runtime_restart", json!({})).await
    })?;
    let text = match (arguments.json, answer["ended_boot_id"].as_u64()) {
        (true, _) => answer.to_string(),
        (false, Some(boot)) => format!("ended boot {boot}; booting anew"),
        (false, None) => "nothing was booted; booting now".to_owned(),
    };
    context.terminal.say(&format!("{text}\n"));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn stop(arguments: &Stop, context: &Context) -> Result<ExitCode> {
    let root = context.root()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let pids: Vec<i32> = runtime
        .block_on(daemon::stop::stop(&root))?
        .iter()
        .map(|card| card.pid)
        .collect();
    let text = match (arguments.json, pids.as_slice()) {
        (true, pids) => json!({ "stopped": pids }).to_string(),
        (false, []) => "nothing was running".to_owned(),
        (false, [pid]) => format!("stopped the server (pid {pid})"),
        (false, pids) => {
            let list: Vec<String> = pids.iter().map(ToString::to_string).collect();
            format!("stopped {} servers (pids {})", pids.len(), list.join(", "))
        }
    };
    context.terminal.say(&format!("{text}\n"));
    Ok(ExitCode::SUCCESS)
}
