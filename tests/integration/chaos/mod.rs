//! Random faults at random moments, round after round: whoever was not disturbed gets the verdict that is known, nobody
//! gets `passed` for less than a whole run, and nothing is left of anything.
//!
//! Ignored, since it takes minutes: `bin/test --chaos`. `COATEPEC_CHAOS_ROUNDS` (500) says for how long, and
//! `COATEPEC_CHAOS_SEED` repeats the choices of an earlier time; what they hit is up to the clock.
#![expect(
    clippy::print_stderr,
    reason = "the seed, the rounds and the figures are told as they come"
)]

mod acts;
mod content;
mod dice;
mod world;

use std::time::Duration;

use acts::{ACTS, Act, When};
use content::{SPECS, Spec};
use dice::Dice;
use world::World;

const ROUNDS: u64 = 500;

/// For the moment of an act, counted from the call: a warm run is over by then, a boot is not.
const MOMENTS: Duration = Duration::from_millis(450);

/// What happens in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    number: u64,
    spec: Spec,
    fork: &'static str,
    when: When,
    act: Act,
    /// Whether an edit leaves the file as our spec wants it.
    right: bool,
    moment: Duration,
}

impl Round {
    fn roll(dice: &mut Dice, number: u64) -> Round {
        let (when, act) = dice.pick(ACTS);
        let spec = if matches!(act, Act::Edit(_)) {
            Spec::Ours
        } else {
            dice.pick(SPECS)
        };
        Round {
            number,
            spec,
            fork: if dice.one_in(30) { "never" } else { "auto" },
            when,
            act,
            right: !dice.one_in(3),
            moment: dice.moment(MOMENTS),
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn chaos_makes_no_verdict_wrong_and_leaves_nothing() {
    let seed = number("COATEPEC_CHAOS_SEED").unwrap_or_else(|| u64::from(std::process::id()) ^ now());
    let rounds = number("COATEPEC_CHAOS_ROUNDS").unwrap_or(ROUNDS);
    eprintln!("chaos: {rounds} rounds, COATEPEC_CHAOS_SEED={seed}");
    let mut dice = Dice::new(seed);
    let mut world = World::new(seed);
    for number in 1..=rounds {
        world.play(Round::roll(&mut dice, number));
    }
    world.end();
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is `{text}`, and must be a number")),
    )
}

fn now() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("it is after 1970");
    since.as_secs() * 1_000 + u64::from(since.subsec_millis())
}
