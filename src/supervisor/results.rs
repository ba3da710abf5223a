//! What is left of a run when it is over: all of it, one failure or one output at a time.

use serde::{Deserialize, Serialize};

use super::runs::{Ongoing, Over};
use crate::config::IncludeStdout;
use crate::error::{Error, Kind, Result};
use crate::run::RunId;
use crate::run::output::{Captured, clip};
use crate::run::paths::Paths;
use crate::run::report::{FailureReport, Report, View};

/// Room that a page leaves for the rest of its answer.
const FRAME_BYTES: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamName {
    Stdout,
    Stderr,
}

/// A part of what a run printed.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Page {
    pub run_id: String,
    /// `running`, if there may be more to come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    pub stream: StreamName,
    /// Bytes of the kept text before this page.
    pub offset: usize,
    pub text: String,
    /// Where the next page begins, or what is printed next; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Bytes that the run wrote.
    pub bytes: u64,
    /// Bytes of them that were not kept.
    pub dropped: u64,
}

impl Over {
    /// With the failure of this number alone, from 1 in the order they happened, as whole as it fits.
    ///
    /// # Errors
    /// `InvalidArguments` when there is none of that number.
    pub fn failure(&self, number: usize) -> Result<Report> {
        let whole = Report::new(&self.facts, self.whole(), &self.paths);
        let failed = number.checked_sub(1).and_then(|at| self.facts.log.failed().nth(at));
        let failure = failed.map(|end| FailureReport::of(end, &self.paths)).ok_or_else(|| {
            let (id, count) = (&whole.run_id, whole.summary.failures);
            let message = format!("`failure` is {number}, and {id} has {count}");
            Error::new(Kind::InvalidArguments, message).hint("failures are counted from 1, in the order they happened")
        })?;
        let alone = Report {
            failures: vec![failure],
            errors_outside: Vec::new(),
            not_run: Vec::new(),
            pending: Vec::new(),
            passing: Vec::new(),
            stdout: None,
            stderr: None,
            skipped: Vec::new(),
            ..whole
        };
        Ok(alone.within(self.view.max_bytes))
    }

    /// What is kept of what it printed.
    pub fn output(&self, stream: StreamName) -> String {
        self.paths.text(&self.captured(stream).text)
    }

    fn captured(&self, stream: StreamName) -> &Captured {
        match stream {
            StreamName::Stdout => &self.facts.stdout,
            StreamName::Stderr => &self.facts.stderr,
        }
    }

    /// A page of what it printed.
    ///
    /// # Errors
    /// `InvalidArguments` when the text ends before `offset`.
    pub fn page(&self, stream: StreamName, offset: usize) -> Result<Page> {
        let captured = self.captured(stream);
        let printed = Printed {
            run_id: self.facts.id,
            stream,
            text: self.output(stream),
            captured,
        };
        printed.page(offset, self.view.max_bytes)
    }

    fn whole(&self) -> View {
        View {
            include_passing: true,
            include_stdout: IncludeStdout::Always,
            max_bytes: usize::MAX,
        }
    }
}

impl Ongoing {
    /// What is kept of what it has printed by now.
    pub fn printed(&self, stream: StreamName, paths: &Paths) -> String {
        paths.text(&self.output(stream).text)
    }

    /// A page of what it has printed by now.
    ///
    /// # Errors
    /// As of [`Over::page`].
    pub fn page(&self, stream: StreamName, offset: usize, paths: &Paths) -> Result<Page> {
        let captured = self.output(stream);
        let printed = Printed {
            run_id: self.id,
            stream,
            text: paths.text(&captured.text),
            captured: &captured,
        };
        let page = printed.page(offset, self.max_bytes)?;
        Ok(Page {
            outcome: Some("running"),
            next_offset: Some(page.offset + page.text.len()),
            ..page
        })
    }
}

/// A stream of a run, and what a caller may see of it.
struct Printed<'a> {
    run_id: RunId,
    stream: StreamName,
    text: String,
    captured: &'a Captured,
}

impl Printed<'_> {
    fn page(self, offset: usize, max_bytes: usize) -> Result<Page> {
        let Printed {
            run_id,
            stream,
            text,
            captured,
        } = self;
        let rest = text.get(offset..).ok_or_else(|| {
            let message = format!("`offset` is {offset}, and the text has {} bytes", text.len());
            Error::new(Kind::InvalidArguments, message).hint("begin at 0 and follow `next_offset`")
        })?;
        let page = fitting(rest, max_bytes.saturating_sub(FRAME_BYTES));
        let next = offset + page.len();
        Ok(Page {
            run_id: run_id.to_string(),
            outcome: None,
            stream,
            offset,
            next_offset: (next < text.len()).then_some(next),
            text: page,
            bytes: captured.bytes,
            dropped: captured.dropped,
        })
    }
}

/// The beginning of a text that takes no more than `budget` bytes as JSON, and at least a little of it.
fn fitting(text: &str, budget: usize) -> String {
    let mut most = budget;
    loop {
        let (page, _) = clip(text, most);
        let as_json = serde_json::to_string(&page).map_or(0, |json| json.len());
        if as_json <= budget || most < 64 {
            return page;
        }
        most = most * budget / as_json;
    }
}
