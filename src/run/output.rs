//! Capped capture of a stream: its head and its tail, with the number of bytes dropped between. Pure.

use std::borrow::Cow;
use std::collections::VecDeque;

/// Bytes kept of a stream, unless the caller says otherwise.
pub const DEFAULT_LIMIT: usize = 256 * 1024;

/// What U+FFFD, the stand-in for invalid bytes, takes in UTF-8.
const REPLACEMENT: &str = "\u{FFFD}";

/// Collects a stream of any length in at most `limit` bytes of memory.
///
/// What it holds depends on the bytes alone, not on how they were divided into pushes.
#[derive(Debug, Clone)]
pub struct Capture {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
}

/// A captured stream. Invalid UTF-8 is replaced; NUL and escape sequences are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// At most `limit` bytes, and a line of its own that tells what is missing, if anything is.
    pub text: String,
    /// Bytes that the stream had.
    pub bytes: u64,
    /// Bytes of the stream that `text` does not show.
    pub dropped: u64,
}

impl Capture {
    pub fn new(limit: usize) -> Self {
        Capture {
            limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let to_head = bytes.len().min(self.head_limit() - self.head.len());
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);
        self.push_tail(rest);
    }

    pub fn finish(self) -> Captured {
        let Capture {
            limit,
            ref head,
            ref tail,
            bytes,
        } = self;
        let (tail_start, tail_end) = tail.as_slices();
        let missing = bytes - (head.len() + tail.len()) as u64;
        if missing == 0 {
            let whole = [head, tail_start, tail_end].concat();
            // Each invalid byte may take three, so that what fits in bytes may not fit as text.
            let text = String::from_utf8_lossy(&whole);
            if text.len() <= limit {
                return Captured {
                    text: text.into_owned(),
                    bytes,
                    dropped: 0,
                };
            }
        }
        let tail = [tail_start, tail_end].concat();
        let (head, head_dropped) = keep_head(head, self.head_limit());
        let (tail, tail_dropped) = keep_tail(&tail, self.tail_limit());
        let dropped = missing + (head_dropped + tail_dropped) as u64;
        Captured {
            text: head + &marker(dropped) + &tail,
            bytes,
            dropped,
        }
    }

    fn head_limit(&self) -> usize {
        self.limit / 2
    }

    fn tail_limit(&self) -> usize {
        self.limit - self.head_limit()
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        // Of a push larger than the tail, only the end can stay.
        let bytes = &bytes[bytes.len().saturating_sub(self.tail_limit())..];
        let excess = (self.tail.len() + bytes.len()).saturating_sub(self.tail_limit());
        self.tail.drain(..excess);
        self.tail.extend(bytes);
    }
}

impl Default for Capture {
    fn default() -> Self {
        Capture::new(DEFAULT_LIMIT)
    }
}

/// `text` without what is between `from` and `to`. `dropped` bytes of it were dropped before, if any, and the line that
/// says so may be among what goes now. Answers the new text, and how many bytes of the stream it does not show.
pub fn middle_left_out(text: &str, from: usize, to: usize, dropped: u64) -> (String, u64) {
    let gone = &text[from..to];
    let before = marker(dropped);
    let known = if dropped > 0 && gone.contains(&before) {
        before.len()
    } else {
        0
    };
    let dropped = dropped + (gone.len() - known) as u64;
    (format!("{}{}{}", &text[..from], marker(dropped), &text[to..]), dropped)
}

/// The line that stands for what was dropped.
fn marker(dropped: u64) -> String {
    format!("\n[... {dropped} bytes dropped ...]\n")
}

/// The longest start of `bytes` that is at most `limit` bytes of text, and how many bytes it leaves
/// out. A character that the end of `bytes` cuts is left out, too.
fn keep_head(bytes: &[u8], limit: usize) -> (String, usize) {
    let mut text = String::new();
    let mut kept = 0;
    for (unit, source) in units(&bytes[..bytes.len() - cut_at_end(bytes)]) {
        let room = floor_char_boundary(unit, limit - text.len());
        text.push_str(&unit[..room]);
        // A replacement character fits as a whole or not at all.
        if room < unit.len() {
            kept += room;
            break;
        }
        kept += source;
    }
    (text, bytes.len() - kept)
}

