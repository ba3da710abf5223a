//! What fails now and then: outside of the examples as well, and why.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, eventually, has_text, texts};

/// With more rounds than chance can need, unless `more` has fewer.
fn checked(server: &Server, path: &str, more: Value) -> Value {
    let mut arguments = json!({"paths": [path], "rounds": 60, "budget_seconds": 900});
    for (name, value) in more.as_object().cloned().unwrap_or_default() {
        arguments[name] = value;
    }
    let answer = server.call("rails_spec_flaky_check", arguments).wait();
    answer.success(&server.tool("rails_spec_flaky_check")["outputSchema"])
}

/// In the first run nothing happens.
fn from_the_second_run_on(what: &str) -> String {
    format!("File.exist?('tmp/again') ? ({what}) : File.write('tmp/again', '')")
}

fn test(name: &str, body: &str) -> String {
    format!("require 'test_helper'\nclass {name} < Minitest::Test\n{body}\nend\n")
}

#[test]
fn rounds_that_fail_outside_of_their_examples_are_told() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let exits = format!("at_exit {{ {} }}\n", from_the_second_run_on("exit 7"));
    app.write("test/exits_test.rb", test("ExitsTest", "def test_a = pass") + &exits);
    let hook = from_the_second_run_on("raise 'no'");
    let hook = format!("def self.run(*)\n{hook}\nsuper\nend\ndef test_a = pass");
    app.write("test/hook_test.rb", test("HookTest", &hook));
    let hook = from_the_second_run_on("raise 'no'");
    app.write(
        "spec/suite_spec.rb",
        format!("RSpec.configure {{ |c| c.after(:suite) {{ {hook} }} }}\nRSpec.describe('s') {{ it('a') {{ }} }}\n"),
    );
    for (path, part) in [
        ("test/exits_test.rb", "failed_at_exit"),
        ("test/hook_test.rb", "between the tests"),
        ("spec/suite_spec.rb", "after(:suite)"),
    ] {
        let report = checked(&server, path, json!({"bisect": true}));
        wrong.equal(path, &report["outcome"], "flaky");
        wrong.equal(path, &report["ended"], "proven");
        let tally = &report["inconsistent"][0];
        wrong.check(has_text(&tally["description"], part), || report.to_string());
        let rate = (tally["failed"].as_u64(), tally["passed"].as_u64());
        wrong.equal(path, rate, (Some(1), Some(1)));
        wrong.check(tally["id"].is_null() && tally["first_failing_seed"].is_u64(), || {
            report.to_string()
        });
        wrong.check(report["bisect"].is_null(), || report.to_string());
        app.remove("tmp/again");
    }
    let limits = json!({"rounds": 2, "timeout_seconds": 20});
    let report = checked(&server, "test/faults/hangs_at_exit_test.rb", limits);
    wrong.equal("hangs", &report["outcome"], "consistently_failing");
    wrong.equal("hangs", report["consistently_failing"][0]["failed"].as_u64(), Some(2));
    // Whatever the others do, the round is not what was asked for.
    app.write("spec/part_spec.rb", "RSpec.describe('p') { it('a') { raise 'no' } }\n");
    let report = checked(&server, "spec/part_spec.rb[1:1,1:7]", json!({}));
    wrong.equal("part", &report["outcome"], "not_run");
    wrong.equal("part", &report["rounds"], 0);
    wrong.check(
        has_text(&report["report"], "`spec/part_spec.rb[1:7]` matched nothing"),
        || report.to_string(),
    );
    app.write("test/skips_test.rb", test("SkipsTest", "def test_a = skip"));
    let report = checked(&server, "test/skips_test.rb", json!({}));
    wrong.equal("skips", &report["outcome"], "not_run");
    wrong.equal("skips", &report["report"]["outcome"], "all_pending");
    wrong.none();
    server.stop();
}

