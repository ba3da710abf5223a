//! What a run reports, and what the arguments of a call change about it.

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup, has_text, texts};

const WIDGET: &str = "spec/models/widget_spec.rb";

fn counts(report: &Value) -> [u64; 5] {
    ["examples", "failures", "pending", "errors_outside", "not_run"]
        .map(|name| report["summary"][name].as_u64().unwrap_or(u64::MAX))
}

#[test]
fn a_passing_run_says_so_in_few_words_and_each_argument_has_its_effect() {
    let app = App::copy();
    app.write(
        "spec/models/chatty_spec.rb",
        "RSpec.describe('x') { it('talks') { puts 'said grüße' }; it('warns') { warn 'careful' } }\n",
    );
    let server = app.server();
    let mut wrong = Deviations::default();
    passing(&server, &mut wrong);
    repeatable(&server, &mut wrong);
    narrowed(&server, &mut wrong);
    stdout(&server, &mut wrong);
    stopped_early(&server, &mut wrong);
    wrong.none();
    server.stop();
}

fn passing(server: &Server, wrong: &mut Deviations) {
    let report = server.run([WIDGET]);
    wrong.equal("outcome", &report["outcome"], "passed");
    wrong.equal("mode", &report["mode"], "fork");
    wrong.equal("counts", counts(&report), [10, 0, 0, 0, 0]);
    wrong.check(report["timing"]["boot"].as_f64() > Some(0.0), || {
        format!("the first call boots: {report}")
    });
    wrong.check(report["run_id"].is_string() && report["seed"].is_u64(), || {
        format!("id or seed: {report}")
    });
    wrong.equal(
        "command",
        &report["command"],
        format!("bundle exec rspec {WIDGET}").as_str(),
    );
    for field in [
        "failures",
        "passing",
        "stdout",
        "stderr",
        "warnings",
        "reason",
        "hint",
        "not_run",
        "unfinished",
        "cut",
    ] {
        wrong.check(report.get(field).is_none(), || {
            format!("{field} in a passing report: {report}")
        });
    }
    let again = server.run([WIDGET]);
    wrong.equal("boot of a warm call", &again["timing"]["boot"], 0.0);
    wrong.check(again["run_id"] != report["run_id"], || "two runs, one id".into());
    wrong.check(again.get("trigger").is_none(), || format!("nothing changed: {again}"));
    let passing = server.run_with([WIDGET], json!({"include_passing": true}));
    let listed = passing["passing"].as_array().map_or(0, Vec::len);
    wrong.equal("include_passing", listed, 10);
}

/// The seed decides the order, and comes back; without one, each run has its own.
fn repeatable(server: &Server, wrong: &mut Deviations) {
    let order = |arguments: Value| {
        let mut arguments = arguments;
        arguments["include_passing"] = json!(true);
        let report = server.run_with(["spec/faults/order_dependent_spec.rb"], arguments);
        let ids = report["passing"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| one["id"].to_string());
        (
            report["seed"].clone(),
            report["command"].to_string(),
            ids.collect::<Vec<_>>(),
            report["outcome"].clone(),
        )
    };
    let once = order(json!({"seed": 4711}));
    wrong.equal("the seed comes back", &once.0, 4711);
    wrong.check(once.1.contains("--seed 4711"), || {
        format!("the command has no seed: {}", once.1)
    });
    wrong.equal("the same seed, the same run", order(json!({"seed": 4711})), once);
    let runs: Vec<_> = (0..6).map(|_| order(json!({}))).collect();
    wrong.check(runs.iter().any(|run| run.0 != runs[0].0), || {
        "six runs have the same seed".into()
    });
    wrong.check(runs.iter().all(|run| run.1.contains("--seed ")), || {
        "the command repeats no order that a group has asked for".into()
    });
    let told = server.run_with(["spec/faults/order_dependent_spec.rb"], json!({"seed": runs[0].0}));
    wrong.equal("a seed that was told repeats that run", &told["outcome"], &runs[0].3);

    let said = |seed: Value| {
        let arguments = json!({"include_stdout": "always", "seed": seed});
        server.run_with(["spec/faults/prints_seed_spec.rb"], arguments)["stdout"]["text"].to_string()
    };
    let (one, two) = (said(json!(7)), said(json!(7)));
    let line = |text: &str, word: &str| text.split("\\n").find(|line| line.contains(word)).map(str::to_owned);
    wrong.equal("rand follows the seed", line(&one, "rand "), line(&two, "rand "));
    wrong.check(line(&one, "secure ") != line(&two, "secure "), || {
        "two forks have the same secure random".into()
    });
    wrong.check(line(&one, "random ") != line(&two, "random "), || {
        "two forks have the same Random.new".into()
    });
}

