//! What `coatepec run` decides: exit codes, and which specs a save concerns; and what is wrong with a command line.

use coatepec::cli::run::exit::{Asked, exit_code, exit_code_of_all};
use coatepec::cli::{definition, usage};
use coatepec::error::Kind;
use coatepec::project::Rules;
use coatepec::project::concerned::{Confidence, Row, saved, surely};
use coatepec::run::outcome::Outcome;

const FILES: [&str; 8] = [
    "spec/models/new_spec.rb",
    "spec/models/widget_spec.rb",
    "test/models/widget_test.rb",
    "spec/requests/widgets_spec.rb",
    "spec/controllers/widgets_controller_spec.rb",
    "packs/shop/spec/models/order_spec.rb",
    "spec/lib/tax_spec.rb",
    "spec/views/widgets/show.html_spec.rb",
];

fn owned(paths: &[&str]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

/// What is run where nothing is known of a file but its name.
fn next(changed: &[&str], selected: &[&str]) -> Option<Vec<String>> {
    let exists = |path: &str| FILES.contains(&path);
    let saved = saved(&owned(changed), &owned(selected), &Rules::new(&[]), &exists);
    match saved.others.is_empty() {
        true => Some(saved.tests).filter(|tests| !tests.is_empty()),
        false => Some(owned(selected)),
    }
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
        &[
            "spec/controllers/widgets_controller_spec.rb",
            "spec/requests/widgets_spec.rb",
            "spec/views/widgets/show.html_spec.rb",
        ],
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
fn what_is_known_of_a_file_narrows_the_selection_only_where_a_selected_test_is_surely_meant() {
    let row = |(path, confidence): &(&str, Confidence)| Row {
        path: (*path).to_owned(),
        confidence: *confidence,
        reasons: Vec::new(),
    };
    let narrowed = |rows: &[(&str, Confidence)], selected: &[&str]| {
        let rows: Vec<Row> = rows.iter().map(row).collect();
        surely(&rows.iter().collect::<Vec<_>>(), &owned(selected))
    };
    let known = [
        ("spec/lib/tax_spec.rb", Confidence::High),
        ("spec/models/widget_spec.rb", Confidence::Low),
        ("test/models/widget_test.rb", Confidence::Medium),
    ];
    let both = owned(&["spec/lib/tax_spec.rb", "spec/models/widget_spec.rb"]);
    assert_eq!(narrowed(&known, &["spec"]), Some(both));
    let lines = ["spec/lib/tax_spec.rb:3"];
    assert_eq!(narrowed(&known, &lines), Some(owned(&lines)));
    assert_eq!(narrowed(&known, &["spec/models"]), None);
    assert_eq!(narrowed(&known, &["test"]), None);
    assert_eq!(narrowed(&[], &["spec"]), None);
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
fn a_test_that_is_gone_is_not_run_and_one_that_was_renamed_is_by_its_new_name() {
    assert_eq!(next(&["spec/models/gone_spec.rb"], &["spec"]), None);
    check(
        &["spec/models/gone_spec.rb", "spec/models/new_spec.rb"],
        &["spec"],
        &["spec/models/new_spec.rb"],
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
        "app/.DS_Store",
        "app/models/#widget.rb#",
        "spec",
    ] {
        assert_eq!(next(&[written], &["spec"]), None, "{written}");
    }
}

#[test]
fn what_no_test_loads_runs_nothing() {
    for idle in [
        "README.md",
        "docs/guide.md",
        "app/models/README.md",
        "notes.txt",
        "package.json",
        "package.yml",
        ".rubocop.yml",
    ] {
        assert_eq!(next(&[idle], &["spec"]), None, "{idle}");
    }
    check(&["README.md", "lib/tax.rb"], &["spec"], &["spec/lib/tax_spec.rb"]);
    for everything in [
        "Gemfile.lock",
        ".rspec",
        ".coatepec.yml",
        "spec/fixtures/files/a.csv",
        "data/prices.csv",
    ] {
        check(&[everything], &["spec"], &["spec"]);
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

#[test]
fn what_is_wrong_with_the_command_line_is_an_error_like_all_others() {
    let table = [
        (&["staus"][..], "there is no command `staus`", "did you mean `status`?"),
        (&["rnu"], "there is no command `rnu`", "did you mean `run`?"),
        (
            &["spec/models/x_spec.rb"],
            "there is no command `spec/models/x_spec.rb`",
            "`coatepec run spec/models/x_spec.rb` runs it",
        ),
        (
            &["run", "--seed", "x"],
            "`--seed <N>` must be a whole number, and is `x`",
            "`coatepec run --help` tells what there is",
        ),
        (
            &["run", "--seed", "4294967296"],
            "`--seed <N>` must be between 0 and 4294967295, and is `4294967296`",
            "the nearest that is allowed is 4294967295",
        ),
        (
            &["mcp"],
            "there is no command `mcp`",
            "without a command, as `coatepec --root PATH`, it serves MCP on stdin and stdout",
        ),
        (
            &["run", "--sed", "3"],
            "there is no flag `--sed` here",
            "did you mean `--seed`?",
        ),
        (
            &["run", "--zzz"],
            "there is no flag `--zzz` here",
            "`coatepec run --help` tells what there is",
        ),
        (
            &["run", "--seed"],
            "`--seed <N>` needs a value",
            "`coatepec run --help` tells what there is",
        ),
        (
            &["run", "--fork", "x"],
            "`--fork <WHEN>` must be auto, always or never, and is `x`",
            "`coatepec run --help` tells what there is",
        ),
        (
            &["run", "--foo"],
            "there is no flag `--foo` here",
            "`coatepec run --help` tells what there is",
        ),
        (
            &["flaky", "spec", "--rounds", "1000"],
            "`--rounds <N>` must be between 2 and 100, and is `1000`",
            "the nearest that is allowed is 100",
        ),
        (
            &["job", "--kind", "jobs"],
            "`--kind <KIND>` must be job, mailer or channel, and is `jobs`",
            "did you mean `job`?",
        ),
        (
            &["routes", "--engines", "x"],
            "`--engines <ENGINES>` must be include, exclude or only, and is `x`",
            "`coatepec routes --help` tells what there is",
        ),
        (
            &["controller"],
            "<NAME> is missing",
            "`coatepec controller --help` tells what there is",
        ),
        (
            &["stop", "now"],
            "`now` is one argument too many",
            "`coatepec stop --help` tells what there is",
        ),
        (
            &["run", "--watch", "--json"],
            "`--watch` can't be combined with `--json`",
            "`coatepec run --help` tells what there is",
        ),
        (
            &["run", "--timeout", "5000"],
            "`--timeout <SECONDS>` must be between 1 and 900, and is `5000`",
            "the nearest that is allowed is 900",
        ),
    ];
    for (arguments, message, hint) in table {
        let words: Vec<String> = ["coatepec"].iter().chain(arguments).map(ToString::to_string).collect();
        let refused = definition().try_get_matches_from(&words).unwrap_err();
        let error = usage::error(&refused, &words).expect("it is an error");
        assert_eq!(
            (error.to_string().as_str(), error.hint.as_deref()),
            (message, Some(hint)),
            "{words:?}"
        );
        assert_eq!((error.kind.code(), error.kind.exit_code()), ("invalid_arguments", 2));
    }
    for asked in ["--help", "--version"] {
        let words = ["coatepec".to_owned(), asked.to_owned()];
        let shown = definition().try_get_matches_from(&words).unwrap_err();
        assert!(usage::error(&shown, &words).is_none(), "{asked}");
    }
}

/// `--example` of an app with both frameworks means a test of one of them, and so may all tests; a name means what it names.
#[test]
fn of_several_runs_the_highest_code_counts_and_that_nothing_was_tested_where_it_was_named() {
    for (outcomes, loosely, by_name) in [
        (&[Outcome::Failed, Outcome::NoExamples][..], 1, 1),
        (&[Outcome::NoExamples, Outcome::Passed], 0, 3),
        (&[Outcome::Passed, Outcome::AllPending], 0, 3),
        (&[Outcome::NoExamples, Outcome::NoExamples], 3, 3),
        (&[Outcome::NoExamples, Outcome::LoadError], 5, 5),
        (&[Outcome::Passed, Outcome::Failed], 1, 1),
        (&[Outcome::Crashed, Outcome::Failed], 4, 4),
        (&[Outcome::Passed], 0, 0),
    ] {
        let code = |asked| exit_code_of_all(outcomes.iter().copied(), asked);
        assert_eq!(code(Asked::Loosely), loosely, "{outcomes:?}");
        assert_eq!(code(Asked::ByName), by_name, "{outcomes:?}");
    }
    let named = ["test/a_test.rb#nope".to_owned()];
    assert_eq!(Asked::of(&[], None), Asked::Loosely);
    assert_eq!(Asked::of(&named, None), Asked::ByName);
    assert_eq!(Asked::of(&named, Some("is big")), Asked::Loosely);
}
