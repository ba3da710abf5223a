//! What a person would type in a shell to have the same run. Pure.

use crate::project::{Filter, Selector};

/// What of a call has a place on a command line.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// As the caller named them.
    pub paths: &'a [String],
    /// What they stand for.
    pub selectors: &'a [Selector],
    pub example: Option<&'a str>,
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
        let mut words = vec![
            if binstub {
                "bin/rails test"
            } else {
                "bundle exec rails test"
            }
            .to_owned(),
        ];
        let mut paths: Vec<String> = self.paths.iter().map(|path| quote(without_name(path))).collect();
        paths.dedup();
        words.extend(paths);
        words.extend(
            self.pattern()
                .into_iter()
                .flat_map(|pattern| ["-n".to_owned(), quote(&pattern)]),
        );
        self.ended(words)
    }

    /// Names and text go into one pattern: only as that does Rails leave them as they are.
    fn pattern(&self) -> Option<String> {
        let name = |selector: &Selector| match &selector.filter {
            Filter::Name(name) => Some(name_pattern(name)),
            _ => None,
        };
        let names: Vec<String> = self.selectors.iter().filter_map(name).collect();
        match self.example {
            Some(text) => Some(format!("/{}/", escaped(text).replace(' ', "[ _]"))),
            None if names.is_empty() => None,
            None => Some(format!("/^({})$/", names.join("|"))),
        }
    }

    fn ended(&self, mut words: Vec<String>) -> String {
        words.extend(self.seed.map(|seed| format!("--seed {seed}")));
        if self.fail_fast {
            words.push("--fail-fast".to_owned());
        }
        words.join(" ")
    }
}

/// The file of `…_test.rb#name`.
fn without_name(path: &str) -> &str {
    let end = path.find("_test.rb#").map(|at| at + "_test.rb".len());
    end.map_or(path, |end| &path[..end])
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
        if ".*+?^$()[]{}|\\/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
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
