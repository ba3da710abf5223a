//! A worker that says what it should not, or that has grown: not believed, not kept.

use crate::support::App;

const SPEC: &str = "spec/services/price_list_spec.rb";
const INITIALIZER: &str = "config/initializers/talks.rb";

/// Writes to the line between worker and supervisor, as stray code that goes through all descriptors might.
fn talks(app: &App, expression: &str) {
    let find = "socket = Dir.children('/proc/self/fd').map(&:to_i).find { |fd| fd > 90 && File.stat(\"/proc/self/fd/#{fd}\").socket? }";
    app.write(
        INITIALIZER,
        format!("{find}\nIO.for_fd(socket, 'w', autoclose: false).syswrite({expression})\n"),
    );
}

#[test]
fn what_is_no_message_of_ours_on_the_line_of_the_worker_ends_it_and_says_so() {
    let app = App::copy();
    let server = app.server();
    let tries = [
        ("garbage", "\"garbage\\n\"", "was not understood"),
        (
            "a message of another kind",
            "%({\"id\":null,\"told\":{\"wish\":{}}}\\n)",
            "was not understood",
        ),
        ("an oversize line", "(\"x\" * 1_100_000)", "too long"),
    ];
    for (what, expression, cause) in tries {
        talks(&app, expression);
        let report = server.run([SPEC]);
        assert_eq!(report["outcome"], "boot_failed", "{what}: {report}");
        let message = report["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains(cause) || message.contains("worker"),
            "{what}: {report}"
        );
        app.remove(INITIALIZER);
        assert_eq!(server.run([SPEC])["outcome"], "passed", "after {what}");
    }
    server.stop();
}

#[test]
fn warm_processes_that_have_grown_too_large_are_started_anew() {
    let app = App::copy();
    app.setting("max_warm_memory_mib: 256");
    app.write(
        "config/initializers/ballast.rb",
        "BALLAST = \"x\" * 400 * 1024 * 1024\n",
    );
    let server = app.server();
    let first = server.run([SPEC]);
    assert_eq!(first["outcome"], "passed", "{first}");
    let second = server.run([SPEC]);
    assert_eq!(second["outcome"], "passed", "{second}");
    let trigger = second["trigger"].as_str().unwrap_or_default();
    assert!(trigger.contains("had grown to"), "{second}");
    server.stop();
}
