//! When something began, by a clock that somebody may set meanwhile.

use std::time::{Duration, SystemTime};

use coatepec::project::since::earliest;

#[test]
fn what_changed_meanwhile_is_not_older_than_the_beginning_whatever_became_of_the_clock() {
    let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let table = [
        ("a clock that went on", 110, 100),
        ("one that was set back", 101, 91),
        ("one that was set back to before the beginning", 50, 40),
        ("one that was set forward", 500, 100),
    ];
    for (what, now, expected) in table {
        let earliest = earliest(at(100), at(now), Duration::from_secs(10));
        assert_eq!(earliest, at(expected), "{what}");
    }
}
