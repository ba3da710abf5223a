//! `coatepec man [DIR]`: manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use super::terminal::Terminal;
use crate::error::{Error, Kind, Result};

/// Print the manual page, or write one for each subcommand
#[derive(Debug, clap::Args)]
pub(super) struct Man {
    /// Where to write the pages, such as ~/.local/share/man/man1; it is made if it is missing
    dir: Option<PathBuf>,
}

pub(super) fn man(arguments: &Man, terminal: &Terminal) -> Result<ExitCode> {
    match &arguments.dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::definition()).render(&mut page)?;
            terminal.say(&String::from_utf8_lossy(&page));
        }
        Some(dir) => {
            let failed = |error| {
                let message = format!("failed to write manual pages to `{}`", dir.display());
                Error::new(Kind::InvalidArguments, message)
                    .source(error)
                    .hint("name a directory that you may write to")
            };
            std::fs::create_dir_all(dir).map_err(failed)?;
            clap_mangen::generate_to(super::definition(), dir).map_err(failed)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
