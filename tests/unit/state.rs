//! The life of a run, as a table of what each state does with each event, early and late.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;

use coatepec::run::outcome::Stop;
use coatepec::run::state::Action::{self, AskThreads, Collect, Finish, KillTree, Term};
use coatepec::run::state::{Event, State};

const GRACE: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(1);

/// How long a run may take to tell where it hangs, how long what was killed may take to go, and how long its pipes may
/// stay open after it.
const ASKING: Duration = Duration::from_millis(500);
const KILLING: Duration = Duration::from_secs(10);
const DRAINING: Duration = Duration::from_secs(1);

const STOPS: [Stop; 4] = [
    Stop::Deadline,
    Stop::Cancelled,
    Stop::Memory(1 << 32),
    Stop::Processes(513),
];

const OVER: Event = Event::Over(Stop::Memory(1 << 33));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Running,
    Asking,
    Terminating,
    Killing,
    Draining,
    Done,
}

const KINDS: [Kind; 6] = [
    Kind::Running,
    Kind::Asking,
    Kind::Terminating,
    Kind::Killing,
    Kind::Draining,
    Kind::Done,
];

const EVENTS: [Event; 7] = [
    Event::Tick,
    Event::Cancelled,
    Event::Hurried,
    Event::Told,
    Event::Exited,
    Event::Closed,
    OVER,
];

