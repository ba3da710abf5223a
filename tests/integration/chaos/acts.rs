//! What is done to the server, its processes and the files, and when.

use nix::sys::signal::Signal;
use nix::sys::signal::Signal::{SIGKILL, SIGSEGV, SIGSTOP, SIGTERM};

use super::content::Part;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum When {
    /// The call comes after it, and must be answered as if nothing had been.
    Before,
    /// At a random moment of the call.
    During,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Act {
    Nothing,
    Edit(Part),
    Hit(Victim, Signal),
    Cancel,
    /// A second call, which waits for its turn.
    CallAgain,
    /// The server is stopped for a moment.
    Pause,
    CloseStdin,
    KillServer,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Victim {
    Run,
    Zygote,
    App,
    Worker,
    Keeper,
}

/// By how often they are done. What costs a boot is rare, so that there are many rounds.
pub(super) const ACTS: &[(u64, (When, Act))] = &[
    (250, (When::During, Act::Nothing)),
    (60, (When::Before, Act::Edit(Part::Spec))),
    (40, (When::Before, Act::Edit(Part::Helper))),
    (40, (When::Before, Act::Edit(Part::Model))),
    (8, (When::Before, Act::Edit(Part::Initializer))),
    (20, (When::During, Act::Edit(Part::Spec))),
    (20, (When::During, Act::Edit(Part::Helper))),
    (20, (When::During, Act::Edit(Part::Model))),
    (4, (When::During, Act::Edit(Part::Initializer))),
    (90, (When::During, Act::Hit(Victim::Run, SIGKILL))),
    (60, (When::During, Act::Hit(Victim::Run, SIGTERM))),
    (15, (When::During, Act::Hit(Victim::Run, SIGSTOP))),
    (6, (When::During, Act::Hit(Victim::Run, SIGSEGV))),
    (20, (When::Before, Act::Hit(Victim::Zygote, SIGKILL))),
    (10, (When::Before, Act::Hit(Victim::Zygote, SIGSTOP))),
    (20, (When::During, Act::Hit(Victim::Zygote, SIGKILL))),
    (10, (When::During, Act::Hit(Victim::Zygote, SIGSTOP))),
    (10, (When::Before, Act::Hit(Victim::App, SIGKILL))),
    (10, (When::Before, Act::Hit(Victim::App, SIGSTOP))),
    (10, (When::During, Act::Hit(Victim::App, SIGKILL))),
    (10, (When::During, Act::Hit(Victim::App, SIGSTOP))),
    (6, (When::Before, Act::Hit(Victim::Worker, SIGKILL))),
    (6, (When::Before, Act::Hit(Victim::Worker, SIGSTOP))),
    (6, (When::During, Act::Hit(Victim::Worker, SIGKILL))),
    (6, (When::During, Act::Hit(Victim::Worker, SIGSTOP))),
    (6, (When::Before, Act::Hit(Victim::Keeper, SIGKILL))),
    (6, (When::Before, Act::Hit(Victim::Keeper, SIGSTOP))),
    (6, (When::During, Act::Hit(Victim::Keeper, SIGKILL))),
    (6, (When::During, Act::Hit(Victim::Keeper, SIGSTOP))),
    (80, (When::During, Act::Cancel)),
    (40, (When::During, Act::CallAgain)),
    (20, (When::During, Act::Pause)),
    (5, (When::Before, Act::CloseStdin)),
    (5, (When::During, Act::CloseStdin)),
    (5, (When::Before, Act::KillServer)),
    (5, (When::During, Act::KillServer)),
];

impl Act {
    /// Outcomes that it may give a call besides the one of an undisturbed run: never `passed`.
    pub(super) fn excuses(self) -> &'static [&'static str] {
        match self {
            // TERM may come when the last example is over: then it is an exit handler's status.
            Act::Hit(Victim::Run, SIGTERM) => &["crashed", "failed_at_exit"],
            Act::Hit(Victim::Run, SIGSTOP) => &["timed_out"],
            Act::Hit(Victim::Run, SIGKILL) => &["crashed"],
            Act::Hit(_, SIGKILL) => &["crashed", "incomplete"],
            _ => &[],
        }
    }

    /// Whether nothing may have been run, because what makes the app warm was hit while it did so.
    pub(super) fn excuses_nothing_run(self) -> bool {
        matches!(
            self,
            Act::Hit(Victim::Zygote | Victim::App | Victim::Worker | Victim::Keeper, _)
        )
    }
}
