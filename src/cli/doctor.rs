//! `coatepec doctor`: what keeps this app from being tested well on this machine, and what to do about it.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::Context;
use super::init::edit::{self, Edit, edit};
use super::init::hosts::{ALL, Host, NAME, Start};
use super::render::checkup::{self, Finding, State};
use super::render::words::{of_error as of_error_text, of_shell};
use super::session::{ask, within};
use crate::config::sandbox::Mode;
use crate::config::{Config, FILE};
use crate::daemon::client::Client;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::worker::environment::clean;
use crate::worker::ruby::{self, RubyCommand};

/// Check what runs need: Ruby, Bundler, boot, database, forks, sandbox, clients
///
/// Boots the app. Ends with status 1 if something has to be mended.
#[derive(Debug, clap::Args)]
pub(super) struct Doctor {
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
}

/// Directories below `spec` or `test` in which a test is looked for.
const DEPTH: usize = 6;

/// What only the booted app can tell.
const INSIDE: [&str; 6] = [
    "boot",
    "database",
    "migrations",
    "test helper",
    "fork safety",
    "sandbox",
];

/// What no example is called.
const NO_EXAMPLE: &str = "coatepec doctor: no example is called that";

pub(super) fn doctor(arguments: &Doctor, context: &Context) -> Result<ExitCode> {
    let root = context.root()?;
    let mut findings = vec![project(&root)];
    let config = Config::load(&root);
    findings.push(configuration(&root, &config));
    let config_error = config.as_ref().err().cloned();
    let config = config.unwrap_or_default();
    let ruby = ruby::resolve(&root, &clean(std::env::vars_os()), config.ruby_command.as_deref());
    findings.extend(ruby_and_bundler(&root, &ruby));
    match &config_error {
        // It would only tell the same again.
        Some(_) => findings.extend(INSIDE.map(|check| Finding::skipped(check, "the configuration is wrong"))),
        None => findings.extend(inside(context)),
    }
    findings.extend(ALL.iter().filter_map(|host| client(*host, &root)));
    let failed = findings.iter().any(|finding| finding.state == State::Failed);
    let text = match arguments.json {
        true => json!({ "ok": !failed, "findings": findings }).to_string() + "\n",
        false => checkup::checkup(&findings, context.terminal.width_of_out, context.terminal.out),
    };
    context.terminal.say(&text);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn project(root: &Path) -> Finding {
    let config = Config::load(root).unwrap_or_default();
    match Project::at(root, &config) {
        Ok(project) => Finding::ok(
            "project",
            format!("{} (boots {})", root.display(), project.boot.display()),
        ),
        Err(error) => of_error("project", &error),
    }
}

fn configuration(root: &Path, config: &Result<Config>) -> Finding {
    match config {
        Err(error) => of_error("configuration", error),
        Ok(_) if root.join(FILE).exists() => Finding::ok("configuration", format!("{FILE} is understood")),
        Ok(_) => Finding::ok("configuration", format!("no {FILE}: everything has its default")),
    }
}

fn ruby_and_bundler(root: &Path, ruby: &Result<RubyCommand>) -> Vec<Finding> {
    let ruby = match ruby {
        Ok(ruby) => ruby,
        Err(error) => return vec![of_error("ruby", error), Finding::skipped("bundler", "no Ruby yet")],
    };
    let words: Vec<String> = ruby
        .argv
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let found = Finding::ok("ruby", format!("{} (by {})", words.join(" "), ruby.manager));
    vec![found, bundler(root, &words)]
}

fn bundler(root: &Path, command: &[String]) -> Finding {
    let gemfile = root.join("Gemfile").exists() || std::env::var_os("BUNDLE_GEMFILE").is_some();
    let bundled = command.iter().any(|word| word == "exec");
    let locked = std::fs::metadata(root.join("Gemfile.lock")).is_ok_and(|lock| lock.len() > 0);
    match (gemfile, bundled, locked) {
        (false, ..) => Finding::ok("bundler", "no Gemfile: gems are taken as they are installed"),
        (true, false, _) => Finding::warning(
            "bundler",
            "there is a Gemfile, and no `bundle` beside Ruby",
            "gem install bundler",
        ),
        (true, true, true) => Finding::ok("bundler", "Gemfile and Gemfile.lock are there"),
        (true, true, false) => Finding::warning(
            "bundler",
            "Gemfile.lock is missing or empty: each boot resolves the gems anew",
            "bundle install",
        ),
    }
}

/// What only the booted app can tell.
fn inside(context: &Context) -> Vec<Finding> {
    let told = within(context, async |client, root| Ok(booted(client, root).await));
    told.unwrap_or_else(|error| vec![of_error("server", &error)])
}

async fn booted(client: &Client, root: &Path) -> Vec<Finding> {
    let status = match ask(client, "rails_runtime_status", json!({ "boot": true })).await {
        Ok(status) => status,
        Err(error) => return not_booted(&error),
    };
    let mut findings = vec![boot(&status), checkup::servers(&status)];
    // First, since it may make the database.
    let helper = helper(client, root).await;
    findings.extend(database(
        ask(client, "rails_schema", json!({ "detail": "names", "limit": 1 })).await,
    ));
    findings.push(helper);
    // Now it has been decided whether to fork.
    let status = ask(client, "rails_runtime_status", json!({})).await.unwrap_or(status);
    findings.push(checkup::forks(&status));
    findings.push(checkup::sandbox(&status));
    findings
}

fn not_booted(error: &Error) -> Vec<Finding> {
    let rest = INSIDE.into_iter().skip(1);
    let skipped = rest.map(|check| Finding::skipped(check, "the app does not boot"));
    let failed = of_error("boot", error);
    let alone = "RAILS_ENV=test bin/rails runner 1   # the same without Coatepec";
    let fix = failed.fix.iter().map(String::as_str).chain([alone]);
    let fix = fix.collect::<Vec<_>>().join("\n");
    std::iter::once(Finding {
        fix: Some(fix),
        ..failed
    })
    .chain(skipped)
    .collect()
}

/// Loads the test helper and a test file, and runs none of its examples.
async fn helper(client: &Client, root: &Path) -> Finding {
    let check = "test helper";
    let Some(file) = ["spec", "test"]
        .iter()
        .find_map(|dir| a_test(root, Path::new(dir), DEPTH))
    else {
        return Finding::skipped(check, "there is no test to load it with");
    };
    let asked = json!({ "paths": [file], "example": NO_EXAMPLE, "wait_seconds": 900 });
    match ask(client, "rails_spec_run", asked).await {
        Err(error) => of_error(check, &error),
        Ok(report) if report["outcome"] == "no_examples" => Finding::ok(check, format!("loaded, with {file}")),
        Ok(report) => {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let error =
                text(&report["error"]["message"]).or_else(|| text(&report["errors_outside"][0]["error"]["message"]));
            let told = error.or_else(|| text(&report["reason"])).unwrap_or_default();
            let again = format!("coatepec run {file}");
            let fix =
                text(&report["hint"]).map_or_else(|| again.clone(), |hint| format!("{}\n{again}", of_shell(&hint)));
            Finding::failed(
                check,
                format!("{}: {told}", text(&report["outcome"]).unwrap_or_default()),
                fix,
            )
        }
    }
}

/// The first test file in or below a directory of the app.
fn a_test(root: &Path, dir: &Path, depth: usize) -> Option<String> {
    let mut entries: Vec<_> = root.join(dir).read_dir().ok()?.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let is_test = |name: &str| name.ends_with("_spec.rb") || name.ends_with("_test.rb");
    let named = |entry: &std::fs::DirEntry| entry.file_name().into_string().ok();
    let file = entries
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    if let Some(name) = file.filter_map(named).find(|name| is_test(name)) {
        return Some(dir.join(name).to_string_lossy().into_owned());
    }
    let below = entries
        .iter()
        .filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()));
    below
        .filter_map(named)
        .find_map(|name| a_test(root, &dir.join(name), depth - 1))
}

