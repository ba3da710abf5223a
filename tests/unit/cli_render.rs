//! What people see: texts made of data.

use std::collections::HashMap;
use std::ffi::OsString;

use coatepec::cli::render::checkup::{Finding, State};
use coatepec::cli::render::style::{Choice, Style, harmless};
use coatepec::cli::render::{checkup, data, diff, error, junit, log, progress, report, source, words};
use coatepec::config::Config;
use coatepec::error::{Error, Kind};
use coatepec::journal::Entry;
use coatepec::run::blocked::Refused;
use coatepec::run::outcome::Outcome;
use coatepec::run::progress::{Phase, Progress};
use coatepec::run::report::{Report, Summary};
use serde_json::json;

#[test]
fn colours_follow_the_choice_the_environment_and_the_terminal_in_this_order() {
    let chosen = |choice, terminal, variables: &[(&str, &str)]| {
        let variables: HashMap<&str, &str> = variables.iter().copied().collect();
        Style::chosen(choice, terminal, &|name| variables.get(name).map(OsString::from)) == Style::COLOURED
    };
    assert!(chosen(Choice::Auto, true, &[]));
    assert!(!chosen(Choice::Auto, false, &[]));
    assert!(!chosen(Choice::Auto, true, &[("NO_COLOR", "1")]));
    assert!(
        chosen(Choice::Auto, true, &[("NO_COLOR", "")]),
        "an empty one says nothing"
    );
    assert!(!chosen(Choice::Auto, true, &[("TERM", "dumb")]));
    assert!(chosen(Choice::Auto, false, &[("CLICOLOR_FORCE", "1")]));
    assert!(!chosen(Choice::Auto, false, &[("CLICOLOR_FORCE", "0")]));
    assert!(chosen(Choice::Always, false, &[("NO_COLOR", "1")]));
    assert!(!chosen(Choice::Never, true, &[]));
}

#[test]
fn a_text_of_several_lines_is_coloured_line_by_line() {
    assert_eq!(Style::COLOURED.red("a\n\nb"), "\x1b[31ma\x1b[0m\n\n\x1b[31mb\x1b[0m");
    assert_eq!(Style::PLAIN.red("a"), "a");
}

#[test]
fn what_others_wrote_can_not_command_the_terminal() {
    assert_eq!(
        harmless("a\x1b[2Jb\r\n\tc\u{9b}d"),
        "a\u{fffd}[2Jb\u{fffd}\n\tc\u{fffd}d"
    );
    assert_eq!(
        harmless("a\u{202e}b\u{2066}c\u{2028}d\u{200d}e"),
        "a\u{fffd}b\u{fffd}c\u{fffd}d\u{200d}e"
    );
    let refused = Report {
        refused: vec![Refused {
            kind: coatepec::sandbox::Kind::Write,
            what: "a\nwarning\x1b[2J\u{202e}b".to_owned(),
            example: None,
            count: 1,
        }],
        trigger: Some("rebooted: out\nwarning is new".to_owned()),
        ..report()
    };
    let shown = report::summary(&refused, Style::PLAIN);
    assert!(shown.contains("out\u{fffd}warning is new"), "{shown:?}");
    let shown = report::body(&refused, &|_| String::new(), Style::PLAIN);
    assert!(shown.contains("a\u{fffd}warning\u{fffd}[2J\u{fffd}b"), "{shown:?}");
    let shown = error::error(&Error::internal("\x1b]0;x\x07"), Style::PLAIN);
    assert!(!shown.contains('\x1b'), "{shown:?}");
}

#[test]
fn an_error_has_its_code_and_the_next_step() {
    let shown = error::error(&Error::new(Kind::Busy, "too many calls").hint("wait"), Style::PLAIN);
    assert_eq!(shown, "error: too many calls [busy]\nhint: wait\n");
}

