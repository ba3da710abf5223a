//! One call to run specs: what the caller gave, checked, and how the answer finds its way back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::coverage::{self, Scope};
use super::history::{History, StoodFor};
use super::runs::{Ongoing, Served};
use super::setup::{Setup, Site};
use crate::config::{Config, Fork, IncludeStdout};
use crate::error::{Error, Kind, Result};
use crate::project::{self, Filter, Refusal, Rules, Selection};
use crate::run::output::clip;
use crate::run::report::View;
use crate::run::{Limits, TIMEOUT_SECONDS};

/// Bytes of an example name: longer than any description a person writes.
const EXAMPLE_BYTES: usize = 10_000;

const MIB: u64 = 1024 * 1024;

/// What a caller may say. `None` is the project's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunArguments {
    pub paths: Vec<String>,
    pub example: Option<String>,
    pub seed: Option<u32>,
    pub fail_fast: Option<bool>,
    pub timeout_seconds: Option<u64>,
    pub include_passing: Option<bool>,
    pub include_stdout: Option<IncludeStdout>,
    pub fork: Option<Fork>,
    pub coverage: Option<Scope>,
    /// Tell where the time goes.
    pub profile: bool,
    /// Tell what there is, and run nothing.
    pub list: bool,
    /// The selectors are from a report of ours, and there may be many.
    pub told: bool,
    /// A question of its own, and no run that `@last` and `@failed` stand for later.
    pub aside: bool,
    /// The order is the project's, also with a `seed`: a round is to be run again as it was.
    pub keep_order: bool,
    /// The run before this one, if both are of one selection, which `@last` stands for as a whole.
    pub continues: Option<String>,
    /// Files to load beside those of the selectors (Minitest): its order depends on what is loaded.
    pub beside: Vec<String>,
}

/// A call that passed every check.
#[derive(Debug, Clone)]
pub struct Checked {
    pub setup: Setup,
    pub arguments: RunArguments,
    /// What `@failed` and `@last` among the arguments stood for.
    pub stood_for: StoodFor,
    pub selection: Selection,
    pub limits: Limits,
    pub view: View,
    pub fork: Fork,
    /// Of what lines are to be told.
    pub coverage: Option<Scope>,
    /// Lines that were named and are behind the end of their file.
    pub beyond: Vec<Beyond>,
}

/// A line behind the end of its file: RSpec takes the example before it, whichever that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    pub path: String,
    pub line: u32,
    pub lines: usize,
}

/// A call in the queue.
#[derive(Debug)]
pub struct Queued {
    pub checked: Checked,
    /// Calls that were to be served before this one when it came; the queue counts them.
    pub ahead: usize,
    pub served: Served,
}

impl Queued {
    pub fn ongoing(&self) -> &Ongoing {
        self.served.ongoing()
    }

    /// Nobody wants it any more.
    pub fn abandoned(&self) -> bool {
        self.ongoing().cancel.is_cancelled()
    }
}

impl Checked {
    /// Checks everything that can be checked without Ruby. Reads `.coatepec.yml` anew, so that an edit applies at once.
    pub fn new(site: &Site, mut arguments: RunArguments, history: &Mutex<History>) -> Result<Checked> {
        let stood_for = history
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .expand(&site.root, &mut arguments)?;
        let setup = Setup::at(site)?;
        let config = &setup.config;
        let limits = limits(config, &arguments)?;
        check_example(arguments.example.as_deref())?;
        let select = if arguments.told || !stood_for.selectors.is_empty() {
            |root: &Path, rules: &Rules, paths: &[String]| project::select_told(root, rules, paths)
        } else {
            |root: &Path, rules: &Rules, paths: &[String]| project::select(root, rules, paths)
        };
        let selection = select(&setup.project.root, &Rules::new(&config.spec_roots), &arguments.paths)
            .map_err(|refusals| refused(&refusals, config.max_result_bytes))?;
        check_combination(&arguments, &selection)?;
        let fork = arguments.fork.unwrap_or(config.fork);
        let coverage = coverage::scope(&setup.project.root, &arguments)?;
        let beyond = beyond(&setup.project.root, &selection);
        let view = view(config, &arguments);
        Ok(Checked {
            setup: Setup {
                framework: selection.framework(),
                ..setup
            },
            arguments,
            stood_for,
            selection,
            limits,
            view,
            fork,
            coverage,
            beyond,
        })
    }

    pub fn root(&self) -> &PathBuf {
        &self.setup.project.root
    }

    /// Each once, in their order.
    pub fn files(&self) -> Vec<String> {
        if !self.arguments.beside.is_empty() {
            return self.arguments.beside.clone();
        }
        let selectors = self.selection.selectors.iter();
        let mut files: Vec<String> = selectors.map(|selector| selector.path.clone()).collect();
        // What is named in several ways comes in a row.
        files.dedup();
        files
    }
}