/// By text, by line, by id, by directory.
fn narrowed(server: &Server, wrong: &mut Deviations) {
    let mut examples = |what: &str, paths: &[&str], arguments: Value, should: u64| {
        let report = server.run_with(paths, arguments);
        wrong.equal(
            &format!("{what} {paths:?}"),
            report["summary"]["examples"].as_u64(),
            Some(should),
        );
        wrong.equal(
            &format!("{what} {paths:?}"),
            &report["outcome"],
            if should == 0 { "no_examples" } else { "passed" },
        );
    };
    examples("text", &[WIDGET], json!({"example": "Widget its name"}), 3);
    examples(
        "text of another case",
        &[WIDGET],
        json!({"example": "WIDGET ITS NAME"}),
        0,
    );
    examples("text like an option", &[WIDGET], json!({"example": "--version"}), 0);
    examples("text like an expression", &[WIDGET], json!({"example": "its .*"}), 0);
    examples("line", &["spec/models/widget_spec.rb:9"], json!({}), 1);
    examples("lines", &["spec/models/widget_spec.rb:9:31"], json!({}), 2);
    examples("line of a group", &["spec/models/widget_spec.rb:8"], json!({}), 3);
    examples("id", &["spec/models/widget_spec.rb[1:2:1]"], json!({}), 1);
    examples("ids", &["spec/models/widget_spec.rb[1:2:1,1:3]"], json!({}), 3);
    examples(
        "lines and ids",
        &["spec/models/widget_spec.rb:9", "spec/models/widget_spec.rb[1:3:1]"],
        json!({}),
        2,
    );
    examples("unknown id", &["spec/models/widget_spec.rb[9:9]"], json!({}), 0);
    examples(
        "twice the same",
        &[WIDGET, WIDGET, "./spec//models/widget_spec.rb"],
        json!({}),
        10,
    );
    examples(
        "a file and a part of it",
        &[WIDGET, "spec/models/widget_spec.rb:9"],
        json!({}),
        10,
    );
    examples("directory", &["spec/services"], json!({}), 3);
    examples(
        "pack, engine and gem",
        &["packs/catalog/spec", "engines/billing/spec", "gems/money_math/spec"],
        json!({}),
        12,
    );
}

fn stdout(server: &Server, wrong: &mut Deviations) {
    let chatty = |word: &str| server.run_with(["spec/models/chatty_spec.rb"], json!({"include_stdout": word}));
    let (always, never, failures) = (chatty("always"), chatty("never"), chatty("failures"));
    wrong.equal(
        "always",
        &always["stdout"],
        &json!({"text": "said grüße\n", "bytes": 13, "dropped": 0}),
    );
    wrong.equal("stderr", &always["stderr"]["text"], "careful\n");
    wrong.check(never.get("stdout").is_none(), || {
        format!("stdout in spite of never: {never}")
    });
    wrong.check(failures.get("stdout").is_none(), || {
        format!("stdout of a passing run: {failures}")
    });
}

