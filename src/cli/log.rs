//! `coatepec log`: what was called and what ran.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use super::terminal::Terminal;
use super::{Context, render};
use crate::error::{Error, Kind, Result};
use crate::journal::{Entry, LogFile};

/// How often the log is looked at that is followed.
const PAUSE: Duration = Duration::from_millis(250);

/// Show what was called and what ran, by whichever client
///
/// Of the app in this directory; outside of any, of all apps. Times are in UTC. A run has a line of its own where no call was
/// answered with its end.
#[derive(Debug, clap::Args)]
pub(super) struct Log {
    /// Go on with what comes, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// As it is stored: a line of JSON each
    #[arg(long)]
    json: bool,
    /// How many of the last ones to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Of all apps
    #[arg(long)]
    all: bool,
}

pub(super) fn log(arguments: &Log, context: &Context) -> Result<ExitCode> {
    let root = match (arguments.all, &context.root) {
        (true, _) => None,
        // Whoever names an app wants to hear that there is none.
        (false, Some(_)) => Some(context.root()?),
        (false, None) => context.root().ok(),
    };
    let root = root.map(|root| root.display().to_string());
    let wanted = |entry: &Entry| root.as_ref().is_none_or(|root| entry.root == *root);
    let (entries, mut follow) = find()?.last(arguments.lines, wanted);
    let show_all = |entries: &[Entry]| {
        let twice = |entry: &&Entry| !arguments.json && render::log::told_by_its_call(entry, entries);
        for entry in entries.iter().filter(|entry| !twice(entry)) {
            show(entry, arguments, root.is_none(), &context.terminal);
        }
    };
    show_all(&entries);
    if !arguments.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        sleep(PAUSE);
        let more: Vec<Entry> = follow.more().into_iter().filter(wanted).collect();
        show_all(&more);
    }
}

fn find() -> Result<LogFile> {
    LogFile::find().map_err(|error| {
        Error::new(Kind::InvalidArguments, "there is no place for the log")
            .source(error)
            .hint("`XDG_STATE_HOME`, or `~/.local/state`, has to be a directory of yours that can be written; until then nothing is logged")
    })
}

fn show(entry: &Entry, arguments: &Log, with_root: bool, terminal: &Terminal) {
    let line = match arguments.json {
        true => serde_json::to_string(entry).unwrap_or_default(),
        false => render::log::line(entry, with_root, terminal.out),
    };
    terminal.say(&format!("{line}\n"));
}
