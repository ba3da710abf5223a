//! What `coatepec doctor` has found, and what to do about it.

use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::style::{Style, harmless};

/// How it stands with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ok,
    /// It works, but less well than it could.
    Warning,
    /// Runs fail because of it.
    Failed,
    /// It can't be told before something else is mended.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub state: State,
    /// What is so.
    pub told: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    pub fn ok(check: &'static str, told: impl Into<String>) -> Finding {
        Finding::new(check, State::Ok, told, None)
    }

    pub fn skipped(check: &'static str, told: impl Into<String>) -> Finding {
        Finding::new(check, State::Skipped, told, None)
    }

    pub fn warning(check: &'static str, told: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(check, State::Warning, told, Some(fix.into()))
    }

    pub fn failed(check: &'static str, told: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(check, State::Failed, told, Some(fix.into()))
    }

    fn new(check: &'static str, state: State, told: impl Into<String>, fix: Option<String>) -> Finding {
        let told = told.into();
        Finding {
            check,
            state,
            told,
            fix,
        }
    }
}

/// A line per finding, the fix below it, and a line that sums up. `width`: columns of a terminal, if it is one.
pub fn checkup(findings: &[Finding], width: Option<usize>, style: Style) -> String {
    let names = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    let mut text: String = findings.iter().map(|found| line(found, names, width, style)).collect();
    let count = |state: State| findings.iter().filter(|finding| finding.state == state).count();
    let summary = match (count(State::Failed), count(State::Warning)) {
        (0, 0) => style.green("everything is well"),
        (0, warnings) => style.yellow(&format!("it works; {warnings} to look at")),
        (failed, warnings) => style.red(&format!("{failed} to mend, {warnings} to look at")),
    };
    text += &format!("\n{summary}\n");
    text
}

fn line(finding: &Finding, names: usize, width: Option<usize>, style: Style) -> String {
    let mark = match finding.state {
        State::Ok => style.green("✓"),
        State::Warning => style.yellow("!"),
        State::Failed => style.red("✗"),
        State::Skipped => style.dim("–"),
    };
    let indent = names + 4;
    let room = width.map(|width| width.saturating_sub(indent + 2));
    let below = format!("\n{}", " ".repeat(indent));
    let told = wrapped(harmless(&finding.told).trim(), room).replace('\n', &below);
    let name = format!("{:names$}", finding.check);
    let mut line = format!("{mark} {}  {told}\n", style.bold(&name));
    if let Some(fix) = &finding.fix {
        let fix = wrapped(&harmless(fix), room).replace('\n', &format!("{below}  "));
        line += &format!("{}{} {fix}\n", " ".repeat(indent), style.cyan("→"));
    }
    line
}

