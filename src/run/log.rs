//! What a run has told so far, folded from its records. Records of any other process are counted, not believed.

use std::collections::{HashMap, HashSet};

use super::coverage::CoverageLog;
use crate::worker::protocol::{
    CoveredFile, ExampleFinished, ExampleStatus, Failure, Identity, ListedExample, ProfileTotal, Record, RunEvent,
    Started, ThreadDump,
};

/// Bytes of records after which details are dropped.
const DETAILS: usize = 16 * 1024 * 1024;

/// Messages of the framework kept per run; the rest are dropped, they carry no verdict.
const MESSAGES: usize = 20;

#[derive(Debug, Default)]
pub struct RunLog {
    /// The process whose records count; in a fresh process, the first to speak.
    pid: Option<i32>,
    pub started: Option<Started>,
    pub finished: Option<Finish>,
    /// The status after the exit handlers that count.
    pub exit: Option<i32>,
    /// Examples in the order they first started.
    pub examples: Vec<Example>,
    by_id: HashMap<String, usize>,
    /// Ids of the selected examples as far as they were told, in the order they are to run, and each once.
    selected: Vec<String>,
    selected_ids: HashSet<String>,
    pub outside: Vec<OutsideError>,
    pub messages: Vec<String>,
    pub threads: Option<Vec<ThreadDump>>,
    pub coverage_skipped: bool,
    pub coverage: CoverageLog,
    /// Where the time went, as far as it was asked for and told.
    pub profile: Option<ProfileTotal>,
    /// What a listing found, as far as there was room for it.
    pub listed: Vec<ListedExample>,
    /// Nothing was run: its code had seen other tables.
    pub outdated: bool,
    /// What a fresh process told of them.
    pub databases: Vec<String>,
    /// Records of other processes, and lines that were none.
    pub ignored: u64,
    bytes: usize,
    /// Failures whose details were dropped.
    pub stripped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish {
    pub status: i32,
    /// The framework was told to stop before its end.
    pub quit: bool,
    /// Errors outside of the examples, by the framework's own count.
    pub outside: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    pub identity: Identity,
    /// `None` while it runs, or for ever.
    pub end: Option<ExampleFinished>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OutsideError {
    pub context: String,
    pub failure: Failure,
}

impl RunLog {
    /// The log of a forked run, whose pid we know.
    pub fn of_child(pid: i32) -> Self {
        RunLog {
            pid: Some(pid),
            ..RunLog::default()
        }
    }

    /// The log of a fresh process: a version manager may stand between its pid and the one we started.
    pub fn of_fresh_process() -> Self {
        RunLog::default()
    }

    /// Beyond [`DETAILS`] in all, examples are still counted, but what they have to tell is dropped: a run that never
    /// ends must not fill the supervisor.
    pub fn apply(&mut self, mut record: Record) {
        if !self.believes(&record) {
            self.ignored += 1;
            return;
        }
        self.pid = Some(record.pid);
        self.bytes += weight(&record.e);
        if self.bytes > DETAILS {
            self.stripped += u64::from(strip(&mut record.e));
        }
        self.on(record.e);
    }

    /// Whether it is of the run's own process; of a fresh one, the first to speak is.
    pub fn believes(&self, record: &Record) -> bool {
        self.pid.is_none_or(|pid| pid == record.pid)
    }

    pub fn ignore_line(&mut self) {
        self.ignored += 1;
    }

    /// About how many bytes of records it has kept.
    pub fn bytes(&self) -> usize {
        self.bytes.min(DETAILS)
    }

    pub fn count(&self, status: ExampleStatus) -> u32 {
        count(self.ended().filter(|end| end.status == status))
    }

    /// Of all examples together, where the framework counts them.
    pub fn assertions(&self) -> Option<u32> {
        let counts = self.ended().filter_map(|end| end.assertions);
        counts.fold(None, |sum, count| Some(sum.unwrap_or(0_u32).saturating_add(count)))
    }

    pub fn ended(&self) -> impl Iterator<Item = &ExampleFinished> {
        self.examples.iter().filter_map(|example| example.end.as_ref())
    }

    /// In the order by which failures are numbered.
    pub fn failed(&self) -> impl Iterator<Item = &ExampleFinished> {
        self.ended().filter(|end| end.status == ExampleStatus::Failed)
    }

    /// Examples that started and never finished.
    pub fn unfinished(&self) -> impl Iterator<Item = &Identity> {
        self.examples
            .iter()
            .filter(|example| example.end.is_none())
            .map(|example| &example.identity)
    }

    /// How many of the selected examples never started. What else a run executes, such as a group of its own that an
    /// example defines, stands in for none of them; only of a selection whose ids were not all told does the count decide.
    pub fn not_run(&self) -> u32 {
        let selected = self.started.as_ref().map_or(0, |started| started.selected);
        let untold = selected.saturating_sub(count(self.selected.iter()));
        let told = |example: &&Example| self.selected_ids.contains(&example.identity.id);
        let others = count(self.examples.iter().filter(|example| !told(example)));
        count(self.not_run_ids()) + untold.saturating_sub(others)
    }

    /// The ids of those, as far as they were told beforehand.
    pub fn not_run_ids(&self) -> impl Iterator<Item = &String> {
        self.selected.iter().filter(|id| !self.by_id.contains_key(*id))
    }

    /// Selectors that nothing matched. Of files that could not be loaded nobody knows what they hold.
    pub fn unmatched(&self) -> &[String] {
        let started = self.started.as_ref().filter(|started| started.outside == 0);
        started.map_or(&[], |started| &started.unmatched)
    }

    fn on(&mut self, event: RunEvent) {
        match event {
            RunEvent::Hello {} => {}
            RunEvent::Started(started) => {
                self.select(started.ids.clone());
                self.started = Some(started);
            }
            RunEvent::Selected { ids } => self.select(ids),
            RunEvent::Listed { examples } => self.listed.extend(examples),
            RunEvent::ExampleStarted(identity) => self.example(identity).end = None,
            RunEvent::ExampleFinished(end) => {
                let identity = end.example.clone();
                let known = &mut self.example(identity).end;
                // Without a new start there was no new try: then a failure stays one, whatever is said of it later.
                if known.as_ref().is_none_or(|known| known.status != ExampleStatus::Failed) {
                    *known = Some(end);
                }
            }
            RunEvent::Message { text } => self.message(text),
            RunEvent::OutsideError { context, failure } => self.outside.push(OutsideError { context, failure }),
            RunEvent::Finished {
                status,
                quit,
                dry_run,
                outside,
            } => {
                self.finished = Some(Finish { status, quit, outside });
                if let Some(started) = &mut self.started {
                    started.dry_run |= dry_run;
                }
            }
            RunEvent::Exit { status } => self.exit = Some(status),
            RunEvent::Databases { names } => self.databases = names,
            RunEvent::Outdated {} => self.outdated = true,
            RunEvent::Profile(total) => self.profile = Some(total),
            RunEvent::CoverageSkipped {} => self.coverage_skipped = true,
            // Whoever knows what is granted listens to it.
            RunEvent::FilesRefused { .. } => {}
            RunEvent::Covered { lines, broken } => {
                self.coverage.covered.extend(lines);
                self.coverage.broken = broken.or(self.coverage.broken.take());
            }
            RunEvent::Touched { test, files } => {
                let touched = files.into_iter().map(|file| (test.clone(), file));
                self.coverage.touched.extend(touched);
            }
            RunEvent::Threads { threads } => self.threads = Some(threads),
        }
    }

    fn select(&mut self, ids: Vec<String>) {
        for id in ids {
            if self.selected_ids.insert(id.clone()) {
                self.selected.push(id);
            }
        }
    }

    /// One entry per id, whatever the description: a retried example is one example, and its last try counts.
    fn example(&mut self, identity: Identity) -> &mut Example {
        let next = self.examples.len();
        let index = *self.by_id.entry(identity.id.clone()).or_insert(next);
        if index == next {
            self.examples.push(Example { identity, end: None });
        }
        &mut self.examples[index]
    }

    fn message(&mut self, text: String) {
        if self.messages.len() < MESSAGES {
            self.messages.push(text);
        }
    }
}

/// Bytes of what an example or an error has to tell.
pub(crate) fn weight(event: &RunEvent) -> usize {
    match event {
        RunEvent::ExampleStarted(example) => example.description.len(),
        RunEvent::ExampleFinished(end) => {
            let reason = end.reason.as_ref().map_or(0, String::len);
            end.example.description.len() + reason + end.failure.as_ref().map_or(0, bytes_of)
        }
        RunEvent::OutsideError { failure, .. } => bytes_of(failure),
        RunEvent::Selected { ids } | RunEvent::Started(Started { ids, .. }) => ids.iter().map(String::len).sum(),
        RunEvent::Listed { examples } => examples.iter().map(|listing| listing.example.description.len()).sum(),
        RunEvent::Covered { lines, .. } => lines.iter().map(CoveredFile::weight).sum(),
        RunEvent::Touched { files, .. } => files.iter().map(String::len).sum(),
        _ => 0,
    }
}

impl CoveredFile {
    fn weight(&self) -> usize {
        let ranges = [&self.executed, &self.missed];
        self.path.len() + ranges.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

fn bytes_of(failure: &Failure) -> usize {
    let own = failure.message.len() + failure.frames.iter().map(String::len).sum::<usize>();
    own + failure.causes.iter().chain(&failure.parts).map(bytes_of).sum::<usize>()
}

/// Takes away what makes a record large; says whether a failure lost its details.
fn strip(event: &mut RunEvent) -> bool {
    match event {
        RunEvent::ExampleStarted(example) => {
            example.description = String::new();
            false
        }
        RunEvent::ExampleFinished(end) => {
            end.example.description = String::new();
            end.reason = None;
            end.failure.take().is_some()
        }
        RunEvent::OutsideError { failure, .. } => {
            *failure = Failure {
                class: std::mem::take(&mut failure.class),
                ..Failure::default()
            };
            true
        }
        RunEvent::Listed { examples } => {
            examples.clear();
            false
        }
        RunEvent::Covered { lines, .. } => {
            lines.clear();
            false
        }
        RunEvent::Touched { files, .. } => {
            files.clear();
            false
        }
        // Without them the count decides.
        RunEvent::Selected { ids } | RunEvent::Started(Started { ids, .. }) => {
            ids.clear();
            false
        }
        _ => false,
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
