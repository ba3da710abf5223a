//! One call while it is being served: its locks, its deadline, what was prepared for it, and the request that it becomes.

use super::account::Attempt;
use super::board::Board;
use super::call::{Checked, Queued, RunArguments};
use super::coverage::Measuring;
use super::execute::{self, NotStarted, Ran};
use super::lease::Lease;
use super::lock::Locks;
use super::warm::{Prepared, Problem};
use crate::config::sandbox::Mode as SandboxMode;
use crate::error::{Error, Kind, Result};
use crate::project::{Filter, Selector};
use crate::run::RunId;
use crate::run::mode::Wanted;
use crate::run::report::Mode;
use crate::worker::protocol::{Chosen, ProcessMode, RunRequest};

/// One call while it is being served.
pub(super) struct Serving<'a> {
    pub(super) id: RunId,
    pub(super) call: &'a Queued,
    pub(super) queued: f64,
    pub(super) locks: Locks,
    pub(super) prepared: Prepared,
}

impl<'a> Serving<'a> {
    pub(super) fn new(call: &'a Queued) -> Self {
        let id = call.ongoing().id;
        let locks = Locks::new(call.checked.limits.deadline, call.ongoing().cancel.clone());
        Serving {
            id,
            call,
            queued: call.ongoing().since.elapsed().as_secs_f64(),
            locks,
            prepared: Prepared::default(),
        }
    }

    pub(super) fn wanted(&self, crashes: u32) -> Wanted<'a> {
        wanted(&self.call.checked, crashes)
    }

    /// `ask_tables` as in [`RunRequest`].
    pub(super) async fn fork(
        &self,
        board: &Board,
        lease: &Lease,
        ask_tables: bool,
    ) -> std::result::Result<Ran, NotStarted> {
        self.call.ongoing().begin();
        board.running(self.id);
        let checked = &self.call.checked;
        let request = RunRequest {
            ask_tables,
            ..request(self.id, checked, ProcessMode::Fork)
        };
        let warm = lease.app.worker().kept();
        execute::forked(&lease.zygote, warm, request, checked.limits, self.call.ongoing()).await
    }

    /// What is counted in it, if anything is.
    pub(super) async fn measuring(&self) -> Option<Measuring> {
        let checked = &self.call.checked;
        match &checked.coverage {
            Some(scope) => Some(Measuring::of(&checked.setup, scope).await),
            None => None,
        }
    }

    /// For a fresh process; `databases` if they are known.
    pub(super) async fn lock(&mut self, databases: Option<&[String]>) -> std::result::Result<(), Problem> {
        let taken = self.locks.take(self.call.checked.root(), databases).await;
        taken.map_err(|taken| Problem::busy(&taken, self.prepared.clone()))
    }

    pub(super) fn ended(
        self,
        mode: Mode,
        mode_reason: Option<String>,
        end: std::result::Result<Ran, Problem>,
    ) -> Attempt {
        let waited = self.queued + self.locks.waited;
        Attempt {
            mode,
            mode_reason,
            prepared: self.prepared,
            waited,
            crashed_fork: None,
            measuring: None,
            end,
        }
    }

    pub(super) fn stopped_by(mut self, problem: Problem) -> Result<Attempt> {
        if self.call.abandoned() {
            return Err(cancelled());
        }
        self.prepared.add(problem.prepared.clone());
        Ok(self.ended(Mode::Fork, None, Err(problem)))
    }
}

pub(super) fn wanted(checked: &Checked, crashes: u32) -> Wanted<'_> {
    Wanted {
        fork: checked.fork,
        coverage: checked.coverage.is_some(),
        config: &checked.setup.config,
        crashes,
        macos: cfg!(target_os = "macos"),
    }
}

/// The caller took the call back before anything of it ran.
pub(super) fn cancelled() -> Error {
    Error::new(Kind::Cancelled, "the call was cancelled before it ran")
}

pub(super) fn request(id: RunId, call: &Checked, mode: ProcessMode) -> RunRequest {
    let RunArguments {
        example,
        seed,
        fail_fast,
        profile,
        keep_order,
        ..
    } = call.arguments.clone();
    RunRequest {
        run: id.to_string(),
        root: call.root().clone(),
        mode,
        framework: call.setup.framework,
        arguments: call
            .selection
            .selectors
            .iter()
            .map(crate::project::Selector::to_argument)
            .collect(),
        files: call.files(),
        chosen: call.selection.all_named().map(chosen).collect(),
        directories: directories(call),
        named: call.arguments.paths.clone(),
        example,
        seed,
        fail_fast: fail_fast.unwrap_or(false),
        list: call.arguments.list,
        coverage: None,
        profile: profile && !call.arguments.list,
        max_file_bytes: call.limits.file,
        notice_refusals: call.setup.config.sandbox.mode != SandboxMode::Off,
        ask_tables: false,
        read_only: false,
        keep_order,
    }
}

fn chosen(selector: &Selector) -> Chosen {
    let mut chosen = Chosen {
        path: selector.path.clone(),
        ..Chosen::default()
    };
    match selector.filter.clone() {
        Filter::Lines(lines) => chosen.lines = lines,
        Filter::Ids(ids) => chosen.ids = ids,
        Filter::Name(name) => chosen.name = Some(name),
        Filter::All => {}
    }
    chosen
}

fn directories(call: &Checked) -> Vec<String> {
    let paths = call
        .arguments
        .paths
        .iter()
        .filter(|path| call.root().join(path).is_dir());
    paths.cloned().collect()
}

impl Prepared {
    pub(super) fn add(&mut self, more: Prepared) {
        self.boot += more.boot;
        self.load += more.load;
        self.trigger = more.trigger.or(self.trigger.take());
    }
}
