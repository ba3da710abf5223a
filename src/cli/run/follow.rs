//! One run from its call to its end: shows how far it is, and ends it when the person wants that.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

use super::super::render::progress;
use super::super::session::ask;
use super::Job;
use crate::daemon::client::Pending;
use crate::error::{Error, Kind, Result};
use crate::run::progress::Progress;

/// The most that the tool waits, in seconds; then it is asked again.
const WAIT: u64 = 900;

/// Between two looks at how far it is.
const PACE: Duration = Duration::from_millis(150);

/// Ctrl-C, and the end of the terminal.
pub(super) struct Interrupts(Mutex<[Signal; 3]>);

impl Interrupts {
    pub(super) fn listen() -> Result<Interrupts> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Interrupts(Mutex::new([interrupt?, terminate?, hangup?])))
    }

    pub(super) async fn next(&self) {
        let mut signals = self.0.lock().await;
        let [interrupt, terminate, hangup] = &mut *signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// The result, however the run ended.
pub(super) async fn follow(job: &Job<'_>, request: Value) -> Result<Value> {
    let mut screen = Screen::new(job);
    screen.draw(&Progress::default());
    let begun = ask(job.client, "rails_spec_run", request).await?;
    let mut answer = begun;
    while answer["outcome"] == "running" {
        screen.see(&answer);
        let run = answer["run_id"].as_str().unwrap_or_default().to_owned();
        answer = end_of(job, &run, &mut screen).await?;
    }
    screen.clear();
    Ok(answer)
}

/// Holds one call that waits for the end, so that the server knows that somebody is interested, and looks in between.
async fn end_of(job: &Job<'_>, run: &str, screen: &mut Screen<'_>) -> Result<Value> {
    let asked = json!({ "run_id": run, "wait_seconds": WAIT });
    let pending = job.client.call("rails_run_result", asked).await?;
    let id = pending.id;
    let end = ended(pending);
    tokio::pin!(end);
    let mut pace = tokio::time::interval(PACE);
    loop {
        tokio::select! {
            answer = &mut end => return answer,
            () = job.interrupts.next() => break,
            _ = pace.tick() => {
                let look = json!({ "run_id": run, "wait_seconds": 0 });
                if let Ok(seen) = ask(job.client, "rails_run_result", look).await {
                    screen.see(&seen);
                }
            }
        }
    }
    screen.clear();
    screen.remark("stopping the run; Ctrl-C once more leaves at once\n");
    job.client.cancel(id).await?;
    tokio::select! {
        answer = stopped(job, run) => answer,
        () = job.interrupts.next() => Err(Error::new(Kind::Cancelled, "left before the run had ended")
            .hint("its processes are killed when their grace time is over")),
    }
}

async fn ended(pending: Pending) -> Result<Value> {
    pending.answer().await
}

/// A call that was taken back is answered to nobody, so what became of its run is asked for.
async fn stopped(job: &Job<'_>, run: &str) -> Result<Value> {
    loop {
        tokio::time::sleep(PACE).await;
        let look = json!({ "run_id": run, "wait_seconds": 0 });
        match ask(job.client, "rails_run_result", look).await {
            Ok(answer) if answer["outcome"] == "running" => {}
            Err(error) if error.kind == Kind::RunNotFound => {
                return Err(Error::new(Kind::Cancelled, "the run was stopped before it began"));
            }
            answer => return answer,
        }
    }
}

/// What is to be seen while it runs: on a terminal a line that is drawn over, and each failure as it happens.
struct Screen<'a> {
    job: &'a Job<'a>,
    since: Instant,
    tick: usize,
    told: usize,
    drawn: bool,
}

impl<'a> Screen<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        Screen {
            job,
            since: Instant::now(),
            tick: 0,
            told: 0,
            drawn: false,
        }
    }

    /// An answer that says `running`.
    fn see(&mut self, answer: &Value) {
        let Ok(progress) = serde_json::from_value::<Progress>(answer["progress"].clone()) else {
            return;
        };
        let news: Vec<String> = {
            let style = self.job.context.terminal.err;
            progress
                .failed
                .iter()
                .skip(self.told)
                .map(|failed| progress::failed(failed, style))
                .collect()
        };
        if !news.is_empty() {
            self.told = progress.failed.len();
            self.clear();
            self.remark(&news.concat());
        }
        self.draw(&progress);
    }

    fn draw(&mut self, progress: &Progress) {
        let terminal = &self.job.context.terminal;
        if !terminal.watched || self.job.arguments.json {
            return;
        }
        let seconds = self.since.elapsed().as_secs();
        // The last column stays free: some terminals go to the next line when it is written.
        let width = terminal.width.saturating_sub(1);
        let line = progress::line(progress, seconds, self.tick, width, terminal.err);
        terminal.remark(&format!("\r\x1b[2K{line}"));
        self.tick += 1;
        self.drawn = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.job.context.terminal.remark("\r\x1b[2K");
        }
    }

    fn remark(&self, text: &str) {
        if !self.job.arguments.json {
            self.job.context.terminal.remark(text);
        }
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
