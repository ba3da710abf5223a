//! What a selection holds, told by loading it in a process that runs nothing and is thrown away.

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Supervisor;
use super::call::RunArguments;
use crate::error::{Error, Kind, Result};
use crate::run::outcome::Outcome;
use crate::run::paths::selector;
use crate::run::report::Report;
use crate::run::results::Results;
use crate::worker::protocol::ListedExample;

/// Examples on a page: the default and the most.
pub const PAGE: (usize, usize) = (100, 500);

/// Bytes of a page; a smaller one is what fits.
const BYTES: usize = 20 * 1024;

#[derive(Debug, Clone, Default)]
pub struct ListArguments {
    pub run: RunArguments,
    pub offset: Option<usize>,
    pub limit: Option<usize>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ListReport {
    /// Examples in the selection.
    pub total: u32,
    pub examples: Vec<Listed>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Why the selection could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<Report>>,
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
    let run = RunArguments {
        list: true,
        aside: true,
        ..arguments.run
    };
    let over = supervisor.served(run, &cancel).await?;
    let results = Results::of(&over.facts.log);
    let loaded = results.whole || over.facts.verdict.outcome == Outcome::NoExamples;
    let offset = arguments.offset.unwrap_or(0);
    let examples = page(&results.listed, offset, limit);
    let next = offset + examples.len();
    Ok(ListReport {
        total: results.selected,
        next_offset: (next < results.listed.len()).then_some(next),
        examples,
        report: (!loaded).then(|| Box::new(over.report())),
    })
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
