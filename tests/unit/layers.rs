//! Arrows point downward only: which module of src/ may name which.
//!
//! Each file is read as text, so that the rule holds for code of every platform. Arrows in comments are none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// From top to bottom. Modules of one layer don't name each other.
const LAYERS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    &["daemon"],
    &["mcp"],
    &["supervisor"],
    &["run"],
    &["worker"],
    &["project", "process", "sandbox", "reading", "journal"],
    &["config", "dirs"],
    &["error"],
];

/// Arrows that the layers forbid, and why there are some all the same.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "worker::tail",
        "run::output",
        "what a stray print leaves is captured as a run's output is",
    ),
    ("process", "sandbox", "a process confines itself between fork and exec"),
];

/// Arrows that the layers would allow, and why there are none.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("mcp", "worker", "callers never see the wire protocol"),
    ("mcp", "process", "a tool starts and signals nothing by itself"),
    ("run", "worker", "an outcome is made of records, and knows no process"),
];

/// Exceptions from those.
const EXCEPTED: &[(&str, &str)] = &[("run", "worker::protocol")];

/// Crates that belong to some modules alone.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("rmcp", &["mcp"], "the MCP library is an affair of the MCP front end"),
    ("clap", &["cli"], "arguments are parsed in one place"),
    (
        "tokio",
        &["cli", "daemon", "mcp", "supervisor", "worker", "process", "journal"],
        "rules and facts wait for nothing",
    ),
    (
        "libc",
        &["process", "sandbox", "project"],
        "the system is asked in few places",
    ),
    ("serde_yaml", &["config"], "there is one reader of settings"),
];

/// Files that take data and the clock as arguments.
const PURE: &[&str] = &[
    "cli/init/edit",
    "cli/init/hosts",
    "cli/render/checkup",
    "cli/render/concerned",
    "cli/render/coverage",
    "cli/render/data",
    "cli/render/diff",
    "cli/render/error",
    "cli/render/flaky",
    "cli/render/junit",
    "cli/render/profile",
    "cli/render/progress",
    "cli/render/report",
    "cli/render/source",
    "cli/render/style",
    "cli/run/exit",
    "daemon/key",
    "daemon/relay",
    "run/advice",
    "run/cause",
    "run/command",
    "run/coverage",
    "run/flaky",
    "run/results",
    "run/log",
    "run/mode",
    "run/outcome",
    "run/output",
    "run/paths",
    "run/report/budget",
    "run/report/build",
    "run/report/facts",
    "run/report/profile",
    "run/report/shape",
    "run/state",
    "supervisor/rewrites",
    "worker/freshness",
    "worker/protocol",
    "reading/budget",
    "reading/check",
    "reading/controller",
    "reading/job",
    "reading/model",
    "reading/routes",
    "reading/ruby_statements",
    "reading/schema",
    "reading/schema_file",
    "reading/schema_ruby",
    "reading/schema_sql",
    "reading/sql_cursor",
    "reading/sql_tokens",
    "reading/sql_types",
    "reading/tables",
    "project/concerned/answer",
    "project/concerned/group",
    "project/concerned/mentions",
    "project/concerned/names",
    "project/concerned/save",
    "project/concerned/subject",
    "project/diff",
    "project/expand",
    "project/lines",
    "project/merge",
    "project/policy",
    "project/refusal",
    "project/selector",
    "project/suffix",
];

/// What no pure file says.
const IMPURE: &[&str] = &[
    "tokio",
    "libc",
    "nix",
    "std::fs",
    "std::process",
    "std::env",
    "Instant::now",
    "SystemTime::now",
];

/// Names of the kernel's, which do nothing.
const HARMLESS: &str = "nix::sys::signal::Signal";

/// One file of src/ without its comments.
struct Source {
    /// `worker::link` for src/worker/link.rs, `worker` for src/worker/mod.rs.
    module: String,
    code: String,
}

fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    read_all(&src, &src, &mut sources);
    assert!(sources.len() > 40, "only {} files were read", sources.len());
    sources
}

fn read_all(src: &Path, dir: &Path, into: &mut Vec<Source>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(src, &path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") && path != src.join("lib.rs") {
            into.push(Source {
                module: module(path.strip_prefix(src).unwrap()),
                code: without_comments(&fs::read_to_string(&path).unwrap()),
            });
        }
    }
}

fn module(file: &Path) -> String {
    let path: PathBuf = match file.file_stem().unwrap().to_str().unwrap() {
        "mod" => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    };
    path.to_str().unwrap().replace('/', "::")
}

fn without_comments(code: &str) -> String {
    let lines = code.lines().map(|line| match line.trim_start().starts_with("//") {
        true => "",
        false => line.split(" // ").next().unwrap_or(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Everything of this crate that the code names, as far down as it is spelled out.
fn named(code: &str) -> BTreeSet<String> {
    let path = Regex::new(r"\b(?:crate|coatepec)::((?:\w+::)*)(\w+|\{[^;]*|\*)").unwrap();
    let mut named = BTreeSet::new();
    for found in path.captures_iter(code) {
        let prefix = &found[1];
        if found[2].starts_with('{') {
            named.extend(group(&found[2]).map(|item| format!("{prefix}{item}")));
        } else {
            named.insert(format!("{prefix}{}", &found[2]));
        }
    }
    named
}

/// The items of `{a, b::c, d::{e, f}}`; of what is nested deeper, the beginning is enough.
fn group(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let mut starts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 1 && matches!(c, '{' | ',') {
            starts.push(at + 1);
        }
        if depth == 0 {
            break;
        }
    }
    let item = |start: usize| {
        text[start..]
            .trim_start()
            .split([',', '}', '{', ' ', '\n'])
            .next()
            .unwrap_or("")
    };
    starts
        .into_iter()
        .map(item)
        .map(|item| item.trim_end_matches(':'))
        .filter(|item| !item.is_empty())
}

fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&top(module)))
}

