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

/// Bytes of a page; a smaller one is what fits.
const BYTES: usize = 20 * 1024;

/// Of selectors that matched nothing, and of warnings, each; beyond that, the first one tells enough.
const TEXTS_BYTES: usize = 2048;

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
    let examples = page(&results.listed, start, limit);
    let next = Some(start + examples.len()).filter(|next| *next < results.listed.len());
    Ok(ListReport {
        total: results.selected,
        unmatched: as_many_as_fit(over.facts.log.unmatched()),
        warnings: warnings(&over, loaded),
        skipped: over
            .facts
            .skipped
            .iter()
            .filter(|_| loaded)
            .take(most)
            .cloned()
            .collect(),
        next_offset: next,
        next_cursor: next.map(|next| all.rows(start, next, since).named(&list).cursor(next, 0).to_string()),
        changed: since.map(Since::told),
        examples,
        files: files.into_iter().take(most).collect(),
        report: (!loaded).then(|| Box::new(over.report())),
    })
}

fn is_whole(over: &Over) -> bool {
    over.results().whole || over.facts.verdict.outcome == Outcome::NoExamples
}

/// Those of the report, unless that is told itself.
fn warnings(over: &Over, loaded: bool) -> Vec<String> {
    let all = over.facts.warnings.iter().map(|warning| over.paths.text(warning));
    let all: Vec<String> = all.filter(|_| loaded).collect();
    as_many_as_fit(&all)
}

/// At least one.
fn as_many_as_fit(texts: &[String]) -> Vec<String> {
    let mut bytes = 0;
    let fits = |text: &&String| {
        let first = bytes == 0;
        bytes += text.len();
        first || bytes <= TEXTS_BYTES
    };
    texts.iter().take_while(fits).cloned().collect()
}

/// File and description: the number in an id is another one after an edit.
fn identities(all: &[ListedExample]) -> Vec<String> {
    let file = |id: &str| id.split('[').next().unwrap_or_default().to_owned();
    let identity = |one: &ListedExample| format!("{} {}", file(&one.example.id), one.example.description);
    all.iter().map(identity).collect()
}

/// At least one, so that whoever turns the pages comes to the end.
fn page(all: &[ListedExample], offset: usize, limit: usize) -> Vec<Listed> {
    let mut bytes = 0;
    let mut page = Vec::new();
    for listed in all.iter().skip(offset).take(limit).map(listed) {
        bytes += serde_json::to_string(&listed).map_or(0, |text| text.len());
        if bytes > BYTES && !page.is_empty() {
            break;
        }
        page.push(listed);
    }
    page
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
