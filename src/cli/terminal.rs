//! The two streams that a person reads.

use std::io::{IsTerminal, Write};

use super::render;
use super::render::style::{Choice, Style};
use crate::error::Error;

#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    pub(super) out: Style,
    pub(super) err: Style,
}

impl Terminal {
    pub(super) fn new(choice: Choice) -> Terminal {
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let variable = |name: &str| std::env::var_os(name);
        Terminal {
            out: Style::chosen(choice, out.is_terminal(), &variable),
            err: Style::chosen(choice, err.is_terminal(), &variable),
        }
    }

    /// What was asked for. A reader that has read enough and closed its end is no error.
    pub(super) fn say(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// What goes on.
    pub(super) fn remark(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    pub(super) fn complain(&self, error: &Error) {
        self.remark(&render::error::error(error, self.err));
    }
}
