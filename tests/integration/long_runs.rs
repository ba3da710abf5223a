//! Runs that take longer than a client waits: `running`, picked up later; the same call again; who may end them.

use serde_json::{Value, json};

use crate::support::{App, Held, Pending, Server, eventually, has_text, texts};

const HELD: &str = "spec/held_spec.rb";

fn result(server: &Server, run_id: &Value, arguments: Value) -> Value {
    ask(server, run_id, arguments)
        .wait()
        .success(&server.tool("rails_run_result")["outputSchema"])
}

fn ask(server: &Server, run_id: &Value, mut arguments: Value) -> Pending {
    arguments["run_id"] = run_id.clone();
    server.call("rails_run_result", arguments)
}

/// Joins the run that is held, and does not wait for its end.
fn join(server: &Server) -> Value {
    let call = server.begin([HELD], json!({"timeout_seconds": 600, "wait_seconds": 0}));
    call.wait().success(&server.tool("rails_spec_run")["outputSchema"])
}

#[test]
fn a_long_run_is_answered_before_its_client_gives_up_and_is_picked_up_later() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let running = join(&server);
    assert_eq!(running["outcome"], "running", "{running}");
    assert_eq!(running["progress"]["examples"], 1, "{running}");
    assert_eq!(running["progress"]["current"], "A held spec waits", "{running}");
    let again = result(&server, &running["run_id"], json!({"wait_seconds": 0}));
    assert_eq!(again["outcome"], "running", "{again}");
    let waiting = ask(&server, &running["run_id"], json!({"wait_seconds": 900}));
    let report = held.release(&app, &server);
    let picked_up = waiting.wait().success(&server.tool("rails_run_result")["outputSchema"]);
    assert_eq!(picked_up, report);
    assert_eq!(report["outcome"], "passed", "{report}");
    // Nobody waited; it is kept all the same.
    assert_eq!(result(&server, &running["run_id"], json!({})), report);
    server.stop();
}

#[test]
fn the_same_call_again_waits_for_the_run_that_is_under_way() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let first = join(&server);
    assert_eq!(join(&server)["run_id"], first["run_id"]);
    // Another selection, other arguments: another run.
    let other = server.begin(["spec/services"], json!({"wait_seconds": 0}));
    let other = other.wait().success(&server.tool("rails_spec_run")["outputSchema"]);
    assert_ne!(other["run_id"], first["run_id"]);
    assert_eq!(other["progress"]["phase"], "queued", "{other}");
    assert_eq!(held.release(&app, &server)["run_id"], first["run_id"]);
    // It is over: the same call is another run.
    app.write("tmp/go", "");
    let later = server.run_with([HELD], json!({"timeout_seconds": 600}));
    assert_ne!(later["run_id"], first["run_id"]);
    server.stop();
}

/// What is saved during a run is not in it: whoever asks afterwards gets a run of their own.
#[test]
fn the_same_call_after_a_save_is_a_run_of_its_own() {
    let app = App::copy();
    let server = app.server();
    for saved in [
        "app/models/widget.rb",
        "app/views/widgets/saved.html.erb",
        "spec/saved.json",
    ] {
        let held = Held::hold(&app, &server);
        let first = join(&server);
        app.write(
            saved,
            if saved.ends_with(".rb") {
                app.read(saved)
            } else {
                "saved".to_owned()
            },
        );
        let second = join(&server);
        assert_ne!(first["run_id"], second["run_id"], "{saved}");
        assert_eq!(held.release(&app, &server)["run_id"], first["run_id"]);
        app.write("tmp/go", "");
        let second = result(&server, &second["run_id"], json!({"wait_seconds": 900}));
        assert_eq!(second["outcome"], "passed", "{second}");
        app.remove("tmp/go");
        app.remove("tmp/held");
    }
    server.stop();
}

#[test]
fn a_run_ends_when_the_last_one_who_waits_takes_it_back() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let first = join(&server);
    let other = ask(&server, &first["run_id"], json!({"wait_seconds": 900}));
    server.status();
    server.cancel(held.call());
    // Its cancellation is answered to nobody; the other one still waits.
    server.status();
    assert!(other.is_unanswered());
    server.cancel(&other);
    let over = eventually("the run is ended", || {
        let found = result(&server, &first["run_id"], json!({"wait_seconds": 0}));
        (found["outcome"] != "running").then_some(found)
    });
    assert_eq!(over["outcome"], "cancelled", "{over}");
    server.stop();
}

/// One who has got `running` waits no more: the run goes on without anyone.
#[test]
fn a_run_that_nobody_waits_for_goes_on() {
    let app = App::copy();
    let server = app.server();
    app.write(
        "spec/slow_spec.rb",
        "RSpec.describe('slow') { it('waits') { sleep 0.01 until File.exist?('tmp/go') } }",
    );
    let call = server.begin(["spec/slow_spec.rb"], json!({"wait_seconds": 0}));
    let running = call.wait().success(&server.tool("rails_spec_run")["outputSchema"]);
    assert_eq!(running["outcome"], "running", "{running}");
    app.write("tmp/go", "");
    let over = result(&server, &running["run_id"], json!({"wait_seconds": 900}));
    assert_eq!(over["outcome"], "passed", "{over}");
    server.stop();
}

