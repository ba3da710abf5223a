//! Which key was meant by one that is unknown where it stands.

use super::EXAMPLE;
use super::nearest::nearest;

/// What helps with the unknown key `word`. `known`: those that could stand there.
pub(super) fn advice(word: &str, known: &[&str]) -> String {
    let name = word.to_lowercase().replace('-', "_");
    let name = name.rsplit('.').next().unwrap_or_default();
    let all = all();
    let elsewhere = |meant: &dyn Fn(&str) -> bool| all.iter().find(|path| path.last().is_some_and(|key| meant(key)));
    let here = nearest(name, known.iter().copied()).or_else(|| begun(name, known.iter().copied()));
    let places = || all.iter().filter_map(|path| path.last().copied());
    match (elsewhere(&|key| key == name).filter(|_| !known.contains(&name)), here) {
        (Some(path), _) => format!("it belongs to `{}`", written(path)),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => {
            let near = nearest(name, places()).or_else(|| begun(name, places()));
            match near.and_then(|near| elsewhere(&|key| key == near)) {
                Some(path) => format!("did you mean `{}`?", written(path)),
                None => format!("known here: {}", known.join(", ")),
            }
        }
    }
}

/// The only one that `name` is the beginning of, by whole words.
fn begun<'a>(name: &str, keys: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut begun = keys.filter(|key| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('_')));
    begun.next().filter(|_| begun.next().is_none())
}

/// In one line, as it can be copied.
fn written(path: &[&str]) -> String {
    let (key, sections) = path.split_last().unwrap_or((&"", &[]));
    let inner = sections.iter().skip(1).rev();
    let inner = inner.fold(format!("{key}: …"), |inner, section| {
        format!("{section}: {{{inner}}}")
    });
    match sections.first() {
        Some(section) => format!("{section}: {{{inner}}}"),
        None => inner,
    }
}

/// All keys, each with the sections it is in: the example has them all, in two columns more for each section.
fn all() -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for line in EXAMPLE.lines() {
        let Some((key, _)) = line.strip_prefix('#').and_then(|line| line.split_once(':')) else {
            continue;
        };
        let depth = (key.len() - key.trim_start().len()) / 2;
        if key.starts_with(' ') && depth == 0 || key.trim().contains(' ') {
            continue;
        }
        let above = all.last().map_or(&[][..], |path| &path[..depth.min(path.len())]);
        all.push([above, &[key.trim()]].concat());
    }
    all
}
