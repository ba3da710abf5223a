//! A page follows the one before, whatever became of the list between them.

use coatepec::reading::page::{Cursor, List, Since};

const LIMIT: usize = 3;

fn list(letters: &str) -> List {
    let rows: Vec<String> = letters.chars().map(String::from).collect();
    List::of(rows.iter().map(String::as_str))
}

/// The page of `later` that follows the first one of `before`.
fn second(before: &str, later: &str) -> (String, Option<Since>) {
    let cursor = list(before).rows(0, LIMIT, None).named("0123abcd").cursor(LIMIT, 0);
    let cursor = Cursor::parse(&cursor.to_string()).expect("it is read as it is written");
    let (start, since) = list(later).start(0, Some(&cursor));
    (later.chars().skip(start).take(LIMIT).collect(), since)
}

#[test]
fn the_same_list_goes_on_by_number() {
    assert_eq!(second("abcdefg", "abcdefg"), ("def".into(), None));
    assert_eq!(second("abbbbc", "abbbbc"), ("bbc".into(), None));
}

#[test]
fn a_list_that_changed_goes_on_behind_the_last_row_that_was_told() {
    let table = [
        ("xabcdef", "def"),
        ("acdef", "def"),
        ("abdef", "def"),
        ("bcxdef", "xde"),
        ("abcfed", "fed"),
        ("axxxdef", "xxx"),
    ];
    for (later, rows) in table {
        assert_eq!(second("abcdef", later), (rows.into(), Some(Since::Moved)), "{later}");
    }
    assert_eq!(
        second("babbcd", "babbcde"),
        ("bcd".into(), Some(Since::Moved)),
        "the nearest"
    );
}

#[test]
fn without_any_of_its_last_rows_the_place_is_lost() {
    assert_eq!(second("abcdef", "defgh"), ("gh".into(), Some(Since::Lost)));
    assert_eq!(second("abcdef", ""), (String::new(), Some(Since::Lost)));
}

#[test]
fn a_page_that_ends_earlier_has_the_cursor_of_its_end() {
    let rows = list("abcdefg").rows(0, 6, None);
    let (start, since) = list("xabcdefg").start(0, Some(&rows.cursor(2, 4)));
    assert_eq!((start, since), (3, Some(Since::Moved)), "behind the b");
}

/// So that a page from a schema file may follow one from the database.
#[test]
fn keys_are_those_of_the_ruby_side() {
    // `Digest::SHA256.hexdigest("\"widgets\"\n")[0, 8]`, and of that the same again.
    let cursor = List::of(["widgets"].into_iter()).rows(0, 1, None);
    let cursor = cursor.named("0123abcd").cursor(1, 0);
    assert_eq!(cursor.to_string(), "1.0123abcd.96936b37.7aed6b48");
}
