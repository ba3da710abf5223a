//! What went wrong in one example, or beside all of them. Pure.

use super::budget;
use super::{ErrorReport, ExampleReport, FailureReport};
use crate::run::paths::{Frame, Paths, selector};
use crate::worker::protocol::{ExampleFinished, Failure, Identity};

/// Frames of one backtrace.
pub(super) const FRAMES: usize = 12;

impl FailureReport {
    pub fn of(end: &ExampleFinished, paths: &Paths) -> FailureReport {
        let Identity {
            id,
            description,
            file,
            line,
        } = &end.example;
        let failure = end.failure.clone().unwrap_or_default();
        let (message, diff) = split_diff(&paths.text(&failure.message));
        FailureReport {
            number: None,
            id: selector(id),
            description: description.clone(),
            file: selector(file),
            line: *line,
            rerun: selector(id),
            also: Vec::new(),
            class: failure.class.clone(),
            message,
            diff,
            backtrace: backtrace(&failure, paths),
            causes: failure
                .causes
                .iter()
                .map(|cause| ErrorReport::of(cause, paths))
                .collect(),
            parts: failure.parts.iter().map(|part| ErrorReport::of(part, paths)).collect(),
            seconds: end.seconds.map(rounded),
            pending_fixed: end.pending_fixed.unwrap_or(false),
        }
    }

    /// What fails in the same way again is told once, with the names of all. `all`: in the order of their numbers.
    pub fn rolled_up(all: impl Iterator<Item = FailureReport>) -> Vec<FailureReport> {
        let mut reports: Vec<FailureReport> = Vec::new();
        for (number, report) in (1..).zip(all) {
            match reports.iter_mut().find(|earlier| earlier.is_like(&report)) {
                Some(earlier) => earlier.also.push(ExampleReport {
                    id: report.id,
                    description: report.description,
                    seconds: None,
                }),
                None => {
                    let number = (number != reports.len() + 1).then_some(number);
                    reports.push(FailureReport { number, ..report });
                }
            }
        }
        reports
    }

    /// Whether it says nothing that the other does not say, but the name of its example.
    pub fn is_like(&self, other: &FailureReport) -> bool {
        self.class == other.class
            && self.message == other.message
            && self.diff == other.diff
            && self.backtrace.first() == other.backtrace.first()
            && self.parts == other.parts
    }

    /// The same in at most so many bytes, as far as names and places leave room.
    #[must_use]
    pub fn within(self, max_bytes: usize) -> FailureReport {
        budget::fit_failure(self, max_bytes)
    }
}

impl ErrorReport {
    /// Where it happened: what a SyntaxError says of itself, else the first frame of the app.
    pub(super) fn of(failure: &Failure, paths: &Paths) -> ErrorReport {
        // Of a SyntaxError the stack is that of `require`.
        let frames = if failure.location.is_some() {
            &[][..]
        } else {
            &failure.frames
        };
        let backtrace = paths.backtrace(frames, FRAMES);
        let place = match &failure.location {
            Some(location) => Some((paths.place(&location.file), location.line)),
            None => backtrace.first().and_then(|frame| file_and_line(frame)),
        };
        ErrorReport {
            class: failure.class.clone(),
            message: paths.text(failure.message.trim()),
            file: place.as_ref().map(|(file, _)| file.clone()),
            line: place.map(|(_, line)| line).filter(|line| *line > 0),
            backtrace,
        }
    }
}

/// An aggregated failure may be raised by the framework alone, after the example: then its first part says where.
fn backtrace(failure: &Failure, paths: &Paths) -> Vec<String> {
    let own = |failure: &&Failure| {
        failure
            .frames
            .iter()
            .any(|frame| matches!(paths.frame(frame), Frame::App(_)))
    };
    let telling = Some(failure).filter(own).or_else(|| failure.parts.iter().find(own));
    paths.backtrace(&telling.unwrap_or(failure).frames, FRAMES)
}

/// RSpec appends the diff to the message; of Minitest's it is what follows, and may be all there is.
fn split_diff(message: &str) -> (String, Option<String>) {
    let begins = DIFFS.iter().find_map(|begin| Some((message.find(begin)?, begin.len())));
    let Some((at, length)) = begins else {
        return (message.trim().to_owned(), None);
    };
    let diff = message[at + length..].trim_matches('\n').to_owned();
    let said = match message[..at].trim() {
        "" if !diff.is_empty() => ONLY_A_DIFF,
        said => said,
    };
    (said.to_owned(), Some(diff))
}

/// What stands in the place of a message.
const ONLY_A_DIFF: &str = "Expected and actual differ.";

/// How the diff of a failed expectation begins.
const DIFFS: [&str; 2] = ["\nDiff:", "--- expected\n+++ actual\n"];

/// `spec/a_spec.rb:12:in …` → its file and line.
fn file_and_line(frame: &str) -> Option<(String, u32)> {
    let mut parts = frame.splitn(3, ':');
    let file = parts.next()?;
    Some((file.to_owned(), parts.next()?.parse().ok()?))
}

/// To the millisecond.
pub(super) fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
