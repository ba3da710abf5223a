//! What one selector stands for, or why it can't be run.

use std::path::Path;

use super::expand::{Limits, expand};
use super::framework::Framework;
use super::near::near_misses;
use super::refusal::Refusal;
use super::roots::{Place, Rules};
use super::selector::MAX_SELECTOR_BYTES;
use super::suffix::{Filter, Reading, readings};
use super::tree::{Found, Tree};

/// Suggestions are a courtesy and may miss what lies further off.
const SUGGESTION: Limits = Limits {
    files: 5_000,
    entries: 20_000,
};

/// A call that is wrong throughout gets suggestions for its first selectors only, since each one
/// compares the whole list.
const MAX_SUGGESTED: usize = 10;

/// What a selector stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(String, Filter),
    Directory(String),
}

/// Judges the selectors of one call.
pub(super) struct Policy<'a, T> {
    tree: &'a T,
    rules: &'a Rules,
    /// Spec files to choose suggestions from; collected when one is first needed.
    known: Option<Vec<String>>,
    suggested: usize,
}

impl<'a, T: Tree> Policy<'a, T> {
    pub(super) fn new(tree: &'a T, rules: &'a Rules) -> Self {
        Policy {
            tree,
            rules,
            known: None,
            suggested: 0,
        }
    }

    /// What `text` stands for.
    ///
    /// # Errors
    /// The refusal, with what was probably meant.
    pub(super) fn judge(&mut self, text: &str) -> Result<Target, Refusal> {
        self.resolve(text).map_err(|refusal| self.suggest(refusal, text))
    }

    /// The most literal reading that the disk bears out; else the refusal of the least literal one,
    /// which is about the file itself.
    fn resolve(&self, text: &str) -> Result<Target, Refusal> {
        well_formed(text, self.tree.root())?;
        let mut refused = Refusal::missing(text, text);
        for reading in readings(text) {
            match self.read(text, reading) {
                Err(refusal) if refusal.is_about_this_reading() => refused = refusal,
                verdict => return verdict,
            }
        }
        Err(refused)
    }

    fn read(&self, text: &str, reading: Reading<'_>) -> Result<Target, Refusal> {
        let asked = normal(reading.path).ok_or_else(|| Refusal::parent_directory(text))?;
        let found = self.tree.probe(&asked);
        // Judged by the spelling on disk, if there is one.
        if self.rules.place(found.path().unwrap_or(&asked)) == Place::Outside {
            return Err(Refusal::outside(text, &asked, self.rules));
        }
        match found {
            Found::File(path) => self.file(text, reading, path),
            Found::Directory(path) if reading.suffix.is_empty() => Ok(Target::Directory(path)),
            Found::Directory(path) => Err(Refusal::wrong_kind(
                text,
                &path,
                "is a directory, which has no lines or ids",
            )),
            Found::Other(path) => Err(Refusal::wrong_kind(text, &path, "is neither a file nor a directory")),
            Found::Symlink(link) => Err(Refusal::symlink(text, &link)),
            Found::Missing => Err(Refusal::missing(text, &asked)),
            Found::Unreadable(why) => Err(Refusal::unreadable(text, &asked, &why)),
        }
    }

    fn file(&self, text: &str, reading: Reading<'_>, path: String) -> Result<Target, Refusal> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if reading.path.ends_with('/') || reading.path.ends_with("/.") {
            return Err(Refusal::wrong_kind(text, &path, "is a file and no directory"));
        }
        let framework = Framework::of_file(name).filter(|_| self.rules.place(directory) == Place::Within);
        let Some(framework) = framework else {
            let why = "is no spec file (`…_spec.rb`) and no test file (`…_test.rb`)";
            return Err(Refusal::wrong_kind(text, &path, why));
        };
        match (framework, Filter::parse(reading.suffix)) {
            (_, None) | (Framework::Rspec, Some(Filter::Name(_))) | (Framework::Minitest, Some(Filter::Ids(_))) => {
                Err(Refusal::malformed(text, reading.suffix, &path, framework))
            }
            (_, Some(filter)) => Ok(Target::File(path, filter)),
        }
    }

    fn suggest(&mut self, refusal: Refusal, text: &str) -> Refusal {
        if !refusal.is_about_the_path() {
            return refusal;
        }
        if let Some(class) = class_of(text) {
            // `Widget#name` is no test of Minitest: RSpec describes a method like that.
            let files = match class.ends_with("Test") {
                true => self.near(&format!("{}.rb", underscored(class))),
                false => Vec::new(),
            };
            let tests = files
                .iter()
                .filter(|file| Framework::of_file(file) == Some(Framework::Minitest));
            let named: Vec<String> = tests.map(|file| format!("{file}#{text}")).collect();
            return Refusal::without_file(text).did_you_mean(&named);
        }
        match readings(text).last().and_then(|reading| normal(reading.path)) {
            Some(wanted) => refusal.did_you_mean(&self.near(&wanted)),
            None => refusal,
        }
    }

    fn near(&mut self, wanted: &str) -> Vec<String> {
        self.suggested += 1;
        if self.suggested > MAX_SUGGESTED {
            return Vec::new();
        }
        let (tree, rules) = (self.tree, self.rules);
        let search = || expand(tree, rules, "", SUGGESTION).files;
        near_misses(wanted, self.known.get_or_insert_with(search))
    }
}

/// The class that a selector names in place of a file: `WidgetTest#test_name`, `Shop::WidgetTest`, also `Widget#name`, as
/// RSpec describes a method.
fn class_of(text: &str) -> Option<&str> {
    let (class, test) = text
        .split_once('#')
        .map_or((text, None), |(class, test)| (class, Some(test)));
    let is_constant = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_told = test.is_some() || class.contains("::") || class.ends_with("Test");
    (is_told && class.split("::").all(is_constant)).then_some(class)
}

/// `Shop::WidgetTest` as the file of it is called: `shop/widget_test`.
fn underscored(class: &str) -> String {
    let mut path = String::new();
    for c in class.replace("::", "/").chars() {
        let within_word = path.ends_with(|last: char| last.is_lowercase() || last.is_numeric());
        if c.is_uppercase() && within_word {
            path.push('_');
        }
        path.extend(c.to_lowercase());
    }
    path
}

fn well_formed(text: &str, root: &Path) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::new("empty", text, "it is empty"));
    }
    if text.len() > MAX_SELECTOR_BYTES {
        return Err(Refusal::too_long(text));
    }
    if text.contains(char::is_control) {
        return Err(Refusal::new("control_character", text, "it has a control character"));
    }
    if text.starts_with('/') {
        let inside = Path::new(text).strip_prefix(root).ok();
        let inside = inside.and_then(Path::to_str).and_then(normal);
        let inside = inside.filter(|path| !path.is_empty());
        return Err(Refusal::absolute(text, inside.as_deref()));
    }
    Ok(())
}

/// The path without `.` and doubled slashes; nothing if it has `..`, even where that would lead back
/// below the root: through a link it leads elsewhere than it seems to.
pub(super) fn normal(path: &str) -> Option<String> {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<&str> = names.collect();
    (!names.contains(&"..")).then(|| names.join("/"))
}