fn stopped_early(server: &Server, wrong: &mut Deviations) {
    let report = server.run_with(["spec/faults/fails_35_times_spec.rb"], json!({"fail_fast": true}));
    wrong.equal("fail_fast: outcome", &report["outcome"], "failed");
    wrong.equal("fail_fast: counts", counts(&report), [1, 1, 0, 0, 34]);
    wrong.equal("fail_fast: not run", texts(&report["not_run"]).len(), 34);
    wrong.check(has_text(&report["warnings"], "34"), || format!("no warning: {report}"));
    wrong.check(has_text(&report["command"], "--fail-fast"), || {
        format!("command: {report}")
    });
    let report = server.run(["spec/faults/fails_35_times_spec.rb"]);
    wrong.equal("the next run is not fail_fast", counts(&report), [35, 35, 0, 0, 0]);
    let also = report["failures"][0]["also"].as_array().map(Vec::len);
    wrong.equal("repeated failures are rolled up", also, Some(34));
}

/// Every field that a failure may have, by a spec that fails in the common ways.
#[test]
fn a_failing_run_tells_what_failed_where_and_how_to_run_it_again() {
    let app = App::copy();
    let server = app.server();
    let file = "spec/faults/fails_spec.rb";
    let report = server.run([file]);
    let mut wrong = Deviations::default();
    wrong.equal("outcome", &report["outcome"], "failed");
    wrong.equal("counts", counts(&report), [8, 7, 0, 0, 0]);
    let failure = |id: &str| {
        let all = report["failures"].as_array().into_iter().flatten();
        all.clone()
            .find(|failure| failure["id"] == format!("{file}[{id}]"))
            .cloned()
            .unwrap_or_default()
    };

    let text = failure("1:2");
    wrong.equal(
        "description",
        &text["description"],
        "A spec that fails compares texts of several lines",
    );
    wrong.equal("file", &text["file"], file);
    wrong.equal("line", &text["line"], 15);
    wrong.equal("rerun", &text["rerun"], format!("{file}[1:2]").as_str());
    wrong.equal("class", &text["class"], "RSpec::Expectations::ExpectationNotMetError");
    wrong.check(has_text(&text["message"], "compared using =="), || {
        format!("message: {text}")
    });
    wrong.check(has_text(&text["diff"], "-2\n+two"), || format!("diff: {text}"));
    wrong.check(!has_text(&text["message"], "@@"), || {
        format!("the diff is in the message, too: {text}")
    });
    wrong.check(text["seconds"].is_f64(), || format!("seconds: {text}"));

    let raised = failure("1:3");
    wrong.equal("class of an exception", &raised["class"], "RuntimeError");
    wrong.equal("its message", &raised["message"], "the count was not read");
    wrong.equal("its cause", &raised["causes"][0]["class"], "ArgumentError");
    wrong.equal("where the cause was", &raised["causes"][0]["line"], 20);

    let collected = failure("1:4");
    wrong.equal("parts", collected["parts"].as_array().map(Vec::len), Some(3));
    wrong.equal("where the second part was", &collected["parts"][1]["line"], 27);

    let matcher = failure("1:5");
    wrong.check(has_text(&matcher["message"], "expected Cog to cost 7 cents"), || {
        format!("message: {matcher}")
    });
    let app_frame = failure("1:7");
    wrong.equal(
        "class of an app's exception",
        &app_frame["class"],
        "ActiveRecord::RecordInvalid",
    );
    let frames = texts(&app_frame["backtrace"]);
    wrong.check(
        frames
            .first()
            .is_some_and(|frame| frame.starts_with("app/models/widget.rb:")),
        || format!("the app's frame comes first: {frames:?}"),
    );
    for number in 2..=7 {
        clean_backtrace(&mut wrong, &failure(&format!("1:{number}")));
    }
    let shared = failure("1:8:1:1");
    wrong.equal(
        "a shared example is run again by its id",
        &shared["rerun"],
        format!("{file}[1:8:1:1]").as_str(),
    );
    wrong.check(!has_text(&report, app.root().to_str().unwrap_or("?")), || {
        format!("an absolute path: {report}")
    });
    reruns(&server, &report, &mut wrong);
    wrong.none();
    server.stop();
}