/// Whether `module` is `of` or in it.
fn within(module: &str, of: &str) -> bool {
    module == of || module.strip_prefix(of).is_some_and(|rest| rest.starts_with("::"))
}

/// What is wrong with this file naming that, if anything.
fn turned(from: &str, to: &str) -> Option<String> {
    if top(from) == top(to)
        || ALLOWED
            .iter()
            .any(|(one, other, _)| within(from, one) && within(to, other))
    {
        return None;
    }
    let (Some(above), Some(below)) = (layer(from), layer(to)) else {
        return Some(format!("{from} names {to}: one of them has no layer"));
    };
    if above >= below {
        return Some(format!("{from} names {to}, which is not below it"));
    }
    let excepted = EXCEPTED
        .iter()
        .any(|(one, other)| within(from, one) && within(to, other));
    let mut forbidden = FORBIDDEN
        .iter()
        .filter(|(one, other, _)| !excepted && within(from, one) && within(to, other));
    forbidden
        .next()
        .map(|(_, _, why)| format!("{from} names {to}, but {why}"))
}

fn arrows(sources: &[Source]) -> Vec<(String, String)> {
    let from = |source: &Source| {
        named(&source.code)
            .into_iter()
            .map(|to| (source.module.clone(), to))
            .collect::<Vec<_>>()
    };
    sources.iter().flat_map(from).collect()
}

#[test]
fn no_arrow_turns() {
    let turned: Vec<String> = arrows(&sources())
        .iter()
        .filter_map(|(from, to)| turned(from, to))
        .collect();
    assert!(turned.is_empty(), "{turned:#?}");
}

#[test]
fn each_exception_is_needed() {
    let arrows = arrows(&sources());
    let exceptions = ALLOWED
        .iter()
        .map(|(from, to, _)| (from, to))
        .chain(EXCEPTED.iter().map(|(from, to)| (from, to)));
    for (from, to) in exceptions {
        assert!(
            arrows.iter().any(|(one, other)| within(one, from) && within(other, to)),
            "{from} does not name {to} any more: take the exception away"
        );
    }
}

#[test]
fn a_crate_is_named_where_it_belongs() {
    for source in sources() {
        for (name, modules, why) in CRATES {
            let named = Regex::new(&format!(r"\b{name}::")).unwrap().is_match(&source.code);
            assert!(
                !named || modules.contains(&top(&source.module)),
                "{} names {name}, but {why}",
                source.module
            );
        }
    }
}

#[test]
fn pure_files_name_no_system_and_no_clock() {
    let sources = sources();
    for file in PURE {
        let module = file.replace('/', "::");
        let source = sources
            .iter()
            .find(|source| source.module == module)
            .unwrap_or_else(|| panic!("no {file}"));
        let code = source.code.replace(HARMLESS, "");
        for word in IMPURE {
            let named = Regex::new(&format!(r"\b{word}\b")).unwrap().is_match(&code);
            assert!(!named, "{file} names {word}");
        }
    }
}

#[test]
fn each_module_has_a_layer() {
    for source in sources() {
        assert!(layer(&source.module).is_some(), "{} is in no layer", source.module);
    }
}

#[test]
fn an_arrow_is_seen_however_it_is_written() {
    let table: &[(&str, &[&str])] = &[
        ("use crate::run::log::RunLog;", &["run::log::RunLog"]),
        (
            "use crate::run::{RunId, log::RunLog};",
            &["run::RunId", "run::log::RunLog"],
        ),
        (
            "use crate::{\n    error::Error,\n    run::{log, state::{A, B}},\n    mcp,\n};",
            &["error::Error", "mcp", "run"],
        ),
        ("fn f() -> crate::error::Result<()> {}", &["error::Result"]),
        (
            "pub(crate) fn f() { crate::process::spawn::spawn(x) }",
            &["process::spawn::spawn"],
        ),
        ("use crate::run::*;", &["run::*"]),
        ("coatepec::cli::main(args)", &["cli::main"]),
        (
            "//! As [`crate::mcp`] does.\n    // crate::cli\nlet x = 1; // crate::cli",
            &[],
        ),
        ("crate_name::x; pub(crate) mod y;", &[]),
    ];
    for (code, expected) in table {
        let found = named(&without_comments(code));
        assert_eq!(
            found.iter().map(String::as_str).collect::<Vec<_>>(),
            *expected,
            "{code}"
        );
    }
}

#[test]
fn an_arrow_that_turns_is_seen() {
    let table = [
        ("supervisor::warm", "worker::link::Link", true),
        ("worker::link", "process::lines::LineReader", true),
        ("worker::link", "worker::protocol", true),
        ("worker::tail", "run::output::Capture", true),
        ("worker::link", "run::output::Capture", false),
        ("worker::tail", "run::log::RunLog", false),
        ("run::log", "worker::protocol::Record", true),
        ("run::log", "worker::link::Link", false),
        ("run::log", "supervisor::Supervisor", false),
        ("process::spawn", "sandbox::Policy", true),
        ("sandbox::jail", "process::signal_name", false),
        ("project::disk", "process::fds", false),
        ("mcp::tools", "run::report::Report", true),
        ("mcp::tools", "worker::protocol::Failure", false),
        ("mcp::tools", "process::tree", false),
        ("cli::serve", "mcp::serve", true),
        ("mcp", "cli", false),
        ("error", "config::Config", false),
        ("config", "error::Error", true),
        ("run", "processes::x", false),
    ];
    for (from, to, fine) in table {
        assert_eq!(turned(from, to).is_none(), fine, "{from} {to}: {:?}", turned(from, to));
    }
}
