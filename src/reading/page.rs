//! Places in lists: where a page begins, and where the next one does, also if the list changes meanwhile. Pure.
//!
//! worker/reading/page.rb does the same for the lists that only Ruby has.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Lists of which a result is a page, if it has `matched`: what is cut off them is on the next page.
pub(super) const PAGED: &[&str] = &["rows", "findings", "tables", "models", "classes", "items"];

/// Rows that a cursor remembers: all of them must go for its place to be lost.
const REMEMBERED: usize = 3;
/// Digits of a key and of a revision.
const DIGITS: usize = 8;

/// Where the next page begins: a number as long as the list is the same, else behind the rows that were told last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    offset: usize,
    /// Which list it is of.
    list: String,
    revision: String,
    /// Keys of rows, the last one first.
    rows: Vec<String>,
}

impl Cursor {
    /// As `Display` writes it; `None` if it was never written.
    pub fn parse(text: &str) -> Option<Cursor> {
        let mut parts = text.split('.');
        let offset: u32 = parts
            .next()?
            .parse()
            .ok()
            .filter(|offset| *offset <= super::MAX_OFFSET)?;
        let mut keys: Vec<String> = parts.map(str::to_owned).collect();
        let good = |key: &String| key.len() == DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !(2..=2 + REMEMBERED).contains(&keys.len()) || !keys.iter().all(good) {
            return None;
        }
        Some(Cursor {
            offset: usize::try_from(offset).ok()?,
            list: keys.remove(0),
            revision: keys.remove(0),
            rows: keys,
        })
    }

    pub fn is_of(&self, list: &str) -> bool {
        self.list == list
    }
}

/// Which list it is that a tool tells, whatever the page.
pub fn list(tool: &str, arguments: &Value) -> String {
    let mut asked = arguments.clone();
    if let Some(asked) = asked.as_object_mut() {
        asked.retain(|name, value| !["limit", "offset", "cursor"].contains(&name.as_str()) && !value.is_null());
    }
    digest(&format!("{tool} {asked}"))
}

/// The answer with the name of its list, for the cursor.
pub fn of(mut answer: Value, list: &str) -> Value {
    if let Some(page) = answer.get_mut("page") {
        page["list"] = list.into();
    }
    answer
}

impl fmt::Display for Cursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.offset, self.list, self.revision)?;
        self.rows.iter().try_for_each(|row| write!(out, ".{row}"))
    }
}

/// What became of the place of a cursor in a list that is not the same any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    Moved,
    Lost,
}

impl Since {
    /// As the caller is told.
    pub fn told(self) -> &'static str {
        match self {
            Since::Moved => {
                "the list changed since the page before: this one follows its last row, and what is new ahead of that is on \
                 neither"
            }
            Since::Lost => {
                "the list changed since the page before, whose last rows are gone: begin again without `cursor`, since rows \
                 may be missing here"
            }
        }
    }
}

/// A list by what tells its rows from each other, also after a change.
#[derive(Debug)]
pub struct List {
    keys: Vec<String>,
    revision: String,
}

impl List {
    pub fn of<'a>(identities: impl Iterator<Item = &'a str>) -> List {
        // As Ruby writes a text on a line.
        let keys: Vec<String> = identities.map(|one| digest(&format!("{}\n", json!(one)))).collect();
        let revision = digest(&keys.concat());
        List { keys, revision }
    }

    /// Where the page begins that was asked for.
    pub fn start(&self, offset: usize, cursor: Option<&Cursor>) -> (usize, Option<Since>) {
        match cursor {
            None => (offset, None),
            Some(cursor) if cursor.revision == self.revision => (cursor.offset, None),
            Some(cursor) => match cursor.rows.iter().find_map(|row| self.behind(row, cursor.offset)) {
                Some(place) => (place, Some(Since::Moved)),
                None => (cursor.offset, Some(Since::Lost)),
            },
        }
    }

    /// Of rows that are alike, behind the nearest.
    fn behind(&self, row: &str, offset: usize) -> Option<usize> {
        let keys = self.keys.iter().enumerate();
        let places = keys.filter(|(_, key)| *key == row).map(|(place, _)| place + 1);
        places.min_by_key(|place| place.abs_diff(offset))
    }

    /// Of the page that begins and ends there.
    pub fn rows(&self, start: usize, end: usize, since: Option<Since>) -> Rows {
        let end = end.min(self.keys.len());
        let first = start.saturating_sub(REMEMBERED).min(end);
        Rows {
            list: String::new(),
            revision: self.revision.clone(),
            keys: self.keys[first..end].to_vec(),
            since,
        }
    }
}

fn digest(text: &str) -> String {
    let mut digits = format!("{:x}", Sha256::digest(text));
    digits.truncate(DIGITS);
    digits
}

/// Beside the rows of a page: what the cursor of the next one is made of.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Rows {
    /// Which list it is, once that is known.
    #[serde(default)]
    list: String,
    revision: String,
    /// Of the rows of the page, and of some before it.
    keys: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

impl Rows {
    /// Takes it out of an answer.
    pub fn take(answer: &mut Value) -> Option<Rows> {
        let told = answer.as_object_mut()?.shift_remove("page")?;
        serde_json::from_value(told).ok()
    }

    pub fn named(self, list: &str) -> Rows {
        Rows {
            list: list.to_owned(),
            ..self
        }
    }

    /// Of the page that begins at `offset`, if the last `left` rows of this one are left for it.
    pub fn cursor(&self, offset: usize, left: usize) -> Cursor {
        let rows = self.keys.iter().rev().skip(left).take(REMEMBERED);
        Cursor {
            offset,
            list: self.list.clone(),
            revision: self.revision.clone(),
            rows: rows.cloned().collect(),
        }
    }
}
