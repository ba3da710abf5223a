//! What was last asked for, and which examples failed when they last ran: what `@last` and `@failed` stand for. Lasts as
//! long as the session.

use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::project::Framework;
use crate::run::results::{ExampleResult, Results};

use super::call::RunArguments;

/// Stands for the examples that failed when they last ran.
pub const FAILED: &str = "@failed";
/// The same of one framework: a run is one framework's, and both may have failures.
const FAILED_OF: [(Framework, &str); 2] = [
    (Framework::Rspec, "@failed:rspec"),
    (Framework::Minitest, "@failed:minitest"),
];
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

/// What `@failed` and `@last` stood for in a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoodFor {
    /// Empty if there was none of them.
    pub selectors: Vec<String>,
    /// What stands for the failures that `@failed` left out, which are another framework's.
    pub left_out: Option<String>,
}

impl History {
    /// Puts what `@failed` and `@last` stand for in their place; says what that is, if there was one of them.
    ///
    /// # Errors
    /// There is nothing that they could stand for, or its file is gone.
    pub fn expand(&mut self, root: &Path, arguments: &mut RunArguments) -> Result<StoodFor> {
        let mut paths = Vec::new();
        let mut stood_for = StoodFor::default();
        for path in std::mem::take(&mut arguments.paths) {
            let known = match (path.as_str(), framework_of(&path)) {
                (FAILED, _) => {
                    let framework = self.failed_last();
                    stood_for.left_out = self.left_out(framework);
                    self.failures(root, framework)?
                }
                (_, Some(framework)) => self.failures(root, framework)?,
                (LAST, _) => self.last(arguments)?,
                _ => {
                    paths.push(path);
                    continue;
                }
            };
            stood_for.selectors.extend(known.iter().cloned());
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

    fn failures(&mut self, root: &Path, framework: Framework) -> Result<Vec<String>> {
        let gone = |(_, id): &mut (Framework, String)| !root.join(file(id)).is_file();
        let gone: Vec<_> = self.failing.extract_if(.., gone).collect();
        if let Some((_, id)) = gone.first() {
            let message = format!("`{}`, of which an example failed, is gone", file(id));
            return Err(Error::new(Kind::InvalidSelector, message)
                .hint("what failed in it is forgotten now; call again with `@failed` for the others"));
        }
        let ids: Vec<String> = self.failing_of(framework).cloned().collect();
        match ids.is_empty() {
            true => Err(nothing(
                "`@failed` stands for nothing: no example failed when it last ran on this server",
            )),
            false => Ok(ids),
        }
    }

    fn failing_of(&self, framework: Framework) -> impl Iterator<Item = &String> {
        let of = self.failing.iter().filter(move |(of, _)| *of == framework);
        of.map(|(_, id)| id)
    }

    /// The framework that ran last, if it has any failures; else one that has.
    fn failed_last(&self) -> Framework {
        let ran_last = self.last.as_ref().map_or(Framework::Rspec, |last| last.framework);
        let mut order = Framework::ALL;
        order.sort_by_key(|framework| *framework != ran_last);
        let failed = order.into_iter().find(|of| self.failing_of(*of).next().is_some());
        failed.unwrap_or(ran_last)
    }

    fn left_out(&self, framework: Framework) -> Option<String> {
        let mut others = FAILED_OF.into_iter().filter(|(of, _)| *of != framework);
        let left_out = others.find(|(of, _)| self.failing_of(*of).next().is_some());
        left_out.map(|(_, word)| word.to_owned())
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

fn framework_of(word: &str) -> Option<Framework> {
    let known = FAILED_OF.into_iter().find(|(_, known)| *known == word);
    known.map(|(framework, _)| framework)
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