#[test]
fn an_unknown_key_is_shown_in_its_line_with_the_nearest_right_one() {
    let wrong = Config::parse("fork: auto\nspec_rots: [a]\n").unwrap_err();
    assert_eq!(
        error::error(&wrong, Style::PLAIN),
        "error: `.coatepec.yml` has an unknown key `spec_rots` in line 2 [invalid_config]\n  \
         .coatepec.yml:2 │ spec_rots: [a]\n                  │ ^^^^^^^^^\n\
         hint: did you mean `spec_roots`?\n"
    );
}

#[test]
fn a_value_out_of_range_is_shown_in_its_line() {
    let wrong = Config::parse("fork: auto\ngrace_seconds: 100\n").unwrap_err();
    let shown = error::error(&wrong, Style::PLAIN);
    assert!(shown.contains("from 0 to 60"), "{shown}");
    let excerpt = "  .coatepec.yml:2 │ grace_seconds: 100\n                  │                ^^^\n";
    assert!(shown.contains(excerpt), "{shown}");
}

#[test]
fn refused_selectors_are_listed_with_their_reasons() {
    let refused = json!({"refused": [
        {"selector": "a_spec.rb", "code": "x", "reason": "is gone", "hint": "b_spec.rb"},
        {"selector": "c_spec.rb", "code": "x", "reason": "is gone, too"},
    ], "more_refused": 3});
    let wrong = Error::new(Kind::InvalidSelector, "5 selectors were refused").details(refused);
    let shown = error::error(&wrong, Style::PLAIN);
    assert!(shown.contains("\n  a_spec.rb: is gone (b_spec.rb)\n"), "{shown}");
    assert!(
        shown.ends_with("\n  c_spec.rb: is gone, too\n  and 3 more\n"),
        "{shown}"
    );
}

#[test]
fn a_diff_shows_what_changes_with_three_lines_around() {
    let shown = diff::between("f", "a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n", Style::PLAIN);
    assert_eq!(shown, "--- f\n+++ f\n@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+E\n f\n");
    assert_eq!(diff::between("f", "a\n", "a\n", Style::PLAIN), "");
    let coloured = diff::coloured("-a\n+b\n c", Style::COLOURED);
    assert_eq!(coloured, "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n c");
}

fn progress() -> Progress {
    Progress {
        phase: Phase::Running,
        examples: Some(40),
        finished: 10,
        failures: 2,
        current: Some("Widget is\nvalid".to_owned()),
        ..Progress::default()
    }
}

