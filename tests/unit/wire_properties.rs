//! Whatever comes over a pipe or a socket, in whatever pieces: the same lines, within their limit, and never a panic.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, ReadBuf};

use coatepec::process::lines::{LineError, LineReader};
use coatepec::run::log::RunLog;
use coatepec::run::outcome::{End, judge};
use coatepec::worker::protocol::{Answer, Record};

/// Bytes that arrive piece by piece, with a wait before each.
struct Pieces {
    left: VecDeque<Vec<u8>>,
    waited: bool,
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.waited = !self.waited;
        if self.waited {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Some(mut piece) = self.left.pop_front() else {
            return Poll::Ready(Ok(()));
        };
        let rest = piece.split_off(piece.len().min(buf.remaining()));
        buf.put_slice(&piece);
        if !rest.is_empty() {
            self.left.push_front(rest);
        }
        Poll::Ready(Ok(()))
    }
}

fn cut(bytes: &[u8], lengths: &[usize]) -> Pieces {
    let mut rest = bytes;
    let mut left = VecDeque::new();
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, others) = rest.split_at(rest.len().min(*length));
        left.push_back(piece.to_vec());
        rest = others;
    }
    Pieces { left, waited: false }
}

#[derive(Debug, PartialEq)]
enum Heard {
    Line(Vec<u8>),
    TooLong,
    Half(Vec<u8>),
}

/// All that is heard up to the end.
fn heard(bytes: &[u8], lengths: &[usize], limit: usize) -> Vec<Heard> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut lines = LineReader::with_limit(cut(bytes, lengths), limit);
    let mut heard = Vec::new();
    loop {
        heard.push(match runtime.block_on(lines.next()) {
            Ok(Some(line)) => Heard::Line(line),
            Err(LineError::TooLong { .. }) => Heard::TooLong,
            Err(LineError::Half(half)) => Heard::Half(half),
            Ok(None) => return heard,
            Err(LineError::Io(error)) => panic!("nothing fails here: {error}"),
        });
    }
}

/// The same, said in a sentence: each text up to a line end is a line, unless it is too long; a rest is half a line.
fn should_be_heard(bytes: &[u8], limit: usize) -> Vec<Heard> {
    let mut texts: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let rest = texts.pop().filter(|rest| !rest.is_empty());
    let within = |text: &[u8], kind: fn(Vec<u8>) -> Heard| {
        if text.len() > limit {
            Heard::TooLong
        } else {
            kind(text.to_vec())
        }
    };
    let lines = texts.into_iter().map(|text| within(text, Heard::Line));
    lines.chain(rest.map(|text| within(text, Heard::Half))).collect()
}

/// Mostly short lines of anything, some around the limits used here.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        4 => vec(any::<u8>(), 0..12),
        1 => (select(vec![b'x', 0, 0xff]), 0..80usize).prop_map(|(byte, length)| vec![byte; length]),
    ];
    vec(prop_oneof![3 => text, 2 => Just(b"\n".to_vec())], 0..30).prop_map(|texts| texts.concat())
}

/// Any JSON, with the words of the protocol as keys and as texts.
fn json() -> impl Strategy<Value = Value> {
    let words = || {
        select(vec![
            "pid",
            "e",
            "id",
            "told",
            "started",
            "example_started",
            "example_finished",
            "outside_error",
            "message",
            "finished",
            "exit",
            "threads",
            "hello",
            "example",
            "status",
            "failure",
            "class",
            "causes",
            "parts",
            "frames",
            "ids",
            "selected",
            "seconds",
            "passed",
            "failed",
            "text",
            "quit",
            "pong",
            "ready",
            "inputs",
            "forked",
        ])
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((words(), inner), 0..6).prop_map(|members| Value::from(
                members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<Map<_, _>>()
            )),
        ]
    })
}

/// Lines of the protocol as they were recorded.
const RECORDED: &[&str] = &[
    include_str!("transcripts/passing.ndjson"),
    include_str!("transcripts/failing.ndjson"),
    include_str!("transcripts/forking.ndjson"),
    include_str!("transcripts/hanging.ndjson"),
    include_str!("transcripts/load_error.ndjson"),
    include_str!("transcripts/boot.ndjson"),
    include_str!("transcripts/zygote.ndjson"),
];

/// A recorded line with some of its bytes replaced, or cut off.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&str> = RECORDED.iter().flat_map(|text| text.lines()).collect();
    (
        select(lines),
        vec((any::<Index>(), any::<u8>()), 0..4),
        any::<Option<Index>>(),
    )
        .prop_map(|(line, replaced, end)| {
            let mut line = line.as_bytes().to_vec();
            replaced.into_iter().for_each(|(at, byte)| {
                let at = at.index(line.len());
                line[at] = byte;
            });
            if let Some(end) = end {
                line.truncate(end.index(line.len() + 1));
            }
            line
        })
}

/// What the supervisor does with each line of a run, and of a worker.
fn take(lines: &[Vec<u8>]) -> u64 {
    let mut log = RunLog::of_fresh_process();
    for line in lines {
        let _ = serde_json::from_slice::<Answer>(line);
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => log.apply(record),
            Err(_) => log.ignore_line(),
        }
    }
    let _ = judge(&log, End::Exited(0), None);
    log.ignored
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn lines_are_the_same_however_they_are_cut(
        bytes in stream(),
        lengths in vec(1..40usize, 1..6),
        limit in 0..64usize,
    ) {
        prop_assert_eq!(heard(&bytes, &lengths, limit), should_be_heard(&bytes, limit));
    }

    #[test]
    fn any_json_is_taken_or_ignored(values in vec(json(), 0..8)) {
        let lines: Vec<Vec<u8>> = values.iter().map(|value| value.to_string().into_bytes()).collect();
        take(&lines);
    }

    #[test]
    fn any_bytes_are_taken_or_ignored(lines in vec(vec(any::<u8>(), 0..80), 0..8)) {
        prop_assert_eq!(take(&lines), lines.len() as u64, "noise is no record");
    }

    #[test]
    fn damaged_lines_are_taken_or_ignored(lines in vec(damaged(), 0..12)) {
        take(&lines);
    }
}

/// The properties above would say little if nothing recorded were understood.
#[test]
fn what_was_recorded_is_understood() {
    let lines = |text: &str| text.lines().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>();
    let ignored: Vec<u64> = RECORDED.iter().map(|text| take(&lines(text))).collect();
    let all: Vec<u64> = RECORDED.iter().map(|text| text.lines().count() as u64).collect();
    assert!(
        ignored.iter().zip(&all).any(|(ignored, all)| ignored == all),
        "{ignored:?} of {all:?}: answers are no records"
    );
    assert!(
        ignored.iter().filter(|ignored| **ignored == 0).count() >= 4,
        "{ignored:?} of {all:?}"
    );
}

/// A line at the very limit, and one byte more, in the pieces that a pipe is read in.
#[test]
fn the_limit_is_exact_in_large_pieces() {
    let limit = 100_000;
    for (length, too_long) in [(limit - 1, false), (limit, false), (limit + 1, true)] {
        let mut bytes = vec![b'x'; length];
        bytes.extend(b"\nnext\n");
        let heard = heard(&bytes, &[65_536], limit);
        assert_eq!(heard.len(), 2, "{length}");
        assert_eq!(heard[0] == Heard::TooLong, too_long, "{length}");
        assert_eq!(heard[1], Heard::Line(b"next".to_vec()), "{length}");
    }
}
