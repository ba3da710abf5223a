//! What a text of Ruby names: constants, factories, fixtures, shared examples, places of requests. Found by patterns, so
//! that nothing has to be loaded. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// Names in a file.
#[derive(Debug, Clone, Default)]
pub struct Mentions {
    /// As they are written, by the form that is compared: `ops::thing`.
    pub constants: BTreeMap<String, String>,
    /// Those of them that the file says it is about.
    pub described: BTreeSet<String>,
    /// Of which something is made: `create(:widget)`.
    pub factories: BTreeSet<String>,
    /// Called with a name: `widgets(:one)`.
    pub fixtures: BTreeSet<String>,
    /// `it_behaves_like "sluggable"`.
    pub shared: BTreeSet<String>,
    /// Helpers of routes without their ending, and paths.
    pub routes: BTreeSet<String>,
    /// Words that may be matchers.
    pub words: BTreeSet<String>,
}

/// What a file of support defines for others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    pub factories: BTreeSet<String>,
    pub shared: BTreeSet<String>,
    pub matchers: BTreeSet<String>,
    /// Classes, in the form that is compared.
    pub classes: BTreeSet<String>,
    /// It does more, of which users can't be seen: a module with methods, a hook.
    pub more: bool,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("it is one")
}

static CONSTANT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Z]\w*(?:::[A-Z]\w*)*"));
static DESCRIBED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^\s*(?:(?:::)?RSpec\.)?(?:describe|context|feature)\b[ (]+(?:::)?([A-Z]\w*(?:::[A-Z]\w*)*)")
});
static TEST_CLASS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*class\s+(?:::)?([A-Z]\w*(?:::[A-Z]\w*)*)Test\s*<"));
static MADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:create|build|build_stubbed|attributes_for|create_list|build_list|create_pair|build_pair|build_stubbed_list|association|Fabricate|Fabricate\.build)\b[ (]+:(\w+)",
    )
});
static FIXTURE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([a-z]\w*)\(:\w"));
static BEHAVES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\b(?:it_behaves_like|it_should_behave_like|include_examples|include_context)\b[ (]+(?:"([^"\n]+)"|'([^'\n]+)'|:(\w+))"#,
    )
});
static HELPER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([a-z]\w*)_(?:path|url)\b"));
static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"["'](/[\w/-]+)"#));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[a-z_]\w*"));

static FACTORY: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\bfactory\b[ (]+[:"'](\w+)"#));
static ALIASES: LazyLock<Regex> = LazyLock::new(|| pattern(r"\baliases:\s*(?:\[|%[iw]\[)([^\]]*)\]"));
static SHARED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\bshared_(?:examples|examples_for|context)\b[ (]+(?:"([^"\n]+)"|'([^'\n]+)'|:(\w+))"#));
static MATCHER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:define|matcher|define_negated_matcher)\b[ (]+:(\w+)"));
static CLASS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*class\s+(?:::)?([A-Z]\w*(?:::[A-Z]\w*)*)"));
static MORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^(?:module\s|def\s|RSpec\.configure|require\b|\w+\.configure)"));

/// The form in which constants are compared.
pub fn plain(constant: &str) -> String {
    constant.replace('_', "").to_lowercase()
}

impl Mentions {
    pub fn of(text: &str) -> Mentions {
        let text = without_comments(text);
        let first = |pattern: &Regex| -> BTreeSet<String> { names(pattern, &text).collect() };
        let described = names(&DESCRIBED, &text).chain(names(&TEST_CLASS, &text));
        Mentions {
            constants: constants(&text),
            described: described.map(|name| plain(&name)).collect(),
            factories: first(&MADE),
            fixtures: first(&FIXTURE),
            shared: first(&BEHAVES),
            routes: names(&HELPER, &text).chain(names(&PLACE, &text)).collect(),
            words: WORD.find_iter(&text).map(|word| word.as_str().to_owned()).collect(),
        }
    }

    /// Of code, of which only constants matter.
    pub fn of_code(text: &str) -> Mentions {
        Mentions {
            constants: constants(&without_comments(text)),
            ..Mentions::default()
        }
    }

    /// How the constant is written here, if it or what is in it is named.
    pub fn names(&self, constant: &str) -> Option<&str> {
        let within = format!("{constant}::");
        let exactly = self.constants.get(constant);
        let inner = || {
            self.constants
                .range(within.clone()..)
                .next()
                .filter(|(name, _)| name.starts_with(&within))
        };
        exactly
            .or_else(|| inner().map(|(_, written)| written))
            .map(String::as_str)
    }
}

impl Offers {
    pub fn of(text: &str) -> Offers {
        let text = without_comments(text);
        let aliases = names(&ALIASES, &text);
        let aliases = aliases.flat_map(|list| {
            let words = list
                .split([',', ' '])
                .map(|word| word.trim_matches([':', '"', '\'', ' ']).to_owned());
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>()
        });
        Offers {
            factories: names(&FACTORY, &text).chain(aliases).collect(),
            shared: names(&SHARED, &text).collect(),
            matchers: names(&MATCHER, &text).collect(),
            classes: names(&CLASS, &text).map(|name| plain(&name)).collect(),
            more: MORE.is_match(&text),
        }
    }
}

fn names<'a>(pattern: &'a Regex, text: &'a str) -> impl Iterator<Item = String> + 'a {
    pattern.captures_iter(text).filter_map(|found| {
        let named = found.iter().skip(1).flatten().next()?;
        Some(named.as_str().to_owned())
    })
}

fn constants(text: &str) -> BTreeMap<String, String> {
    let found = CONSTANT.find_iter(text);
    found
        .map(|found| (plain(found.as_str()), found.as_str().to_owned()))
        .collect()
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(|line| [line, "\n"]).collect()
}
