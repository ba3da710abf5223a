//! What hangs while the app is made warm is waited for only as long as there is a reason to: somebody wants it, and the
//! files that it is loaded from are still the same.

use serde_json::json;

use crate::support::{App, Deviations, Pending, Server, eventually, has_text};

const SPEC: &str = "spec/services/price_list_spec.rb";

const HANG: &str = "File.write('tmp/waiting', ''); sleep\n";

/// A file that hangs when it is loaded, by what loads it.
const PLACES: [(&str, &str); 3] = [
    ("boot", "config/initializers/hang.rb"),
    ("reload", "app/models/hang.rb"),
    ("load of the helper", "spec/support/hang.rb"),
];

/// Calls, and returns once it hangs.
fn hang(app: &App, server: &Server) -> Pending {
    let call = server.begin([SPEC], json!({}));
    eventually("it hangs", || app.path("tmp/waiting").exists().then_some(()));
    app.remove("tmp/waiting");
    call
}

fn passes(wrong: &mut Deviations, server: &Server, when: &str) {
    let report = server.run([SPEC]);
    wrong.check(report["outcome"] == "passed", || format!("{when}: {report}"));
}

#[test]
fn what_hangs_and_nobody_waits_for_is_given_up() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (what, path) in PLACES {
        passes(&mut wrong, &server, &format!("before the {what}"));
        app.write(path, HANG);
        let call = hang(&app, &server);
        server.cancel(&call);
        let status = server.at_rest();
        wrong.check(status["running"].is_null(), || format!("{what}: {status}"));
        let left = eventually("what hung is gone", || {
            let left = server.beside_the_warm_tree();
            (left.is_empty() && server.at_rest()["zygote_pid"].is_null()).then_some(left)
        });
        wrong.check(left.is_empty(), || format!("{what}: {left:?}"));
        app.remove(path);
        passes(&mut wrong, &server, &format!("after the {what}"));
    }
    wrong.none();
    server.stop();
}

/// A person sees that it hangs, and mends it.
#[test]
fn what_hangs_is_done_again_when_its_files_change_meanwhile() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for (what, path) in PLACES {
        passes(&mut wrong, &server, &format!("before the {what}"));
        app.write(path, HANG);
        let call = hang(&app, &server);
        app.write(path, "class Hang; end\n");
        let report = server.report(call);
        wrong.check(report["outcome"] == "passed", || format!("{what}: {report}"));
        wrong.check(has_text(&report["trigger"], &format!("{path} was modified")), || {
            format!("{what}: {report}")
        });
        app.remove(path);
    }
    wrong.none();
    server.stop();
}

/// What it waits for need not be a file of the app.
#[test]
fn a_restart_ends_a_boot_that_hangs() {
    let app = App::copy();
    app.write("tmp/hang", "");
    app.write(
        "config/initializers/hang.rb",
        "if File.exist?('tmp/hang')\n  File.write('tmp/waiting', '')\n  sleep\nend\n",
    );
    let server = app.server();
    let call = hang(&app, &server);
    app.remove("tmp/hang");
    let restarted = server.call("rails_runtime_restart", json!({})).wait();
    assert!(restarted.success(&json!({})).get("ended_boot_id").is_none());
    let report = server.report(call);
    assert_eq!(report["outcome"], "passed", "{report}");
    assert!(has_text(&report["trigger"], "a restart was asked for"), "{report}");
    server.stop();
}
