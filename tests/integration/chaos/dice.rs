//! Chance that can be had again: the same seed gives the same numbers on every machine.

use std::time::Duration;

/// SplitMix64, a generator of one addition and two multiplications.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Up to, and without, `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    pub(super) fn moment(&mut self, most: Duration) -> Duration {
        Duration::from_millis(self.below(u64::try_from(most.as_millis()).expect("it is short")))
    }

    /// One of the table, by the weights in it.
    pub(super) fn pick<T: Copy>(&mut self, table: &[(u64, T)]) -> T {
        let mut at = self.below(table.iter().map(|(weight, _)| weight).sum());
        for (weight, entry) in table {
            if at < *weight {
                return *entry;
            }
            at -= weight;
        }
        unreachable!("it is below the sum of all")
    }
}
