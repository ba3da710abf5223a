//! What `coatepec run` decides: exit codes, and which specs a save concerns.

use coatepec::cli::run::concerned::concerned;
use coatepec::cli::run::exit::exit_code;
use coatepec::error::Kind;
use coatepec::run::outcome::Outcome;

const FILES: [&str; 7] = [
    "spec/models/widget_spec.rb",
    "test/models/widget_test.rb",
    "spec/requests/widgets_spec.rb",
    "spec/controllers/widgets_controller_spec.rb",
    "packs/shop/spec/models/order_spec.rb",
    "spec/lib/tax_spec.rb",
    "spec/views/widgets/show.html_spec.rb",
];

fn next(changed: &[&str], selected: &[&str]) -> Option<Vec<String>> {
    let owned = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    concerned(&owned(changed), &owned(selected), &|path| FILES.contains(&path))
}

#[track_caller]
fn check(changed: &[&str], selected: &[&str], expected: &[&str]) {
    let expected = expected.iter().map(ToString::to_string).collect();
    assert_eq!(next(changed, selected), Some(expected));
}

#[test]
fn a_saved_spec_is_run() {
    check(
        &["spec/models/widget_spec.rb"],
        &["spec"],
        &["spec/models/widget_spec.rb"],
    );
    check(
        &["spec/models/new_spec.rb"],
        &["spec/models/"],
        &["spec/models/new_spec.rb"],
    );
}

#[test]
fn of_a_saved_spec_the_lines_that_were_named_are_run() {
    let named = ["spec/models/widget_spec.rb:12:40"];
    check(&["spec/models/widget_spec.rb"], &named, &named);
    let named = ["spec/models/widget_spec.rb[1:2]", "spec/models"];
    check(
        &["spec/models/widget_spec.rb"],
        &named,
        &["spec/models/widget_spec.rb[1:2]"],
    );
}

#[test]
fn saved_code_runs_what_is_named_after_it() {
    check(&["app/models/widget.rb"], &["spec"], &["spec/models/widget_spec.rb"]);
    check(&["app/models/widget.rb"], &["test"], &["test/models/widget_test.rb"]);
    check(
        &["app/controllers/widgets_controller.rb"],
        &["spec"],
        &[
            "spec/controllers/widgets_controller_spec.rb",
            "spec/requests/widgets_spec.rb",
        ],
    );
    check(
        &["packs/shop/app/models/order.rb"],
        &["packs/shop/spec"],
        &["packs/shop/spec/models/order_spec.rb"],
    );
    check(&["lib/tax.rb"], &["spec"], &["spec/lib/tax_spec.rb"]);
    check(
        &["app/views/widgets/show.html.erb"],
        &["spec"],
        &["spec/views/widgets/show.html_spec.rb"],
    );
}

#[test]
fn what_no_selected_test_is_named_after_runs_all_that_is_selected() {
    let selected = ["spec/requests", "spec/lib"];
    check(&["app/models/widget.rb"], &selected, &selected);
    check(&["config/routes.rb"], &selected, &selected);
    check(
        &["spec/lib/tax_spec.rb", "spec/support/helper.rb"],
        &selected,
        &selected,
    );
}

#[test]
fn two_saves_run_both_and_none_twice() {
    let changed = ["spec/lib/tax_spec.rb", "lib/tax.rb", "app/models/widget.rb"];
    check(
        &changed,
        &["spec"],
        &["spec/lib/tax_spec.rb", "spec/models/widget_spec.rb"],
    );
}

#[test]
fn what_runs_and_editors_write_runs_nothing() {
    for written in [
        "log/test.log",
        "tmp/a.txt",
        "storage/a.sqlite3",
        "coverage/i.html",
        "spec/.a_spec.rb.swp",
        "a.rb~",
        "spec",
    ] {
        assert_eq!(next(&[written], &["spec"]), None, "{written}");
    }
}

#[test]
fn only_a_passed_run_ends_with_status_0_and_no_outcome_with_that_of_an_error() {
    let outcomes = [
        (Outcome::Passed, 0),
        (Outcome::Failed, 1),
        (Outcome::FailedAtExit, 1),
        (Outcome::NoExamples, 3),
        (Outcome::AllPending, 3),
        (Outcome::DryRun, 3),
        (Outcome::TimedOut, 4),
        (Outcome::Crashed, 4),
        (Outcome::Incomplete, 4),
        (Outcome::MemoryExceeded, 4),
        (Outcome::TooManyProcesses, 4),
        (Outcome::FileTooLarge, 4),
        (Outcome::LoadError, 5),
        (Outcome::BootFailed, 5),
        (Outcome::ReloadFailed, 5),
        (Outcome::DatabaseBusy, 75),
        (Outcome::Cancelled, 130),
    ];
    for (outcome, code) in outcomes {
        assert_eq!(exit_code(outcome), code, "{outcome:?}");
        assert_ne!(code, Kind::InvalidArguments.exit_code(), "{outcome:?}");
        assert_ne!(code, Kind::Internal.exit_code(), "{outcome:?}");
    }
}
