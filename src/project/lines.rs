//! Sets of lines of a file, written as ranges: `3-7,12`. Pure.

use std::fmt;

/// Lines from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// First and last of each run, ascending, with a gap between any two.
    runs: Vec<(u32, u32)>,
}

impl Lines {
    /// Of `3-7,12`; what is no range of lines is left out.
    pub fn parse(text: &str) -> Lines {
        let run = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        text.split(',').filter_map(run).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn count(&self) -> usize {
        self.runs.iter().map(|(first, last)| (last - first) as usize + 1).sum()
    }

    /// How many ranges it takes to write them.
    pub fn ranges(&self) -> usize {
        self.runs.len()
    }

    #[must_use]
    pub fn and(&self, others: &Lines) -> Lines {
        let both = |(first, last): &(u32, u32)| {
            let (first, last) = (*first, *last);
            others
                .runs
                .iter()
                .map(move |(from, to)| (first.max(*from), last.min(*to)))
                .filter(|(from, to)| from <= to)
        };
        self.runs.iter().flat_map(both).collect()
    }

    /// With the lines between two of them that are not among `others`: so comments and blank lines part nothing.
    #[must_use]
    pub fn joined_unless(&self, others: &Lines) -> Lines {
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (first, last) in &self.runs {
            match joined.last_mut() {
                Some(before) if others.and(&Lines::from_iter([(before.1 + 1, first - 1)])).is_empty() => {
                    before.1 = *last;
                }
                _ => joined.push((*first, *last)),
            }
        }
        Lines { runs: joined }
    }

    /// The first ranges.
    #[must_use]
    pub fn first(&self, ranges: usize) -> Lines {
        Lines {
            runs: self.runs.iter().take(ranges).copied().collect(),
        }
    }
}

impl FromIterator<(u32, u32)> for Lines {
    /// Of first and last lines in any order.
    fn from_iter<T: IntoIterator<Item = (u32, u32)>>(ranges: T) -> Self {
        let mut all: Vec<(u32, u32)> = ranges
            .into_iter()
            .filter(|(first, last)| 0 < *first && first <= last)
            .collect();
        all.sort_unstable();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (first, last) in all {
            match runs.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => runs.push((first, last)),
            }
        }
        Lines { runs }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.runs.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}
