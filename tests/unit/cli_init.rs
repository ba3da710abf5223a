//! What `coatepec init` makes of a client's configuration.

use coatepec::cli::init::edit::{Edit, edit};
use coatepec::cli::init::hosts::{ALL, Format, Host, Start};
use serde_json::Value;

fn changed(text: &str, host: Host) -> String {
    match edit(text, host, &host.entry(&Start::plainly("coatepec")), false) {
        Ok(Edit::Changed(text)) => text,
        other => panic!("{host:?}: {other:?}"),
    }
}

fn again(text: &str, host: Host) -> Edit {
    edit(text, host, &host.entry(&Start::plainly("coatepec")), false).unwrap()
}

#[test]
fn each_client_gets_an_entry_that_starts_us_and_a_second_time_changes_nothing() {
    for host in ALL {
        let text = changed("", host);
        assert!(text.contains("coatepec"), "{text}");
        assert!(text.ends_with('\n'), "{text:?}");
        assert_eq!(again(&text, host), Edit::Unchanged, "{text}");
    }
}

#[test]
fn the_entry_is_where_the_client_looks_for_it() {
    for host in ALL.into_iter().filter(|host| host.format() == Format::Jsonc) {
        let whole: Value = serde_json::from_str(&changed("", host)).unwrap();
        assert_eq!(
            whole[host.section()]["coatepec"],
            host.entry(&Start::plainly("coatepec"))
        );
    }
    assert_eq!(
        changed("", Host::Codex),
        "[mcp_servers.coatepec]\ncommand = \"coatepec\"\nargs = []\n"
    );
    assert_eq!(
        changed("", Host::Vscode),
        r#"{
  "servers": {
    "coatepec": {
      "type": "stdio",
      "command": "coatepec",
      "args": ["--root", "${workspaceFolder}"]
    }
  }
}
"#
    );
}

#[test]
fn comments_and_other_entries_of_jsonc_stay() {
    let text = r#"// settings of the team
{
  "theme": "One", // light
  "context_servers": {
    /* the docs */
    "docs": { "command": "docs", "env": { "A": "b" } },
  },
}
"#;
    let edited = changed(text, Host::Zed);
    for kept in [
        "// settings of the team",
        "\"theme\": \"One\", // light",
        "/* the docs */",
        r#""docs": { "command": "docs", "env": { "A": "b" } },"#,
    ] {
        assert!(edited.contains(kept), "{kept} is gone:\n{edited}");
    }
    assert_eq!(again(&edited, Host::Zed), Edit::Unchanged, "{edited}");
}

#[test]
fn comments_and_other_tables_of_toml_stay() {
    let text = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.docs]\ncommand = \"docs\"\n\n[tui]\ntheme = 'a'\n";
    let edited = changed(text, Host::Codex);
    for kept in [
        "# mine\nmodel = \"x\" # fast\n",
        "[mcp_servers.docs]\ncommand = \"docs\"\n",
        "[tui]\ntheme = 'a'\n",
    ] {
        assert!(edited.contains(kept), "{kept} is gone:\n{edited}");
    }
    assert!(
        edited.contains("[mcp_servers.coatepec]\ncommand = \"coatepec\"\n"),
        "{edited}"
    );
    assert_eq!(again(&edited, Host::Codex), Edit::Unchanged, "{edited}");
}

#[test]
fn an_entry_that_starts_something_else_is_left_alone_unless_told() {
    let jsonc = r#"{ "mcpServers": { "coatepec": { "command": "docker", "args": ["x"], "env": { "A": "b" } } } }"#;
    let toml = "[mcp_servers.coatepec]\ncommand = \"docker\"\nstartup_timeout_sec = 30\n";
    assert_eq!(again(jsonc, Host::Claude), Edit::Different);
    assert_eq!(again(toml, Host::Codex), Edit::Different);
    for (text, host, kept) in [
        (jsonc, Host::Claude, r#""env": { "A": "b" }"#),
        (toml, Host::Codex, "startup_timeout_sec = 30"),
    ] {
        let Ok(Edit::Changed(edited)) = edit(text, host, &host.entry(&Start::plainly("coatepec")), true) else {
            panic!("it was told to");
        };
        assert!(edited.contains(kept), "{edited}");
        assert!(!edited.contains("docker"), "{edited}");
        assert_eq!(again(&edited, host), Edit::Unchanged, "{edited}");
    }
}

#[test]
fn what_an_entry_has_besides_does_not_make_it_another() {
    let text = r#"{"mcpServers": {"coatepec": {"command": "coatepec", "args": ["--root", "${workspaceFolder}"], "env": {"RAILS_LOG_LEVEL": "warn"}}}}"#;
    assert_eq!(again(text, Host::Cursor), Edit::Unchanged);
    let text = "[mcp_servers]\ncoatepec = { command = \"coatepec\" }\n";
    assert_eq!(again(text, Host::Codex), Edit::Unchanged);
}

#[test]
fn an_app_below_the_opened_directory_is_named_from_there() {
    let args = |host: Host| {
        host.entry(&Start {
            app: "apps/shop",
            ..Start::plainly("coatepec")
        })["args"]
            .clone()
    };
    assert_eq!(args(Host::Claude)[1], "${CLAUDE_PROJECT_DIR:-.}/apps/shop");
    assert_eq!(args(Host::Cursor)[1], "${workspaceFolder}/apps/shop");
    assert_eq!(args(Host::Codex)[1], "apps/shop");
}

#[test]
fn a_file_that_is_not_understood_is_refused_with_the_reason() {
    let refused =
        |text: &str, host: Host| edit(text, host, &host.entry(&Start::plainly("coatepec")), true).unwrap_err();
    assert!(
        refused("{ \"a\": }", Host::Claude).contains("line 1"),
        "{}",
        refused("{ \"a\": }", Host::Claude)
    );
    assert!(refused("a = ", Host::Codex).contains("line 1"));
    assert_eq!(refused("[]", Host::Claude), "the whole is not an object");
    assert_eq!(
        refused(r#"{"servers": []}"#, Host::Vscode),
        "`servers` is not an object"
    );
    assert_eq!(refused("mcp_servers = 1", Host::Codex), "`mcp_servers` is not a table");
}

#[test]
fn what_an_editor_of_windows_has_put_around_the_text_stays() {
    let entry = |host: Host| host.entry(&Start::plainly("coatepec"));
    let table = [
        (Host::Claude, "\u{feff}{\r\n  // mine\r\n  \"mcpServers\": {}\r\n}\r\n"),
        (
            Host::Codex,
            "\u{feff}# mine\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n",
        ),
        (Host::Claude, "{\r\n}\r\n"),
    ];
    for (host, text) in table {
        let Ok(Edit::Changed(edited)) = edit(text, host, &entry(host), false) else {
            panic!("not changed: {text:?}");
        };
        let marks = |text: &str| text.matches('\u{feff}').count();
        assert_eq!(marks(&edited), marks(text), "{edited:?}");
        assert!(edited.starts_with(&text[..3]), "{edited:?}");
        assert_eq!(
            edited.matches('\n').count(),
            edited.matches("\r\n").count(),
            "{edited:?}"
        );
        assert_eq!(
            edit(&edited, host, &entry(host), false),
            Ok(Edit::Unchanged),
            "{edited:?}"
        );
    }
    // Where lines end in both ways, nobody is asked to choose.
    let Ok(Edit::Changed(edited)) = edit("{\r\n\n}\n", Host::Claude, &entry(Host::Claude), false) else {
        panic!("not changed");
    };
    assert!(
        edited.matches("\r\n").count() < edited.matches('\n').count(),
        "{edited:?}"
    );
}
