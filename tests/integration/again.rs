//! The questions after a red run: again what failed, what is there, what fails now and then, and why.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, eventually, has_text};

fn ask(server: &Server, tool: &str, arguments: Value) -> Value {
    let listed = tool.replace("rails_test_", "rails_spec_");
    let answer = server.call(tool, arguments).wait();
    answer.success(&server.tool(&listed)["outputSchema"])
}

fn ids(list: &Value) -> Vec<String> {
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|one| one["id"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn what_failed_and_what_was_last_asked_for_is_run_again() {
    let app = App::copy();
    let server = app.server();
    for path in ["@failed", "@last"] {
        let refusal = server.begin([path], json!({})).wait().refusal();
        assert_eq!(refusal["code"], "invalid_selector", "{refusal}");
        assert!(has_text(&refusal["message"], path), "{refusal}");
    }
    let mut wrong = Deviations::default();
    for (red, green, count) in [
        ("spec/faults/fails_spec.rb", "spec/services/price_list_spec.rb", 7),
        ("test/faults/fails_test.rb", "test/models/widget_test.rb", 6),
    ] {
        let first = server.run([red]);
        let again = server.run(["@failed"]);
        wrong.equal(red, again["summary"]["examples"].as_u64(), Some(count));
        wrong.equal(red, ids(&again["failures"]), ids(&first["failures"]));
        wrong.equal(red, again["stood_for"].as_array().map(Vec::len), Some(count as usize));
        wrong.equal(green, &server.run([green])["outcome"], "passed");
        wrong.equal(green, again["summary"]["examples"].as_u64(), Some(count));
        let last = server.run(["@last"]);
        wrong.equal(green, last["stood_for"].clone(), json!([green]));
        wrong.equal(green, &last["outcome"], "passed");
    }
    app.write(
        "test/odd_test.rb",
        "require 'test_helper'\nclass OddTest < InOrder\ndef test_x = flunk\nend\n",
    );
    server.run(["test/odd_test.rb"]);
    app.edit("test/odd_test.rb", "= flunk", "= assert(true)");
    let mended = server.run(["@failed"]);
    wrong.equal("one is mended", mended["summary"]["examples"].as_u64(), Some(7));
    wrong.equal("one is mended", mended["summary"]["failures"].as_u64(), Some(6));
    wrong.equal(
        "the others stay",
        server.run(["@failed"])["summary"]["examples"].as_u64(),
        Some(6),
    );
    app.remove("test/faults/fails_test.rb");
    let refusal = server.begin(["@failed:minitest"], json!({})).wait().refusal();
    wrong.check(has_text(&refusal, "`test/faults/fails_test.rb`"), || {
        refusal.to_string()
    });
    wrong.none();
    server.stop();
}

/// Whatever became of a run, it was the last one, and what failed in it failed.
#[test]
fn a_run_that_did_not_come_to_its_end_is_the_last_one_all_the_same() {
    const GREEN: &str = "spec/services/price_list_spec.rb";
    const MARRED: &str = "spec/marred_spec.rb";
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (body, arguments, outcome) in [
        ("raise 'no'", json!({}), "load_error"),
        ("it('a') { }", json!({"example": "nothing has this"}), "no_examples"),
        (
            "it('a') { raise 'no' }; it('b') { sleep }",
            json!({"timeout_seconds": 3}),
            "timed_out",
        ),
    ] {
        app.write(MARRED, format!("RSpec.describe('marred') {{ {body} }}\n"));
        wrong.equal(outcome, &server.run([GREEN])["outcome"], "passed");
        wrong.equal(outcome, &server.run_with([MARRED], arguments)["outcome"], outcome);
        app.write(MARRED, "RSpec.describe('marred') { it('a') { }; it('b') { } }\n");
        let last = server.run_with(["@last"], json!({"example": "marred"}));
        wrong.equal(outcome, &last["stood_for"], &json!([MARRED]));
        wrong.equal(outcome, &last["summary"]["examples"], 2);
        wrong.equal(outcome, failed_now(&server), 0);
    }
    app.write(
        MARRED,
        "RSpec.describe('marred') { it('a') { raise 'no' }; it('b') { File.write('tmp/there', ''); sleep } }\n",
    );
    let call = server.begin([MARRED], json!({}));
    eventually("it hangs", || app.path("tmp/there").exists().then_some(()));
    server.cancel(&call);
    eventually("it is over", || {
        (server.status()["runs"]["outcomes"]["cancelled"] == 1).then_some(())
    });
    app.write(MARRED, "RSpec.describe('marred') { it('a') { }; it('b') { } }\n");
    // All of the file, since it was edited.
    wrong.equal("cancelled", failed_now(&server), 1);
    wrong.none();
    server.stop();
}

/// How many examples `@failed` stands for.
fn failed_now(server: &Server) -> usize {
    let answer = server.begin(["@failed"], json!({})).wait();
    match answer.is_refusal() {
        true => 0,
        false => {
            let report = answer.success(&server.tool("rails_spec_run")["outputSchema"]);
            report["stood_for"].as_array().map_or(0, Vec::len)
        }
    }
}

#[test]
fn a_selection_is_listed_with_lines_and_tags_and_nothing_of_it_runs() {
    let app = App::copy();
    app.write(
        "spec/tagged_spec.rb",
        "RSpec.describe('tags', :slow) { it('a', js: :browser) { abort }; 12.times { |n| it(\"b #{n}\") { } } }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    let list = ask(
        &server,
        "rails_spec_list",
        json!({"paths": ["spec/tagged_spec.rb"], "limit": 5}),
    );
    wrong.equal("total", list["total"].as_u64(), Some(13));
    wrong.equal("first", &list["examples"][0]["id"], "spec/tagged_spec.rb[1:1]");
    wrong.equal("description", &list["examples"][0]["description"], "tags a");
    wrong.equal("line", list["examples"][0]["line"].as_u64(), Some(1));
    let tags = list["examples"][0]["tags"].as_array().cloned().unwrap_or_default();
    wrong.check(
        tags.contains(&json!("slow")) && tags.contains(&json!("js: browser")),
        || list.to_string(),
    );
    wrong.equal("next", list["next_offset"].as_u64(), Some(5));
    let rest = ask(
        &server,
        "rails_spec_list",
        json!({"paths": ["spec/tagged_spec.rb"], "offset": 5}),
    );
    wrong.equal("rest", rest["examples"].as_array().map(Vec::len), Some(8));
    wrong.check(rest["next_offset"].is_null(), || rest.to_string());
    app.edit("spec/tagged_spec.rb", "it('a',", "it('new') { }; it('a',");
    let changed = ask(
        &server,
        "rails_spec_list",
        json!({"paths": ["spec/tagged_spec.rb"], "cursor": list["next_cursor"]}),
    );
    let descriptions = |page: &serde_json::Value| -> Vec<serde_json::Value> {
        let examples = page["examples"].as_array().cloned().unwrap_or_default();
        examples.iter().map(|one| one["description"].clone()).collect()
    };
    wrong.equal("the rest, after an edit", descriptions(&changed), descriptions(&rest));
    wrong.check(changed["changed"].is_string(), || changed.to_string());
    let lines = ask(
        &server,
        "rails_spec_list",
        json!({"paths": ["test/lines/shapes_test.rb:52:11"]}),
    );
    wrong.equal(
        "tests",
        ids(&lines["examples"]),
        vec![
            "test/lines/shapes_test.rb#ShapesTest#test_by_method".to_owned(),
            "test/lines/shapes_test.rb#shapes in words::nested#test_0001_runs, too".to_owned(),
        ],
    );
    let broken = ask(
        &server,
        "rails_spec_list",
        json!({"paths": ["spec/faults/syntax_error_spec.rb"]}),
    );
    wrong.equal("broken", &broken["report"]["outcome"], "load_error");
    let refusal = server.begin(["@last"], json!({})).wait().refusal();
    wrong.equal("a list is no run", &refusal["code"], "invalid_selector");
    wrong.equal("runs", &server.status()["runs"]["outcomes"], &json!({}));
    wrong.none();
    server.stop();
}

#[test]
fn a_flaky_pair_is_found_and_bisected_to_the_two_of_them() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (tool, path, pair) in [
        (
            "rails_spec_flaky_check",
            "spec/faults/order_dependent_spec.rb",
            [
                "spec/faults/order_dependent_spec.rb[1:2]",
                "spec/faults/order_dependent_spec.rb[1:4]",
            ],
        ),
        (
            "rails_test_flaky_check",
            "test/faults/order_dependent_test.rb",
            [
                "test/faults/order_dependent_test.rb#OrderDependentTest#test_pollutes",
                "test/faults/order_dependent_test.rb#OrderDependentTest#test_is_the_victim",
            ],
        ),
    ] {
        let beside = if path.starts_with("spec") {
            "spec/services"
        } else {
            "test/models"
        };
        let arguments = json!({"paths": [beside, path], "rounds": 40, "bisect": true, "budget_seconds": 600});
        let report = ask(&server, tool, arguments);
        wrong.equal(path, &report["outcome"], "flaky");
        wrong.equal(path, &report["ended"], "proven");
        wrong.equal(path, ids(&report["inconsistent"]), vec![pair[1].to_owned()]);
        let tally = &report["inconsistent"][0];
        wrong.equal(
            path,
            tally["failed"].as_u64().unwrap_or(0) + tally["passed"].as_u64().unwrap_or(0),
            report["rounds"].as_u64().unwrap_or(1),
        );
        let bisect = &report["bisect"];
        wrong.equal(path, &bisect["cause"], "order");
        wrong.equal(path, bisect["minimal"].clone(), json!(pair));
        wrong.equal(path, &bisect["complete"], true);
        for command in [&report["command"], &bisect["command"]] {
            wrong.check(has_text(command, "--seed"), || report.to_string());
        }
        let again = server.run_with(pair, json!({"seed": bisect["seed"]}));
        wrong.equal(path, ids(&again["failures"]), vec![pair[1].to_owned()]);
    }
    wrong.none();
    server.stop();
}

#[test]
fn what_is_random_is_told_with_its_rate_and_what_always_fails_apart_from_it() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let arguments =
        json!({"paths": ["test/faults/flaky_test.rb"], "rounds": 100, "bisect": true, "budget_seconds": 600});
    let report = ask(&server, "rails_spec_flaky_check", arguments);
    wrong.equal("random", &report["outcome"], "flaky");
    wrong.check(report["inconsistent"][0]["first_failing_seed"].is_u64(), || {
        report.to_string()
    });
    // The seed of Minitest is that of `rand`, too: the coin is in it.
    wrong.equal("random", &report["bisect"]["cause"], "alone");
    let arguments = json!({"paths": ["spec/faults/fails_spec.rb"], "rounds": 3});
    let report = ask(&server, "rails_spec_flaky_check", arguments);
    wrong.equal("always", &report["outcome"], "consistently_failing");
    wrong.equal("always", report["rounds"].as_u64(), Some(3));
    wrong.equal(
        "always",
        report["consistently_failing"].as_array().map(Vec::len),
        Some(7),
    );
    let report = ask(
        &server,
        "rails_spec_flaky_check",
        json!({"paths": ["test/models"], "rounds": 2}),
    );
    wrong.equal("never", &report["outcome"], "never_failed");
    let report = ask(
        &server,
        "rails_spec_flaky_check",
        json!({"paths": ["spec/faults/syntax_error_spec.rb"]}),
    );
    wrong.equal("not run", &report["outcome"], "not_run");
    wrong.equal("not run", &report["report"]["outcome"], "load_error");
    wrong.none();
    server.stop();
}

