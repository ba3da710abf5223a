//! What a run or a worker says, byte by byte.
#![no_main]

use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use coatepec::config::IncludeStdout;
use coatepec::process::lines::{LineError, LineReader};
use coatepec::run::RunId;
use coatepec::run::log::RunLog;
use coatepec::run::outcome::{End, Outcome, Verdict, judge};
use coatepec::run::output::Captured;
use coatepec::run::paths::Paths;
use coatepec::run::report::{Facts, Mode, Report, Timing, View};
use coatepec::worker::protocol::{Answer, ExampleStatus, Record};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, ReadBuf};

/// Bytes of a line: small, so that both sides of it are reached.
const LIMIT: usize = 4096;

/// Bytes of a report, as by default.
const BUDGET: usize = 24 * 1024;

fuzz_target!(|bytes: &[u8]| {
    let lines = lines(bytes, bytes.len() % 97 + 1);
    assert_eq!(lines, whole_lines(bytes));
    let log = taken(&lines);
    for end in [End::Exited(0), End::Signaled(9), End::Unknown] {
        let verdict = judge(&log, end, None);
        assert!(verdict.outcome != Outcome::Passed || may_pass(&log), "{log:?}");
        let plain = matches!(verdict.outcome, Outcome::Passed | Outcome::Failed);
        assert!(plain || verdict.reason.is_some(), "{verdict:?}");
    }
    let json = report(log).to_json();
    assert!(json.len() <= BUDGET, "{} bytes", json.len());
});

struct Pieces<'a> {
    left: &'a [u8],
    length: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let length = self.length.min(self.left.len()).min(buf.remaining());
        let (piece, rest) = self.left.split_at(length);
        buf.put_slice(piece);
        self.left = rest;
        Poll::Ready(Ok(()))
    }
}

/// The lines that are not too long, and the half line at the end.
fn lines(bytes: &[u8], length: usize) -> Vec<Vec<u8>> {
    let mut reader = LineReader::with_limit(Pieces { left: bytes, length }, LIMIT);
    let mut lines = Vec::new();
    loop {
        match now(reader.next()) {
            Ok(Some(line)) | Err(LineError::Half(line)) => lines.push(line),
            Err(LineError::TooLong { .. }) => {}
            Ok(None) => return lines,
            Err(LineError::Io(error)) => panic!("nothing fails here: {error}"),
        }
    }
}

/// The value of a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("all is there"),
    }
}

fn whole_lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut texts: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if texts.last().is_some_and(|rest| rest.is_empty()) {
        texts.pop();
    }
    texts.retain(|text| text.len() <= LIMIT);
    texts.into_iter().map(<[u8]>::to_vec).collect()
}

fn taken(lines: &[Vec<u8>]) -> RunLog {
    let mut log = RunLog::of_fresh_process();
    for line in lines {
        let _ = serde_json::from_slice::<Answer>(line);
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => log.apply(record),
            Err(_) => log.ignore_line(),
        }
    }
    log
}

/// What was told allows for a pass.
fn may_pass(log: &RunLog) -> bool {
    let ended = log.examples.iter().all(|example| example.end.is_some());
    ended
        && log.exit == Some(0)
        && log.finished.is_some_and(|finish| finish.status == 0 && !finish.quit)
        && log
            .started
            .as_ref()
            .is_some_and(|started| !started.dry_run && started.selected > 0)
        && log.outside.is_empty()
        && log.count(ExampleStatus::Failed) == 0
        && log.count(ExampleStatus::Passed) > 0
}

fn report(log: RunLog) -> Report {
    let nothing = || Captured {
        text: String::new(),
        bytes: 0,
        dropped: 0,
    };
    let facts = Facts {
        id: RunId(1),
        mode: Mode::Fork,
        verdict: Verdict {
            outcome: Outcome::Failed,
            reason: None,
        },
        log,
        stdout: nothing(),
        stderr: nothing(),
        timing: Timing::default(),
        command: String::new(),
        error: None,
        kernel_threads: Vec::new(),
        leftovers: Vec::new(),
        warnings: Vec::new(),
        skipped: Vec::new(),
        hint: None,
        trigger: None,
        mode_reason: None,
        crashed_fork: None,
        ahead: 0,
    };
    let view = View {
        include_passing: true,
        include_stdout: IncludeStdout::Always,
        max_bytes: BUDGET,
    };
    Report::new(facts, view, &Paths::new(Path::new("/srv/shop"), None))
}
