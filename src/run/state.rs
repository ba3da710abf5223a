//! The life of a run as a pure machine: (state, event, now) → (state, actions). Times are instants of the caller.
//!
//! ```text
//! Running ──exited──────────────────────────► Draining ──closed/late──► Done
//!    │ deadline, cancel                          ▲
//!    ▼                                           │ exited
//! Asking ──told/late──► Terminating ──late──► Killing
//! ```

use std::time::{Duration, Instant};

use super::outcome::Stop;

/// How long a run that is to be ended may take to say where it hangs. Our choice.
const ASKING: Duration = Duration::from_millis(500);

/// How long what was killed may take to go; a process that waits for a dead disk never does.
const KILLING: Duration = Duration::from_secs(10);

/// How long after the end of the process its pipes may stay open: a leftover that holds them is killed at the end of
/// the process, so this is for what even KILL does not end at once.
const DRAINING: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Running {
        deadline: Instant,
    },
    /// Asked for the backtraces of its threads.
    Asking {
        until: Instant,
        stop: Stop,
    },
    /// TERM was sent to its group.
    Terminating {
        until: Instant,
        stop: Stop,
    },
    /// KILL was sent to its tree.
    Killing {
        until: Instant,
        stop: Stop,
    },
    /// The process is gone; what it wrote is being read.
    Draining {
        until: Instant,
        stop: Option<Stop>,
    },
    Done {
        stop: Option<Stop>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Tick,
    Cancelled,
    /// Whoever cancelled it wants it gone at once.
    Hurried,
    /// The backtraces arrived.
    Told,
    /// The process is gone.
    Exited,
    /// All pipes are at their end.
    Closed,
    /// It uses more than it may. Asking would only let it go on.
    Over(Stop),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    AskThreads,
    Term,
    KillTree,
    /// Wait for the status, kill what the process left behind.
    Collect,
    Finish,
}

impl State {
    /// When `Tick` is due, if time matters.
    pub fn wake_at(self) -> Option<Instant> {
        match self {
            State::Running { deadline } => Some(deadline),
            State::Asking { until, .. }
            | State::Terminating { until, .. }
            | State::Killing { until, .. }
            | State::Draining { until, .. } => Some(until),
            State::Done { .. } => None,
        }
    }

    #[must_use]
    pub fn on(self, event: Event, now: Instant, grace: Duration) -> (State, &'static [Action]) {
        let late = self.wake_at().is_some_and(|at| now >= at);
        match (self, event) {
            (State::Done { .. }, _) => (self, &[]),
            (State::Draining { stop, .. }, Event::Closed) => (State::Done { stop }, &[Action::Finish]),
            (State::Draining { stop, .. }, Event::Tick) if late => (State::Done { stop }, &[Action::Finish]),
            (State::Draining { .. }, _) => (self, &[]),
            (_, Event::Exited) => (draining(now, self.stop()), &[Action::Collect]),
            (State::Running { .. }, Event::Over(stop)) => killing(now, stop),
            // No time left to be polite; why it is ended stays as it was.
            (State::Asking { stop, .. } | State::Terminating { stop, .. }, Event::Over(_)) => killing(now, stop),
            (State::Running { .. }, Event::Hurried) => killing(now, Stop::Cancelled),
            (State::Asking { stop, .. } | State::Terminating { stop, .. }, Event::Hurried) => killing(now, stop),
            // Whoever takes it back has mostly waited too long for it; and they wait for its end, so that this is no longer
            // than what it has to leave by itself.
            (State::Running { .. }, Event::Cancelled) => asking(now, ASKING.min(grace), Stop::Cancelled),
            (State::Running { .. }, Event::Tick) if late => asking(now, ASKING, Stop::Deadline),
            (State::Asking { stop, .. }, Event::Told) => terminating(now, grace, stop),
            (State::Asking { stop, .. }, Event::Tick) if late => terminating(now, grace, stop),
            (State::Terminating { stop, .. }, Event::Tick) if late => killing(now, stop),
            // What even KILL does not end is given up: the kernel will end it when it can.
            (State::Killing { stop, .. }, Event::Tick) if late => (draining(now, Some(stop)), &[Action::Collect]),
            _ => (self, &[]),
        }
    }

    /// Why we are ending it, if we are.
    pub fn stop(self) -> Option<Stop> {
        match self {
            State::Running { .. } => None,
            State::Asking { stop, .. } | State::Terminating { stop, .. } | State::Killing { stop, .. } => Some(stop),
            State::Draining { stop, .. } | State::Done { stop } => stop,
        }
    }
}

fn asking(now: Instant, patience: Duration, stop: Stop) -> (State, &'static [Action]) {
    let until = now + patience;
    (State::Asking { until, stop }, &[Action::AskThreads])
}

fn terminating(now: Instant, grace: Duration, stop: Stop) -> (State, &'static [Action]) {
    (
        State::Terminating {
            until: now + grace,
            stop,
        },
        &[Action::Term],
    )
}

fn killing(now: Instant, stop: Stop) -> (State, &'static [Action]) {
    let until = now + KILLING;
    (State::Killing { until, stop }, &[Action::KillTree])
}

fn draining(now: Instant, stop: Option<Stop>) -> State {
    State::Draining {
        until: now + DRAINING,
        stop,
    }
}
