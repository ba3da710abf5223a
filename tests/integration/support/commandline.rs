//! Our commands as a person types them.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::app::{App, shared_cache};

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl App {
    /// `coatepec ARGUMENTS` in the directory of the app, with a server of its own and no terminal.
    pub(crate) fn coatepec(&self, arguments: &[&str]) -> Printed {
        let mut command = self.command(env!("CARGO_BIN_EXE_coatepec"));
        printed(command.arg("--no-share").args(arguments))
    }

    /// The same with the server that all share.
    pub(crate) fn coatepec_shared(&self, arguments: &[&str]) -> Printed {
        printed(self.command(env!("CARGO_BIN_EXE_coatepec")).args(arguments))
    }

    /// The same on a terminal; what it draws is in `out`.
    pub(crate) fn coatepec_on_a_terminal(&self, arguments: &[&str]) -> Printed {
        let quoted = arguments.iter().map(|word| format!("'{word}'"));
        let words: Vec<String> = quoted.collect();
        let line = format!("'{}' --no-share {}", env!("CARGO_BIN_EXE_coatepec"), words.join(" "));
        let mut command = self.command("script");
        printed(command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm-256color"))
    }

    /// Started here, with what a person's shell has and nothing that says how it looks.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        #[expect(clippy::disallowed_methods, reason = "a person starts it")]
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.root())
            .env("TMPDIR", self.beside("tmp"))
            .envs(shared_cache())
            .stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "TERM", "COATEPEC_LOG", "CI"] {
            command.env_remove(name);
        }
        command
    }
}

fn printed(command: &mut Command) -> Printed {
    let Output { status, stdout, stderr } = command.output().expect("it can be started");
    Printed {
        code: status.code(),
        out: String::from_utf8_lossy(&stdout).into_owned(),
        err: String::from_utf8_lossy(&stderr).into_owned(),
    }
}
