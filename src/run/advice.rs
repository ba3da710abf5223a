//! What to do next, for outcomes that are not plain passes or failures. Pure.

use crate::run::log::RunLog;
use crate::run::outcome::{End, Outcome, Verdict};
use crate::worker::protocol::Failure;

/// The next step after a run that ended so; `forked`: it was a fork of the warm process.
pub fn of_run(verdict: &Verdict, log: &RunLog, end: End, forked: bool) -> Option<String> {
    let text = match verdict.outcome {
        Outcome::Passed | Outcome::Failed | Outcome::Cancelled => return None,
        Outcome::NoExamples => "check the line, id or `example` text; without them the whole file runs",
        Outcome::AllPending => "take away `skip`, `pending` or `x` from the examples to test something",
        Outcome::FailedAtExit => "an `at_exit` block of the helper or of a spec changed the exit status",
        Outcome::TimedOut if log.threads.is_none() && forked => {
            "Ruby could not say where: a native call hangs (`threads` has the kernel's view), maybe for a lock that another \
             thread held at the fork; try `fork: \"never\"`, and raise `timeout_seconds` if it is only slow"
        }
        Outcome::TimedOut if log.threads.is_none() => {
            "Ruby could not say where: a native call hangs (`threads` has the kernel's view); \
             raise `timeout_seconds` if it is only slow"
        }
        Outcome::TimedOut if forked => {
            "see `threads` for where it hangs; raise `timeout_seconds` if it is only slow; \
             if it hangs only here, try `fork: \"never\"`"
        }
        Outcome::TimedOut => "see `threads` for where it hangs; raise `timeout_seconds` if it is only slow",
        Outcome::MemoryExceeded => "something allocates without end, or raise `max_memory_mib` in .coatepec.yml",
        Outcome::TooManyProcesses => "something forks without end, or raise `max_processes` in .coatepec.yml",
        Outcome::FileTooLarge => "something writes without end, or raise `max_file_mib` in .coatepec.yml",
        Outcome::Crashed if forked => "see `stderr`; if it crashes only here, try `fork: \"never\"`",
        Outcome::Crashed => "see `stderr`",
        Outcome::Incomplete if end == End::Unknown => {
            "something ended the processes that it was forked from, and the run with them; call again"
        }
        Outcome::Incomplete if log.exit.is_some() && log.unfinished().next().is_none() && log.not_run() > 0 => {
            "something kept the examples named in `not_run` from being run; look at what ran before them"
        }
        Outcome::Incomplete => "something calls exit, exit! or abort; look at the example named in `unfinished`",
        Outcome::LoadError if log.examples.is_empty() => {
            "mend the error in `errors_outside` or `stderr`; no example ran"
        }
        Outcome::LoadError => "mend the error in `errors_outside` or `stderr`; its file's examples did not run",
        Outcome::DryRun => "remove `--dry-run` from .rspec or `dry_run` from the helper",
        Outcome::BootFailed | Outcome::ReloadFailed | Outcome::DatabaseBusy => "mend the error and call again",
    };
    Some(text.to_owned())
}

/// The next step when there was no run.
pub fn of_problem(outcome: Outcome, failure: &Failure) -> String {
    match (outcome, failure.class.as_str()) {
        (Outcome::DatabaseBusy, _) => {
            "wait for the other run, or give this checkout a test database of its own".to_owned()
        }
        (_, "Bundler::GemNotFound" | "Bundler::GitError") => "run `bundle install`, then call again".to_owned(),
        (_, class) if class.starts_with("Bundler::") => {
            "mend the Gemfile, or run `bundle install` if Gemfile.lock does not fit it, then call again".to_owned()
        }
        (_, "Timeout") => "raise `boot_timeout_seconds` in .coatepec.yml, or find what hangs".to_owned(),
        (
            _,
            "ActiveRecord::NoDatabaseError"
            | "ActiveRecord::DatabaseConnectionError"
            | "ActiveRecord::ConnectionNotEstablished",
        ) => "start the test database, or create it with `RAILS_ENV=test bin/rails db:prepare`, then call again"
            .to_owned(),
        (_, "ActiveRecord::PendingMigrationError") => {
            "run `RAILS_ENV=test bin/rails db:migrate`, then call again".to_owned()
        }
        (_, "WorkerDied" | "AppDied" | "ZygoteDied") => "see `stderr` for its last words, then call again".to_owned(),
        (Outcome::LoadError, "SystemExit") => {
            "the test helper ended the process (a pending migration does that); see `stderr`, mend it, call again"
                .to_owned()
        }
        (_, "SystemExit") => "something calls exit or abort while the app boots; see `error` and `stderr`".to_owned(),
        _ => "mend the error and call again; the next call tries anew".to_owned(),
    }
}

/// What is known of a crash of a fork, by what it printed when it died.
pub fn of_crashed_fork(stderr: &str) -> Option<&'static str> {
    let objc = stderr
        .lines()
        .any(|line| line.trim_start().starts_with("objc[") && line.contains("fork()"));
    objc.then_some(
        "macOS ended the fork, since Objective-C code was being set up in another thread: \
         `OBJC_DISABLE_INITIALIZE_FORK_SAFETY=YES` in the environment of the server takes that check away, and \
         `fork: \"never\"` avoids the fork",
    )
}
