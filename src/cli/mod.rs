//! One file per subcommand.

use std::ffi::OsString;
use std::process::ExitCode;

pub fn main(_argv: impl Iterator<Item = OsString>) -> ExitCode {
    ExitCode::SUCCESS
}
