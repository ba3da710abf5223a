//! What is kept of a stream of any length and any bytes.

use std::borrow::Cow;

use coatepec::run::output::{Capture, Captured, clip, strip_ansi};
use proptest::prelude::*;

fn capture(limit: usize, pushes: &[&[u8]]) -> Captured {
    let mut capture = Capture::new(limit);
    pushes.iter().for_each(|bytes| capture.push(bytes));
    capture.finish()
}

/// Head and tail of a text that was cut.
#[track_caller]
fn halves(captured: &Captured) -> (&str, &str) {
    let marker = format!("\n[... {} bytes dropped ...]\n", captured.dropped);
    captured
        .text
        .split_once(&marker)
        .unwrap_or_else(|| panic!("no marker in {captured:?}"))
}

#[test]
fn a_stream_within_the_limit_is_kept_as_it_is() {
    for text in ["", "a", "0123456789", "ä€😀", "\0\x1b[31mred\x1b[0m"] {
        let expected = Captured {
            text: text.into(),
            bytes: text.len() as u64,
            dropped: 0,
        };
        assert_eq!(capture(14, &[text.as_bytes()]), expected);
    }
}

#[test]
fn of_a_longer_stream_the_head_and_the_tail_are_kept() {
    let captured = capture(6, &[b"abcdefghijk"]);
    assert_eq!(captured.text, "abc\n[... 5 bytes dropped ...]\nijk");
    assert_eq!((captured.bytes, captured.dropped), (11, 5));
}

#[test]
fn a_cut_never_splits_a_character() {
    // Limit 10: five bytes each; the third two-byte letter and the second emoji lie across the cuts.
    for (text, head, tail) in [
        ("ääääääääää", "ää", "ää"),
        ("😀😀😀😀", "😀", "😀"),
        ("€€€€€", "€", "€"),
        ("abcdäxxxxxxäabcd", "abcd", "abcd"),
    ] {
        let captured = capture(10, &[text.as_bytes()]);
        assert_eq!(halves(&captured), (head, tail), "{text}");
        assert_eq!(
            captured.dropped as usize,
            text.len() - head.len() - tail.len(),
            "{text}"
        );
    }
}

#[test]
fn a_character_across_the_middle_survives_when_nothing_is_dropped() {
    assert_eq!(capture(7, &["ab€cd".as_bytes()]).text, "ab€cd");
}

#[test]
fn invalid_bytes_are_replaced_and_counted() {
    assert_eq!(
        capture(20, &[b"a\xffb\xf0\x9f\x98c"]),
        Captured {
            text: "a\u{FFFD}b\u{FFFD}c".into(),
            bytes: 7,
            dropped: 0
        }
    );
}

#[test]
fn invalid_bytes_that_grow_past_the_limit_are_cut_like_any_text() {
    // Eight bytes would become 24.
    let captured = capture(8, &[&[0xff; 8]]);
    assert_eq!(halves(&captured), ("\u{FFFD}", "\u{FFFD}"));
    assert_eq!((captured.bytes, captured.dropped), (8, 6));
}

#[test]
fn a_limit_of_nothing_keeps_nothing() {
    assert_eq!(capture(0, &[b"abc"]).text, "\n[... 3 bytes dropped ...]\n");
    assert_eq!(capture(1, &[b"abc"]).text, "\n[... 2 bytes dropped ...]\nc");
}

#[test]
fn a_flood_is_counted_in_full() {
    let mut capture = Capture::default();
    let line = "größer als gedacht\n".repeat(1000);
    (0..500).for_each(|_| capture.push(line.as_bytes()));
    let captured = capture.finish();
    assert_eq!(captured.bytes, 500 * line.len() as u64);
    let (head, tail) = halves(&captured);
    assert!(head.len() + tail.len() <= 256 * 1024);
    assert!(captured.text.starts_with("größer") && captured.text.ends_with("gedacht\n"));
    assert_eq!(captured.dropped, captured.bytes - (head.len() + tail.len()) as u64);
}

#[test]
fn clip_cuts_between_characters() {
    for (text, max, kept, dropped) in [
        ("abc", 3, "abc", 0),
        ("abc", 9, "abc", 0),
        ("abc", 2, "ab", 1),
        ("aä", 2, "a", 2),
        ("😀", 3, "", 4),
        ("", 0, "", 0),
    ] {
        assert_eq!(clip(text, max), (kept.to_owned(), dropped), "{text} to {max}");
    }
}