/// What a state does with an event: where it goes, and what is done on the way.
type Step = (Kind, &'static [Action]);

/// The specification, for an event at the time when `Tick` is due.
fn due(state: Kind, event: Event) -> Step {
    match (state, event) {
        (Kind::Running, Event::Tick | Event::Cancelled) => (Kind::Asking, &[AskThreads]),
        (Kind::Running, Event::Over(_) | Event::Hurried) => (Kind::Killing, &[KillTree]),
        (Kind::Running, Event::Exited) => (Kind::Draining, &[Collect]),
        (Kind::Running, Event::Told | Event::Closed) => (Kind::Running, &[]),

        (Kind::Asking, Event::Tick | Event::Told) => (Kind::Terminating, &[Term]),
        (Kind::Asking, Event::Exited) => (Kind::Draining, &[Collect]),
        (Kind::Asking | Kind::Terminating, Event::Over(_) | Event::Hurried) => (Kind::Killing, &[KillTree]),
        (Kind::Asking, Event::Cancelled | Event::Closed) => (Kind::Asking, &[]),

        (Kind::Terminating, Event::Tick) => (Kind::Killing, &[KillTree]),
        (Kind::Terminating, Event::Exited) => (Kind::Draining, &[Collect]),
        (Kind::Terminating, Event::Cancelled | Event::Told | Event::Closed) => (Kind::Terminating, &[]),

        (Kind::Killing, Event::Exited | Event::Tick) => (Kind::Draining, &[Collect]),
        (Kind::Killing, Event::Cancelled | Event::Hurried | Event::Told | Event::Closed | Event::Over(_)) => {
            (Kind::Killing, &[])
        }

        (Kind::Draining, Event::Tick | Event::Closed) => (Kind::Done, &[Finish]),
        (Kind::Draining, Event::Cancelled | Event::Hurried | Event::Told | Event::Exited | Event::Over(_)) => {
            (Kind::Draining, &[])
        }

        (Kind::Done, _) => (Kind::Done, &[]),
    }
}

fn kind(state: State) -> Kind {
    match state {
        State::Running { .. } => Kind::Running,
        State::Asking { .. } => Kind::Asking,
        State::Terminating { .. } => Kind::Terminating,
        State::Killing { .. } => Kind::Killing,
        State::Draining { .. } => Kind::Draining,
        State::Done { .. } => Kind::Done,
    }
}

/// All states of a kind whose `Tick` is due at `at`, one for each way into it.
fn states(kind: Kind, at: Instant) -> Vec<State> {
    let ended = || STOPS.map(Some).into_iter().chain([None]);
    match kind {
        Kind::Running => vec![State::Running { deadline: at }],
        Kind::Asking => STOPS.map(|stop| State::Asking { until: at, stop }).to_vec(),
        Kind::Terminating => STOPS.map(|stop| State::Terminating { until: at, stop }).to_vec(),
        Kind::Killing => STOPS.map(|stop| State::Killing { until: at, stop }).to_vec(),
        Kind::Draining => ended().map(|stop| State::Draining { until: at, stop }).collect(),
        Kind::Done => ended().map(|stop| State::Done { stop }).collect(),
    }
}

fn every_pair(at: Instant) -> impl Iterator<Item = (State, Event)> {
    let states = KINDS.into_iter().flat_map(move |kind| states(kind, at));
    states.flat_map(|state| EVENTS.map(|event| (state, event)))
}

#[test]
fn each_state_does_with_each_event_what_the_table_says() {
    let at = Instant::now();
    for now in [at, at + MOMENT, at + Duration::from_secs(3600)] {
        for (state, event) in every_pair(at) {
            let (next, actions) = state.on(event, now, GRACE);
            assert_eq!((kind(next), actions), due(kind(state), event), "{state:?} {event:?}");
        }
    }
}

#[test]
fn a_tick_that_comes_early_changes_nothing() {
    let at = Instant::now();
    let now = at.checked_sub(MOMENT).unwrap();
    for (state, event) in every_pair(at) {
        let (next, actions) = state.on(event, now, GRACE);
        if event == Event::Tick {
            assert_eq!((next, actions), (state, &[][..]), "{state:?}");
        } else {
            assert_eq!((kind(next), actions), due(kind(state), event), "{state:?} {event:?}");
        }
    }
}

#[test]
fn a_state_that_stays_keeps_its_time() {
    let at = Instant::now();
    for (state, event) in every_pair(at) {
        let (next, actions) = state.on(event, at, GRACE);
        if actions.is_empty() {
            assert_eq!(next, state, "{event:?}");
        }
    }
}

#[test]
fn each_state_has_the_time_it_may_take() {
    let now = Instant::now();
    let waits = |state: State, event| state.on(event, now, GRACE).0.wake_at();
    let [running] = states(Kind::Running, now)[..] else {
        unreachable!()
    };
    assert_eq!(running.wake_at(), Some(now));
    assert_eq!(waits(running, Event::Tick), Some(now + ASKING));
    assert_eq!(waits(running, Event::Cancelled), Some(now + ASKING.min(GRACE)));
    let hasty = ASKING / 5;
    let (cancelled, _) = running.on(Event::Cancelled, now, hasty);
    assert_eq!(cancelled.wake_at(), Some(now + hasty), "within the grace");
    assert_eq!(waits(running, Event::Exited), Some(now + DRAINING));
    for asking in states(Kind::Asking, now) {
        assert_eq!(waits(asking, Event::Told), Some(now + GRACE));
        assert_eq!(waits(asking, Event::Tick), Some(now + GRACE));
    }
    assert_eq!(waits(running, OVER), Some(now + KILLING));
    for terminating in states(Kind::Terminating, now) {
        assert_eq!(waits(terminating, Event::Tick), Some(now + KILLING));
        assert_eq!(waits(terminating, Event::Exited), Some(now + DRAINING));
    }
    for killing in states(Kind::Killing, now) {
        assert_eq!(
            waits(killing, Event::Tick),
            Some(now + DRAINING),
            "what even KILL does not end is given up"
        );
    }
    for done in states(Kind::Done, now) {
        assert_eq!(done.wake_at(), None);
    }
}

#[test]
fn why_it_was_ended_is_what_came_first() {
    let now = Instant::now();
    for (state, event) in every_pair(now) {
        let stop = match (state, event) {
            (State::Running { .. }, Event::Tick) => Some(Stop::Deadline),
            (State::Running { .. }, Event::Cancelled | Event::Hurried) => Some(Stop::Cancelled),
            (State::Running { .. }, Event::Over(limit)) => Some(limit),
            _ => state.stop(),
        };
        assert_eq!(state.on(event, now, GRACE).0.stop(), stop, "{state:?} {event:?}");
    }
}

#[test]
fn a_run_that_answers_nothing_is_asked_then_told_then_killed_then_given_up() {
    let start = Instant::now();
    let mut state = State::Running { deadline: start };
    let mut done = Vec::new();
    while let Some(at) = state.wake_at() {
        let (next, actions) = state.on(Event::Tick, at, GRACE);
        done.push((at - start, actions));
        state = next;
    }
    assert_eq!(
        done,
        [
            (Duration::ZERO, &[AskThreads][..]),
            (ASKING, &[Term][..]),
            (ASKING + GRACE, &[KillTree][..]),
            (ASKING + GRACE + KILLING, &[Collect][..]),
            (ASKING + GRACE + KILLING + DRAINING, &[Finish][..]),
        ]
    );
    assert_eq!(
        state,
        State::Done {
            stop: Some(Stop::Deadline)
        }
    );
}

/// Without a grace, the kill follows at once.
#[test]
fn no_grace_is_fine() {
    let now = Instant::now();
    let (asking, _) = State::Running { deadline: now + GRACE }.on(Event::Cancelled, now, Duration::ZERO);
    let (terminating, actions) = asking.on(Event::Tick, now, Duration::ZERO);
    assert_eq!(actions, [Term]);
    assert_eq!(terminating.on(Event::Tick, now, Duration::ZERO).1, [KillTree]);
}

fn event() -> impl Strategy<Value = (Event, Duration)> {
    (
        proptest::sample::select(EVENTS.to_vec()),
        (0..4000u64).prop_map(Duration::from_millis),
    )
}

proptest! {
    /// Each step is taken at most once and in this order, whatever happens when.
    #[test]
    fn no_life_takes_a_step_twice_or_back(events in vec(event(), 0..30)) {
        let order = [AskThreads, Term, KillTree, Collect, Finish];
        let mut now = Instant::now();
        let mut state = State::Running { deadline: now + GRACE };
        let mut taken = Vec::new();
        for (event, after) in events {
            now += after;
            let (next, actions) = state.on(event, now, GRACE);
            taken.extend(actions.iter().map(|action| order.iter().position(|step| step == action).unwrap()));
            state = next;
        }
        prop_assert!(taken.is_sorted_by(|one, next| one < next), "{taken:?}");
        prop_assert_eq!(taken.contains(&4), matches!(state, State::Done { .. }));
        prop_assert!(!taken.contains(&4) || taken.contains(&3), "finished without a status: {taken:?}");
    }
}
