//! A run that lasts until it is let go.

use std::time::Duration;

use serde_json::{Value, json};

use super::{App, Pending, Server, eventually};

/// Runs until it is told to go, and leaves a trace that it ran.
const HELD: &str = r#"
RSpec.describe "A held spec" do
  it "waits" do
    File.write("tmp/held", "")
    sleep 0.01 until File.exist?("tmp/go")
  end
end
"#;

/// Holds the server with a run until it is let go.
pub(crate) struct Held {
    call: Pending,
}

impl Held {
    pub(crate) fn hold(app: &App, server: &Server) -> Held {
        app.write("spec/held_spec.rb", HELD);
        // Into the next tick of the clock that files have their times by.
        std::thread::sleep(Duration::from_millis(20));
        let call = server.begin(["spec/held_spec.rb"], json!({"timeout_seconds": 600}));
        eventually("the run is under way", || app.path("tmp/held").exists().then_some(()));
        Held { call }
    }

    /// Its end has not been heard of.
    pub(crate) fn is_under_way(&self) -> bool {
        self.call.is_unanswered()
    }

    pub(crate) fn call(&self) -> &Pending {
        &self.call
    }

    pub(crate) fn release(self, app: &App, server: &Server) -> Value {
        app.write("tmp/go", "");
        let report = server.report(self.call);
        app.remove("tmp/go");
        app.remove("tmp/held");
        report
    }
}
