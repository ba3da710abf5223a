//! The command line: one file per subcommand. Without one, Coatepec serves MCP over stdio.

mod serve;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::error::Error;
use crate::process::keeper;

/// Runs exactly the specs you name in a warm, contained Rails process, over MCP.
///
/// Without a subcommand it serves MCP on stdin and stdout, for a client such as a coding agent.
#[derive(Debug, Parser)]
#[command(name = "coatepec", version, about)]
struct Arguments {
    /// The Rails app or engine [default: the nearest one from here upwards]
    #[arg(long, value_name = "PATH")]
    root: Option<PathBuf>,
    /// Boot the app at once instead of at the first call
    #[arg(long)]
    eager: bool,
}

pub fn main(argv: impl Iterator<Item = OsString>) -> ExitCode {
    let argv: Vec<OsString> = argv.collect();
    // First of all, since it must be fast and small: it stays for as long as what it starts.
    if argv.get(1).is_some_and(|word| word == keeper::COMMAND) {
        return keeper::main(argv.into_iter().skip(2));
    }
    let arguments = match Arguments::try_parse_from(argv) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match serve::serve(arguments.root.as_deref(), arguments.eager) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

#[expect(clippy::print_stderr, reason = "the command line speaks to a person")]
fn fail(error: &Error) -> ExitCode {
    eprintln!("coatepec: {error}");
    if let Some(hint) = &error.hint {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(error.kind.exit_code())
}