/// The app's own frames, relative, and nothing of frameworks nor of ours.
fn clean_backtrace(wrong: &mut Deviations, failure: &Value) {
    let frames = texts(&failure["backtrace"]);
    let ours = |frame: &&str| frame.starts_with("spec/") || frame.starts_with("app/");
    wrong.check(!frames.is_empty() && frames.iter().all(ours), || {
        format!("frames that are not the app's in {}: {frames:?}", failure["id"])
    });
    wrong.check(!has_text(failure, "coatepec/"), || {
        format!("frames of ours in {}", failure["id"])
    });
}

fn reruns(server: &Server, report: &Value, wrong: &mut Deviations) {
    for failure in report["failures"].as_array().into_iter().flatten() {
        let rerun = failure["rerun"].as_str().unwrap_or_default();
        let again = server.run([rerun]);
        wrong.equal(&format!("rerun of {rerun}"), counts(&again), [1, 1, 0, 0, 0]);
        wrong.equal("the same example", &again["failures"][0]["id"], &failure["id"]);
    }
}

/// Pending ones, fixed ones, errors around examples, and errors before them.
#[test]
fn what_is_no_plain_failure_is_told_apart() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();

    let skips = server.run(["spec/faults/skips_spec.rb"]);
    let reasons: Vec<_> = skips["pending"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| one["reason"].clone())
        .collect();
    let told = [
        "Not yet implemented",
        "Temporarily skipped with xit",
        "not on this machine",
        "not today",
        "not this group",
    ];
    wrong.equal("reasons", reasons, told.map(Value::from).to_vec());

    let fixed = server.run(["spec/faults/pending_fixed_spec.rb"]);
    wrong.equal("pending_fixed", &fixed["failures"][0]["pending_fixed"], true);

    let suite = server.run(["spec/faults/fails_in_after_suite_spec.rb"]);
    wrong.equal(
        "errors_outside",
        suite["errors_outside"].as_array().map(Vec::len),
        Some(1),
    );
    wrong.check(
        has_text(&suite["errors_outside"][0]["context"], "after(:suite)"),
        || format!("context: {suite}"),
    );
    let line = &suite["errors_outside"][0]["error"]["line"];
    wrong.check(line.is_u64(), || format!("where it was: {suite}"));

    let syntax = server.run(["spec/faults/syntax_error_spec.rb"]);
    let error = &syntax["errors_outside"][0]["error"];
    wrong.equal("class", &error["class"], "SyntaxError");
    wrong.equal("file", &error["file"], "spec/faults/syntax_error_spec.rb");
    wrong.check(error["line"].is_u64(), || format!("line: {error}"));

    let missing = server.run(["spec/faults/missing_require_spec.rb", WIDGET]);
    wrong.equal(
        "one file that does not load keeps the others from running",
        counts(&missing),
        [0, 0, 0, 1, 10],
    );
    wrong.equal("outcome", &missing["outcome"], "load_error");

    let hidden = server.run(["spec/faults/focus_filtered_spec.rb"]);
    wrong.check(has_text(&hidden["warnings"], "focus"), || {
        format!("no word of the filter: {hidden}")
    });
    let text = server.run_with([WIDGET], json!({"example": "no such words"}));
    wrong.equal("nothing matched", &text["outcome"], "no_examples");
    wrong.check(has_text(&text["reason"], "10"), || {
        format!("how many there were: {text}")
    });
    wrong.none();
    server.stop();
}

#[test]
fn the_whole_answer_stays_within_its_budget_and_says_what_is_missing() {
    let app = App::copy();
    app.setting("max_result_bytes: 4096");
    let server = app.server();
    let mut wrong = Deviations::default();
    for fault in [
        "fails_35_times",
        "fails",
        "long_message",
        "floods_stdout",
        "odd_descriptions",
    ] {
        let report = server.run([format!("spec/faults/{fault}_spec.rb")]);
        let size = report.to_string().len();
        wrong.check(size <= 4096, || format!("{fault}: {size} bytes"));
        wrong.equal(&format!("{fault}: outcome"), &report["outcome"], "failed");
        let cut = report.get("cut").is_some() || report["stdout"]["dropped"].as_u64() > Some(0);
        wrong.check(cut, || format!("{fault}: nothing says what is missing: {report}"));
    }
    wrong.none();
    server.stop();
}

