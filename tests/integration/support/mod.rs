//! What the tests are written with: a copy of the fixture app, a server on it, and what is left of both.
//!
//! ```ignore
//! let app = App::copy();
//! let server = app.server();
//! let report = server.run(["spec/models/widget_spec.rb"]);
//! assert_eq!(report["outcome"], "passed");
//! server.stop();
//! ```
//!
//! No test judges time. What has to happen is waited for, within bounds so generous that only a hang exceeds them.

mod app;
mod check;
mod commandline;
mod golden;
mod held;
mod response;
mod schema;
mod server;
mod tree;
mod watchdog;

pub(crate) use app::App;
pub(crate) use check::Deviations;
pub(crate) use golden::golden;
pub(crate) use held::Held;
pub(crate) use response::{has_text, texts};
pub(crate) use schema::violations;
pub(crate) use server::{Pending, Server, Setup};

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What an expression is in an example of a run, with the report.
pub(crate) fn see(app: &App, server: &Server, expression: &str) -> (String, Value) {
    see_with(app, server, expression, json!({}))
}

/// The same of a run with more arguments.
pub(crate) fn see_with(app: &App, server: &Server, expression: &str, mut arguments: Value) -> (String, Value) {
    let text = format!(
        "require 'rails_helper'\nRSpec.describe('probe') {{ it('tells') {{ print 'saw <', ({expression}), '>' }} }}\n"
    );
    app.write("spec/probe_spec.rb", text);
    arguments["include_stdout"] = json!("always");
    let report = server.run_with(["spec/probe_spec.rb"], arguments);
    let said = report["stdout"]["text"].as_str().unwrap_or_default();
    let seen = said.split_once("saw <").and_then(|(_, rest)| rest.rsplit_once('>'));
    (seen.map_or("(nothing)", |(seen, _)| seen).to_owned(), report)
}

/// How long anything that has to happen may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Asks again and again until there is an answer.
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let over = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < over, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