/// As it is by default: no seed makes it another one.
#[test]
fn what_fails_in_the_order_of_the_files_is_explained_by_it() {
    let app = App::copy();
    let write = |name: &str, body: &str| {
        let text = format!("RSpec.describe('{name}') {{ it('a') {{ {body} }}; it('b') {{ }} }}\n");
        app.write(&format!("spec/order/{name}_spec.rb"), text);
    };
    write("a_polluter", "$polluted = 1");
    write("b_bystander", "nil");
    write("c_second", "$polluted &&= 2");
    write("d_victim", "expect($polluted).not_to eq(2)");
    let server = app.server();
    let mut wrong = Deviations::default();
    for _ in 0..4 {
        let report = checked(&server, "spec/order", json!({"bisect": true, "rounds": 3}));
        wrong.equal("outcome", &report["outcome"], "consistently_failing");
        let bisect = &report["bisect"];
        wrong.equal("cause", &bisect["cause"], "order");
        wrong.equal("complete", &bisect["complete"], true);
        let minimal = ["a_polluter", "c_second", "d_victim"].map(|name| format!("spec/order/{name}_spec.rb[1:1]"));
        wrong.equal("minimal", &bisect["minimal"], &json!(minimal));
        let command = bisect["command"].as_str().unwrap_or_default();
        wrong.check(!command.contains("--seed") && command.contains("d_victim"), || {
            report.to_string()
        });
    }
    wrong.none();
    server.stop();
}

/// Fails without the setter, which is not always before it.
const NEEDS: &str = "SET = []
4.times { |number| define_method(\"test_fill_#{number}\") { pass } }
def test_sets = SET << 1
def test_needs = refute_empty(SET)";

#[test]
fn a_failure_is_named_by_any_selector_and_what_it_can_not_do_without_is_found() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let path = "test/needs_test.rb";
    app.write(path, test("NeedsTest", NEEDS));
    let pair = ["sets", "needs"].map(|name| format!("{path}#NeedsTest#test_{name}"));
    for named in [":6", "#test_needs"] {
        let failure = format!("{path}{named}");
        let report = checked(&server, path, json!({"bisect": true, "failure": failure}));
        let bisect = &report["bisect"];
        wrong.equal(named, &bisect["cause"], "needs_another");
        wrong.equal(named, bisect["minimal"].clone(), json!(pair));
        wrong.equal(named, &bisect["failure"], pair[1].as_str());
        wrong.check(has_text(&bisect["command"], "--seed"), || report.to_string());
    }
    let never = json!({"rounds": 2, "bisect": true, "failure": pair[0]});
    let report = checked(&server, path, never);
    wrong.equal("never", &report["bisect"]["cause"], "never_failed");
    let refused = |failure: &str, bisect: bool| {
        let arguments = json!({"paths": [path], "bisect": bisect, "failure": failure});
        server.call("rails_spec_flaky_check", arguments).wait().refusal()
    };
    for other in [
        "nonsense",
        "test/models/widget_test.rb",
        "test/needs_test.rb#test_nothing",
    ] {
        let refusal = refused(other, true);
        wrong.equal(other, &refusal["code"], "invalid_selector");
        wrong.check(has_text(&refusal["message"], other), || refusal.to_string());
    }
    wrong.equal("without bisect", &refused(&pair[0], false)["code"], "invalid_arguments");
    wrong.none();
    server.stop();
}

#[test]
fn what_is_flaky_is_explained_before_what_always_fails_and_chance_is_no_order() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let path = "test/chance_test.rb";
    // Not random, so that the same happens each time: of four runs the second passes.
    let body = "def test_always = flunk
def test_other = pass
def test_then
  runs = File.exist?('tmp/again') ? File.size('tmp/again') : 0
  File.write('tmp/again', '.' * (runs + 1))
  assert_equal(1, runs % 4)
end";
    app.write(path, test("ChanceTest", body));
    let report = checked(&server, path, json!({"rounds": 2, "bisect": true}));
    wrong.equal("chance", &report["outcome"], "flaky");
    let bisect = &report["bisect"];
    wrong.equal("chance", &bisect["failure"], "test/chance_test.rb#ChanceTest#test_then");
    wrong.equal("chance", &bisect["cause"], "chance");
    let (failed, runs) = (bisect["failed"].as_u64(), bisect["runs"].as_u64());
    wrong.check(failed > Some(0) && failed < runs, || report.to_string());
    for always in [
        "spec/faults/fails_spec.rb[1:2]",
        "test/faults/fails_test.rb#test_4_flunks",
    ] {
        let report = checked(&server, always, json!({"rounds": 2, "bisect": true}));
        wrong.equal(always, &report["bisect"]["cause"], "always");
    }
    wrong.none();
    server.stop();
}