/// The same for the longest end of `bytes`.
fn keep_tail(bytes: &[u8], limit: usize) -> (String, usize) {
    let cut = cut_at_start(bytes);
    let length: usize = units(&bytes[cut..]).map(|(unit, _)| unit.len()).sum();
    let mut excess = length.saturating_sub(limit);
    let mut text = String::new();
    let mut dropped = cut;
    for (unit, source) in units(&bytes[cut..]) {
        let skip = ceil_char_boundary(unit, excess);
        excess = excess.saturating_sub(skip);
        dropped += if skip == unit.len() { source } else { skip };
        text.push_str(&unit[skip..]);
    }
    (text, dropped)
}

/// The pieces of a lossy decoding, each with the number of bytes it stands for: valid stretches as
/// they are, and each invalid sequence as one replacement character.
fn units(bytes: &[u8]) -> impl Iterator<Item = (&str, usize)> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = (!chunk.invalid().is_empty()).then_some((REPLACEMENT, chunk.invalid().len()));
        std::iter::once((chunk.valid(), chunk.valid().len())).chain(invalid)
    })
}

/// How many bytes at the end are the start of a character whose rest is missing.
fn cut_at_end(bytes: &[u8]) -> usize {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let continuations = bytes.iter().rev().take(3).take_while(is_continuation).count();
    let Some(first) = bytes.len().checked_sub(continuations + 1).map(|at| bytes[at]) else {
        return 0;
    };
    // The leading ones of the first byte count the bytes of the character.
    let length = first.leading_ones() as usize;
    if (2..=4).contains(&length) && continuations + 1 < length {
        continuations + 1
    } else {
        0
    }
}

/// How many bytes at the start are the rest of a character whose start is missing.
fn cut_at_start(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000)
        .count()
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The first boundary between characters that is not before `at`.
pub fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

/// The start of `text` in at most `max_bytes` bytes, cut between characters, and the number of bytes
/// left out.
pub fn clip(text: &str, max_bytes: usize) -> (String, usize) {
    let kept = floor_char_boundary(text, max_bytes);
    (text[..kept].to_owned(), text.len() - kept)
}

const ESC: char = '\u{1b}';
/// "Control sequence introducer" as one character, which some terminals accept for `ESC [`.
const CSI: char = '\u{9b}';
/// "String terminator" as one character, for `ESC \`.
const ST: char = '\u{9c}';
const BEL: char = '\u{7}';

/// `text` without terminal escape sequences (ECMA-48): colours, cursor movement, titles, links.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains([ESC, CSI]) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([ESC, CSI]) {
        plain.push_str(&rest[..at]);
        rest = after_sequence(&rest[at..]);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// What follows the escape sequence that `text` starts with.
fn after_sequence(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix(CSI) {
        return after_parameters(rest);
    }
    let escaped = text.strip_prefix(ESC).unwrap_or(text);
    let rest = |length: usize| &escaped[length..];
    match escaped.chars().next() {
        Some('[') => after_parameters(rest(1)),
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(rest(1)),
        Some(' '..='/') => after_final(escaped.trim_start_matches(|c| matches!(c, ' '..='/')), '0'),
        Some('0'..='~') => rest(1),
        _ => escaped,
    }
}

/// Parameters and intermediates, then one final character.
fn after_parameters(text: &str) -> &str {
    after_final(text.trim_start_matches(|c| matches!(c, ' '..='?')), '@')
}

fn after_final(text: &str, lowest: char) -> &str {
    text.strip_prefix(|c| (lowest..='~').contains(&c)).unwrap_or(text)
}

/// The body of a string goes with its introducer only if its end is there; an introducer by chance
/// must not hide the rest of the output. A body holds no line break and no escape.
fn after_string(text: &str) -> &str {
    let Some(end) = text.find([ESC, BEL, ST, '\n']) else {
        return text;
    };
    let rest = &text[end..];
    let terminated = rest.strip_prefix("\u{1b}\\").or(rest.strip_prefix([BEL, ST]));
    terminated.unwrap_or(text)
}
