//! Failures that a person has been told of, so that each is told once: as it happens, or else at the end.

use std::collections::HashSet;

use super::super::render::report;
use super::Job;
use crate::run::report::{ExampleReport, FailureReport, Report};

/// Of one run.
#[derive(Debug, Default)]
pub(super) struct Told {
    ids: HashSet<String>,
    /// Each that was told in full.
    whole: Vec<FailureReport>,
}

impl Told {
    /// Unless it was told already. What says the same as an earlier one is told in a line.
    pub(super) fn tell(&mut self, job: &Job<'_>, failure: &FailureReport) {
        if job.arguments.json || !self.ids.insert(failure.id.clone()) {
            return;
        }
        let style = job.context.terminal.out;
        let number = self.ids.len();
        let like = self.whole.iter().find(|earlier| earlier.is_like(failure));
        let text = match like {
            Some(like) => report::also(number, &failure.id, &failure.description, &like.description, style),
            None => report::failure(number, failure, &|frame| job.excerpt(frame).unwrap_or_default(), style),
        };
        job.context.terminal.say(&text);
        if like.is_none() {
            self.whole.push(failure.clone());
        }
    }

    /// All that were not told while it ran.
    pub(super) fn tell_rest(&mut self, job: &Job<'_>, report: &Report) {
        for failure in &report.failures {
            let also: Vec<&ExampleReport> = failure
                .also
                .iter()
                .filter(|also| !self.ids.contains(&also.id))
                .collect();
            self.tell(
                job,
                &FailureReport {
                    also: Vec::new(),
                    ..failure.clone()
                },
            );
            for example in also {
                self.tell(
                    job,
                    &FailureReport {
                        id: example.id.clone(),
                        description: example.description.clone(),
                        also: Vec::new(),
                        ..failure.clone()
                    },
                );
            }
        }
    }
}