/// The same specs in a fresh process: the same report but for the mode.
#[test]
fn a_fresh_process_reports_the_same_as_a_fork() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for path in [
        WIDGET,
        "spec/faults/fails_spec.rb",
        "spec/faults/skips_spec.rb",
        "spec/names/-dash_spec.rb",
    ] {
        let arguments = |fork| json!({"fork": fork, "seed": 99, "include_passing": true, "include_stdout": "always"});
        let forked = server.run_with([path], arguments("always"));
        let spawned = server.run_with([path], arguments("never"));
        wrong.equal(&format!("{path}: mode"), &forked["mode"], "fork");
        wrong.equal(&format!("{path}: mode"), &spawned["mode"], "spawn");
        let (forked, spawned) = (comparable(forked), comparable(spawned));
        let members = |report: &Value| report.as_object().cloned().unwrap_or_default();
        for name in members(&forked).keys().chain(members(&spawned).keys()) {
            wrong.equal(&format!("{path}: {name}"), &spawned[name], &forked[name]);
        }
    }
    wrong.none();
    server.stop();
}

/// Without what differs between any two runs.
fn comparable(mut report: Value) -> Value {
    let fields = report.as_object_mut().expect("a report is an object");
    ["mode", "mode_reason", "run_id", "timing", "trigger"]
        .iter()
        .for_each(|name| _ = fields.remove(*name));
    strip(&mut report, "seconds");
    report
}

