//! However a server ends, nothing that it has started outlives it.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{App, Server, eventually};

/// Ignores TERM, and has a child, a grandchild in a session of its own, and a daemon, none of which listens to TERM.
const STUBBORN: &str = r#"
RSpec.describe "A stubborn spec" do
  it "stays, and so does its family" do
    trap("TERM", "IGNORE")
    trap("INT", "IGNORE")
    trap("HUP", "IGNORE")
    fork { loop { sleep 1 } }
    fork do
      Process.setsid
      fork { loop { sleep 1 } }
      loop { sleep 1 }
    end
    middle = fork do
      Process.setsid
      daemon = fork { Dir.chdir("/"); ENV.clear; loop { sleep 1 } }
      Process.detach(daemon)
      exit!(0)
    end
    Process.wait(middle)
    File.write("tmp/started", "")
    loop { sleep 1 }
  end
end
"#;

#[derive(Debug, Clone, Copy)]
enum End {
    Eof,
    Signal(Signal),
}

const ENDS: [End; 5] = [
    End::Eof,
    End::Signal(Signal::SIGTERM),
    End::Signal(Signal::SIGINT),
    End::Signal(Signal::SIGHUP),
    End::Signal(Signal::SIGKILL),
];

impl End {
    fn bring(self, server: &Server) {
        match self {
            End::Eof => server.close_stdin(),
            End::Signal(signal) => server.signal(signal),
        }
    }
}

#[test]
fn nothing_outlives_the_server_while_a_forked_run_ignores_everything() {
    while_a_run_ignores_everything("always", 5);
}

#[test]
fn nothing_outlives_the_server_while_a_fresh_process_ignores_everything() {
    while_a_run_ignores_everything("never", 5);
}

/// `family`: processes of the run, of which one is a daemon.
fn while_a_run_ignores_everything(fork: &str, family: usize) {
    let app = App::copy();
    app.write("spec/stubborn_spec.rb", STUBBORN);
    for end in ENDS {
        let server = app.server();
        let call = server.begin(["spec/stubborn_spec.rb"], json!({"fork": fork, "timeout_seconds": 600}));
        wait_for_file(&app, "tmp/started");
        let before = server.processes();
        assert!(before.len() >= family, "{end:?}: {before:?}");
        assert!(call.is_unanswered(), "{end:?}");
        end.bring(&server);
        let status = server.wait();
        server.nothing_is_left();
        assert_eq!(server.stray_lines(), [""; 0], "{end:?}");
        if !matches!(end, End::Signal(Signal::SIGKILL)) {
            assert_eq!(status.code(), Some(0), "{end:?}: {}", server.log());
        }
    }
}

#[test]
fn nothing_outlives_the_server_while_the_app_boots() {
    let app = App::copy();
    app.write(
        "config/initializers/stubborn.rb",
        r#"trap("TERM", "IGNORE"); spawn("trap '' TERM; sleep 600"); File.write("tmp/started", ""); sleep"#,
    );
    for end in ENDS {
        let server = app.server();
        let _call = server.begin(["spec/services/price_list_spec.rb"], json!({}));
        wait_for_file(&app, "tmp/started");
        end.bring(&server);
        server.nothing_is_left();
    }
}

#[test]
fn nothing_outlives_the_server_while_the_helper_is_loaded() {
    let app = App::copy();
    app.write(
        "spec/support/stubborn.rb",
        r#"trap("TERM", "IGNORE"); spawn("trap '' TERM; sleep 600"); File.write("tmp/started", ""); sleep"#,
    );
    for end in [End::Eof, End::Signal(Signal::SIGKILL)] {
        let server = app.server();
        let _call = server.begin(["spec/services/price_list_spec.rb"], json!({}));
        wait_for_file(&app, "tmp/started");
        end.bring(&server);
        server.nothing_is_left();
    }
}

#[test]
fn a_server_at_rest_leaves_nothing_either() {
    let app = App::copy();
    for end in ENDS {
        let server = app.server();
        assert_eq!(server.run(["spec/faults/leaks_thread_spec.rb"])["outcome"], "passed");
        end.bring(&server);
        server.nothing_is_left();
    }
}

fn wait_for_file(app: &App, path: &str) {
    eventually(&format!("{path} was written"), || app.path(path).exists().then_some(()));
    app.remove(path);
}
