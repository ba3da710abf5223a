//! One name against one glob.

/// Whether `glob` (`*`, `?`, all else literal) stands for `name`. A leading dot must be written out.
pub fn matches(glob: &str, name: &str) -> bool {
    if name.starts_with('.') && !glob.starts_with('.') {
        return false;
    }
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    // `star` is where to go on after a mismatch: behind the last `*`, which then takes one more
    // character. An earlier `*` never needs another try, so the work stays quadratic.
    let (mut g, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g + 1, n));
                g += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (g, n) = (g + 1, n + 1),
            _ => {
                let Some((after, taken)) = star else {
                    return false;
                };
                star = Some((after, taken + 1));
                (g, n) = (after, taken + 1);
            }
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}
