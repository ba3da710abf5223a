//! What may follow the name of a file: `:12:40`, `[1:2,1:3]` or `#WidgetTest#test_name`.
//!
//! A name may itself have colons and brackets, so a selector has several readings. They come with
//! the most literal one first; what is on disk decides.

use std::fmt;

use super::framework::Framework;

/// Which examples of a file are meant. Written as the suffix that means it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Filter {
    All,
    /// Those at or around these lines; ascending, at least one.
    Lines(Vec<u32>),
    /// Those with these ids, such as `1:2`, and those in groups with these ids; ascending, at least
    /// one.
    Ids(Vec<String>),
    /// The test, or the tests of the class, of this name: `test_name`, `Class#test_name` or `Class`.
    Name(String),
}

/// Readings that a selector gets for its endings: each one is looked up on the disk.
const READINGS: usize = 8;

/// One way to read a selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'a> {
    pub path: &'a str,
    /// What follows the path: nothing, or what begins with `:`, `[` or `#`.
    pub suffix: &'a str,
}

/// The ways to read `text`: as a mere name; with the suffix that its end looks like; with all that
/// follows a `_spec.rb` or `_test.rb`, from the last of them on, so that a suffix with a slip in it is known for one.
pub fn readings(text: &str) -> Vec<Reading<'_>> {
    let mut cuts = vec![text.len()];
    cuts.extend(from_the_right(text));
    cuts.extend(after_endings(text));
    cuts.dedup();
    let reading = |cut| {
        let (path, suffix) = text.split_at(cut);
        Reading { path, suffix }
    };
    cuts.into_iter().map(reading).collect()
}

fn from_the_right(text: &str) -> Option<usize> {
    if text.ends_with(']') {
        return text.rfind('[');
    }
    let digits_and_colons = |c: char| c.is_ascii_digit() || c == ':';
    let rest = text.trim_end_matches(digits_and_colons).len();
    text[rest..].find(':').map(|colon| rest + colon)
}

/// More than one, since the name of a test may be anything, that of a file included.
fn after_endings(text: &str) -> Vec<usize> {
    let endings = Framework::ALL.into_iter().map(Framework::ending);
    let cuts = endings.flat_map(|ending| text.match_indices(ending).map(|(at, ending)| at + ending.len()));
    let mut cuts: Vec<usize> = cuts.filter(|cut| text[*cut..].starts_with([':', '[', '#'])).collect();
    cuts.sort_unstable_by(|a, b| b.cmp(a));
    cuts.truncate(READINGS);
    cuts
}

impl Filter {
    /// The filter that a suffix stands for; nothing if it is malformed. Numbers begin at 1.
    pub fn parse(suffix: &str) -> Option<Filter> {
        if suffix.is_empty() {
            return Some(Filter::All);
        }
        if let Some(name) = suffix.strip_prefix('#') {
            return (!name.trim().is_empty()).then(|| Filter::Name(name.to_owned()));
        }
        if let Some(lines) = suffix.strip_prefix(':') {
            return Some(Filter::lines(numbers(lines)?));
        }
        let ids = suffix.strip_prefix('[')?.strip_suffix(']')?;
        let ids = ids.split(',').map(|id| numbers(id.trim_matches(' ')));
        Some(Filter::ids(ids.collect::<Option<_>>()?))
    }

    fn lines(mut lines: Vec<u32>) -> Filter {
        lines.sort_unstable();
        lines.dedup();
        Filter::Lines(lines)
    }

    fn ids(mut ids: Vec<Vec<u32>>) -> Filter {
        ids.sort_unstable();
        ids.dedup();
        Filter::Ids(ids.iter().map(|id| joined(id)).collect())
    }

    /// One filter for what either of two filters means, or both in order if no suffix says that.
    pub(super) fn union(self, other: Filter) -> (Filter, Option<Filter>) {
        match (self, other) {
            (Filter::All, _) | (_, Filter::All) => (Filter::All, None),
            (Filter::Lines(a), Filter::Lines(b)) => (Filter::lines([a, b].concat()), None),
            (Filter::Ids(a), Filter::Ids(b)) => {
                let ids = [a, b].concat();
                let ids = ids.iter().filter_map(|id| numbers(id)).collect();
                (Filter::ids(ids), None)
            }
            (Filter::Name(a), Filter::Name(b)) if a == b => (Filter::Name(a), None),
            (a, b) => (a, Some(b)),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filter::All => Ok(()),
            Filter::Lines(lines) => write!(f, ":{}", joined(lines)),
            Filter::Ids(ids) => write!(f, "[{}]", ids.join(",")),
            Filter::Name(name) => write!(f, "#{name}"),
        }
    }
}

fn joined(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    numbers.join(":")
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(':').map(number).collect()
}

fn number(text: &str) -> Option<u32> {
    // `parse` would take a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number > 0)
}
