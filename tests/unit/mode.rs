//! Fork or spawn: the decision as tables.

use coatepec::config::{Config, Fork};
use coatepec::run::denylist::{BUILT_IN, Platform, When};
use coatepec::run::mode::{Decision, ForkFacts, STRIKES, Wanted};
use coatepec::run::report::Mode;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn decide(config: &Config, fork: Fork, macos: bool, facts: &ForkFacts) -> Decision {
    let wanted = Wanted {
        fork,
        coverage: false,
        config,
        crashes: 0,
        macos,
    };
    wanted.decide(facts)
}

fn on_linux(facts: &ForkFacts) -> Decision {
    decide(&Config::default(), Fork::Auto, false, facts)
}

/// The reason of a fallback; panics on anything else.
fn fallback(decision: Decision) -> String {
    match decision {
        Decision::Spawn {
            mode: Mode::SpawnFallback,
            reason,
        } => reason,
        other => panic!("not a fallback: {other:?}"),
    }
}

#[test]
fn a_process_with_nothing_unusual_is_forked() {
    assert_eq!(on_linux(&ForkFacts::default()), Decision::Fork);
}

#[test]
fn threads_that_were_there_after_the_boot_or_do_no_harm_do_not_count() {
    let facts = ForkFacts {
        threads: names(&["poller", "Timeout stdlib thread", "AR Pool Reaper"]),
        native: names(&["iou-wrk"]),
        threads_after_boot: names(&["poller"]),
        native_after_boot: names(&["vips worker", "iou-wrk"]),
        ..ForkFacts::default()
    };
    assert_eq!(on_linux(&facts), Decision::Fork);
}

#[test]
fn each_thread_beyond_those_after_the_boot_is_named() {
    let facts = ForkFacts {
        threads: names(&["poller", "poller", "spec/support/x.rb:1"]),
        threads_after_boot: names(&["poller"]),
        ..ForkFacts::default()
    };
    let reason = fallback(on_linux(&facts));
    assert!(reason.ends_with(": poller, spec/support/x.rb:1"), "{reason}");
}

#[test]
fn a_native_thread_beyond_those_after_the_boot_is_named() {
    let facts = ForkFacts {
        native: names(&["ruby", "vips worker"]),
        native_after_boot: names(&["ruby"]),
        ..ForkFacts::default()
    };
    let reason = fallback(on_linux(&facts));
    assert!(
        reason.starts_with("native threads") && reason.ends_with(": vips worker"),
        "{reason}"
    );
}

#[test]
fn every_gem_of_the_denylist_stops_forking_where_and_when_it_is_unsafe() {
    for entry in BUILT_IN {
        let loaded = ForkFacts {
            loaded: names(&[entry.gem]),
            ..ForkFacts::default()
        };
        let live = ForkFacts {
            live: names(&[entry.gem]),
            ..loaded.clone()
        };
        let facts = if entry.when == When::Live { &live } else { &loaded };
        let macos = entry.platform == Platform::Macos;
        let reason = fallback(decide(&Config::default(), Fork::Auto, macos, facts));
        assert!(
            reason.contains(entry.gem) && reason.contains(entry.hazard) && reason.contains(entry.source),
            "{reason}"
        );
    }
}

#[test]
fn a_gem_that_is_only_unsafe_while_it_runs_does_not_stop_forking_when_it_does_not() {
    let facts = ForkFacts {
        loaded: names(&["eventmachine", "mongo"]),
        ..ForkFacts::default()
    };
    assert_eq!(on_linux(&facts), Decision::Fork);
}

#[test]
fn a_gem_that_is_only_unsafe_on_macos_does_not_stop_forking_elsewhere() {
    let facts = ForkFacts {
        loaded: names(&["ethon", "curb", "patron"]),
        ..ForkFacts::default()
    };
    assert_eq!(on_linux(&facts), Decision::Fork);
    fallback(decide(&Config::default(), Fork::Auto, true, &facts));
}

#[test]
fn the_project_adds_gems_for_all_systems_or_for_macos_alone() {
    let config = Config {
        fork_unsafe_gems: names(&["everywhere"]),
        macos_fork_unsafe_gems: names(&["there"]),
        ..Config::default()
    };
    for (gem, macos, stops) in [
        ("everywhere", false, true),
        ("there", false, false),
        ("there", true, true),
    ] {
        let facts = ForkFacts {
            loaded: names(&[gem]),
            ..ForkFacts::default()
        };
        let decision = decide(&config, Fork::Auto, macos, &facts);
        assert_eq!(
            decision != Decision::Fork,
            stops,
            "{gem} on macOS: {macos}: {decision:?}"
        );
    }
}

#[test]
fn what_was_asked_for_beats_every_guard() {
    let unsafe_facts = ForkFacts {
        loaded: names(&["grpc"]),
        threads: names(&["x"]),
        ..ForkFacts::default()
    };
    let config = Config::default();
    assert_eq!(decide(&config, Fork::Always, false, &unsafe_facts), Decision::Fork);
    let never = decide(&config, Fork::Never, false, &ForkFacts::default());
    assert!(matches!(never, Decision::Spawn { mode: Mode::Spawn, .. }), "{never:?}");
}

#[test]
fn macos_fork_false_stops_forking_on_macos_alone() {
    let config = Config {
        macos_fork: false,
        ..Config::default()
    };
    let there = decide(&config, Fork::Auto, true, &ForkFacts::default());
    assert!(matches!(there, Decision::Spawn { mode: Mode::Spawn, .. }), "{there:?}");
    assert_eq!(
        decide(&config, Fork::Auto, false, &ForkFacts::default()),
        Decision::Fork
    );
}

#[test]
fn after_so_many_crashes_in_a_row_this_boot_is_not_forked_any_more() {
    let config = Config::default();
    for (crashes, fork) in [(STRIKES - 1, true), (STRIKES, false), (STRIKES + 1, false)] {
        let wanted = Wanted {
            fork: Fork::Auto,
            coverage: false,
            config: &config,
            crashes,
            macos: false,
        };
        let decision = wanted.decide(&ForkFacts::default());
        assert_eq!(decision == Decision::Fork, fork, "{crashes}: {decision:?}");
    }
}

#[test]
fn lines_are_counted_in_a_fresh_process_whatever_the_project_says() {
    let config = Config::default();
    for fork in [Fork::Auto, Fork::Always, Fork::Never] {
        let wanted = Wanted {
            fork,
            coverage: true,
            config: &config,
            crashes: 0,
            macos: false,
        };
        let decision = wanted.decide(&ForkFacts::default());
        assert!(matches!(&decision, Decision::Spawn { mode: Mode::Spawn, reason } if reason.contains("coverage")));
    }
}
