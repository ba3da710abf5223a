//! Colours, or none.

use std::ffi::OsString;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Choice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// How a text may look on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    coloured: bool,
}

impl Style {
    pub const PLAIN: Style = Style { coloured: false };
    pub const COLOURED: Style = Style { coloured: true };

    /// An explicit choice wins; then `NO_COLOR` (https://no-color.org: any value but an empty one), `CLICOLOR_FORCE`, and
    /// a terminal that says that it can't.
    pub fn chosen(choice: Choice, terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> Style {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
        let no_color = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let coloured = match choice {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Auto => !no_color && (set("CLICOLOR_FORCE") || (terminal && !dumb)),
        };
        Style { coloured }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// Line by line, so that a pager that starts in the middle shows the same.
    fn paint(self, code: &str, text: &str) -> String {
        if !self.coloured {
            return text.to_owned();
        }
        let paint = |line: &str| match line {
            "" => String::new(),
            line => format!("\x1b[{code}m{line}\x1b[0m"),
        };
        text.split('\n').map(paint).collect::<Vec<_>>().join("\n")
    }
}

/// What a terminal must not be told by somebody else's text: control characters but line feeds and tabs, and
/// those that turn the direction, become visible ones.
pub fn harmless(text: &str) -> String {
    let replace = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() || turns(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(replace).collect()
}

/// The same of a name, or of what else is one line.
pub fn harmless_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], "\u{fffd}")
}

/// Whether it has what follows read in another direction or on another line: a name would look like another one.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