#[test]
fn one_failure_and_each_output_can_be_had_in_full() {
    let app = App::copy();
    let server = app.server();
    app.setting("max_result_bytes: 6000");
    app.write(
        "spec/many_spec.rb",
        "RSpec.describe('many') do\n  20.times { |n| it(\"no #{n}\") { puts 'x' * 2000; raise \"failure #{n} \" + 'y' * 3000 } }\nend\n",
    );
    let report = server.run_with(["spec/many_spec.rb"], json!({"seed": 1}));
    assert!(report.to_string().len() <= 6000);
    assert!(report["cut"].is_object(), "{report}");
    for number in [1, 20] {
        let one = result(&server, &report["run_id"], json!({"failure": number}));
        assert!(one.to_string().len() <= 6000, "{one}");
        let failures = one["failures"].as_array().unwrap();
        assert_eq!(failures.len(), 1);
        assert!(failures[0]["message"].as_str().unwrap().len() > 3000, "{one}");
    }
    let refusal = ask(&server, &report["run_id"], json!({"failure": 21})).wait().refusal();
    assert!(has_text(&refusal["message"], "has 20"), "{refusal}");
    let (mut text, mut offset) = (String::new(), json!(0));
    while offset.is_number() {
        let page = result(
            &server,
            &report["run_id"],
            json!({"output": "stdout", "offset": offset}),
        );
        assert!(page.to_string().len() <= 6000);
        text.push_str(page["text"].as_str().unwrap());
        offset = page["next_offset"].clone();
    }
    assert_eq!(text.matches('x').count(), 40_000);
    let refusal = ask(
        &server,
        &report["run_id"],
        json!({"output": "stdout", "offset": 1_000_000}),
    )
    .wait()
    .refusal();
    assert_eq!(refusal["code"], "invalid_arguments");
    server.stop();
}

#[test]
fn a_failure_keeps_its_number_when_the_run_is_over() {
    let app = App::copy();
    let server = app.server();
    app.write(
        "spec/alike_spec.rb",
        "RSpec.describe('Alike', order: :defined) { 3.times { it('fails') { raise 'alike' } }; it('differs') { raise 'another' } }\n",
    );
    let report = server.run_with(["spec/alike_spec.rb"], json!({}));
    let told = report["failures"].as_array().unwrap();
    let numbers: Vec<&Value> = told.iter().map(|failure| &failure["number"]).collect();
    assert_eq!(numbers, [&Value::Null, &json!(4)], "{report}");
    for (number, message) in [(2, "alike"), (3, "alike"), (4, "another")] {
        let one = result(&server, &report["run_id"], json!({"failure": number}));
        assert!(has_text(&one["failures"][0]["message"], message), "{one}");
    }
    server.stop();
}

#[test]
fn a_failure_can_be_had_in_full_while_the_run_goes_on() {
    let app = App::copy();
    let server = app.server();
    app.write(
        "spec/live_spec.rb",
        "RSpec.describe('Live', order: :defined) { it('fails') { expect(1).to eq(2) }; \
         it('waits') { sleep 0.01 until File.exist?('tmp/go') } }\n",
    );
    let call = server.begin(["spec/live_spec.rb"], json!({"wait_seconds": 0}));
    let begun = call.wait().success(&server.tool("rails_spec_run")["outputSchema"]);
    let run = &begun["run_id"];
    let running = eventually("it has failed", || {
        let seen = result(&server, run, json!({"wait_seconds": 0}));
        (seen["progress"]["failures"] == 1).then_some(seen)
    });
    assert_eq!(
        running["progress"]["failed"][0]["rerun"], "spec/live_spec.rb[1:1]",
        "{running}"
    );
    let failure = result(&server, run, json!({"failure": 1}));
    assert_eq!(failure["outcome"], "running", "{failure}");
    assert!(has_text(&failure["failures"][0]["message"], "expected: 2"), "{failure}");
    for (asked, expected) in [
        (json!({"failure": 2}), "has 1 so far"),
        (json!({"failure": 0}), "is 0"),
        (json!({"failure": 1, "output": "stdout"}), "two questions"),
        (json!({"offset": 0}), "page of `output`"),
    ] {
        let refusal = ask(&server, run, asked).wait().refusal();
        assert_eq!(refusal["code"], "invalid_arguments", "{refusal}");
        assert!(has_text(&refusal["message"], expected), "{refusal}");
    }
    app.write("tmp/go", "");
    let report = result(&server, run, json!({"wait_seconds": 900}));
    assert_eq!(
        report["failures"][0]["message"], failure["failures"][0]["message"],
        "{report}"
    );
    server.stop();
}

