//! What was last asked for, and which examples failed when they last ran: what `@last` and `@failed` stand for. Lasts as
//! long as the session.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::journal::touched::hash;
use crate::project::Framework;
use crate::run::results::{ExampleResult, Results};

use super::call::RunArguments;

/// Stands for the examples that failed when they last ran.
pub const FAILED: &str = "@failed";
/// Stands for the last selection.
pub const LAST: &str = "@last";
/// What they stand for of one framework: a run is one framework's, and both may have something.
const OF_ONE: [(Framework, &str, &str); 2] = [
    (Framework::Rspec, "@failed:rspec", "@last:rspec"),
    (Framework::Minitest, "@failed:minitest", "@last:minitest"),
];

/// Failures that are remembered.
const REMEMBERED: usize = 1000;

#[derive(Debug, Default)]
pub struct History {
    /// The last run of each framework, in the order they ran.
    last: Vec<Last>,
    /// How many of them, from the end, were of the last selection.
    parts: usize,
    /// In the order they first failed.
    failing: Vec<Failing>,
}

/// An example that failed when it last ran.
#[derive(Debug, Clone)]
struct Failing {
    framework: Framework,
    id: String,
    description: String,
    /// Of what its file held then.
    hash: Option<String>,
}

impl Failing {
    fn file(&self) -> &str {
        file(&self.id)
    }

    /// An id tells the place among the others, which another one has when an example is added above it. Minitest's have names.
    fn is_by_place(&self) -> bool {
        self.id.ends_with(']')
    }

    /// Whether its id may be another example's, by what the file holds now.
    fn may_have_moved(&self, now: Option<&String>) -> bool {
        self.is_by_place() && self.hash.as_ref() != now
    }

    /// What runs it: all of a file that was edited.
    fn selector(&self, now: Option<&String>) -> &str {
        match self.may_have_moved(now) {
            true => self.file(),
            false => &self.id,
        }
    }
}

#[derive(Debug, Clone)]
struct Last {
    run: String,
    paths: Vec<String>,
    example: Option<String>,
    framework: Framework,
}

/// A run that is over.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// Its id.
    pub run: &'a str,
    pub framework: Framework,
    pub arguments: &'a RunArguments,
    pub results: &'a Results,
}

/// What `@failed` and `@last` stood for in a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoodFor {
    /// Empty if there was none of them.
    pub selectors: Vec<String>,
    /// What stands for the failures that `@failed` left out, which are another framework's.
    pub also_failed: Option<String>,
    /// The same of the last selection and `@last`.
    pub also_last: Option<String>,
}

/// One of the words.
enum Word {
    Failed(Option<Framework>),
    Last(Option<Framework>),
}

impl Word {
    fn of(text: &str) -> Option<Word> {
        match text {
            FAILED => Some(Word::Failed(None)),
            LAST => Some(Word::Last(None)),
            _ => OF_ONE.into_iter().find_map(|(of, failed, last)| match text {
                _ if text == failed => Some(Word::Failed(Some(of))),
                _ if text == last => Some(Word::Last(Some(of))),
                _ => None,
            }),
        }
    }
}

