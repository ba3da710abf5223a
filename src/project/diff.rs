//! What Git says of changes: the lines of a diff without context, and the names of a list. Pure.

use super::lines::Lines;

/// Lines of one file that are new or different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// As the diff has it, without its prefix.
    pub path: String,
    pub lines: Lines,
}

/// What was changed about a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    pub path: String,
    pub deleted: bool,
}

/// Of a unified diff with `a/` and `b/`. A file that is gone has no lines, nor has one that only lost some.
pub fn lines(diff: &str) -> Vec<ChangedLines> {
    let mut changed: Vec<(String, Vec<(u32, u32)>)> = Vec::new();
    let mut of_a_file = false;
    let mut rows = diff.split('\n');
    while let Some(row) = rows.next() {
        if let Some(name) = row.strip_prefix("+++ ") {
            let path = named(name, "b/");
            of_a_file = path.is_some();
            changed.extend(path.map(|path| (path, Vec::new())));
        } else if let Some(hunk) = hunk(row) {
            if let Some((_, ranges)) = changed.last_mut().filter(|_| of_a_file && hunk.added > 0) {
                ranges.push((hunk.first, hunk.first.saturating_add(hunk.added - 1)));
            }
            skip_body(&mut rows, hunk.removed.saturating_add(hunk.added));
        }
    }
    let lines = |(path, ranges): (String, Vec<(u32, u32)>)| ChangedLines {
        path,
        lines: ranges.into_iter().collect(),
    };
    changed
        .into_iter()
        .map(lines)
        .filter(|file| !file.lines.is_empty())
        .collect()
}

struct Hunk {
    removed: u32,
    first: u32,
    added: u32,
}

/// `@@ -3,2 +3 @@ def total`
fn hunk(row: &str) -> Option<Hunk> {
    let (ranges, _) = row.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let (_, removed) = range(old)?;
    let (first, added) = range(new)?;
    Some(Hunk { removed, first, added })
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// A line of a file may look like one of the diff.
fn skip_body<'a>(rows: &mut impl Iterator<Item = &'a str>, mut left: u32) {
    while left > 0 {
        match rows.next() {
            Some(row) if row.starts_with('\\') => {}
            Some(_) => left -= 1,
            None => return,
        }
    }
}

/// `b/app/a.rb`, or in quotes; nothing for /dev/null. Behind a name with a space comes a tab.
fn named(text: &str, prefix: &str) -> Option<String> {
    let name = match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted)?,
        None => text.strip_suffix('\t').unwrap_or(text).to_owned(),
    };
    name.strip_prefix(prefix).map(str::to_owned)
}

/// As C has it: `\"`, `\\`, `\t`, `\303`.
fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            digit @ b'0'..=b'3' => {
                let more = [rest.next()?, rest.next()?];
                let digits = [digit, more[0], more[1]].map(|digit| digit.wrapping_sub(b'0'));
                digits
                    .iter()
                    .all(|digit| *digit < 8)
                    .then(|| digits[0] * 64 + digits[1] * 8 + digits[2])?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Of `--name-status -z`: a letter and a name in turn.
pub fn files(list: &str) -> Vec<ChangedFile> {
    let mut words = list.split_terminator('\0');
    let mut files = Vec::new();
    while let (Some(status), Some(path)) = (words.next(), words.next()) {
        files.push(ChangedFile {
            path: path.to_owned(),
            deleted: status.starts_with('D'),
        });
    }
    files
}
