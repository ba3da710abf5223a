//! What a person would type in a shell to have the same run. Pure.

use crate::project::{Filter, Selector};
use crate::worker::protocol::KnownAs;

/// What of a call has a place on a command line.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// As the caller named them.
    pub paths: &'a [String],
    /// What they stand for.
    pub selectors: &'a [Selector],
    pub example: Option<&'a str>,
    /// The tests that were selected, if Minitest told them.
    pub known_as: &'a [KnownAs],
    pub seed: Option<u32>,
    pub fail_fast: bool,
}

impl Asked<'_> {
    pub fn rspec(&self) -> String {
        let mut words = vec!["bundle exec rspec".to_owned()];
        words.extend(self.paths.iter().map(|path| quote(path)));
        if let Some(example) = self.example {
            words.extend(["-e".to_owned(), quote(example)]);
        }
        self.ended(words)
    }

    /// `binstub`: the app has a bin/rails.
    pub fn rails_test(&self, binstub: bool) -> String {
        let program = if binstub {
            "bin/rails test"
        } else {
            "bundle exec rails test"
        };
        let command = |(paths, pattern): (Vec<String>, Option<String>)| {
            let mut words = vec![program.to_owned()];
            words.extend(paths.iter().map(|path| quote(&as_glob(path))));
            words.extend(pattern.into_iter().flat_map(|it| ["-n".to_owned(), quote(&it)]));
            self.ended(words)
        };
        let commands: Vec<String> = self.minitest().into_iter().map(command).collect();
        commands.join("; ")
    }

    /// Paths, each time with the pattern that goes with them. A pattern holds for all files of a command: what is named
    /// in different ways is one command by the names of the tests, if these were told, else one for each of the ways.
    fn minitest(&self) -> Vec<(Vec<String>, Option<String>)> {
        let parts: Vec<Part<'_>> = self.paths.iter().map(|path| self.part(path)).collect();
        let files = || unique(parts.iter().map(|part| part.file));
        let by_names = || vec![(files(), Some(known_pattern(self.known_as)))];
        if let Some(text) = self.example {
            return match self.known_as.iter().all(|known| known.says(text)) {
                true => vec![(files(), Some(format!("/{}/", text_pattern(text))))],
                false => by_names(),
            };
        }
        let as_named = parts.iter().all(|part| part.way == Way::Name) && self.names_fit();
        if !self.known_as.is_empty() && !as_named {
            return by_names();
        }
        let group = |way: Way| {
            let paths = unique(parts.iter().filter(|part| part.way == way).map(|part| part.typed));
            (paths, (way == Way::Name).then(|| self.name_pattern()))
        };
        let groups = [Way::Whole, Way::Lines, Way::Name].map(group).into_iter();
        groups.filter(|(paths, _)| !paths.is_empty()).collect()
    }

    fn part<'b>(&self, path: &'b str) -> Part<'b> {
        let cut = |ending: &str| path.find(ending).map(|at| at + "_test.rb".len());
        let (way, end) = match (cut("_test.rb#"), path.rfind("_test.rb:")) {
            (Some(end), _) => (Way::Name, end),
            (None, Some(at)) => (Way::Lines, at + "_test.rb".len()),
            (None, None) => (Way::Whole, path.len()),
        };
        let file = &path[..end];
        let plain = file.trim_start_matches("./");
        let whole = |selector: &Selector| selector.path == plain && selector.filter == Filter::All;
        match way {
            Way::Lines if !self.selectors.iter().any(whole) => Part { way, file, typed: path },
            Way::Name if !self.selectors.iter().any(whole) => Part { way, file, typed: file },
            // A whole file takes in its parts.
            _ => Part {
                way: Way::Whole,
                file,
                typed: file,
            },
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.selectors.iter().filter_map(|selector| match &selector.filter {
            Filter::Name(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether what was named leads a person to the same tests. Classes may go by other names than Minitest knows.
    fn names_fit(&self) -> bool {
        let fits = |known: &KnownAs| self.names().any(|name| known.is(name));
        self.known_as.iter().all(fits)
    }

    /// Names and text go into one pattern: only as that does Rails leave them as they are.
    fn name_pattern(&self) -> String {
        let names: Vec<String> = self.names().map(name_pattern).collect();
        format!("/^({})$/", names.join("|"))
    }

    fn ended(&self, mut words: Vec<String>) -> String {
        words.extend(self.seed.map(|seed| format!("--seed {seed}")));
        if self.fail_fast {
            words.push("--fail-fast".to_owned());
        }
        words.join(" ")
    }
}

/// One of the selectors: the file or directory, and what of it is typed beside the pattern.
struct Part<'a> {
    way: Way,
    file: &'a str,
    typed: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Whole,
    Lines,
    Name,
}

fn unique<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for path in paths {
        if !seen.iter().any(|known| known == path) {
            seen.push(path.to_owned());
        }
    }
    seen
}

impl KnownAs {
    fn is(&self, named: &str) -> bool {
        let class = self.class.as_deref();
        self.name == named || class.is_some_and(|class| class == named || named == format!("{class}#{}", self.name))
    }

    /// Tests have underscores where their author wrote spaces.
    fn says(&self, text: &str) -> bool {
        let whole = format!("{}#{}", self.class.as_deref().unwrap_or_default(), self.name);
        let words: Vec<&str> = text
            .split(char::is_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        whole.contains(text) || words.len() > 1 && whole.contains(&words.join("_"))
    }
}

/// The tests one by one, class by class.
fn known_pattern(all: &[KnownAs]) -> String {
    let mut classes: Vec<(Option<&str>, Vec<String>)> = Vec::new();
    for known in all {
        let (class, name) = (known.class.as_deref(), escaped(&known.name));
        match classes.iter_mut().find(|(of, _)| *of == class) {
            Some((_, names)) => names.push(name),
            None => classes.push((class, vec![name])),
        }
    }
    let alternatives = classes.into_iter().map(|(class, names)| match (class, &names[..]) {
        (None, _) => names.join("|"),
        (Some(class), [name]) => format!("{}#{name}", escaped(class)),
        (Some(class), _) => format!("{}#({})", escaped(class), names.join("|")),
    });
    format!("/^({})$/", alternatives.collect::<Vec<_>>().join("|"))
}

/// As it is written, or with an underscore for each gap.
fn text_pattern(text: &str) -> String {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(char::is_whitespace) {
        let (words, gap) = rest.split_at(at);
        rest = gap.trim_start();
        pattern += &escaped(words);
        pattern += &match &gap[..gap.len() - rest.len()] {
            " " => "[ _]".to_owned(),
            gap => format!("({}|_)", escaped(gap)),
        };
    }
    pattern + &escaped(rest)
}

/// A class stands for its tests; a test may be named without its class.
fn name_pattern(name: &str) -> String {
    let text = escaped(name);
    match (name.contains('#'), name.starts_with(char::is_uppercase)) {
        (true, _) => text,
        (false, true) => format!("{text}#.*"),
        (false, false) => format!("(.*#)?{text}"),
    }
}

/// For a regular expression of Ruby's between slashes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            c if c.is_control() => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if ".*+?^$()[]{}|\\/".contains(c) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Rails takes a path for a pattern. A brace can't be quoted in one, and not with a backslash: any character will do.
fn as_glob(path: &str) -> String {
    let mut glob = String::new();
    for c in path.chars() {
        match c {
            '*' | '?' | '[' => glob.extend(['[', c, ']']),
            '{' => glob.push('?'),
            c => glob.push(c),
        }
    }
    glob
}

/// For a POSIX shell; a leading dash becomes a path, so that it is no option.
fn quote(word: &str) -> String {
    let word = if word.starts_with('-') {
        format!("./{word}")
    } else {
        word.to_owned()
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
