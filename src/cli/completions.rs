//! `coatepec completions SHELL`: what the shell needs to complete our command line.

use std::process::ExitCode;

use clap_complete::Shell;

use super::terminal::Terminal;
use crate::error::Result;

/// Print completions for a shell
///
/// For bash: `coatepec completions bash > ~/.local/share/bash-completion/completions/coatepec`.
/// For zsh, into a directory of $fpath: `coatepec completions zsh > _coatepec`.
/// For fish: `coatepec completions fish > ~/.config/fish/completions/coatepec.fish`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Completions {
    shell: Shell,
}

pub(super) fn completions(arguments: &Completions, terminal: &Terminal) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::definition(), "coatepec", &mut script);
    terminal.say(&String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}
