//! Patterns as `Dir.glob` reads them, to know which new file a listing of a directory would have held. Pure.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What an app has looked for: `*`, `?`, `[…]` and `**/` below a directory. Braces are taken apart before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pub dir: PathBuf,
    parts: Vec<Part>,
}

/// One component of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// `**`: any number of directories.
    Any,
    Name(String),
}

impl Glob {
    pub fn new(dir: &Path, pattern: &str) -> Self {
        let part = |name: &str| match name {
            "**" => Part::Any,
            name => Part::Name(name.to_owned()),
        };
        let names = pattern.split('/').filter(|name| !name.is_empty());
        let mut parts: Vec<Part> = names.map(part).collect();
        // At the end it stands for a name.
        if let Some(last @ Part::Any) = parts.last_mut() {
            *last = Part::Name("*".to_owned());
        }
        Glob {
            dir: dir.to_owned(),
            parts,
        }
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether the listing reaches further than the directory itself.
    pub fn is_deep(&self) -> bool {
        self.parts.len() > 1
    }

    /// Whether it asks for names that end in a dot and the letters behind it as this one does: `*.md`, but not `*`.
    pub fn names_ending_of(&self, path: &Path) -> bool {
        let (Some(Part::Name(pattern)), Some(ending)) = (self.parts.last(), path.extension()) else {
            return false;
        };
        pattern.rsplit_once('.').is_some_and(|(_, asked)| ending == asked)
    }

    pub fn matches(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.dir) else {
            return false;
        };
        let names: Vec<&OsStr> = below.iter().collect();
        all_match(&self.parts, &names)
    }
}

impl Part {
    pub fn matches(&self, name: &OsStr) -> bool {
        match self {
            Part::Any => !hidden(name),
            Part::Name(pattern) => {
                let dot = pattern.starts_with('.') || pattern.starts_with("\\.");
                (dot || !hidden(name)) && name_matches(&chars(pattern), &chars(&name.to_string_lossy()))
            }
        }
    }

    /// The one name that this can be.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Part::Name(name) if !name.contains(['*', '?', '[', '\\']) => Some(name),
            _ => None,
        }
    }
}

fn hidden(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".")
}

fn all_match(parts: &[Part], names: &[&OsStr]) -> bool {
    match (parts, names) {
        ([], []) => true,
        ([part @ Part::Any, rest @ ..], names) => {
            all_match(rest, names)
                || matches!(names, [first, more @ ..] if part.matches(first) && all_match(parts, more))
        }
        ([part, rest @ ..], [name, more @ ..]) => part.matches(name) && all_match(rest, more),
        _ => false,
    }
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

/// Without a backtrace into an earlier star, which could no longer match where the last one does not.
fn name_matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, seen));
                at += 1;
                continue;
            }
            Some(_) => one_matches(&pattern[at..], name[seen]),
            None => None,
        };
        match (step, star) {
            (Some(length), _) => (at, seen) = (at + length, seen + 1),
            (None, Some((behind, from))) => {
                star = Some((behind, from + 1));
                (at, seen) = (behind, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|char| *char == '*')
}

/// How much of the pattern stands for this char, if it does.
fn one_matches(pattern: &[char], char: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == char).then_some(2),
        ['[', rest @ ..] => match set(rest) {
            Some((set, length)) => in_set(set, char).then_some(length + 2),
            None => (char == '[').then_some(1),
        },
        [first, ..] => (*first == char).then_some(1),
        [] => None,
    }
}

/// What is between the brackets, and its length.
fn set(rest: &[char]) -> Option<(&[char], usize)> {
    let from = usize::from(matches!(rest.first(), Some('^' | '!'))) + 1;
    let end = from + rest.get(from..)?.iter().position(|char| *char == ']')?;
    Some((&rest[..end], end))
}

fn in_set(set: &[char], char: char) -> bool {
    let (inverted, mut set) = match set {
        ['^' | '!', rest @ ..] => (true, rest),
        set => (false, set),
    };
    let mut found = false;
    while let [first, rest @ ..] = set {
        (found, set) = match rest {
            ['-', last, more @ ..] => (found || (*first..=*last).contains(&char), more),
            rest => (found || *first == char, rest),
        };
    }
    found != inverted
}
