//! A run that says far more than anyone could keep: it is drained, counted and ended in time, and the server stays small.

use std::fs;

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, Setup, eventually};

/// Bytes that a server may grow by at the most, whatever is written: a hundredth of the flood and many times what it
/// keeps of it.
const GROWTH: u64 = 16 * 1024 * 1024;

const SPEC: &str = "spec/services/price_list_spec.rb";

/// Tells of its threads unasked, and then fills the pipe of its own records with lines that are none.
const TALKER: &str = r#"
RSpec.describe "A spec that talks without end" do
  it("passes") { expect(1).to eq(1) }

  it "talks" do
    Process.kill(:QUIT, Process.pid)
    events = IO.for_fd(Coatepec::Ending.records.instance_variable_get(:@fd), "w", autoclose: false)
    File.write("tmp/talking", "")
    noise = "x\n" * 30_000
    loop do
      events.syswrite(noise)
    rescue Errno::EINTR
      # By a signal that asks where it is.
    end
  end
end
"#;

#[test]
fn a_gibibyte_on_both_streams_is_counted_and_the_server_stays_small() {
    let app = App::copy();
    let server = app.server_with(Setup::default().env("FLOOD_MB", "1024"));
    assert_eq!(server.run([SPEC])["outcome"], "passed");
    let before = peak(&server);
    let report = server.run_with(["spec/faults/floods_stdout_spec.rb"], json!({"fork": "always"}));
    let grown = peak(&server).saturating_sub(before);
    let mut wrong = Deviations::default();
    wrong.equal("outcome", &report["outcome"], "failed");
    wrong.equal("failures", &report["summary"]["failures"], 1);
    wrong.equal("examples", &report["summary"]["examples"], 2);
    for stream in ["stdout", "stderr"] {
        flooded(&mut wrong, stream, &report[stream]);
    }
    wrong.check(grown < GROWTH, || format!("the server grew by {grown} bytes"));
    wrong.none();
    server.stop();
}

fn flooded(wrong: &mut Deviations, name: &str, stream: &Value) {
    let (bytes, dropped) = (stream["bytes"].as_u64(), stream["dropped"].as_u64());
    wrong.check(bytes >= Some(1 << 30), || format!("{name}: all is counted: {bytes:?}"));
    wrong.check(dropped >= bytes.map(|bytes| bytes - 512 * 1024), || {
        format!("{name}: and what was dropped: {dropped:?} of {bytes:?}")
    });
    let text = stream["text"].as_str().unwrap_or_default();
    wrong.check(text.ends_with("zażółć gęślą jaźń ✓\n"), || {
        format!("{name}: the end is kept")
    });
}

/// Bytes: the most that the server ever had.
fn peak(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.expect("Linux tells") * 1024
}

#[test]
fn a_run_that_talks_without_end_is_ended_at_its_deadline() {
    let app = App::copy();
    app.write("spec/talker_spec.rb", TALKER);
    let server = app.server();
    let mut wrong = Deviations::default();
    // It must have come to its second example by then, also on a machine with much else to do.
    for (fork, timeout) in [("always", 10), ("never", 30)] {
        let report = server.run_with(
            ["spec/talker_spec.rb"],
            json!({"fork": fork, "timeout_seconds": timeout}),
        );
        wrong.equal(fork, &report["outcome"], "timed_out");
        wrong.equal(fork, &report["unfinished"][0]["id"], "spec/talker_spec.rb[1:2]");
        let next = server.run([SPEC]);
        wrong.check(next["outcome"] == "passed", || format!("after {fork}: {next}"));
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_run_that_talks_without_end_can_be_cancelled() {
    let app = App::copy();
    app.write("spec/talker_spec.rb", TALKER);
    let server = app.server();
    let call = server.begin(["spec/talker_spec.rb"], json!({"timeout_seconds": 600}));
    eventually("it talks", || app.path("tmp/talking").exists().then_some(()));
    server.cancel(&call);
    let next = server.run([SPEC]);
    assert_eq!(next["outcome"], "passed", "{next}");
    assert_eq!(server.status()["runs"]["outcomes"]["cancelled"], 1);
    server.stop();
}
