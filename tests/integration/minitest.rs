//! Minitest: what may be named, what then runs, and what is told of it.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, has_text};

const SHAPES: &str = "test/lines/shapes_test.rb";

/// What ran, by class and method.
fn ran(report: &Value) -> Vec<String> {
    let lists = ["passing", "failures", "pending"].map(|list| report[list].as_array().cloned().unwrap_or_default());
    let names = lists.concat().into_iter().map(|entry| {
        let id = entry["id"].as_str().unwrap_or_default().to_owned();
        id.split_once('#').map_or(id.clone(), |(_, name)| name.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn run(server: &Server, paths: &[&str], more: Value) -> Value {
    let mut arguments = json!({"include_passing": true});
    if let (Value::Object(all), Value::Object(more)) = (&mut arguments, more) {
        all.extend(more);
    }
    server.run_with(paths, arguments)
}

#[test]
fn files_directories_and_packs_run_in_a_fork_and_in_a_fresh_process() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let table: &[(&[&str], u64)] = &[
        (&["test/models/widget_test.rb"], 3),
        (&["test/models"], 3),
        (&["test/models", "test/models/widget_test.rb"], 3),
        (&["test/integration", "packs/catalog/test"], 2),
        (&["engines/billing/test"], 1),
        (&["gems/money_math/test"], 1),
    ];
    for (paths, examples) in table {
        for (fork, mode) in [("always", "fork"), ("never", "spawn")] {
            let report = run(&server, paths, json!({"fork": fork}));
            let what = format!("{paths:?} {fork}: {report}");
            wrong.equal(&what, &report["outcome"], "passed");
            wrong.equal(&what, &report["mode"], mode);
            wrong.equal(&what, report["summary"]["examples"].as_u64(), Some(*examples));
            wrong.check(report["summary"]["assertions"].as_u64() >= Some(*examples), || {
                what.clone()
            });
            wrong.check(has_text(&report["command"], "bin/rails test "), || what.clone());
        }
    }
    wrong.none();
    server.stop();
}

/// As RSpec's own rules are: the test at the line, else the test, class or block that begins nearest before it.
#[test]
fn a_line_stands_for_the_test_around_it_or_what_begins_before_it() {
    const SHAPES_TEST: &[&str] = &[
        "ShapesTest#test_by_method",
        "ShapesTest#test_by_name",
        "ShapesTest#test_generated_one",
        "ShapesTest#test_generated_two",
        "ShapesTest#test_in_one_line",
        "ShapesTest#test_it_has_a_slug",
    ];
    const GENERATED: &[&str] = &["ShapesTest#test_generated_one", "ShapesTest#test_generated_two"];
    const NESTED: &[&str] = &[
        "shapes in words::nested#test_0001_runs, too",
        "shapes in words::nested#test_0002_has # and : in its name",
    ];
    let table: &[(&str, &[&str])] = &[
        (":1", &[]),
        (":4", SHAPES_TEST),
        (":8", SHAPES_TEST),
        (":11", &["ShapesTest#test_by_method"]),
        (":13", &["ShapesTest#test_by_method"]),
        (":15", &["ShapesTest#test_by_method"]),
        (":17", &["ShapesTest#test_by_name"]),
        (":20", GENERATED),
        (":22", GENERATED),
        (":26", &["ShapesTest#test_in_one_line"]),
        (":30", &["ShapesTest#test_in_one_line"]),
        (":33", &["PlainShapesTest#test_it_needs_no_rails"]),
        (":39", &["PlainShapesTest#test_it_needs_no_rails"]),
        (":50", NESTED),
        (":52", &NESTED[..1]),
        (":59", &NESTED[1..]),
        (
            ":12:52",
            &[
                "ShapesTest#test_by_method",
                "shapes in words::nested#test_0001_runs, too",
            ],
        ),
    ];
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (lines, names) in table {
        let report = run(&server, &[&format!("{SHAPES}{lines}")], json!({}));
        wrong.equal(lines, ran(&report), names.to_vec());
        let outcome = if names.is_empty() { "no_examples" } else { "passed" };
        wrong.equal(lines, &report["outcome"], outcome);
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_name_stands_for_a_test_or_a_class_and_a_text_for_all_that_contain_it() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let names: &[(&str, &[&str])] = &[
        ("#test_by_method", &["ShapesTest#test_by_method"]),
        ("#ShapesTest#test_by_name", &["ShapesTest#test_by_name"]),
        ("#PlainShapesTest", &["PlainShapesTest#test_it_needs_no_rails"]),
        (
            "#shapes in words::nested#test_0002_has # and : in its name",
            &["shapes in words::nested#test_0002_has # and : in its name"],
        ),
        // As the text of a `test "by_method"`, which has the same name.
        ("#by_method", &["ShapesTest#test_by_method"]),
        ("#by_metho", &[]),
        ("#test_by_method ", &[]),
    ];
    for (name, tests) in names {
        let report = run(&server, &[&format!("{SHAPES}{name}")], json!({}));
        wrong.equal(name, ran(&report), tests.to_vec());
        wrong.check(!tests.is_empty() || has_text(&report["reason"], "none of 10"), || {
            format!("{name}: {report}")
        });
    }
    let texts: &[(&str, &[&str])] = &[
        ("by name", &["ShapesTest#test_by_name"]),
        ("PlainShapes", &["PlainShapesTest#test_it_needs_no_rails"]),
        (
            "has # and :",
            &["shapes in words::nested#test_0002_has # and : in its name"],
        ),
        ("/by name/", &[]),
        ("--help", &[]),
    ];
    for (text, tests) in texts {
        let report = run(&server, &[SHAPES], json!({"example": text}));
        wrong.equal(text, ran(&report), tests.to_vec());
    }
    wrong.none();
    server.stop();
}

/// The rest may pass, but it is not what was asked for.
#[test]
fn what_matches_nothing_beside_what_does_is_not_passed_over() {
    let app = App::copy();
    let server = app.server();
    let gone = format!("{SHAPES}#test_gone");
    let report = run(&server, &["test/models/widget_test.rb", &gone], json!({}));
    assert_eq!(report["outcome"], "no_examples", "{report}");
    assert!(has_text(&report["reason"], &gone), "{report}");
    assert_eq!(report["summary"]["examples"], 3, "{report}");
    server.stop();
}

#[test]
fn what_a_framework_does_not_have_and_a_mixture_of_both_is_refused() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let table: &[(&[&str], &str, &str)] = &[
        (&["test/models/widget_test.rb[1:2]"], "malformed_suffix", "#test_name"),
        (&["spec/models/widget_spec.rb#test_it"], "malformed_suffix", "[1:2]"),
        (&["test/models/widget_test.rb#"], "malformed_suffix", "#test_name"),
        (&["spec/models", "test/models"], "mixed_frameworks", "call twice"),
        (&["packs/catalog"], "mixed_frameworks", "call twice"),
        (
            &["test/models/wigdet_test.rb"],
            "not_found",
            "test/models/widget_test.rb",
        ),
        (&["app/models/widget.rb"], "outside_roots", "test/models/widget_test.rb"),
        (&["test/test_helper.rb"], "wrong_kind", "name spec or test files"),
    ];
    for (paths, code, hint) in table {
        let refusal = server.begin(paths.iter().copied(), json!({})).wait().refusal();
        let what = format!("{paths:?}: {refusal}");
        wrong.equal(&what, &refusal["refused"][0]["code"], *code);
        wrong.equal(&what, &refusal["refused"][0]["selector"], paths[paths.len() - 1]);
        wrong.check(has_text(&refusal, hint), || what.clone());
    }
    wrong.none();
    server.stop();
}

#[test]
fn each_failure_is_run_again_alone_by_its_selector() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for name in ["fails", "fails_in_teardown", "odd_names", "isolates"] {
        let report = server.run([format!("test/faults/{name}_test.rb")]);
        let failures = report["failures"].as_array().cloned().unwrap_or_default();
        wrong.check(!failures.is_empty(), || format!("{name}: {report}"));
        for failure in failures {
            let rerun = failure["rerun"].as_str().unwrap_or_default();
            let again = run(&server, &[rerun], json!({}));
            let ids = |report: &Value| {
                report["failures"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default()
                    .iter()
                    .map(|one| one["id"].clone())
                    .collect::<Vec<_>>()
            };
            wrong.equal(rerun, ids(&again), vec![failure["id"].clone()]);
            wrong.equal(rerun, again["summary"]["examples"].as_u64(), Some(1));
        }
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_failure_says_what_where_and_what_else_went_wrong() {
    let app = App::copy();
    let server = app.server();
    let report = server.run(["test/faults/fails_in_teardown_test.rb"]);
    let failure = &report["failures"][1];
    assert_eq!(failure["class"], "Minitest::Assertion", "{report}");
    assert_eq!(failure["message"], "Expected: 2\n  Actual: 1", "{report}");
    assert_eq!(failure["file"], "test/faults/fails_in_teardown_test.rb", "{report}");
    assert!(
        has_text(&failure["backtrace"][0], "fails_in_teardown_test.rb:9"),
        "{report}"
    );
    assert_eq!(failure["parts"][0]["message"], "in teardown", "{report}");
    let report = server.run(["test/faults/fails_test.rb#test_2_fails"]);
    assert!(has_text(&report["failures"][0]["diff"], "-b\n+B"), "{report}");
    assert_eq!(
        report["failures"][0]["message"], "Expected and actual differ.",
        "{report}"
    );
    server.stop();
}

#[test]
fn the_seed_decides_the_order_and_the_first_failure_may_be_the_last() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let order = |report: &Value| {
        let passing = report["passing"].as_array().cloned().unwrap_or_default();
        passing.iter().map(|one| one["id"].to_string()).collect::<Vec<_>>()
    };
    let first = run(&server, &[SHAPES], json!({}));
    let seed = first["seed"].clone();
    wrong.check(has_text(&first["command"], &format!("--seed {seed}")), || {
        first.to_string()
    });
    let again = run(&server, &[SHAPES], json!({"seed": seed}));
    wrong.equal("the same seed", order(&again), order(&first));
    let spawned = run(&server, &[SHAPES], json!({"seed": seed, "fork": "never"}));
    wrong.equal("in a fresh process", order(&spawned), order(&first));
    let others = (1..=5).map(|seed| order(&run(&server, &[SHAPES], json!({"seed": seed}))));
    wrong.check(others.collect::<std::collections::BTreeSet<_>>().len() > 1, || {
        "five seeds have one order".to_owned()
    });
    let fast = run(&server, &["test/faults/fails_test.rb"], json!({"fail_fast": true}));
    wrong.equal("fail fast", &fast["outcome"], "failed");
    wrong.equal("fail fast", fast["summary"]["failures"].as_u64(), Some(1));
    wrong.equal("fail fast", fast["summary"]["not_run"].as_u64(), Some(5));
    wrong.check(has_text(&fast["warnings"], "stopped at the first failure"), || {
        fast.to_string()
    });
    wrong.none();
    server.stop();
}

/// One of them is warm at a time, and which one is told.
#[test]
fn both_frameworks_take_turns_and_edits_of_either_helper_are_noticed() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let test = "test/models/widget_test.rb";
    wrong.equal("first", &server.run([test])["outcome"], "passed");
    let again = server.run([test]);
    wrong.check(again["trigger"].is_null(), || again.to_string());
    let spec = server.run(["spec/models/tag_spec.rb"]);
    wrong.equal("a spec", &spec["outcome"], "passed");
    wrong.check(has_text(&spec["trigger"], "not RSpec's"), || spec.to_string());
    let back = server.run([test]);
    wrong.check(has_text(&back["trigger"], "not Minitest's"), || back.to_string());
    app.append("test/support/in_order.rb", "raise 'a broken helper'\n");
    let broken = server.run([test]);
    wrong.equal("a broken helper", &broken["outcome"], "load_error");
    app.edit("test/support/in_order.rb", "raise 'a broken helper'\n", "");
    let mended = server.run([test]);
    wrong.equal("a mended helper", &mended["outcome"], "passed");
    app.edit(test, "Big Wheel\", @widget", "Small Wheel\", @widget");
    let edited = server.run([test]);
    wrong.equal("an edited test", &edited["outcome"], "failed");
    wrong.check(edited["trigger"].is_null(), || edited.to_string());
    wrong.none();
    server.stop();
}