#[test]
fn the_progress_line_fits_a_narrow_terminal_with_a_shorter_bar_or_none() {
    for failures in [0, 3] {
        let progress = Progress { failures, ..progress() };
        for width in 0..60 {
            let line = progress::line(&progress, 3, 0, width, Style::PLAIN);
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let bar = |width: usize| {
            progress::line(&progress, 3, 0, width, Style::PLAIN)
                .matches('━')
                .count()
        };
        assert_eq!(bar(59), 24);
        assert_eq!(bar(8), 0);
        assert!((4..24).contains(&bar(30)), "{}", bar(30));
    }
}

#[test]
fn the_progress_line_tells_the_numbers_and_fits_the_terminal() {
    let line = progress::line(&progress(), 3, 0, 80, Style::PLAIN);
    assert_eq!(line, "⠋ 10/40 ━━━━━━━━━━━━━━━━━━━━━━━━  2 failed  Widget is valid");
    let line = progress::line(&progress(), 3, 1, 50, Style::PLAIN);
    assert_eq!(line, "⠙ 10/40 ━━━━━━━━━━━━━━━━━━━━━━━━  2 failed  Widge…");
    let booting = progress::line(&Progress::default(), 3, 0, 80, Style::PLAIN);
    assert_eq!(booting, "⠋ queued (3 s)");
}

#[test]
fn of_the_bar_as_much_is_green_as_is_done() {
    let line = progress::line(
        &Progress {
            failures: 0,
            ..progress()
        },
        3,
        0,
        80,
        Style::COLOURED,
    );
    assert!(
        line.contains("\x1b[32m━━━━━━\x1b[0m\x1b[2m━━━━━━━━━━━━━━━━━━\x1b[0m"),
        "{line:?}"
    );
}

#[test]
fn an_excerpt_has_two_lines_around_the_one_that_matters() {
    let text = "a\nb\nc\nd\ne\nf\n";
    let shown = source::excerpt(text, 4, Style::PLAIN);
    assert_eq!(shown, "  2 │ b\n  3 │ c\n▸ 4 │ d\n  5 │ e\n  6 │ f\n");
    assert_eq!(source::excerpt(text, 1, Style::PLAIN), "▸ 1 │ a\n  2 │ b\n  3 │ c\n");
    assert_eq!(source::excerpt(text, 7, Style::PLAIN), "", "the file is shorter by now");
    assert_eq!(source::excerpt(text, 0, Style::PLAIN), "");
}

#[test]
fn only_places_in_the_app_are_read() {
    let place = source::place;
    assert_eq!(place("spec/a_spec.rb:16:in 'block'"), Some(("spec/a_spec.rb", 16)));
    for outside in [
        "/etc/x.rb:1",
        "[rails] a.rb:1:in 'b'",
        "../a.rb:1",
        "a/../../b.rb:2",
        "a.rb",
        "a.rb:x",
        "~/a.rb:1",
    ] {
        assert_eq!(place(outside), None, "{outside}");
    }
}

#[test]
fn fields_are_below_each_other_and_lists_of_alike_things_are_tables() {
    let answer = json!({
        "state": "ready", "queued": 0, "empty": [], "flags": [true, null],
        "runs": {"modes": {"fork": 2}},
        "columns": [{"name": "id", "null": false}, {"name": "title", "limit": 80, "null": true}],
    });
    let shown = data::show(&answer, None, Style::PLAIN);
    assert_eq!(
        shown,
        "state   ready\nqueued  0\nflags   yes, –\nruns\n  modes\n    fork  2\n\
         columns\n  name   null  limit\n  id     no\n  title  yes   80\n"
    );
}

#[test]
fn what_says_nothing_has_no_line_and_no_column_and_nothing_at_all_is_a_dash() {
    let answer = json!({
        "matched": 1, "pending": [], "runs": {"modes": {}}, "to": null,
        "rows": [{"path": "/a", "defaults": {}, "at": null}],
    });
    assert_eq!(
        data::show(&answer, None, Style::PLAIN),
        "matched  1\nrows\n  path\n  /a\n"
    );
    assert_eq!(data::show(&json!({"findings": []}), None, Style::PLAIN), "–\n");
}

#[test]
fn what_has_parts_is_one_line_in_a_table() {
    let answer = json!({"columns": ["path", "constraints", "defaults"], "rows": [
        ["/a", {"id": "/\\d+/", "matches": ["one", "two"]}, {"format": "json", "more": {"a": 1}}],
        ["/b", {}, null],
    ]});
    assert_eq!(
        data::show(&answer, None, Style::PLAIN),
        "path  constraints                     defaults\n\
         /a    id: /\\d+/, matches: [one, two]  format: json, more: {a: 1}\n/b\n"
    );
}

#[test]
fn columns_of_all_rows_come_before_those_of_some() {
    let answer = json!({"callbacks": [
        {"kind": "before", "only": ["show"], "at": "a.rb:1"},
        {"kind": "after", "at": "a.rb:2", "if": "x"},
    ]});
    let shown = data::show(&answer, None, Style::PLAIN);
    assert!(shown.starts_with("callbacks\n  kind    at      only  if\n"), "{shown}");
}

#[test]
fn rows_with_named_columns_are_one_table_without_columns_that_say_nothing() {
    let answer = json!({"columns": ["verb", "path", "engine"], "rows": [["GET", "/a", null], ["POST", "/long", null]]});
    let shown = data::show(&answer, None, Style::PLAIN);
    assert_eq!(shown, "verb  path\nGET   /a\nPOST  /long\n");
}

#[test]
fn a_table_is_narrowed_to_the_terminal_at_its_widest_column() {
    let answer = json!({"rows": [["GET", "a".repeat(100)]], "columns": ["verb", "path"]});
    let shown = data::show(&answer, Some(30), Style::PLAIN);
    assert!(shown.lines().all(|line| line.chars().count() <= 30), "{shown}");
    assert!(shown.contains("GET   aaaaaaa"), "{shown}");
    assert!(shown.contains('…'), "{shown}");
}

#[test]
fn the_width_is_counted_in_columns_and_not_in_characters() {
    assert_eq!(data::cut("日本語", 6), "日本語");
    assert_eq!(data::cut("日本語", 5), "日本…");
    assert_eq!(data::cut("abc", 2), "a…");
}

fn report() -> Report {
    let failure = json!({
        "id": "spec/a_spec.rb[1:2]", "description": "A fails", "file": "spec/a_spec.rb", "line": 15,
        "rerun": "spec/a_spec.rb[1:2]", "class": "RSpec::Expectations::ExpectationNotMetError",
        "message": "\nexpected: 1\n     got: 2\n", "diff": "@@ -1 +1 @@\n-1\n+2",
        "backtrace": ["spec/a_spec.rb:16:in 'block'"], "seconds": 0.5,
        "also": [{"id": "spec/a_spec.rb[1:3]", "description": "A fails, too"}],
    });
    let report = json!({
        "run_id": "run-1", "outcome": "failed", "mode": "fork", "seed": 7, "command": "bundle exec rspec spec/a_spec.rb",
        "summary": {"examples": 4, "failures": 2, "pending": 1, "errors_outside": 0, "not_run": 0, "seconds": 1.25},
        "failures": [failure], "timing": {"boot": 0.0, "wait": 0.0, "load": 0.0, "run": 1.25},
        "pending": [{"id": "spec/a_spec.rb[1:4]", "description": "A waits", "reason": "later"}],
        "warnings": ["coverage is silenced"],
    });
    serde_json::from_value(report).unwrap()
}

#[test]
fn a_failure_has_its_place_message_diff_source_and_the_command_that_runs_it_again() {
    let excerpt = |frame: &str| source::excerpt("a\nb\nc\n", usize::from(frame.starts_with("spec/")) * 2, Style::PLAIN);
    let shown = report::failure(1, &report().failures[0], &excerpt, Style::PLAIN);
    assert_eq!(
        shown,
        "\n1. A fails\n   spec/a_spec.rb:15\n\n   expected: 1\n        got: 2\n\n   @@ -1 +1 @@\n   -1\n   +2\n\n     1 │ a\n   \
         ▸ 2 │ b\n     3 │ c\n\n   spec/a_spec.rb:16:in 'block'\n   rerun: coatepec run 'spec/a_spec.rb[1:2]'\n"
    );
    let shown = report::body(&report(), &excerpt, Style::PLAIN);
    assert_eq!(shown, "\npending A waits (later)\nwarning coverage is silenced\n");
}

#[test]
fn what_the_sandbox_kept_from_a_run_is_told_and_how_to_let_it() {
    let report = Report {
        held_back: vec!["A_TOKEN".to_owned(), "B\u{1b}_TOKEN".to_owned()],
        hint: Some("where tests are meant to do what `refused` lists: `rails_runtime_restart`".to_owned()),
        ..report()
    };
    let shown = report::body(&report, &|_| String::new(), Style::PLAIN);
    let told = "the sandbox kept from the app what looks like a secret: A_TOKEN, B\u{fffd}_TOKEN (`env: {keep: …}`";
    assert!(shown.contains(told), "{shown}");
    let summary = report::summary(&report, Style::PLAIN);
    let hint = "hint: where tests are meant to do what the sandbox refused: `coatepec restart`\n";
    assert!(summary.ends_with(hint), "{summary}");
}

#[test]
fn what_fails_like_an_earlier_one_says_so_in_a_few_lines() {
    let shown = report::also(2, "spec/a_spec.rb[1:3]", "A fails, too", "A fails", Style::PLAIN);
    assert_eq!(
        shown,
        "\n2. A fails, too\n   as of: A fails\n   rerun: coatepec run 'spec/a_spec.rb[1:3]'\n"
    );
}

#[test]
fn people_are_told_of_flags_and_not_of_arguments_of_tools() {
    let said = "raise `timeout_seconds`, or try `fork: \"never\"`; leave out `example` and call again";
    assert_eq!(
        words::of_shell(said),
        "raise `--timeout`, or try `--fork never`; leave out `--example` and run it again"
    );
    let shown = error::error(
        &Error::new(Kind::InvalidArguments, "`seed` is wrong").hint("call again"),
        Style::PLAIN,
    );
    assert_eq!(
        shown,
        "error: `--seed` is wrong [invalid_arguments]\nhint: run it again\n"
    );
}

#[test]
fn one_refused_selector_is_told_once() {
    let refused = json!({"refused": [{"selector": "a_spec.rb", "code": "x", "reason": "it is gone"}]});
    let wrong = Error::new(Kind::InvalidSelector, "`a_spec.rb` was refused: it is gone").details(refused);
    let shown = error::error(&wrong, Style::PLAIN);
    assert_eq!(shown, "error: `a_spec.rb` was refused: it is gone [invalid_selector]\n");
}

#[test]
fn a_run_that_a_call_was_answered_with_has_no_line_of_its_own() {
    let entry = |event: &str, outcome: &str| -> Entry {
        let entry = json!({"time": "", "event": event, "root": "/", "pid": 1, "run_id": "run-1", "outcome": outcome,
            "milliseconds": 1});
        serde_json::from_value(entry).unwrap()
    };
    let run = entry("run", "passed");
    assert!(log::told_by_its_call(&run, &[run.clone(), entry("call", "passed")]));
    assert!(!log::told_by_its_call(&run, &[run.clone(), entry("call", "running")]));
    assert!(!log::told_by_its_call(
        &entry("call", "passed"),
        &[entry("call", "passed")]
    ));
}

#[test]
fn the_last_line_says_the_outcome_the_counts_and_how_it_was_run() {
    let shown = report::summary(&report(), Style::PLAIN);
    assert_eq!(
        shown,
        "failed: 4 examples, 2 failed, 1 pending, 1 warning in 1.25 s (warm; seed 7)\n"
    );
    let late = Report {
        outcome: Outcome::TimedOut,
        reason: Some("the deadline passed in spec/a_spec.rb[1:1]".to_owned()),
        hint: Some("see `threads`".to_owned()),
        ..report()
    };
    let shown = report::summary(&late, Style::PLAIN);
    assert!(shown.starts_with("timed out: "), "{shown}");
    assert!(
        shown.ends_with("\nthe deadline passed in spec/a_spec.rb[1:1]\nhint: see the threads above\n"),
        "{shown}"
    );
}

#[test]
fn junit_has_the_numbers_of_the_run_and_a_case_for_each_example_that_is_told() {
    let xml = junit::junit(&[report()], &[]);
    let suite = r#"<testsuite name="coatepec" tests="4" failures="2" errors="0" skipped="1" time="1.250000">"#;
    assert!(xml.contains(suite), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 3, "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 2, "{xml}");
    assert!(xml.contains(r#"<skipped message="later"/>"#), "{xml}");
    assert!(
        xml.contains(r#"classname="spec.a_spec" name="A fails" file="spec/a_spec.rb" time="0.500000""#),
        "{xml}"
    );
}

#[test]
fn junit_of_several_runs_is_one_document() {
    let xml = junit::junit(&[report(), report()], &[]);
    assert_eq!(xml.matches("<?xml ").count(), 1, "{xml}");
    assert_eq!(xml.matches("<testsuite ").count(), 2, "{xml}");
    assert!(xml.contains("?>\n<testsuites>\n<testsuite "), "{xml}");
    assert!(xml.ends_with("</testsuite>\n</testsuites>\n"), "{xml}");
}

#[test]
fn junit_of_a_run_that_did_not_come_to_its_end_is_not_green() {
    let crashed = Report {
        outcome: Outcome::Crashed,
        reason: Some("killed by SEGV & \u{1b}<gone>".to_owned()),
        failures: Vec::new(),
        summary: Summary::default(),
        ..report()
    };
    let xml = junit::junit(&[crashed], &[]);
    assert!(xml.contains(r#"errors="1""#), "{xml}");
    assert!(
        xml.contains("<error message=\"killed by SEGV &amp; \u{fffd}&lt;gone&gt;\"/>"),
        "{xml}"
    );
}

#[test]
fn each_finding_of_the_doctor_has_its_fix_below_it() {
    let findings = [
        Finding::ok("ruby", "3.3"),
        Finding::failed("migrations", "1 pending:\n20250101", "bin/rails db:migrate"),
        Finding::skipped("boot", "later"),
    ];
    assert_eq!(
        checkup::checkup(&findings, None, Style::PLAIN),
        "✓ ruby        3.3\n✗ migrations  1 pending:\n              20250101\n              → bin/rails db:migrate\n\
         – boot        later\n\n1 to mend, 0 to look at\n"
    );
}

#[test]
fn the_doctor_reads_forks_sandbox_and_migrations_from_what_tools_say() {
    assert_eq!(checkup::forks(&json!({})).state, State::Skipped);
    assert_eq!(checkup::forks(&json!({"forking": {"safe": true}})).state, State::Ok);
    let threads = json!(["poller (config/initializers/p.rb:3)"]);
    let spawned = checkup::forks(&json!({"forking": {"safe": false, "reason": "a thread", "extra_threads": threads}}));
    assert_eq!(spawned.state, State::Warning);
    assert!(
        spawned.told.contains("poller (config/initializers/p.rb:3)"),
        "{}",
        spawned.told
    );
    let partial = json!({"sandbox": {"mode": "standard", "parts": [
        {"part": "limits", "enforced": "full"}, {"part": "network", "enforced": "none", "why": "old kernel"},
    ]}});
    let partial = checkup::sandbox(&partial);
    let below_tmp = json!({"sandbox": {"mode": "standard", "parts": [
        {"part": "filesystem", "enforced": "partial", "why": "the app lies in /tmp, which is writable"}
    ]}});
    let fix = checkup::sandbox(&below_tmp).fix.unwrap();
    assert!(
        fix.contains("keep the app elsewhere") && !fix.contains("kernel"),
        "{fix}"
    );
    assert_eq!(partial.state, State::Warning);
    assert_eq!(partial.told, "standard\nlimits: full\nnetwork: none (old kernel)");
    let whole = json!([{"part": "limits", "enforced": "full"}]);
    let lost = checkup::sandbox(&json!({
        "sandbox": {"mode": "standard", "parts": whole}, "not_there": ["write: ap"], "held_back": ["A_TOKEN"],
    }));
    assert_eq!(lost.state, State::Warning);
    assert!(lost.told.contains("nothing is there: write: ap"), "{}", lost.told);
    assert!(lost.told.contains("`env.keep` has them: A_TOKEN"), "{}", lost.told);
    assert!(lost.fix.unwrap().contains("coatepec restart"));
    assert_eq!(checkup::migrations(&json!({"pending_count": 0})).state, State::Ok);
    let pending = checkup::migrations(&json!({"pending_count": 3, "pending_migrations": [
        {"version": "20250101", "name": "a", "file": "db/migrate/20250101_a.rb"}, {"version": "20250102", "name": "b"}
    ]}));
    assert_eq!(
        (pending.state, pending.told.as_str()),
        (
            State::Failed,
            "3 pending: db/migrate/20250101_a.rb, 20250102 b, and 1 more"
        )
    );
}

#[test]
fn an_error_of_a_file_quotes_it_as_it_is() {
    let wrong = coatepec::config::Config::parse("timeout_seconds: 5\n").unwrap_err();
    let text = error::error(&wrong, Style::PLAIN);
    assert!(text.contains("unknown key `timeout_seconds`"), "{text}");
    assert!(!text.contains("--timeout"), "{text}");
}
