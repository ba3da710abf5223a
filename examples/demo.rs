//! Shows a person what Coatepec does, by speaking MCP to it as an agent would. Started by bin/demo.
//!
//! Everything happens in a copy of fixture_app. Exits with 1 if anything is not as promised.
#![expect(clippy::print_stdout, reason = "it is there to be read")]

mod client;
mod page;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use client::{App, Client, Result, processes_in};
use page::{Page, milliseconds, seconds};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixture_app");
const RUN: &str = "rails_spec_run";
const STATUS: &str = "rails_runtime_status";
const PASSING: &str = "spec/models/widget_spec.rb";
/// An example that passes, one with a difference, and one that raises.
const FAILING: &str = "spec/faults/fails_spec.rb[1:1,1:2,1:3]";
const HANGING: &str = "spec/faults/hangs_spec.rb";
const MODEL: &str = "app/models/widget.rb";
/// How often the warm call is timed, and how often `bundle exec rspec`.
const WARM: usize = 5;
const COLD: usize = 3;

fn main() -> ExitCode {
    let mut page = Page::new();
    match demo(&mut page) {
        Ok(()) if page.all_kept() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            page.say(&format!("\nThe demo was cut short: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn demo(page: &mut Page) -> Result<()> {
    page.heading("A copy of fixture_app");
    let app = App::copy_of(Path::new(FIXTURE))?;
    page.say("`bundle exec rspec` once, to make the database and to fill Ruby's caches (not counted) …");
    app.rspec(PASSING)?;

    let mut client = connect(page, &app)?;
    tools(page, &mut client)?;
    let first = first_call(page, &mut client)?;
    let warm = warm_calls(page, &mut client)?;
    failing(page, &mut client)?;
    hanging(page, &mut client)?;
    edited(page, &mut client, &app)?;
    let rspec = in_a_shell(page, &app)?;
    goodbye(page, client, &app)?;
    summary(page, first, warm, rspec);
    Ok(())
}

fn connect(page: &mut Page, app: &App) -> Result<Client> {
    page.heading("An MCP client connects over stdio");
    let started = Instant::now();
    let client = Client::start(app.root())?;
    let server = &client.hello["serverInfo"];
    page.say(&format!(
        "{} {} (process {}) speaks MCP {}; ready {} after its start",
        text(&server["name"]),
        text(&server["version"]),
        client.pid(),
        text(&client.hello["protocolVersion"]),
        milliseconds(started.elapsed()),
    ));
    Ok(client)
}

fn tools(page: &mut Page, client: &mut Client) -> Result<()> {
    page.heading("The tools it has");
    let listed = client.request("tools/list", &json!({}))?;
    let tools = listed["tools"].as_array().ok_or("no tools were listed")?;
    for tool in tools {
        page.say(&format!("{}: {}", text(&tool["name"]), text(&tool["description"])));
        let arguments = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        let names: Vec<&str> = arguments.map(|(name, _)| name.as_str()).collect();
        page.field("arguments", &names.join(", "));
    }
    page.promise(
        "there is a tool to run specs",
        tools.iter().any(|tool| tool["name"] == RUN),
    );
    Ok(())
}

fn first_call(page: &mut Page, client: &mut Client) -> Result<Duration> {
    page.heading("A spec that passes: the first call boots the app");
    let (took, result) = run(page, client, &json!({ "paths": [PASSING] }))?;
    show_outcome(page, &result, took);
    page.promise("the passing spec passed", result["outcome"] == "passed");
    page.promise("nothing was left out of it", result["summary"]["not_run"] == 0);
    Ok(took)
}

fn warm_calls(page: &mut Page, client: &mut Client) -> Result<Duration> {
    page.heading("The same again, now that everything is warm");
    let mut times = Vec::new();
    for _ in 0..WARM {
        let (took, result) = run(page, client, &json!({ "paths": [PASSING] }))?;
        show_outcome(page, &result, took);
        page.promise("it passed each time", result["outcome"] == "passed");
        times.push(took);
    }
    Ok(median(times))
}

fn failing(page: &mut Page, client: &mut Client) -> Result<()> {
    page.heading("A spec that fails: three examples by their ids");
    let (took, result) = run(page, client, &json!({ "paths": [FAILING] }))?;
    show_outcome(page, &result, took);
    for failure in list(&result["failures"]) {
        show_failure(page, failure);
    }
    page.field("by hand", text(&result["command"]));
    page.promise("the failing spec failed", result["outcome"] == "failed");
    page.promise(
        "its two failures were told, and no other",
        list(&result["failures"]).len() == 2,
    );
    let rerun = text(&result["failures"][0]["rerun"]).to_owned();
    let (took, again) = run(page, client, &json!({ "paths": [rerun] }))?;
    show_outcome(page, &again, took);
    page.promise("`rerun` ran the one example", again["summary"]["examples"] == 1);
    Ok(())
}

fn hanging(page: &mut Page, client: &mut Client) -> Result<()> {
    page.heading("A spec that hangs, with two seconds to live, and a question in between");
    let arguments = json!({ "paths": [HANGING], "timeout_seconds": 2 });
    page.call(RUN, &arguments);
    let started = Instant::now();
    let id = client.send(RUN, &arguments)?;
    std::thread::sleep(Duration::from_secs(1));
    busy(page, client)?;
    let result = client.answer(id)?;
    show_outcome(page, &result, started.elapsed());
    page.field("reason", text(&result["reason"]));
    let main = list(&result["threads"]).iter().find(|thread| thread["name"] == "main");
    page.field("hung at", main.map_or("", |thread| text(&thread["backtrace"][0])));
    page.field("not run", &words(&result["not_run"]));
    page.promise(
        "the hanging spec was ended at its deadline",
        result["outcome"] == "timed_out",
    );
    page.promise(
        "the example that hung was named",
        list(&result["unfinished"]).len() == 1,
    );
    page.promise("the example before it was kept", result["summary"]["examples"] == 2);
    Ok(())
}

fn busy(page: &mut Page, client: &mut Client) -> Result<()> {
    page.call(STATUS, &json!({}));
    let asked = Instant::now();
    let status = client.call(STATUS, &json!({}))?;
    let took = milliseconds(asked.elapsed());
    page.say(&format!(
        "  {} — answered in {took}, during the run",
        text(&status["state"])
    ));
    page.promise("status answered while a run was going", status["state"] == "running");
    Ok(())
}

fn edited(page: &mut Page, client: &mut Client, app: &App) -> Result<()> {
    page.heading("An edit of a model, picked up without a restart");
    let before = app.read(MODEL)?;
    let broken = before.replace("name&.squish", "name&.strip");
    for (code, outcome) in [(&broken, "failed"), (&before, "passed")] {
        page.say(&format!(
            "{MODEL} is saved {}",
            if outcome == "failed" { "with a bug" } else { "as it was" }
        ));
        app.write(MODEL, code)?;
        let (took, result) = run(page, client, &json!({ "paths": [PASSING] }))?;
        show_outcome(page, &result, took);
        page.field("because", text(&result["trigger"]));
        page.promise("each edit was picked up", result["outcome"] == outcome);
    }
    Ok(())
}

fn in_a_shell(page: &mut Page, app: &App) -> Result<Duration> {
    page.heading("The same spec by `bundle exec rspec`");
    let mut times = Vec::new();
    for _ in 0..COLD {
        let took = app.rspec(PASSING)?;
        page.say(&format!("$ bundle exec rspec {PASSING}: {}", milliseconds(took)));
        times.push(took);
    }
    Ok(median(times))
}

fn goodbye(page: &mut Page, client: Client, app: &App) -> Result<()> {
    page.heading("The client goes away");
    let before = processes_in(app.root())?;
    for (pid, command) in &before {
        page.field(&pid.to_string(), command.split(" --").next().unwrap_or_default());
    }
    let status = client.close()?;
    let after = processes_in(app.root())?;
    page.say(&format!(
        "{} processes before, {} after; the server: {status}",
        before.len(),
        after.len()
    ));
    page.promise("nothing is left running", after.is_empty());
    page.promise("the server ended by itself, without an error", status.success());
    Ok(())
}

fn summary(page: &mut Page, first: Duration, warm: Duration, rspec: Duration) {
    page.heading("Summary");
    page.field("first call", &format!("{} (boots the app)", milliseconds(first)));
    page.field("warm call", &format!("{} (median of {WARM})", milliseconds(warm)));
    let ratio = rspec.as_secs_f64() / warm.as_secs_f64();
    let compared = format!(
        "{} (median of {COLD}), {ratio:.1} times the warm call",
        milliseconds(rspec)
    );
    page.field("bundle exec rspec", &compared);
    page.promises();
}

fn run(page: &mut Page, client: &mut Client, arguments: &Value) -> Result<(Duration, Value)> {
    page.call(RUN, arguments);
    let started = Instant::now();
    let result = client.call(RUN, arguments)?;
    Ok((started.elapsed(), result))
}

fn show_outcome(page: &Page, result: &Value, took: Duration) {
    let (summary, timing) = (&result["summary"], &result["timing"]);
    page.outcome(
        text(&result["outcome"]),
        &format!(
            "{} examples, {} failures, {} not run — answered in {} (boot {}, load {}, run {})",
            summary["examples"],
            summary["failures"],
            summary["not_run"],
            milliseconds(took),
            seconds(&timing["boot"]),
            seconds(&timing["load"]),
            seconds(&timing["run"]),
        ),
    );
}

fn show_failure(page: &Page, failure: &Value) {
    page.say("");
    page.field("failed", text(&failure["description"]));
    page.field("class", text(&failure["class"]));
    page.field("message", text(&failure["message"]));
    page.field("diff", text(&failure["diff"]));
    page.field("at", text(&failure["backtrace"][0]));
    page.field("rerun", text(&failure["rerun"]));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn words(value: &Value) -> String {
    list(value).iter().map(text).collect::<Vec<_>>().join(", ")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
