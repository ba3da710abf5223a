//! One run from its call to its end: shows how far it is, and ends it when the person wants that.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::super::render::progress;
use super::Job;
use super::told::Told;
use crate::daemon::client::Pending;
use crate::error::{Error, Kind, Result};
use crate::mcp::RUN_ID;
use crate::run::progress::{NAMED, Phase, Progress};
use crate::run::report::FailureReport;

/// The most that the tool waits, in seconds; then it is asked again.
pub(super) const WAIT: u64 = 900;

/// Between two drawings, and between two looks at a run that is being ended.
const PACE: Duration = Duration::from_millis(100);

/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Looks at a run that was taken back, and that others want.
const LOOKS: usize = 20;

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

/// The result, however the run ended. What failed on the way is in `told`.
pub(super) async fn follow(job: &Job<'_>, call: Value, told: &mut Told) -> Result<Value> {
    let mut following = Following {
        job,
        run: None,
        seen: 0,
        screen: Screen::new(job),
        told,
    };
    let begun = job.client.request("tools/call", call).await?;
    let mut answer = following.attend(begun).await?;
    while answer["outcome"] == "running" {
        let asked = json!({ "run_id": answer["run_id"], "wait_seconds": WAIT });
        answer = following
            .attend(job.client.call("rails_run_result", asked).await?)
            .await?;
    }
    Ok(answer)
}

struct Following<'a> {
    job: &'a Job<'a>,
    /// Its id, once that is known.
    run: Option<String>,
    /// Failures that were looked at.
    seen: u32,
    screen: Screen<'a>,
    told: &'a mut Told,
}

impl Following<'_> {
    /// One call that waits for the end.
    async fn attend(&mut self, call: Pending) -> Result<Value> {
        let id = call.id;
        let (mut news, answer) = call.apart();
        tokio::pin!(answer);
        let mut pace = tokio::time::interval(PACE);
        loop {
            tokio::select! {
                answer = &mut answer => return answer,
                () = self.job.interrupts.next() => break,
                Some(told) = news.recv() => self.hear(&told).await,
                _ = pace.tick() => self.screen.draw(),
            }
        }
        self.screen.remark("stopping the run; Ctrl-C once more kills it\n");
        self.job.client.cancel(id).await?;
        // A run that was begun a moment ago has told its name by now.
        while let Ok(told) = news.try_recv() {
            self.hear(&told).await;
        }
        self.stopped().await
    }

    async fn hear(&mut self, told: &Value) {
        if let Some(run) = told["_meta"][RUN_ID].as_str() {
            self.run = Some(run.to_owned());
            // Over by now, or the server is gone: the answer will tell.
            if let Ok(answer) = self.look().await {
                self.see(&answer).await;
            }
        }
    }

    /// The report of a run that is over, else how far it is.
    async fn look(&self) -> Result<Value> {
        self.resource("").await
    }

    /// A server that does not answer must not keep Ctrl-C from being heard.
    async fn resource(&self, part: &str) -> Result<Value> {
        let run = self.run.as_deref().unwrap_or_default();
        let uri = format!("coatepec://runs/{run}{part}");
        let late = |_| Err(Error::new(Kind::ReadTimedOut, "the server does not answer"));
        timeout(PATIENCE, self.job.client.read(&uri)).await.unwrap_or_else(late)
    }

    async fn see(&mut self, answer: &Value) {
        let Ok(progress) = serde_json::from_value::<Progress>(answer["progress"].clone()) else {
            return;
        };
        // In a fresh process, after a fork that crashed, all begins anew.
        self.seen = self.seen.min(progress.failures);
        while self.seen < progress.failures && (self.seen as usize) < NAMED {
            self.seen += 1;
            let Some(failure) = self.failure(self.seen).await else {
                break;
            };
            self.screen.clear();
            self.told.tell(self.job, &failure);
        }
        self.screen.progress = progress;
        self.screen.draw();
    }

    async fn failure(&self, number: u32) -> Option<FailureReport> {
        let mut answer = self.resource(&format!("/failures/{number}")).await.ok()?;
        serde_json::from_value(answer["failures"][0].take()).ok()
    }

    /// A call that was taken back is answered to nobody, so what became of its run is asked for.
    async fn stopped(&mut self) -> Result<Value> {
        let mut hurried = false;
        let mut looks = 0;
        loop {
            tokio::select! {
                () = self.job.interrupts.next() => match self.run.as_deref().filter(|_| !hurried) {
                    Some(run) => {
                        self.screen.remark("killing it\n");
                        self.job.client.hurry(run).await?;
                        hurried = true;
                    }
                    None => return Err(Error::new(Kind::Cancelled, "left before the run had ended")),
                },
                () = tokio::time::sleep(PACE) => match self.look().await {
                    Ok(answer) if answer["outcome"] != "running" => return Ok(answer),
                    Ok(answer) if answer["progress"]["phase"] != json!(Phase::Stopping) => looks += 1,
                    Ok(_) => {}
                    Err(error) if error.kind == Kind::ReadTimedOut => {}
                    Err(error) if error.kind == Kind::ServerLost => return Err(error),
                    Err(_) => return Err(Error::new(Kind::Cancelled, "the run was stopped before it began")),
                },
            }
            if looks > LOOKS {
                let run = self.run.as_deref().unwrap_or_default();
                return Err(Error::new(
                    Kind::Cancelled,
                    format!("{run} goes on, since others wait for it"),
                ));
            }
        }
    }
}

/// How far it is: on a terminal, in a line that is drawn over.
struct Screen<'a> {
    job: &'a Job<'a>,
    since: Instant,
    progress: Progress,
    tick: usize,
    drawn: bool,
}

impl<'a> Screen<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        Screen {
            job,
            since: Instant::now(),
            progress: Progress::default(),
            tick: 0,
            drawn: false,
        }
    }

    fn draw(&mut self) {
        let terminal = &self.job.context.terminal;
        if !terminal.watched || self.job.arguments.json {
            return;
        }
        let seconds = self.since.elapsed().as_secs();
        // The last column stays free: some terminals go to the next line when it is written.
        let width = terminal.width.saturating_sub(1);
        let line = progress::line(&self.progress, seconds, self.tick, width, terminal.err);
        terminal.remark(&format!("\r\x1b[2K{line}"));
        self.tick += 1;
        self.drawn = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.job.context.terminal.remark("\r\x1b[2K");
        }
    }

    fn remark(&mut self, text: &str) {
        self.clear();
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