fn strip(value: &mut Value, name: &str) {
    match value {
        Value::Object(members) => {
            members.remove(name);
            members.values_mut().for_each(|member| strip(member, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, name)),
        _ => {}
    }
}

/// `fork: never` in the settings, a surrounding bundle, options in the environment: none of them changes the result.
#[test]
fn the_settings_decide_the_mode_and_the_environment_decides_nothing() {
    let app = App::copy();
    app.setting("fork: never");
    let setup = Setup::default()
        .env("SPEC_OPTS", "--dry-run --format documentation")
        .env("RUBYOPT", "-W0")
        .env("BUNDLE_BIN_PATH", "/nowhere/bundle")
        .env("BUNDLE_GEMFILE", "/nowhere/Gemfile")
        .env("RAILS_ENV", "development")
        .env("LANG", "C")
        .without_env("LC_ALL");
    let server = app.server_with(setup);
    let mut wrong = Deviations::default();
    for (fork, mode) in [(json!({}), "spawn"), (json!({"fork": "always"}), "fork")] {
        let report = server.run_with([WIDGET, "spec/names/ünï_spec.rb"], fork);
        wrong.equal(mode, &report["mode"], mode);
        wrong.equal(mode, &report["outcome"], "passed");
        wrong.equal(mode, counts(&report), [12, 0, 0, 0, 0]);
    }
    wrong.none();
    server.stop();
}

/// Options in .rspec are the project's own: they count as in a plain run, but never widen what was named.
#[test]
fn options_of_the_project_are_honoured_and_run_nothing_that_was_not_named() {
    let app = App::copy();
    let server = app.server();
    let file = "spec/services/price_list_spec.rb";
    let mut wrong = Deviations::default();
    for (options, outcome, examples, says) in [
        ("--format documentation --out tmp/out.txt", "passed", 3, ""),
        ("--format NoSuchFormatter", "passed", 3, ""),
        ("--color --tty --profile 3 --backtrace --warnings", "passed", 3, ""),
        ("--failure-exit-code 0", "passed", 3, ""),
        ("--tag ~focus", "passed", 3, ""),
        ("--tag nothing", "no_examples", 0, "hidden by filters"),
        ("--dry-run", "dry_run", 3, ""),
        ("--no_such_option", "load_error", 0, "no_such_option"),
        ("--require no_such_file", "load_error", 0, "no_such_file"),
        ("<%= raise 'erb is run' %>", "load_error", 0, "erb is run"),
        // RSpec adds to the named files those of a pattern that begins with a directory.
        ("--pattern spec/models/*_spec.rb", "passed", 3, ""),
        ("--exclude-pattern spec/services/**/*", "passed", 3, ""),
    ] {
        app.write(".rspec", format!("{options}\n"));
        let report = server.run([file]);
        wrong.check(report["outcome"] == outcome, || {
            format!("{options}: should be {outcome}: {report}")
        });
        wrong.equal(options, report["summary"]["examples"].as_u64(), Some(examples));
        wrong.check(report.to_string().contains(says), || {
            format!("{options}: nothing says `{says}`: {report}")
        });
    }
    wrong.none();
    server.stop();
}

/// As plain RSpec does it, where nobody is told.
#[test]
fn what_a_tag_of_the_project_hides_is_told_and_a_line_finds_it() {
    let app = App::copy();
    app.write(
        "spec/tagged_spec.rb",
        "RSpec.describe('x') do\n  it('is kept') { }\n  it('is hidden', :slow) { raise 'ran' }\nend\n",
    );
    app.append(".rspec", "--tag ~slow\n");
    let server = app.server();
    let mut wrong = Deviations::default();
    let whole = server.run(["spec/tagged_spec.rb"]);
    wrong.equal("the file", &whole["outcome"], "passed");
    wrong.equal("the file", &whole["summary"]["examples"], 1);
    wrong.check(
        has_text(&whole["warnings"], "1 example was hidden") && has_text(&whole["warnings"], "slow"),
        || format!("the file: {whole}"),
    );
    let line = server.run(["spec/tagged_spec.rb:3"]);
    wrong.equal("the line", &line["outcome"], "failed");
    wrong.equal("the line", &line["summary"]["examples"], 1);
    wrong.none();
    server.stop();
}

/// RSpec takes the last example before a line, also when the file is not that long.
#[test]
fn what_is_easily_misread_is_said() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let file = "spec/misread_spec.rb";
    app.write(file, "RSpec.describe('x') do\n  it('y') { }\n\n  it('z') { }\nend\n");
    let report = server.run([format!("{file}:99")]);
    wrong.equal("a line behind the end: outcome", &report["outcome"], "passed");
    wrong.equal(
        "a line behind the end",
        texts(&report["warnings"]),
        [format!(
            "`{file}` has 5 lines, so line 99 is none of it; what is selected is in line 4"
        )],
    );
    let listed = server.ask("rails_spec_list", json!({"paths": [format!("{file}:99")]}));
    wrong.equal("the same of a list", &listed["warnings"], &report["warnings"]);
    let report = server.run([format!("{file}:3")]);
    wrong.check(report.get("warnings").is_none(), || format!("a line within: {report}"));

    app.write(
        file,
        "RSpec.describe('x') { it('y') { } }\nat_exit { raise 'at the very end' }\n",
    );
    let report = server.run([file]);
    let printed = report["stderr"]["text"].as_str().unwrap_or_default();
    wrong.equal("at_exit: outcome", &report["outcome"], "failed_at_exit");
    wrong.equal("at_exit: told once", printed.matches("at the very end").count(), 1);
    wrong.check(!printed.contains("coatepec"), || {
        format!("at_exit: frames of ours: {printed}")
    });

    app.write(file, "RSpec.describe('x') { it('y') { } }\n");
    let options = app.read(".rspec");
    app.write(".rspec", format!("{options}--only-failures\n"));
    let report = server.run([file]);
    wrong.equal("only failures: outcome", &report["outcome"], "load_error");
    wrong.check(
        has_text(&report["reason"], "example_status_persistence_file_path"),
        || format!("only failures: {report}"),
    );
    app.write(".rspec", options);

    app.edit("app/models/widget.rb", "class Widget", "class Widget\n  def oops(\n");
    let report = server.run([WIDGET]);
    wrong.equal("a model that is no Ruby: outcome", &report["outcome"], "load_error");
    wrong.check(
        has_text(&report["reason"], "app/models/widget.rb has a syntax error"),
        || format!("a model that is no Ruby: {report}"),
    );
    wrong.none();
    server.stop();
}