/// Each time it runs it tells so, and goes on only if it is to.
const WAITS: &str = "def test_a
  runs = File.exist?('tmp/runs') ? File.size('tmp/runs') : 0
  File.write('tmp/runs', '.' * (runs + 1))
  sleep 0.01 until File.exist?(\"tmp/go#{runs + 1}\")
end";

#[test]
fn rounds_are_of_the_same_files_or_it_is_told_which_have_changed() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let path = "test/waits_test.rb";
    app.write(path, test("WaitsTest", WAITS));
    let runs = |wanted: u64| {
        let ran = || std::fs::metadata(app.path("tmp/runs")).is_ok_and(|found| found.len() == wanted);
        eventually("the next round runs", || ran().then_some(()));
    };
    let model = || app.append("app/models/widget.rb", "# saved\n");
    let view = || app.append("app/views/pages/home.html.erb", "<p>saved</p>\n");
    let itself = || app.append(path, "# saved\n");
    let settings = || app.setting("max_output_bytes: 100000");
    let settings_before = std::fs::read_to_string(app.path(".coatepec.yml")).unwrap_or_default();
    for (what, save, fork, told) in [
        (
            "a class",
            &model as &dyn Fn(),
            "auto",
            Some("app/models/widget.rb was modified"),
        ),
        (
            "in a fresh process",
            &model,
            "never",
            Some("app/models/widget.rb was modified"),
        ),
        (
            "a view",
            &view,
            "auto",
            Some("app/views/pages/home.html.erb was modified"),
        ),
        ("the test", &itself, "auto", Some("test/waits_test.rb was modified")),
        ("the settings", &settings, "auto", Some(".coatepec.yml was modified")),
        ("its own output", &|| app.write("tmp/output", "1"), "auto", None),
    ] {
        app.write(".coatepec.yml", format!("{settings_before}fork: {fork}\n"));
        let arguments = json!({"paths": [path], "rounds": 2, "budget_seconds": 900, "bisect": true});
        let call = server.call("rails_spec_flaky_check", arguments);
        runs(1);
        app.write("tmp/go1", "");
        runs(2);
        save();
        app.write("tmp/go2", "");
        let report = call
            .wait()
            .success(&server.tool("rails_spec_flaky_check")["outputSchema"]);
        wrong.equal(what, &report["outcome"], "never_failed");
        wrong.equal(
            what,
            &report["ended"],
            if told.is_some() { "changed" } else { "rounds" },
        );
        wrong.equal(what, &report["rounds"], if told.is_some() { 1 } else { 2 });
        wrong.equal(what, texts(&report["changed"]), Vec::from_iter(told));
        for file in ["tmp/runs", "tmp/go1", "tmp/go2"] {
            app.remove(file);
        }
    }
    wrong.none();
    server.stop();
}

/// A selection that is not what it seems is no better known after ten rounds of it.
#[test]
fn a_check_warns_of_what_a_run_of_the_same_warns_of() {
    let app = App::copy();
    app.write(
        "spec/focus_spec.rb",
        "RSpec.configure { |c| c.filter_run_when_matching :focus }\n\
         RSpec.describe('f') { fit('a') { }; it('b') { } }\n",
    );
    let server = app.server();
    let run = server.run(["spec/focus_spec.rb:77"]);
    let check = checked(&server, "spec/focus_spec.rb:77", json!({"rounds": 2}));
    assert_eq!(check["outcome"], "never_failed", "{check}");
    assert!(has_text(&run["warnings"], "line 77"), "{run}");
    assert_eq!(check["warnings"], run["warnings"]);
    let told = app.coatepec(&["flaky", "spec/focus_spec.rb:77", "--rounds", "2"]);
    assert!(told.out.contains("line 77 is none of it"), "{told:?}");
    server.stop();
}
