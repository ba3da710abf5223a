//! To which example a refusal is told.

use coatepec::run::blocked::Refusals;
use coatepec::sandbox::{Act, Kind, RefusedAct};

fn refused(at: u64, what: &str) -> RefusedAct {
    RefusedAct {
        at,
        act: Act::new(Kind::Syscall, what),
    }
}

fn told(refusals: &Refusals) -> Vec<(&str, Option<&str>, u64)> {
    let listed = refusals.listed.iter();
    listed
        .map(|refused| (refused.what.as_str(), refused.example.as_deref(), refused.count))
        .collect()
}

#[test]
fn it_is_told_of_the_example_that_was_running_however_late_it_is_heard_of() {
    let mut refusals = Refusals::default();
    refusals.hear(vec![
        refused(1, "early"),
        refused(3, "bpf"),
        refused(4, "bpf"),
        refused(7, "bpf"),
    ]);
    refusals.settle(2, None);
    refusals.settle(5, Some("a"));
    refusals.hear(vec![refused(8, "keyctl"), refused(12, "late")]);
    refusals.settle(6, None);
    refusals.settle(9, Some("b"));
    refusals.settle(u64::MAX, None);
    let expected = [
        ("early", None, 1),
        ("bpf", Some("a"), 2),
        ("bpf", Some("b"), 1),
        ("keyctl", Some("b"), 1),
        ("late", None, 1),
    ];
    assert_eq!(told(&refusals), expected);
}

#[test]
fn what_is_told_is_told_once() {
    let mut refusals = Refusals::default();
    refusals.hear(vec![refused(1, "bpf")]);
    refusals.settle(2, Some("a"));
    refusals.settle(3, Some("b"));
    assert_eq!(told(&refusals), [("bpf", Some("a"), 1)]);
}
