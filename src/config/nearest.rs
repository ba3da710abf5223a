//! Which of the known names was probably meant: for hints after a typing error.

/// The number of characters to insert, delete or replace to turn `a` into `b`.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// How many slips are forgiven in a name: more in a longer one, none in a single letter.
pub fn tolerance(name: &str) -> usize {
    (name.chars().count() + 2) / 4
}

/// The known name closest to `wanted`, if one is close enough to have been meant.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (distance(wanted, name), name))
        .filter(|(slips, _)| *slips <= tolerance(wanted))
        .min()
        .map(|(_, name)| name)
}
