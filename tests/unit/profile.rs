//! Where the time of a run went, as it is told.

use coatepec::cli::render::profile::profile as shown;
use coatepec::cli::render::style::Style;
use coatepec::run::report::{GcProfile, Profile, Report};
use coatepec::worker::protocol::{
    Cost, ExampleFinished, ExampleStatus, Expense, FactoryTotal, FactoryUse, GcTotal, ProfileTotal, QueryUse, RunEvent,
    SqlTotal,
};

use crate::report::{facts, paths, view};
use crate::told::{end, failure, log};

fn took(number: usize, seconds: f64) -> RunEvent {
    let expense = |count| Expense {
        count,
        seconds: 0.123_456,
    };
    RunEvent::ExampleFinished(ExampleFinished {
        seconds: Some(seconds),
        cost: Some(Cost {
            sql: Some(expense(3)),
            factories: None,
            gc_seconds: 0.0,
        }),
        ..end(&format!("./spec/a_spec.rb[1:{number}]"), ExampleStatus::Passed)
    })
}

fn total(queries: usize) -> RunEvent {
    let query = |number| QueryUse {
        sql: format!("SELECT a{number} FROM /srv/shop/a"),
        count: 40,
        seconds: 0.5,
    };
    RunEvent::Profile(ProfileTotal {
        sql: Some(SqlTotal {
            count: 80,
            seconds: 1.0,
            failed: 7,
            cached: 2,
            statements: 2,
            queries: (0..queries).map(query).collect(),
        }),
        factories: Some(FactoryTotal {
            count: 3,
            seconds: 0.25,
            raised: 4,
            names: 1,
            by_name: vec![FactoryUse {
                name: "cart".to_owned(),
                strategies: [("create".to_owned(), 2), ("build".to_owned(), 1)].into(),
                seconds: 0.25,
                own: 0.2,
                raised: 4,
            }],
        }),
        gc: Some(GcTotal {
            runs: 3,
            major: 1,
            seconds: 0.02,
            allocated: 1000,
        }),
    })
}

fn profile(events: impl IntoIterator<Item = RunEvent>) -> Option<Profile> {
    Report::new(&facts(log(events)), view(1024 * 1024), &paths()).profile
}

#[test]
fn the_ten_slowest_examples_come_first_with_what_they_cost() {
    let events = (1..=12).map(|number| took(number, f64::from(u32::try_from(number).unwrap()) / 8.0));
    let told = profile(events.chain([total(2)])).unwrap();
    let slowest: Vec<(&str, f64)> = told.slowest.iter().map(|one| (one.id.as_str(), one.seconds)).collect();
    assert_eq!(slowest.len(), 10);
    assert_eq!(slowest[0], ("spec/a_spec.rb[1:12]", 1.5));
    assert_eq!(slowest[9], ("spec/a_spec.rb[1:3]", 0.375));
    let sql = told.slowest[0].sql.unwrap();
    assert_eq!((sql.count, sql.seconds), (3, 0.1235));
    assert_eq!(told.slowest[0].factories, None);
    assert_eq!(told.sql.unwrap().queries[0].sql, "SELECT a0 FROM a");
}

#[test]
fn who_did_not_ask_is_not_told_and_a_run_that_was_killed_tells_what_is_known() {
    assert_eq!(profile([crate::told::passes("./spec/a_spec.rb[1:1]")]), None);
    let killed = profile([took(1, 0.5)]).unwrap();
    assert_eq!((killed.slowest.len(), killed.gc), (1, None));
}

#[test]
fn the_last_word_counts() {
    let told = profile([took(1, 0.5), total(1), total(2)]).unwrap();
    assert_eq!(told.sql.unwrap().queries.len(), 2);
}

/// The least that the configuration allows.
#[test]
fn where_there_is_little_room_failures_have_it() {
    let failures = (1..=20).map(|number| {
        RunEvent::ExampleFinished(ExampleFinished {
            failure: Some(failure("RuntimeError", &format!("{number} {}", "is wrong ".repeat(9)))),
            ..end(&format!("./spec/b_spec.rb[1:{number}]"), ExampleStatus::Failed)
        })
    });
    let slow = (1..=10).map(|number| took(number, 1.0));
    let facts = facts(log(failures.chain(slow).chain([total(10)])));
    let report = Report::new(&facts, view(4096), &paths());
    assert!(report.to_json().len() <= 4096);
    assert!(!report.failures.is_empty());
    let told = report.profile.unwrap();
    assert_eq!((told.slowest.len(), told.gc.unwrap().runs), (0, 3));
    assert!(report.cut.unwrap().other >= 21, "what is left out is counted");
}

#[test]
fn a_person_sees_where_the_time_went() {
    let told = profile([took(1, 0.5), total(1)]).unwrap();
    let text = shown(&told, Style::PLAIN);
    let expected = "\nslowest examples\n\
        \x20     0.500 s  does ./spec/a_spec.rb[1:1]  spec/a_spec.rb[1:1]  queries: 3 in 0.123 s\n\
        \nqueries: 80 in 1.000 s, 7 of them failed, 2 statements; 2 more from the cache\n\
        \x20     0.500 s      40×  SELECT a0 FROM a\n\
        \nfactories: 3 objects in 0.250 s, 4 more raised, 1 factory\n\
        \x20     0.200 s  cart  (build 1, create 2, raised 4; 0.250 s with what they need)\n\
        \ngarbage collection: 3 runs (1 major) in 0.020 s, 1000 objects allocated\n";
    assert_eq!(text, expected);
    let nothing = Profile {
        gc: Some(GcProfile::default()),
        ..Profile::default()
    };
    assert!(!shown(&nothing, Style::PLAIN).contains("queries"));
}
