//! `coatepec init`, completions, manual pages, and errors of the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::App;

#[test]
fn a_client_is_set_up_once_and_its_file_is_kept_as_it_was() {
    let app = App::bare();
    let before = "{\n  // ours\n  \"mcpServers\": { \"docs\": { \"command\": \"docs\" } }\n}\n";
    app.write(".mcp.json", before);
    let first = app.coatepec(&["init", "claude"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.out.contains("+    \"coatepec\": {"), "{first:?}");
    let after = app.read(".mcp.json");
    assert!(after.contains("// ours") && after.contains("\"docs\""), "{after}");
    assert_eq!(app.read(".mcp.json.bak"), before);

    let second = app.coatepec(&["init", "claude", "--json"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    let told: Value = serde_json::from_str(&second.out).unwrap();
    assert_eq!(told["clients"][0]["result"], "unchanged");
    assert_eq!(app.read(".mcp.json"), after);
    assert!(!app.path(".mcp.json.bak.1").exists());
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let app = App::bare();
    let shown = app.coatepec(&["init", "codex", "vscode", "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("+[mcp_servers.coatepec]"), "{shown:?}");
    assert!(!app.path(".codex").exists() && !app.path(".vscode").exists());
}

#[test]
fn without_a_name_those_are_set_up_that_are_used_here() {
    let app = App::bare();
    let nobody = app.coatepec(&["init"]);
    assert_eq!(nobody.code, Some(2), "{nobody:?}");
    assert!(
        nobody.err.contains("[invalid_arguments]") && nobody.err.contains("hint: "),
        "{nobody:?}"
    );
    app.write(".cursor/rules/a.mdc", "");
    app.write(".zed/settings.json", "{}");
    let both = app.coatepec(&["init"]);
    assert_eq!(both.code, Some(0), "{both:?}");
    assert!(app.read(".cursor/mcp.json").contains("${workspaceFolder}"));
    assert!(app.read(".zed/settings.json").contains("context_servers"));
}

#[test]
fn the_mode_of_a_file_stays_and_so_does_a_link() {
    let app = App::bare();
    app.write("shared/mcp.json", "{}");
    fs::set_permissions(app.path("shared/mcp.json"), fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("shared/mcp.json", app.path(".mcp.json")).unwrap();
    let done = app.coatepec(&["init", "claude"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(app.read("shared/mcp.json").contains("coatepec"));
    assert!(app.path(".mcp.json").is_symlink());
    let mode = fs::metadata(app.path("shared/mcp.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let app = App::bare();
    app.write(".mcp.json", "{ \"mcpServers\": ");
    let refused = app.coatepec(&["init", "claude"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("failed to understand"), "{refused:?}");
    assert_eq!(app.read(".mcp.json"), "{ \"mcpServers\": ");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let app = App::bare();
    for shell in ["bash", "zsh", "fish"] {
        let script = app.coatepec(&["completions", shell]);
        assert_eq!(script.code, Some(0), "{script:?}");
        assert!(
            script.out.contains("doctor") && script.out.contains("fail-fast"),
            "{shell}"
        );
    }
    let page = app.coatepec(&["man"]);
    assert!(page.out.contains(".TH coatepec 1"), "{page:?}");
    let written = app.coatepec(&["man", "pages"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    for name in ["coatepec.1", "coatepec-run.1", "coatepec-doctor.1"] {
        assert!(app.path("pages").join(name).exists(), "{name}");
    }
}

#[test]
fn an_unknown_key_is_shown_in_its_line_and_colours_only_where_they_are_wanted() {
    let app = App::bare();
    app.write(".coatepec.yml", "fork: auto\nspec_rots: []\n");
    let plain = app.coatepec(&["run", "spec/models/widget_spec.rb"]);
    assert_eq!(plain.code, Some(2), "{plain:?}");
    assert!(plain.err.contains(".coatepec.yml:2 │ spec_rots: []"), "{plain:?}");
    assert!(plain.err.contains("hint: did you mean `spec_roots`?"), "{plain:?}");
    assert!(!plain.err.contains('\x1b'), "{plain:?}");
    let coloured = app.coatepec(&["run", "--color", "always", "spec/models/widget_spec.rb"]);
    assert!(coloured.err.contains("\x1b[31m"), "{coloured:?}");
}

#[test]
fn what_is_no_file_is_not_waited_for_and_a_link_to_nothing_is_followed() {
    let app = App::bare();
    nix::unistd::mkfifo(&app.path(".mcp.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let pipe = app.coatepec(&["init", "claude"]);
    assert_eq!(pipe.code, Some(2), "{pipe:?}");
    assert!(pipe.err.contains("it is not a file"), "{pipe:?}");
    fs::remove_file(app.path(".mcp.json")).unwrap();

    std::os::unix::fs::symlink("shared/later.json", app.path(".mcp.json")).unwrap();
    let link = app.coatepec(&["init", "claude"]);
    assert_eq!(link.code, Some(0), "{link:?}");
    assert!(app.path(".mcp.json").is_symlink());
    assert!(app.read("shared/later.json").contains("coatepec"));
}

#[test]
fn an_answer_that_can_not_be_written_is_no_success() {
    let app = App::bare();
    for words in [&["init", "claude", "--dry-run"][..], &["completions", "bash"], &["man"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = app.command(env!("CARGO_BIN_EXE_coatepec"));
        let ended = command.args(words).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(74), "{words:?}: {said}");
        assert!(said.contains("failed to write to stdout"), "{words:?}: {said}");
    }
    let told = app.coatepec(&["man", "/etc/passwd"]);
    assert_eq!(told.code, Some(2), "{told:?}");
}

#[test]
fn a_log_without_a_place_is_told_with_what_to_do() {
    let app = App::bare();
    app.write("state", "a file");
    let mut command = app.command(env!("CARGO_BIN_EXE_coatepec"));
    let ended = command
        .arg("log")
        .env("XDG_STATE_HOME", app.path("state"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("XDG_STATE_HOME") && said.contains("hint: "), "{said}");
}

#[test]
fn a_report_that_can_not_be_written_is_told_before_anything_is_run() {
    let app = App::bare();
    let refused = app.coatepec(&["run", "spec/nothing_spec.rb", "--junit", "missing/junit.xml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.err.contains("failed to write `missing/junit.xml`"),
        "{refused:?}"
    );
    let other = app.coatepec(&["run", "spec/nothing_spec.rb", "--junit", "junit.xml"]);
    assert!(other.err.contains("spec/nothing_spec.rb"), "{other:?}");
    assert!(!app.path("junit.xml").exists());
}