impl History {
    /// Puts what `@failed` and `@last` stand for in their place; says what that is, if there was one of them.
    ///
    /// # Errors
    /// There is nothing that they could stand for.
    pub fn expand(&mut self, root: &Path, arguments: &mut RunArguments) -> Result<StoodFor> {
        let mut paths = Vec::new();
        let mut stood_for = StoodFor::default();
        for path in std::mem::take(&mut arguments.paths) {
            let known = match Word::of(&path) {
                Some(Word::Failed(named)) => {
                    let gone = self.forget_gone(root);
                    let framework = named.unwrap_or_else(|| self.failed_last());
                    if named.is_none() {
                        stood_for.also_failed = self.other_failed(framework);
                    }
                    self.failures(root, framework, gone)?
                }
                Some(Word::Last(named)) => {
                    let last = self.last_of(named)?;
                    if named.is_none() {
                        stood_for.also_last = self.other_last(last.framework);
                    }
                    arguments.example = arguments.example.take().or(last.example);
                    last.paths
                }
                None => {
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

    /// The runs of the last selection.
    fn last_selection(&self) -> &[Last] {
        &self.last[self.last.len().saturating_sub(self.parts)..]
    }

    fn last_of(&self, framework: Option<Framework>) -> Result<Last> {
        let last = match framework {
            None => self.last_selection().first(),
            Some(framework) => self.last.iter().find(|last| last.framework == framework),
        };
        let last = last.cloned();
        last.ok_or_else(|| nothing("`@last` stands for nothing yet: no run came before on this server"))
    }

    fn other_last(&self, framework: Framework) -> Option<String> {
        let other = self.last_selection().iter().find(|last| last.framework != framework)?;
        let word = OF_ONE.into_iter().find(|(of, ..)| *of == other.framework);
        word.map(|(.., word)| word.to_owned())
    }

    /// What failed in files that are not there any more can't be run; the first of these files.
    fn forget_gone(&mut self, root: &Path) -> Option<String> {
        let gone = |failing: &mut Failing| !root.join(failing.file()).is_file();
        let gone: Vec<_> = self.failing.extract_if(.., gone).collect();
        gone.first().map(|failing| failing.file().to_owned())
    }

    fn failures(&self, root: &Path, framework: Framework, gone: Option<String>) -> Result<Vec<String>> {
        let mut failing: Vec<&Failing> = self.failing_of(framework).collect();
        // Files that are loaded in another order than usual may not go together.
        failing.sort_by(|one, other| one.file().cmp(other.file()));
        let mut hashes = Hashes::of(root);
        let selectors = failing.iter();
        let mut ids: Vec<String> = selectors
            .map(|failing| failing.selector(hashes.now(failing.file())).to_owned())
            .collect();
        ids.dedup();
        match (ids.is_empty(), gone) {
            (true, Some(gone)) => Err(nothing(&format!(
                "`@failed` stands for nothing any more: `{gone}`, of which an example failed, is gone"
            ))),
            (true, None) => Err(nothing(
                "`@failed` stands for nothing: no example failed when it last ran on this server",
            )),
            (false, _) => Ok(ids),
        }
    }

    fn failing_of(&self, framework: Framework) -> impl Iterator<Item = &Failing> {
        self.failing
            .iter()
            .filter(move |failing| failing.framework == framework)
    }

    /// The framework that ran last, if it has any failures; else one that has.
    fn failed_last(&self) -> Framework {
        let ran_last = self.last.last().map_or(Framework::Rspec, |last| last.framework);
        let mut order = Framework::ALL;
        order.sort_by_key(|framework| *framework != ran_last);
        let failed = order.into_iter().find(|of| self.failing_of(*of).next().is_some());
        failed.unwrap_or(ran_last)
    }

    fn other_failed(&self, framework: Framework) -> Option<String> {
        let mut others = OF_ONE.into_iter().filter(|(of, ..)| *of != framework);
        let other = others.find(|(of, ..)| self.failing_of(*of).next().is_some());
        other.map(|(_, word, _)| word.to_owned())
    }

    /// Remembers a run, whatever became of it. What was asked for, by its id or with its whole file, and is not among what
    /// ran does not exist any more.
    pub fn note(&mut self, root: &Path, ended: &Ended<'_>) {
        let Ended {
            run,
            framework,
            arguments,
            results,
        } = *ended;
        self.note_selection(
            Last {
                run: run.to_owned(),
                paths: arguments.paths.clone(),
                example: arguments.example.clone(),
                framework,
            },
            arguments.continues.as_deref(),
        );
        let mut hashes = Hashes::of(root);
        self.failing.retain(|failing| {
            let moved = failing.may_have_moved(hashes.now(failing.file()));
            failing.framework != framework || !settled(failing, moved, &arguments.paths, results)
        });
        for example in results.examples.iter().filter(|example| example.failed()) {
            if self.failing_of(framework).all(|failing| failing.id != example.id) {
                self.failing.push(Failing {
                    framework,
                    id: example.id.clone(),
                    description: example.description.clone(),
                    hash: hashes.now(file(&example.id)).cloned(),
                });
            }
        }
        self.failing.truncate(REMEMBERED);
    }

    fn note_selection(&mut self, new: Last, continues: Option<&str>) {
        let before = self.last.last();
        let joins = before.is_some_and(|last| Some(last.run.as_str()) == continues && last.framework != new.framework);
        self.parts = if joins { self.parts + 1 } else { 1 };
        self.last.retain(|last| last.framework != new.framework);
        self.last.push(new);
    }
}

/// Whether a run says that an example does not fail any more, is gone, or has another id, under which it is known anew.
fn settled(failing: &Failing, moved: bool, paths: &[String], results: &Results) -> bool {
    let mut ran = results.examples.iter();
    if moved {
        let is_it =
            |example: &ExampleResult| file(&example.id) == failing.file() && example.description == failing.description;
        let whole_file = results.whole && paths.iter().any(|path| path == failing.file());
        return whole_file || ran.any(is_it);
    }
    match ran.find(|example| example.id == failing.id) {
        Some(example) => !example.failed(),
        None => results.whole && paths.contains(&failing.id) && !results.not_run.contains(&failing.id),
    }
}

/// What files hold at this moment, each looked at once.
struct Hashes<'a> {
    root: &'a Path,
    known: HashMap<String, Option<String>>,
}

impl Hashes<'_> {
    fn of(root: &Path) -> Hashes<'_> {
        Hashes {
            root,
            known: HashMap::new(),
        }
    }

    /// None of one that can't be read.
    fn now(&mut self, file: &str) -> Option<&String> {
        let read = || fs::read(self.root.join(file)).ok().map(|bytes| hash(&bytes));
        self.known.entry(file.to_owned()).or_insert_with(read).as_ref()
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
