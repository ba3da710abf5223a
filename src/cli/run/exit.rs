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

/// Of the runs of several frameworks, one after the other: the highest. That nothing of one was tested counts only if
/// nothing was of the others: `--example` may well mean a test of one of them.
pub fn exit_code_of_all(outcomes: impl IntoIterator<Item = Outcome>) -> u8 {
    let codes: Vec<u8> = outcomes.into_iter().map(exit_code).collect();
    let tested = codes.iter().copied().filter(|code| *code != NOTHING).max();
    tested.or(codes.first().copied()).unwrap_or(0)
}
