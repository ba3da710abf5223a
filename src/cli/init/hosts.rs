//! The clients that can be set up: where each keeps its configuration, and what an entry of a server looks like there.

use serde_json::{Value, json};

use crate::config::sandbox::Mode;

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Host {
    /// Claude Code: .mcp.json
    Claude,
    /// Cursor: .cursor/mcp.json
    Cursor,
    /// VS Code: .vscode/mcp.json
    Vscode,
    /// Codex, in a project that it trusts: .codex/config.toml
    Codex,
    /// Zed: .zed/settings.json
    Zed,
    /// Gemini CLI: .gemini/settings.json
    Gemini,
    /// OpenCode: opencode.json
    Opencode,
}

/// How a client is to start us.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub command: &'a str,
    /// The app's directory relative to the one that is opened in the client; empty when they are the same.
    pub app: &'a str,
    pub sandbox_at_least: Mode,
}

impl<'a> Start<'a> {
    /// In the app's own directory, with nothing to insist on.
    pub fn plainly(command: &'a str) -> Start<'a> {
        Start {
            command,
            app: "",
            sandbox_at_least: Mode::Off,
        }
    }
}

/// How the file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON with comments and trailing commas, as the editors have it; plain JSON is a part of it.
    Jsonc,
    Toml,
}

/// The name of our entry everywhere.
pub const NAME: &str = "coatepec";

pub const ALL: [Host; 7] = [
    Host::Claude,
    Host::Cursor,
    Host::Vscode,
    Host::Codex,
    Host::Zed,
    Host::Gemini,
    Host::Opencode,
];

impl Host {
    /// As people call it.
    pub fn title(self) -> &'static str {
        match self {
            Host::Claude => "Claude Code",
            Host::Cursor => "Cursor",
            Host::Vscode => "VS Code",
            Host::Codex => "Codex",
            Host::Zed => "Zed",
            Host::Gemini => "Gemini CLI",
            Host::Opencode => "OpenCode",
        }
    }

    /// The file of the project, relative to the directory that is opened in the client.
    pub fn file(self) -> &'static str {
        match self {
            Host::Claude => ".mcp.json",
            Host::Cursor => ".cursor/mcp.json",
            Host::Vscode => ".vscode/mcp.json",
            Host::Codex => ".codex/config.toml",
            Host::Zed => ".zed/settings.json",
            Host::Gemini => ".gemini/settings.json",
            Host::Opencode => "opencode.json",
        }
    }

    /// What is there in a project in which the client is used.
    pub fn traces(self) -> &'static [&'static str] {
        match self {
            Host::Claude => &[".mcp.json", ".claude", "CLAUDE.md"],
            Host::Cursor => &[".cursor", ".cursorrules"],
            Host::Vscode => &[".vscode"],
            Host::Codex => &[".codex"],
            Host::Zed => &[".zed"],
            Host::Gemini => &[".gemini", "GEMINI.md"],
            Host::Opencode => &["opencode.json", ".opencode"],
        }
    }

    pub fn format(self) -> Format {
        match self {
            Host::Codex => Format::Toml,
            _ => Format::Jsonc,
        }
    }

    /// Below which key the servers are.
    pub fn section(self) -> &'static str {
        match self {
            Host::Claude | Host::Cursor | Host::Gemini => "mcpServers",
            Host::Vscode => "servers",
            Host::Codex => "mcp_servers",
            Host::Zed => "context_servers",
            Host::Opencode => "mcp",
        }
    }

    /// Our entry. No absolute path, since these files are shared with others.
    pub fn entry(self, start: &Start<'_>) -> Value {
        let command = start.command;
        let root = self.root(start.app).map(|root| ["--root".to_owned(), root]);
        let floor = Some(start.sandbox_at_least).filter(|mode| *mode != Mode::Off);
        let floor = floor.map(|mode| ["--sandbox-at-least".to_owned(), mode.to_string()]);
        let args: Vec<String> = root.into_iter().chain(floor).flatten().collect();
        match self {
            Host::Vscode => json!({ "type": "stdio", "command": command, "args": args }),
            Host::Opencode => {
                let words: Vec<&str> = std::iter::once(command)
                    .chain(args.iter().map(String::as_str))
                    .collect();
                json!({ "type": "local", "command": words })
            }
            _ => json!({ "command": command, "args": args }),
        }
    }

    /// What follows `--root`. Where a client starts servers in the directory that is opened, nothing need be said of an
    /// app that is there.
    fn root(self, app: &str) -> Option<String> {
        let within = |opened: &str| match app {
            "" => opened.to_owned(),
            app => format!("{opened}/{app}"),
        };
        match self {
            Host::Claude => Some(within("${CLAUDE_PROJECT_DIR:-.}")),
            Host::Cursor | Host::Vscode => Some(within("${workspaceFolder}")),
            Host::Codex | Host::Zed | Host::Gemini | Host::Opencode => (!app.is_empty()).then(|| app.to_owned()),
        }
    }
}