fn boot(status: &Value) -> Finding {
    let version = |name: &str| {
        let version = status["versions"][name].as_str()?;
        Some(format!("{name} {version}"))
    };
    let versions: Vec<String> = ["ruby", "rails", "rspec", "minitest"]
        .into_iter()
        .filter_map(version)
        .collect();
    let seconds = status["boot_seconds"].as_f64().unwrap_or(0.0);
    let told = format!("in {seconds:.1} s: {}", versions.join(", "));
    match status["eager_load_error"].as_str() {
        None => Finding::ok("boot", told),
        Some(error) => Finding::warning(
            "boot",
            format!("{told}\nnot all of its code can be loaded: {error}"),
            "mend it: a test that needs that code will fail\nRAILS_ENV=test bin/rails zeitwerk:check",
        ),
    }
}

fn database(schema: Result<Value>) -> Vec<Finding> {
    match schema {
        Err(error) => vec![
            of_error("database", &error),
            Finding::skipped("migrations", "no database"),
        ],
        Ok(schema) if schema["source"] == "database" => {
            let tables = schema["matched"].as_u64().unwrap_or(0);
            vec![
                Finding::ok("database", format!("{tables} tables")),
                checkup::migrations(&schema),
            ]
        }
        Ok(schema) => {
            let source = schema["source"].as_str().unwrap_or("a file").to_owned();
            let unreachable = Finding::warning(
                "database",
                format!("the test database could not be read; the schema is known from {source}"),
                "start it, or create it: RAILS_ENV=test bin/rails db:prepare",
            );
            vec![unreachable, checkup::migrations(&schema)]
        }
    }
}