fn limits(config: &Config, arguments: &RunArguments) -> Result<Limits> {
    let (least, _, most) = TIMEOUT_SECONDS;
    let seconds = arguments
        .timeout_seconds
        .unwrap_or(config.defaults.spec_run.timeout_seconds);
    if !(least..=most).contains(&seconds) {
        let message = format!("`timeout_seconds` is {seconds}, and must be {least} to {most}");
        return Err(
            Error::new(Kind::InvalidArguments, message).hint("run fewer specs at a time, or split the selection")
        );
    }
    Ok(Limits {
        deadline: Duration::from_secs(seconds),
        grace: Duration::from_secs(config.grace_seconds),
        output: config.max_output_bytes,
        memory: config.max_memory_mib * MIB,
        processes: config.max_processes,
        file: config.max_file_mib * MIB,
    })
}

fn check_example(example: Option<&str>) -> Result<()> {
    match example {
        Some(text) if text.is_empty() || text.len() > EXAMPLE_BYTES || text.contains('\0') => {
            let message = format!("`example` must be 1 to {EXAMPLE_BYTES} bytes of text without NUL");
            Err(Error::new(Kind::InvalidArguments, message)
                .hint("give the beginning of an example's full description, or leave `example` out"))
        }
        _ => Ok(()),
    }
}

/// RSpec would run whatever `example` names and forget the lines and ids.
fn check_combination(arguments: &RunArguments, selection: &Selection) -> Result<()> {
    let parts = selection
        .selectors
        .iter()
        .any(|selector| selector.filter != Filter::All);
    if arguments.example.is_none() || !parts {
        return Ok(());
    }
    Err(
        Error::new(Kind::InvalidArguments, "`example` can't be combined with lines or ids")
            .hint("leave out `example`, or name whole files"),
    )
}

fn beyond(root: &Path, selection: &Selection) -> Vec<Beyond> {
    let with_lines = selection.all_named().filter_map(|selector| match &selector.filter {
        Filter::Lines(lines) => Some((selector, lines)),
        _ => None,
    });
    with_lines
        .flat_map(|(selector, named)| {
            let lines = fs::read(root.join(&selector.path)).map_or(usize::MAX, |text| lines_of(&text));
            let beyond = named.iter().filter(move |line| **line as usize > lines);
            beyond.map(move |line| Beyond {
                path: selector.path.clone(),
                line: *line,
                lines,
            })
        })
        .collect()
}

fn lines_of(text: &[u8]) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').count()
}

fn view(config: &Config, arguments: &RunArguments) -> View {
    let defaults = &config.defaults.spec_run;
    View {
        include_passing: arguments.include_passing.unwrap_or(defaults.include_passing),
        include_stdout: arguments.include_stdout.unwrap_or(defaults.include_stdout),
        max_bytes: config.max_result_bytes,
    }
}

/// Bytes of each text of a refusal when there is no room for all of them.
const REFUSAL_BYTES: usize = 50;

/// All of them if they fit, with short texts if these are too long, and how many did not fit even then.
fn listed(refusals: &[Refusal], most: usize) -> (Vec<Refusal>, usize) {
    let size = |refusal: &Refusal| serde_json::to_string(refusal).map_or(0, |text| text.len() + 1);
    if refusals.iter().map(size).sum::<usize>() <= most * 2 / 3 {
        return (refusals.to_vec(), 0);
    }
    let short = |text: &str| clip(text, REFUSAL_BYTES).0;
    let shorten = |refusal: &Refusal| Refusal {
        selector: short(&refusal.selector),
        code: refusal.code,
        reason: short(&refusal.reason),
        hint: None,
    };
    let mut left = most * 5 / 6;
    let fits = |refusal: &Refusal| {
        let size = size(refusal);
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    };
    let listed: Vec<Refusal> = refusals.iter().map(shorten).take_while(fits).collect();
    let more = refusals.len() - listed.len();
    (listed, more)
}

/// All refused selectors at once, each with its reason, in about `most` bytes.
fn refused(refusals: &[Refusal], most: usize) -> Error {
    let message = match refusals {
        // Of the call as a whole, such as too many selectors.
        [one] if one.selector.is_empty() => one.reason.clone(),
        [one] => format!("`{}` was refused: {}", one.selector, one.reason),
        many => format!("{} selectors were refused; nothing was run", many.len()),
    };
    let hint = match refusals {
        [one] => one.hint.clone(),
        _ => None,
    };
    let (listed, more) = listed(refusals, most);
    let mut details = serde_json::json!({ "refused": listed });
    if more > 0 {
        details["more_refused"] = more.into();
    }
    Error::new(Kind::InvalidSelector, message)
        .hint(hint.unwrap_or_else(|| "mend or leave out the refused selectors and call again".to_owned()))
        .details(details)
}
