//! A browser works in the sandbox, where there is one.

use serde_json::json;

use crate::support::App;

const SPEC: &str = "spec/browser_spec.rb";

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

fn browser() -> Option<&'static str> {
    let path = std::env::var_os("PATH")?;
    let there = |name: &&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    BROWSERS.into_iter().find(there)
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "whoever reads the log should know that nothing was tried"
)]
fn a_browser_works_in_the_sandbox() {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no Chrome or Chromium on PATH");
        return;
    };
    let app = App::at_home();
    app.write(SPEC, include_str!("browser_spec.rb"));
    app.write("tmp/facts.json", json!({ "browser": browser }).to_string());
    let server = app.server();
    for settings in ["sandbox: {mode: standard}", "sandbox: {network: loopback}"] {
        app.write(".coatepec.yml", format!("{settings}\n"));
        let report = server.run([SPEC]);
        assert_eq!(report["outcome"], "passed", "{settings}: {report}");
    }
    server.end();
}