#[test]
fn escape_sequences_are_stripped() {
    for (text, plain) in [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;208mx\x1b[m", "x"),
        ("\x1b[?25l\x1b[2K\x1b[1Gdone", "done"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1b(Bx\x1b=y\x1bcz", "xyz"),
        ("\u{9b}31mred", "red"),
        ("\x1b]0;title\u{9c}x", "x"),
        ("größe \x1b[32m✓\x1b[0m", "größe ✓"),
    ] {
        assert_eq!(strip_ansi(text), plain, "{text:?}");
    }
}

#[test]
fn broken_escape_sequences_hide_no_text() {
    for (text, plain) in [
        ("\x1b", ""),
        ("\x1b[", ""),
        ("\x1b[31", ""),
        ("\x1b[31\nnext", "\nnext"),
        ("\x1b\nnext", "\nnext"),
        ("\x1b€", "€"),
        ("\x1b[€", "€"),
        ("\x1b]0;no end\nnext line", "0;no end\nnext line"),
        ("\x1b]a\x1b[31mb", "ab"),
        ("\x1b\x1b[31mb", "b"),
    ] {
        assert_eq!(strip_ansi(text), plain, "{text:?}");
    }
}

#[test]
fn text_without_escapes_is_not_copied() {
    assert!(matches!(strip_ansi("plain\0 größe"), Cow::Borrowed(_)));
}

/// Text, noise, and text with a few bad bytes.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<Vec<u8>>(),
        ".{0,60}".prop_map(String::into_bytes),
        prop::collection::vec(prop_oneof![Just("ä"), Just("😀"), Just("x")], 0..60)
            .prop_map(|parts| parts.concat().into_bytes()),
    ]
}

proptest! {
    #[test]
    fn the_text_never_exceeds_the_limit_by_more_than_the_marker(bytes in any_bytes(), limit in 0..100usize) {
        let captured = capture(limit, &[&bytes]);
        let marker = format!("\n[... {} bytes dropped ...]\n", captured.dropped);
        let allowed = limit + if captured.dropped > 0 { marker.len() } else { 0 };
        prop_assert!(captured.text.len() <= allowed, "{} > {allowed}", captured.text.len());
        prop_assert_eq!(captured.bytes, bytes.len() as u64);
        prop_assert!(captured.dropped <= captured.bytes);
    }

    #[test]
    fn valid_text_within_the_limit_is_unchanged(text in ".{0,60}", spare in 0..20usize) {
        let captured = capture(text.len() + spare, &[text.as_bytes()]);
        prop_assert_eq!((captured.text, captured.dropped), (text, 0));
    }

    #[test]
    fn kept_and_dropped_bytes_of_valid_text_add_up(text in ".{0,200}", limit in 0..100usize) {
        prop_assume!(text.len() > limit && !text.contains("bytes dropped"));
        let captured = capture(limit, &[text.as_bytes()]);
        let (head, tail) = halves(&captured);
        prop_assert_eq!((head.len() + tail.len()) as u64 + captured.dropped, captured.bytes);
        prop_assert!(text.starts_with(head) && text.ends_with(tail));
        // No more is lost than the characters that lie across the two cuts.
        prop_assert!(head.len() + tail.len() + 6 >= limit);
    }

    #[test]
    fn how_the_stream_is_divided_changes_nothing(bytes in any_bytes(), size in 1..20usize, limit in 0..100usize) {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        prop_assert_eq!(capture(limit, &pieces), capture(limit, &[&bytes]));
    }

    #[test]
    fn stripping_leaves_no_escape_and_invents_nothing(text in "[\x1b\u{9b}\\[\\]0-9;m\x07\\\\ aä\n]{0,60}") {
        let plain = strip_ansi(&text);
        prop_assert!(!plain.contains(&['\x1b', '\u{9b}'][..]), "an escape is left");
        let mut original = text.chars();
        prop_assert!(plain.chars().all(|c| original.any(|o| o == c)), "{plain:?} is no subsequence");
    }

    #[test]
    fn clipping_keeps_a_prefix_within_the_limit(text in ".{0,60}", max in 0..80usize) {
        let (kept, dropped) = clip(&text, max);
        prop_assert!(kept.len() <= max && text.starts_with(&kept));
        prop_assert_eq!(kept.len() + dropped, text.len());
    }
}
