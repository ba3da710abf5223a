//! The two streams that a person reads.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use super::render;
use super::render::style::{Choice, Style};
use crate::error::{Error, Kind};

/// What is known of a stream that is no terminal.
const USUAL_WIDTH: usize = 100;

/// The first failure to write to stdout, of which there is one.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    pub(super) out: Style,
    pub(super) err: Style,
    /// Columns of a line of what goes on.
    pub(super) width: usize,
    /// Columns of a line of what was asked for; none when it goes to a file or another program.
    pub(super) width_of_out: Option<usize>,
    /// Whether somebody watches stderr, so that a line may be drawn over.
    pub(super) watched: bool,
}

impl Terminal {
    pub(super) fn new(choice: Choice) -> Terminal {
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let variable = |name: &str| std::env::var_os(name);
        let columns =
            |size: Option<(terminal_size::Width, terminal_size::Height)>| size.map(|(width, _)| width.0.into());
        let width_of_out = columns(terminal_size::terminal_size_of(&out));
        Terminal {
            out: Style::chosen(choice, out.is_terminal(), &variable),
            err: Style::chosen(choice, err.is_terminal(), &variable),
            width: columns(terminal_size::terminal_size_of(&err)).unwrap_or(USUAL_WIDTH),
            width_of_out,
            watched: err.is_terminal() && variable("TERM").is_none_or(|term| term != "dumb"),
        }
    }

    /// What was asked for. A reader that has read enough and closed its end is no error; whatever else keeps it from being
    /// written is told at the end ([`Terminal::unwritten`]).
    pub(super) fn say(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
        {
            let _ = UNWRITTEN.set(error);
        }
    }

    /// Why not all of what was asked for could be written, such as a full disk.
    pub(super) fn unwritten(&self) -> Option<Error> {
        let error = UNWRITTEN.get()?;
        Some(Error::new(
            Kind::Unwritten,
            format!("failed to write to stdout: {error}"),
        ))
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
