//! What was last asked for, and which examples failed when they last ran: what `@last` and `@failed` stand for. Lasts as
//! long as the session.

use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::project::Framework;
use crate::run::results::{ExampleResult, Results};

use super::call::RunArguments;

/// Stands for the examples that failed when they last ran.
pub const FAILED: &str = "@failed";
/// Stands for the last selection.
pub const LAST: &str = "@last";

/// Failures that are remembered.
const REMEMBERED: usize = 1000;

#[derive(Debug, Default)]
pub struct History {
    last: Option<Last>,
    /// In the order they first failed.
    failing: Vec<(Framework, String)>,
}

#[derive(Debug, Clone)]
struct Last {
    paths: Vec<String>,
    example: Option<String>,
    framework: Framework,
}

impl History {
    /// Puts what `@failed` and `@last` stand for in their place; says what that is, if there was one of them.
    ///
    /// # Errors
    /// There is nothing that they could stand for, or its file is gone.
    pub fn expand(&mut self, root: &Path, arguments: &mut RunArguments) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        let mut stood_for = Vec::new();
        for path in std::mem::take(&mut arguments.paths) {
            let known = match path.as_str() {
                FAILED => self.failures(root)?,
                LAST => self.last(arguments)?,
                _ => {
                    paths.push(path);
                    continue;
                }
            };
            stood_for.extend(known.iter().cloned());
            paths.extend(known);
        }
        arguments.paths = paths;
        Ok(stood_for)
    }

    fn last(&self, arguments: &mut RunArguments) -> Result<Vec<String>> {
        let last = self.last.as_ref();
        let last = last.ok_or_else(|| nothing("`@last` stands for nothing yet: no run came before on this server"))?;
        arguments.example = arguments.example.take().or(last.example.clone());
        Ok(last.paths.clone())
    }

    /// Of the framework that ran last, if it has any: a run is one framework's.
    fn failures(&mut self, root: &Path) -> Result<Vec<String>> {
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.failing)
            .into_iter()
            .partition(|(_, id)| root.join(file(id)).is_file());
        self.failing = kept;
        if let Some((_, id)) = gone.first() {
            let message = format!("`{}`, of which an example failed, is gone", file(id));
            return Err(Error::new(Kind::InvalidSelector, message)
                .hint("what failed in it is forgotten now; call again with `@failed` for the others"));
        }
        let of = |framework| self.failing.iter().filter(move |(of, _)| *of == framework);
        let ran_last = self.last.as_ref().map_or(Framework::Rspec, |last| last.framework);
        let mut order = Framework::ALL;
        order.sort_by_key(|framework| *framework != ran_last);
        let ids = order.map(|framework| of(framework).map(|(_, id)| id.clone()).collect::<Vec<_>>());
        let ids = ids.into_iter().find(|ids| !ids.is_empty());
        ids.ok_or_else(|| nothing("`@failed` stands for nothing: no example failed when it last ran on this server"))
    }

    /// Remembers a run. What was asked for by its id and is not among what ran does not exist any more.
    pub fn note(&mut self, arguments: &RunArguments, framework: Framework, results: &Results) {
        self.last = Some(Last {
            paths: arguments.paths.clone(),
            example: arguments.example.clone(),
            framework,
        });
        let ran = |id: &String| results.examples.iter().any(|example| example.id == *id);
        let lost =
            |id: &String| results.whole && arguments.paths.contains(id) && !ran(id) && !results.not_run.contains(id);
        self.failing.retain(|(_, id)| !lost(id));
        results
            .examples
            .iter()
            .for_each(|example| self.note_example(framework, example));
        self.failing.truncate(REMEMBERED);
    }

    fn note_example(&mut self, framework: Framework, example: &ExampleResult) {
        let known = self.failing.iter().position(|(_, id)| *id == example.id);
        match (known, example.failed()) {
            (None, true) => self.failing.push((framework, example.id.clone())),
            (Some(at), false) => {
                self.failing.remove(at);
            }
            _ => {}
        }
    }
}

fn nothing(message: &str) -> Error {
    Error::new(Kind::InvalidSelector, message).hint("name files, directories or lines")
}

/// The file of a selector that a report has told.
fn file(id: &str) -> &str {
    let ends = Framework::ALL.into_iter().filter_map(|framework| {
        let at = id
            .find(&format!("{}[", framework.ending()))
            .or_else(|| id.find(&format!("{}#", framework.ending())));
        at.map(|at| at + framework.ending().len())
    });
    ends.min().map_or(id, |end| &id[..end])
}
