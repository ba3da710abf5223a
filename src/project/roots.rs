//! Which directories hold specs: globs that are matched name by name.

/// The directories that hold specs in any project.
pub const BUILT_IN: [&str; 4] = ["spec", "packs/*/spec", "engines/*/spec", "gems/*/spec"];

/// The globs of the directories that hold specs. Nothing outside these is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    roots: Vec<String>,
}

/// Where a path lies, seen from the directories that hold specs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Neither in one of them nor on the way to one.
    Outside,
    /// On the way to one, such as `packs`.
    Above,
    /// One of them, or in one.
    Within,
}

impl Default for Rules {
    fn default() -> Self {
        Rules::new(&[])
    }
}

impl Rules {
    /// The built-in globs and `more`, which are relative, have no empty name, no `.` and no `..`
    /// (`spec_roots` of the configuration are so).
    pub fn new(more: &[String]) -> Rules {
        let built_in = BUILT_IN.iter().map(|root| (*root).to_owned());
        Rules {
            roots: built_in.chain(more.iter().cloned()).collect(),
        }
    }

    /// The globs, built-in ones first.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// Where `path` lies.
    pub fn place(&self, path: &str) -> Place {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let places = self.roots.iter().map(|root| {
            let globs: Vec<&str> = root.split('/').collect();
            place(&globs, &names)
        });
        places.max().unwrap_or(Place::Outside)
    }
}

fn place(globs: &[&str], names: &[&str]) -> Place {
    match (globs, names) {
        ([], _) => Place::Within,
        (_, []) => Place::Above,
        (["**", rest @ ..], [name, deeper @ ..]) => match name.starts_with('.') {
            true => place(rest, names),
            false => place(rest, names).max(place(globs, deeper)),
        },
        ([glob, rest @ ..], [name, deeper @ ..]) if matches(glob, name) => place(rest, deeper),
        _ => Place::Outside,
    }
}

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