/// Nothing of a client that nobody uses here.
fn client(host: Host, root: &Path) -> Option<Finding> {
    if !host.traces().iter().any(|trace| root.join(trace).exists()) {
        return None;
    }
    let file = host.file();
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let set_up = format!(
        "coatepec init {}",
        clap::ValueEnum::to_possible_value(&host)?.get_name()
    );
    let edited = |start: &Start<'_>| edit(&text, host, &host.entry(start), false);
    let command = edit::command(&text, host);
    if let Some(missing) = command.as_deref().filter(|command| !is_there(command, root)) {
        let told = format!("{}: {file} starts `{missing}`, which is not there", host.title());
        return Some(Finding::warning("client", told, format!("{set_up} --force")));
    }
    // However `init` was called.
    let command = command.as_deref().unwrap_or(NAME);
    let as_init = [Mode::Off, Mode::Standard, Mode::Strict]
        .into_iter()
        .any(|sandbox_at_least| {
            let start = Start {
                sandbox_at_least,
                ..Start::plainly(command)
            };
            names_us(command) && edited(&start) == Ok(Edit::Unchanged)
        });
    Some(match edited(&Start::plainly(NAME)) {
        _ if as_init => Finding::ok("client", format!("{}: {file}", host.title())),
        Ok(Edit::Unchanged) => Finding::ok("client", format!("{}: {file}", host.title())),
        Ok(Edit::Different) => Finding::ok("client", format!("{}: {file}, in its own way", host.title())),
        Ok(Edit::Changed(_)) => Finding::warning(
            "client",
            format!("{} does not start Coatepec here", host.title()),
            set_up,
        ),
        Err(error) => Finding::failed(
            "client",
            format!("{}: {file} is not understood: {error}", host.title()),
            format!("mend it, or have it made anew: mv {file} {file}.old && {set_up}"),
        ),
    })
}

/// What a client starts: a path, or a name on its PATH, which is taken for ours. What the client itself is to fill in
/// (`${…}`, `~`) only it can tell.
fn is_there(command: &str, root: &Path) -> bool {
    if command.contains('$') || command.starts_with('~') {
        return true;
    }
    if command.contains('/') {
        return root.join(command).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(command).is_file())
}

/// Whether it is a Coatepec, and not what starts one in its own way, such as a container.
fn names_us(command: &str) -> bool {
    Path::new(command).file_name().is_some_and(|name| name == NAME)
}

fn of_error(check: &'static str, error: &Error) -> Finding {
    let fix = error.hint.as_deref().unwrap_or("mend it, and look again");
    Finding::failed(check, error.to_string(), of_error_text(error.kind, fix))
}
