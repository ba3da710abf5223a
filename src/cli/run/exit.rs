//! The exit code of `coatepec run`. Pure.

use crate::run::outcome::Outcome;

const NOTHING: u8 = 3;

/// 0 passed; 1 something failed; 3 nothing was tested; 4 the run did not come to its end; 5 what is to be tested could
/// not be loaded; 75 (`EX_TEMPFAIL`) a later try may do; 130 as of a command that Ctrl-C ended. (2 and 70 are errors:
/// [`crate::error::Kind::exit_code`].)
pub fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Failed | Outcome::FailedAtExit => 1,
        Outcome::NoExamples | Outcome::AllPending | Outcome::DryRun => NOTHING,
        Outcome::TimedOut
        | Outcome::MemoryExceeded
        | Outcome::TooManyProcesses
        | Outcome::FileTooLarge
        | Outcome::Crashed
        | Outcome::Incomplete => 4,
        Outcome::LoadError | Outcome::BootFailed | Outcome::ReloadFailed => 5,
        Outcome::DatabaseBusy => 75,
        Outcome::Cancelled => 130,
    }
}

/// Whether each part of what was asked for must have tests: `--example` may well mean a test of one framework, and so may
/// all tests of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    ByName,
    Loosely,
}

impl Asked {
    pub fn of(selectors: &[String], example: Option<&str>) -> Asked {
        match selectors.is_empty() || example.is_some() {
            true => Asked::Loosely,
            false => Asked::ByName,
        }
    }
}

/// Of the runs of several frameworks, one after the other: the highest. That nothing of one was tested is less than that
/// something of another is wrong, and nothing at all if others were tested and nobody named it.
pub fn exit_code_of_all(outcomes: impl IntoIterator<Item = Outcome>, asked: Asked) -> u8 {
    let (nothing, tested): (Vec<u8>, Vec<u8>) = outcomes.into_iter().map(exit_code).partition(|code| *code == NOTHING);
    match (tested.into_iter().max(), asked) {
        (None | Some(0), Asked::ByName) | (None, Asked::Loosely) if !nothing.is_empty() => NOTHING,
        (highest, _) => highest.unwrap_or(0),
    }
}