#[test]
fn what_a_run_has_printed_can_be_had_while_it_goes_on() {
    let app = App::copy();
    let server = app.server();
    app.write(
        "spec/live_spec.rb",
        "RSpec.describe('Live') { it('waits') { $stderr.puts 'one'; sleep 0.01 until File.exist?('tmp/go'); $stderr.puts 'two' } }\n",
    );
    let call = server.begin(["spec/live_spec.rb"], json!({"wait_seconds": 0}));
    let begun = call.wait().success(&server.tool("rails_spec_run")["outputSchema"]);
    let run = &begun["run_id"];
    // With all the time in the world to wait: it is answered at once, or never.
    let printed = |offset: &Value| {
        result(
            &server,
            run,
            json!({"output": "stderr", "offset": offset, "wait_seconds": 900}),
        )
    };
    let first = eventually("it has printed", || {
        let page = printed(&json!(0));
        (page["bytes"] != 0).then_some(page)
    });
    assert_eq!(first["outcome"], "running", "{first}");
    assert_eq!(first["text"], "one\n", "{first}");
    let uri = format!("coatepec://runs/{}/stderr", run.as_str().unwrap());
    let read = server.request("resources/read", json!({ "uri": uri })).wait().0;
    assert_eq!(read["result"]["contents"][0]["text"], "one\n", "{read}");
    app.write("tmp/go", "");
    result(&server, run, json!({"wait_seconds": 900}));
    let rest = printed(&first["next_offset"]);
    assert_eq!(rest["text"], "two\n", "{rest}");
    assert!(rest["outcome"].is_null() && rest["next_offset"].is_null(), "{rest}");
    server.stop();
}

/// Taken back while it waits for its turn, it is no run; who asks for it later is told what became of it.
#[test]
fn what_became_of_a_call_that_never_ran_is_told_later() {
    let app = App::copy();
    let server = app.server();
    let held = Held::hold(&app, &server);
    let queued = server.begin(["spec/services"], json!({"wait_seconds": 0}));
    let queued = queued.wait().success(&server.tool("rails_spec_run")["outputSchema"]);
    let waiting = ask(&server, &queued["run_id"], json!({"wait_seconds": 900}));
    // The call has been taken up when a later one is answered.
    result(&server, &queued["run_id"], json!({"wait_seconds": 0}));
    server.cancel(&waiting);
    let told = eventually("it has left the queue", || {
        let answer = ask(&server, &queued["run_id"], json!({"wait_seconds": 0})).wait();
        answer.is_refusal().then(|| answer.refusal())
    });
    assert_eq!(told["code"], "cancelled", "{told}");
    assert_eq!(held.release(&app, &server)["outcome"], "passed");
    server.stop();
}

#[test]
fn an_unknown_run_is_refused_with_those_that_are_kept() {
    let app = App::copy();
    let server = app.server();
    let refusal = ask(&server, &json!("run-7"), json!({})).wait().refusal();
    assert_eq!(refusal["code"], "run_not_found", "{refusal}");
    let refusal = ask(&server, &json!("seven"), json!({})).wait().refusal();
    assert_eq!(refusal["code"], "invalid_arguments", "{refusal}");
    let report = server.run(["spec/services"]);
    let refusal = ask(&server, &json!("run-77"), json!({})).wait().refusal();
    assert!(
        has_text(&refusal["hint"], report["run_id"].as_str().unwrap()),
        "{refusal}"
    );
    server.stop();
}

#[test]
fn who_asks_for_progress_is_told_how_far_the_run_is() {
    let app = App::copy();
    let server = app.server();
    app.write(
        "spec/steps_spec.rb",
        "RSpec.describe('steps') { 4.times { |n| it(\"no #{n}\") { sleep 0.3; raise 'x' if n == 1 } } }",
    );
    let params = json!({
        "name": "rails_spec_run",
        "arguments": {"paths": ["spec/steps_spec.rb"]},
        "_meta": {"progressToken": "steps"},
    });
    server.request("tools/call", params).wait().success(&json!({}));
    let told = server.told("notifications/progress");
    let steps: Vec<f64> = told.iter().map(|step| step["progress"].as_f64().unwrap()).collect();
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    assert!(told.iter().all(|step| step["progressToken"] == "steps"));
    assert!(told.iter().any(|step| step["total"] == 4.0), "{told:?}");
    let told: Value = told.iter().map(|step| step["message"].clone()).collect();
    let sentences = texts(&told);
    assert!(sentences.iter().any(|text| text.contains("booting")), "{sentences:?}");
    assert!(
        sentences.iter().any(|text| text.contains("of 4: steps no")),
        "{sentences:?}"
    );
    server.run(["spec/services"]);
    assert_eq!(server.told("notifications/progress").len(), sentences.len());
    server.stop();
}
