//! Questions about the app: answered by a reader, whatever runs meanwhile.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::readers::Asking;
use super::serving::cancelled;
use super::setup::Setup;
use super::steward::Office;
use super::unbooted;
use super::warm::{self, Problem};
use crate::error::{Error, Kind, Result};
use crate::reading::{Question, budget, page};
use crate::run::advice;
use crate::run::outcome::Outcome;
use crate::run::output::Capture;
use crate::run::paths::Paths;
use crate::worker::Broken;
use crate::worker::protocol::Failure;
use crate::worker::reader::Unread;

/// How long an answer may take, once the app is warm. Nothing of the app is run for it: what takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// How often a question is asked whose reader is lost: it may have been replaced, or killed by somebody.
const TRIES: u32 = 3;

/// What the app says of itself at this moment, within the size of an answer. Boots and reloads it as the files call for.
pub(super) async fn read(
    office: &Office,
    setup: &Setup,
    question: Question,
    cancel: &CancellationToken,
) -> Result<Value> {
    let arguments = question.arguments(&setup.config);
    let list = question.list();
    let told = match ask(office, setup, &question, &arguments, cancel).await {
        Ok(told) => told,
        Err(error) => {
            let root = setup.project.root.clone();
            let unasked = spawn_blocking(move || unbooted::answer(&root, &question, arguments, error));
            unasked.await.map_err(super::panicked)??
        }
    };
    Ok(budget::within(page::of(told, &list), setup.config.max_result_bytes))
}

/// One that hangs is ended when its time is over, when its caller is gone, or, after a while, when others wait.
async fn ask(
    office: &Office,
    setup: &Setup,
    question: &Question,
    arguments: &Value,
    cancel: &CancellationToken,
) -> Result<Value> {
    let paths = Paths::new(&setup.project.root, std::env::home_dir());
    let seat = office.seats.take().await;
    let mut lost = String::new();
    for _ in 0..TRIES {
        let asking = reader(office, setup).await.map_err(|problem| unfit(&problem, &paths))?;
        let asked = Instant::now();
        seat.asked();
        let read = tokio::select! {
            biased;
            read = asking.reader.read(question.what, arguments.clone(), LIMIT) => read,
            () = seat.wanted() => Err(Unread::Lost("others waited".to_owned())),
            () = cancel.cancelled() => Err(Unread::Lost("nobody waited".to_owned())),
        };
        lost = match read {
            Err(Unread::Lost(cause)) => cause,
            answered => {
                asking.give_back();
                return answered.map_err(|unread| unanswered(unread, &paths));
            }
        };
        asking.end();
        if cancel.is_cancelled() {
            return Err(cancelled());
        }
        if asked.elapsed() >= LIMIT || seat.is_wanted() {
            return Err(timed_out(asked.elapsed()));
        }
    }
    Err(Error::internal(format!("the process that reads the app was lost: {lost}")).hint("call again"))
}

/// Boots the app if it has to be, and makes it fresh.
pub(super) async fn boot(office: &Office, setup: &Setup) -> Result<()> {
    let paths = Paths::new(&setup.project.root, std::env::home_dir());
    let asking = reader(office, setup).await.map_err(|problem| unfit(&problem, &paths))?;
    asking.give_back();
    Ok(())
}

async fn reader(office: &Office, setup: &Setup) -> std::result::Result<Asking, Problem> {
    let mut warm = office.warm.lock().await;
    office.board.looking();
    let reader = warm::reader(&mut warm, setup).await;
    match &reader {
        Ok((prepared, _)) => office.board.prepared(prepared, warm.booted()),
        Err(problem) => office.board.prepared(&problem.prepared, warm.booted()),
    }
    office.looked_after.notify_one();
    reader.map(|(_, reader)| reader)
}

fn unanswered(unread: Unread, paths: &Paths) -> Error {
    match unread {
        Unread::Refused { code, message, hint } => refused(&code, message, hint),
        Unread::Failed(failure) => failed(&failure, paths),
        Unread::Lost(cause) => Error::internal(cause),
    }
}

fn timed_out(after: Duration) -> Error {
    Error::new(Kind::ReadTimedOut, format!("no answer within {} s", after.as_secs()))
        .hint("something that Rails asks for its structure hangs, such as a database that does not answer")
}

/// There is no app that could be asked.
fn unfit(problem: &Problem, paths: &Paths) -> Error {
    let Problem { outcome, broken, .. } = problem;
    let (kind, what) = match outcome {
        Outcome::ReloadFailed => (Kind::ReloadFailed, "changed code could not be loaded"),
        _ => (Kind::BootFailed, "the app did not boot"),
    };
    let Broken { failure, stderr, .. } = broken;
    let mut kept = Capture::new(STDERR);
    kept.push(stderr.as_bytes());
    let stderr = kept.finish().text;
    let error = Error::new(kind, format!("{what}: {}", summary(failure, paths)));
    error
        .hint(advice::of_problem(*outcome, failure))
        .details(json!({ "class": failure.class, "at": place(failure, paths), "stderr": paths.text(&stderr) }))
}

/// Where an object lies in memory, as `inspect` tells it: no two answers would be the same.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new("0x[0-9a-f]{6,}").expect("it is a pattern"));

/// Bytes of what the process printed.
const STDERR: usize = 2000;

fn failed(failure: &Failure, paths: &Paths) -> Error {
    let message = format!("the app failed while it was asked: {}", summary(failure, paths));
    Error::new(Kind::ReadFailed, message)
        .hint("mend the error and call again; what does not need this code still runs")
        .details(json!({ "class": failure.class, "at": place(failure, paths) }))
}

fn refused(code: &str, message: String, hint: Option<String>) -> Error {
    match Kind::of_reading(code) {
        Some(kind) => {
            let error = Error::new(kind, message);
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        }
        None => Error::internal(format!("{code}: {message}")),
    }
}

fn summary(failure: &Failure, paths: &Paths) -> String {
    let message = paths.text(failure.message.trim());
    let message = ADDRESS.replace_all(&message, "0x…");
    format!("{}: {message}", failure.class)
}

/// Where a SyntaxError says it is, else the first frame of the app.
fn place(failure: &Failure, paths: &Paths) -> Option<String> {
    match &failure.location {
        Some(location) => Some(format!("{}:{}", paths.place(&location.file), location.line)),
        None => paths.backtrace(&failure.frames, 1).into_iter().next(),
    }
}