/// Broken between words where it is wider than that.
fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines = text.lines().map(|line| {
        let mut broken = String::new();
        let mut column = 0;
        for word in line.split(' ') {
            let fits = column + word.width() < width;
            match (column, fits) {
                (0, _) => {}
                (_, true) => broken.push(' '),
                (_, false) => broken.push('\n'),
            }
            column = if fits && column > 0 { column + 1 } else { 0 } + word.width();
            broken += word;
        }
        broken
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What the status says about forks, after a run that had the choice.
pub fn forks(status: &Value) -> Finding {
    let check = "fork safety";
    let forking = &status["forking"];
    let listening = texts(&status["listening"]);
    let listens = match listening.as_slice() {
        [] => String::new(),
        places => format!("\nthe boot listens on {}; runs don't", places.join(", ")),
    };
    let threads = texts(&forking["extra_threads"]);
    let threads = match threads.as_slice() {
        [] => String::new(),
        threads => format!("\nthreads that came after the boot: {}", threads.join(", ")),
    };
    match forking["safe"].as_bool() {
        None => Finding::skipped(check, format!("no run has had the choice yet{listens}")),
        Some(true) => Finding::ok(check, format!("runs are forked from the warm process{listens}")),
        Some(false) => Finding::warning(
            check,
            format!(
                "each run is a fresh process: {}{threads}{listens}",
                forking["reason"].as_str().unwrap_or_default()
            ),
            "start threads on first use instead of in the test helper; leave out of the test environment what loads a gem \
             that does not survive a fork; or take the risk with `fork: always` in .coatepec.yml",
        ),
    }
}

/// Who else serves this checkout, with an app of its own.
pub fn servers(status: &Value) -> Finding {
    let check = "server";
    let pid = status["server_pid"].to_string();
    let others = status["other_servers"].as_array().map_or(&[][..], Vec::as_slice);
    if others.is_empty() {
        return Finding::ok(check, format!("pid {pid}; there is no other one for this checkout"));
    }
    let told = others.iter().map(|other| {
        let differs = texts(&other["differs"]);
        let why = match differs.as_slice() {
            [] => String::new(),
            names => format!(", since these differ: {}", names.join(", ")),
        };
        format!("\npid {} serves clients that can't share it{why}", other["pid"])
    });
    Finding::warning(
        check,
        format!("pid {pid}{}", told.collect::<String>()),
        "start all clients with the same values, or let them be: each server has an app of its own, which ends when nobody \
         uses it any more. `coatepec stop` ends all of this checkout",
    )
}

/// What of the sandbox this machine enforces.
pub fn sandbox(status: &Value) -> Finding {
    let check = "sandbox";
    let Some(sandbox) = status.get("sandbox") else {
        return Finding::ok(
            check,
            "limits of memory, processes and files; no new privileges; no core dumps",
        );
    };
    let mode = sandbox["mode"].as_str().unwrap_or("unknown");
    let parts = sandbox["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let told = |part: &Value| {
        let why = part["why"].as_str().map_or(String::new(), |why| format!(" ({why})"));
        let text = |name: &str| part[name].as_str().unwrap_or_default().to_owned();
        format!("{}: {}{why}", text("part"), text("enforced"))
    };
    let memory = status["memory_limit"].as_str().map(|by| match by {
        "kernel" => "limit of memory: kept by the kernel".to_owned(),
        _ => "limit of memory: looked at 4 times a second".to_owned(),
    });
    let parts_told = parts.iter().map(told).chain(memory);
    let lines: Vec<String> = std::iter::once(mode.to_owned()).chain(parts_told).collect();
    let lost = texts(&status["not_there"]);
    let held_back = texts(&status["held_back"]);
    let lost_told = (!lost.is_empty()).then(|| format!("in .coatepec.yml, and nothing is there: {}", lost.join(", ")));
    let held_back = (!held_back.is_empty()).then(|| {
        format!(
            "kept from the app by their names, unless `env.keep` has them: {}",
            held_back.join(", ")
        )
    });
    let told = lines
        .into_iter()
        .chain(lost_told)
        .chain(held_back)
        .collect::<Vec<_>>()
        .join("\n");
    let make = "make these places, or mend their names; then `coatepec restart`";
    let fixes = [
        (!parts.iter().all(|part| part["enforced"] == "full")).then(|| more_of_the_sandbox(parts)),
        (!lost.is_empty()).then(|| make.to_owned()),
    ];
    let fixes: Vec<String> = fixes.into_iter().flatten().collect();
    match fixes.is_empty() {
        true => Finding::ok(check, told),
        false => Finding::warning(check, told, fixes.join("\n")),
    }
}

/// What would have more of it enforced, each once.
fn more_of_the_sandbox(parts: &[Value]) -> String {
    let mut fixes: Vec<&str> = Vec::new();
    for why in parts.iter().filter_map(|part| part["why"].as_str()) {
        let fix = match why {
            _ if why.contains("the app lies in") => "keep the app elsewhere, such as below your home",
            "on Linux only" => "on Linux, or in a Linux container (docs/containers.md), all of it is enforced",
            _ => {
                "a newer kernel, or a container that allows Landlock and seccomp, enforces more: uname -r; \
                  cat /sys/kernel/security/lsm"
            }
        };
        if !fixes.contains(&fix) {
            fixes.push(fix);
        }
    }
    fixes.join("\n")
}

/// What the schema tool says about the test database.
pub fn migrations(schema: &Value) -> Finding {
    let check = "migrations";
    match schema["pending_count"].as_u64().unwrap_or(0) {
        0 => Finding::ok(check, "none is pending"),
        pending => {
            let listed = schema["pending_migrations"].as_array().map_or(&[][..], Vec::as_slice);
            let more = pending.saturating_sub(listed.len() as u64);
            let more = (more > 0).then(|| format!("and {more} more"));
            let names = listed.iter().map(migration).chain(more).collect::<Vec<_>>().join(", ");
            Finding::failed(
                check,
                format!("{pending} pending: {names}"),
                "RAILS_ENV=test bin/rails db:migrate",
            )
        }
    }
}

/// By its file, which has version and name; else as far as it is known.
fn migration(pending: &Value) -> String {
    let text = |name: &str| pending[name].as_str().filter(|text| !text.is_empty());
    let known = [text("version"), text("name")].into_iter().flatten();
    let named = text("file").map_or_else(|| known.collect::<Vec<_>>().join(" "), str::to_owned);
    if named.is_empty() { pending.to_string() } else { named }
}

fn texts(list: &Value) -> Vec<String> {
    let text = |item: &Value| match item {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    list.as_array().into_iter().flatten().map(text).collect()
}
