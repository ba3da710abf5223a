//! What a selection holds, told by loading it in a process that runs nothing and is thrown away.

use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Supervisor;
use super::call::RunArguments;
use super::runs::Over;
use crate::error::{Error, Kind, Result};
use crate::reading::page::{self, Cursor, List, Since};
use crate::reading::{check_cursor, check_list};
use crate::run::outcome::Outcome;
use crate::run::paths::selector;
use crate::run::report::{Report, SkippedPath};
use crate::worker::protocol::ListedExample;

/// Examples on a page: the default and the most.
pub const PAGE: (usize, usize) = (100, 500);

/// Bytes that an answer takes besides its lists and its report.
const FRAME: usize = 512;

#[derive(Debug, Clone, Default)]
pub struct ListArguments {
    pub run: RunArguments,
    pub offset: Option<usize>,
    pub cursor: Option<String>,
    pub limit: Option<usize>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ListReport {
    /// Examples in the selection.
    pub total: u32,
    pub examples: Vec<Listed>,
    /// Selectors that matched nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
    /// What a run of it would warn of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Files that are left out, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedPath>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// The same, for a list that may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// That it has changed since the page before, and what that means for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<&'static str>,
    /// Why the selection could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<Report>>,
    /// Selector of the failures of the other framework, which `@failed` left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_failed: Option<String>,
    /// The same of `@last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_last: Option<String>,
    /// Which files those are: what can be told of them without loading any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Listed {
    /// The selector that runs exactly this one.
    pub id: String,
    pub description: String,
    pub line: u32,
    /// Where it is defined, if that is not the file of its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// # Errors
/// As of [`Supervisor::run`], and a page that can't be.
pub(super) async fn list(
    supervisor: &Supervisor,
    arguments: ListArguments,
    cancel: CancellationToken,
) -> Result<ListReport> {
    let (default, most) = PAGE;
    let limit = arguments.limit.unwrap_or(default);
    if !(1..=most).contains(&limit) {
        let message = format!("`limit` is {limit}, and must be 1 to {most}");
        return Err(Error::new(Kind::InvalidArguments, message).hint("leave it out for the default"));
    }
    check_cursor(arguments.cursor.as_deref(), arguments.offset.is_some())?;
    let list = page::list("spec_list", &json!([arguments.run.paths, arguments.run.example]));
    check_list(arguments.cursor.as_deref(), &list)?;
    let run = RunArguments {
        list: true,
        aside: true,
        ..arguments.run
    };
    let over = match supervisor.beside(run.clone(), &cancel).await? {
        Some(over) if is_whole(&over) => over,
        _ => supervisor.served(run.clone(), &cancel).await?,
    };
    let results = over.results();
    let loaded = is_whole(&over);
    let files = if loaded {
        Vec::new()
    } else {
        supervisor.checked(run).await?.files()
    };
    let all = List::of(identities(&results.listed).iter().map(String::as_str));
    let cursor = arguments.cursor.as_deref().and_then(Cursor::parse);
    let (start, since) = all.start(arguments.offset.unwrap_or(0), cursor.as_ref());
    let most_bytes = over.view.max_bytes;
    let report = (!loaded).then(|| Box::new(over.report().within(most_bytes / 2)));
    let mut room = Room(most_bytes.saturating_sub(FRAME));
    room.give(as_json(&report));
    // What was found wrong with the selection is told in part at worst, so that there is room for what it holds.
    let part = most_bytes / 12;
    let unmatched = room.fill(over.facts.log.unmatched().iter().cloned(), part);
    let warnings = room.fill(warnings(&over).filter(|_| loaded), part);
    let skipped = room.fill(over.facts.skipped.iter().filter(|_| loaded).cloned(), part);
    let files = room.fill(files.into_iter().take(most), most_bytes / 3);
    let examples = room.fill(results.listed.iter().skip(start).take(limit).map(listed), most_bytes);
    let next = Some(start + examples.len()).filter(|next| *next < results.listed.len());
    Ok(ListReport {
        total: results.selected,
        unmatched,
        warnings,
        skipped,
        next_offset: next,
        next_cursor: next.map(|next| all.rows(start, next, since).named(&list).cursor(next, 0).to_string()),
        changed: since.map(Since::told),
        examples,
        also_failed: over.facts.also_failed.clone(),
        also_last: over.facts.also_last.clone(),
        files,
        report,
    })
}

fn is_whole(over: &Over) -> bool {
    over.results().whole || over.facts.verdict.outcome == Outcome::NoExamples
}

/// Those of the report.
fn warnings(over: &Over) -> impl Iterator<Item = String> {
    over.facts.warnings.iter().map(|warning| over.paths.text(warning))
}

/// Bytes that are left of an answer.
struct Room(usize);

impl Room {
    fn give(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// As many as fit into `most` bytes of what is left. At least one: whoever turns the pages comes to the end, and the first
    /// of several tells most.
    fn fill<T: Serialize>(&mut self, all: impl Iterator<Item = T>, most: usize) -> Vec<T> {
        let most = most.min(self.0);
        let (mut bytes, mut told) = (0, Vec::new());
        for one in all {
            let size = as_json(&one);
            if bytes + size > most && !told.is_empty() {
                break;
            }
            bytes += size;
            told.push(one);
        }
        self.give(bytes);
        told
    }
}

/// Bytes of it, and of what stands between it and the next.
fn as_json(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len() + 1)
}

/// File and description: the number in an id is another one after an edit.
fn identities(all: &[ListedExample]) -> Vec<String> {
    let file = |id: &str| id.split('[').next().unwrap_or_default().to_owned();
    let identity = |one: &ListedExample| format!("{} {}", file(&one.example.id), one.example.description);
    all.iter().map(identity).collect()
}

fn listed(listing: &ListedExample) -> Listed {
    let ListedExample { example, tags } = listing;
    let (id, file) = (selector(&example.id), selector(&example.file));
    Listed {
        file: (!id.starts_with(&file)).then_some(file),
        id,
        description: example.description.clone(),
        line: example.line,
        tags: tags.clone(),
    }
}
