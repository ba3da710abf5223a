//! Why a selector can't be run, and what to name instead.

use serde::Serialize;

use super::expand::Expansion;
use super::framework::Framework;
use super::roots::Rules;
use super::selector::{MAX_FILES, MAX_SELECTOR_BYTES, MAX_SELECTORS, Skipped};

/// A refusal quotes at most this much.
const MAX_SHOWN_CHARS: usize = 200;

/// A selector that can't be run, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// As given, as far as it can be shown; empty, and not told, if the refusal is about the whole call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selector: String,
    /// One of `none_given`, `too_many`, `not_utf8`, `empty`, `too_long`, `control_character`,
    /// `absolute_path`, `parent_directory`, `outside_roots`, `symlink`, `not_found`, `wrong_kind`,
    /// `malformed_suffix`, `ambiguous`, `too_many_files`, `mixed_frameworks`.
    pub code: &'static str,
    pub reason: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Refusal {
    pub(super) fn new(code: &'static str, selector: &str, reason: impl Into<String>) -> Refusal {
        Refusal {
            selector: shown(selector),
            code,
            reason: reason.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }

    /// Whether another reading of the selector may still be right.
    pub(super) fn is_about_this_reading(&self) -> bool {
        matches!(self.code, "not_found" | "outside_roots")
    }

    /// Whether another path is the remedy.
    pub(super) fn is_about_the_path(&self) -> bool {
        matches!(self.code, "not_found" | "outside_roots" | "wrong_kind")
    }

    /// Whether it could be run, in a run for each framework.
    pub(super) fn is_of_both(&self) -> bool {
        self.code == "mixed_frameworks"
    }

    /// The refusal with paths that can be run for a hint, if there are any.
    pub(super) fn did_you_mean(self, paths: &[String]) -> Refusal {
        if paths.is_empty() {
            return self;
        }
        let paths = paths.iter().map(|path| format!("`{}`", shown(path)));
        let paths: Vec<String> = paths.collect();
        self.hint(format!("did you mean {}?", paths.join(" or ")))
    }

    pub(super) fn no_root(error: &std::io::Error) -> Refusal {
        let reason = format!("failed to open the root of the project: {error}");
        Refusal::new("not_found", ".", reason)
    }

    pub(super) fn none_given() -> Refusal {
        Refusal::new("none_given", "", "no selector was given")
            .hint("name a spec or test file, such as spec/models/widget_spec.rb, or a directory")
    }

    pub(super) fn too_many(given: usize) -> Refusal {
        let reason = format!("{given} selectors were given; the limit is {MAX_SELECTORS}");
        Refusal::new("too_many", "", reason).hint("name the directory that holds the files, or split the call")
    }

    pub(super) fn too_many_files(selector: &str) -> Refusal {
        let reason = format!("it stands for more than {MAX_FILES} files, or for too large a tree");
        Refusal::new("too_many_files", selector, reason).hint("name smaller directories")
    }

    pub(super) fn too_long(selector: &str) -> Refusal {
        let reason = format!("it is longer than {MAX_SELECTOR_BYTES} bytes");
        Refusal::new("too_long", selector, reason)
    }

    pub(super) fn absolute(selector: &str, inside: Option<&str>) -> Refusal {
        let refusal = Refusal::new("absolute_path", selector, "it is absolute");
        match inside {
            Some(path) => refusal.hint(format!("name it `{}`", shown(path))),
            None => refusal.hint("selectors are relative to the root of the project"),
        }
    }

    pub(super) fn symlink(selector: &str, link: &str) -> Refusal {
        let reason = format!("`{}` is a symbolic link, and none is followed", shown(link));
        Refusal::new("symlink", selector, reason).hint("name the place that it leads to, if that is below the root")
    }

    pub(super) fn parent_directory(selector: &str) -> Refusal {
        Refusal::new("parent_directory", selector, "it has `..` in it").hint("name the place itself")
    }

    pub(super) fn outside(selector: &str, path: &str, rules: &Rules) -> Refusal {
        let (path, roots) = (shown(path), shown(&rules.roots().join(", ")));
        let reason = format!("`{path}` is in none of the directories for specs and tests: {roots}");
        Refusal::new("outside_roots", selector, reason).hint("`spec_roots` in `.coatepec.yml` names more of them")
    }

    pub(super) fn without_file(selector: &str) -> Refusal {
        Refusal::new("not_found", selector, "it names a class, and not the file that has it").hint(
            "name the file, too: `FILE#Class#test_name`; or name a directory, and with `example` a part of what the test is called",
        )
    }

    pub(super) fn missing(selector: &str, path: &str) -> Refusal {
        let reason = match selector == path {
            true => "it does not exist".to_owned(),
            false => format!("`{}` does not exist", shown(path)),
        };
        let hint = match path.contains(['*', '{']) {
            true => "patterns are not expanded: name files, or directories that hold them",
            false => "selectors are relative to the root of the project",
        };
        Refusal::new("not_found", selector, reason).hint(hint)
    }

    pub(super) fn unreadable(selector: &str, path: &str, why: &str) -> Refusal {
        let reason = format!("failed to look up `{}`: {why}", shown(path));
        Refusal::new("not_found", selector, reason)
    }

    pub(super) fn wrong_kind(selector: &str, path: &str, why: &str) -> Refusal {
        Refusal::new("wrong_kind", selector, format!("`{}` {why}", shown(path)))
            .hint("name spec or test files, or directories that hold them")
    }

    pub(super) fn malformed(selector: &str, suffix: &str, path: &str, framework: Framework) -> Refusal {
        let hint = match framework {
            Framework::Rspec => "lines are written `:12` or `:12:40`, ids `[1:2]` or `[1:2,1:3]`; all count from 1",
            Framework::Minitest => {
                "lines are written `:12` or `:12:40` and count from 1, names `#test_name`, `#Class#test_name` or `#Class`"
            }
        };
        let reason = format!("`{}` after `{}` is malformed", shown(suffix), shown(path));
        Refusal::new("malformed_suffix", selector, reason).hint(hint)
    }

    pub(super) fn mixed(selector: &str, spec: &str, test: &str) -> Refusal {
        let (spec, test) = (shown(spec), shown(test));
        let reason = format!("both RSpec (`{spec}`) and Minitest (`{test}`) were named, and a run is one framework's");
        Refusal::new("mixed_frameworks", selector, reason)
            .hint("call twice: once with the spec files or `spec` directories, once with the test files or `test` directories")
    }

    pub(super) fn holds_none(selector: &str, directory: &str, found: &Expansion) -> Refusal {
        let directory = if directory.is_empty() { "." } else { directory };
        let reason = format!(
            "`{}` holds no spec file (`…_spec.rb`) and no test file (`…_test.rb`)",
            shown(directory)
        );
        let refusal = Refusal::new("not_found", selector, reason);
        let Some(Skipped { path, reason }) = found.skipped.first() else {
            return refusal;
        };
        let skipped = found.skipped.len();
        refusal.hint(format!("{skipped} left out, first `{path}`: {reason}"))
    }

    pub(super) fn ambiguous(selector: &str) -> Refusal {
        Refusal::new("ambiguous", selector, "a directory has this very name, too").hint("name the whole file")
    }
}

/// `text` for a message: no control characters, and not too long.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(MAX_SHOWN_CHARS) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
