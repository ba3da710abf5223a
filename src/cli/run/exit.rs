//! The exit code of `coatepec run`. Pure.

use crate::run::outcome::Outcome;

/// 0 passed; 1 something failed; 3 nothing was tested; 4 the run did not come to its end; 5 what is to be tested could
/// not be loaded; 75 (`EX_TEMPFAIL`) a later try may do; 130 as of a command that Ctrl-C ended. (2 and 70 are errors:
/// [`crate::error::Kind::exit_code`].)
pub fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Failed | Outcome::FailedAtExit => 1,
        Outcome::NoExamples | Outcome::AllPending | Outcome::DryRun => 3,
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