/// As above, where the seed of the examples is not that of `rand`.
#[test]
fn a_random_spec_is_told_with_its_rate() {
    let app = App::copy();
    let server = app.server();
    let arguments =
        json!({"paths": ["spec/faults/flaky_spec.rb"], "rounds": 100, "bisect": true, "budget_seconds": 600});
    let report = ask(&server, "rails_spec_flaky_check", arguments);
    assert_eq!(report["outcome"], "flaky", "{report}");
    let tally = &report["inconsistent"][0];
    assert_eq!(tally["id"], "spec/faults/flaky_spec.rb[1:1]", "{report}");
    let rounds = tally["failed"].as_u64().unwrap_or(0) + tally["passed"].as_u64().unwrap_or(0);
    assert_eq!(Some(rounds), report["rounds"].as_u64(), "{report}");
    let cause = report["bisect"]["cause"].as_str().unwrap_or_default();
    assert!(["chance", "alone"].contains(&cause), "{report}");
    server.stop();
}

/// The first time one thing, and each further time it hangs.
fn then_hangs(first: &str) -> String {
    format!(
        "RSpec.describe('x') {{ it('y') {{ sleep if File.exist?('tmp/again'); File.write('tmp/again', ''); {first} }} }}\n"
    )
}

#[test]
fn when_the_time_is_used_up_what_is_not_known_is_not_told() {
    let app = App::copy();
    app.write("spec/passes_once_spec.rb", then_hangs(""));
    app.write("spec/fails_once_spec.rb", then_hangs("raise 'no'"));
    let server = app.server();
    let mut wrong = Deviations::default();
    // What it takes to boot counts, too.
    server.run(["spec/models/tag_spec.rb"]);
    for (name, outcome, failing) in [("passes", "never_failed", 0), ("fails", "consistently_failing", 1)] {
        let arguments = json!({"paths": [format!("spec/{name}_once_spec.rb")], "budget_seconds": 4, "bisect": true});
        let report = ask(&server, "rails_spec_flaky_check", arguments);
        let what = report.to_string();
        wrong.equal(&what, &report["ended"], "budget");
        wrong.equal(&what, &report["outcome"], outcome);
        wrong.equal(&what, report["rounds"].as_u64(), Some(1));
        wrong.check(report["inconsistent"].is_null(), || what.clone());
        wrong.equal(&what, ids(&report["consistently_failing"]).len(), failing);
        if failing == 1 {
            wrong.equal(&what, &report["bisect"]["cause"], "unknown");
            wrong.equal(&what, &report["bisect"]["complete"], false);
        }
        app.remove("tmp/again");
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_flaky_check_that_is_cancelled_ends_at_once_and_leaves_nothing() {
    let app = App::copy();
    let server = app.server();
    for path in ["spec/faults/hangs_spec.rb", "test/faults/hangs_test.rb"] {
        let arguments = json!({"paths": [path], "timeout_seconds": 600, "budget_seconds": 900});
        let call = server.call("rails_spec_flaky_check", arguments);
        eventually("it runs", || (server.status()["state"] == "running").then_some(()));
        server.cancel(&call);
        eventually("it is over", || (server.status()["state"] != "running").then_some(()));
        let left = server.beside_the_warm_tree();
        assert!(left.is_empty(), "{path}: {left:?}");
    }
    assert_eq!(server.run(["spec/models/tag_spec.rb"])["outcome"], "passed");
    server.stop();
}

#[test]
fn a_list_keeps_within_the_bytes_of_an_answer_whatever_it_tells() {
    let app = App::copy();
    app.setting("max_result_bytes: 4096");
    app.write(
        "spec/many_spec.rb",
        "RSpec.describe('many') { 90.times { |n| it(\"no #{n} \" + 'x' * 60) { } } }\n",
    );
    for number in 0..100 {
        app.write(
            &format!("spec/broken/with_a_long_name_{number}_spec.rb"),
            "raise 'x' * 9000\n",
        );
    }
    let server = app.server();
    let list = |arguments: serde_json::Value| {
        let list = ask(&server, "rails_spec_list", arguments);
        assert!(list.to_string().len() <= 4096, "{list}");
        list
    };
    let (mut told, mut cursor) = (0, json!(null));
    loop {
        let mut arguments = json!({"paths": ["spec/many_spec.rb"], "limit": 500});
        if cursor.is_string() {
            arguments["cursor"] = cursor;
        }
        let page = list(arguments);
        told += page["examples"].as_array().map_or(0, Vec::len);
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(told, 90);
    let broken = list(json!({"paths": ["spec/broken"]}));
    assert_eq!(broken["report"]["outcome"], "load_error", "{broken}");
    assert!(broken["files"][0].is_string(), "{broken}");
    server.stop();
}
