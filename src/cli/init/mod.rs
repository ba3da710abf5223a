//! `coatepec init [CLIENT…]`: tells clients how to start us, in their own files.

pub mod edit;
pub mod hosts;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::Context;
use super::render::diff;
use crate::error::{Error, Kind, Result};
use edit::Edit;
use hosts::{ALL, Host, NAME, Start};

/// Tell clients how to start Coatepec, in the configuration of the project
///
/// Shows the change and writes it, with a copy of the file as it was beside it. Everything else in the file stays as it
/// is. Doing it again changes nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Init {
    /// Which clients [default: those with traces in the directory]
    #[arg(value_enum)]
    clients: Vec<Host>,
    /// The directory that is opened in the client, if it is not the app's own
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What starts Coatepec [default: `coatepec` if that is on PATH, else this very file]
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,
    /// Let an entry of that name that starts something else start Coatepec
    #[arg(long)]
    force: bool,
    /// Show the change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
}

/// What was done for one client.
#[derive(Debug, Serialize)]
struct Done {
    client: &'static str,
    file: PathBuf,
    result: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip)]
    diff: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Written,
    WouldWrite,
    Unchanged,
    Different,
}

pub(super) fn init(arguments: &Init, context: &Context) -> Result<ExitCode> {
    let root = context.root()?;
    let dir = match &arguments.dir {
        Some(dir) => dir.canonicalize().map_err(|error| cant("enter", dir).source(error))?,
        None => root.clone(),
    };
    let app = relative(&root, &dir)?;
    let clients = clients(&arguments.clients, &dir)?;
    let command = arguments.command.clone().unwrap_or_else(our_command);
    let start = Start {
        command: &command,
        app: &app,
        sandbox_at_least: context.sandbox_at_least,
    };
    let setup = |host: &Host| set_up(*host, arguments, &dir, &host.entry(&start), context);
    let done: Vec<Done> = clients.iter().map(setup).collect::<Result<_>>()?;
    let refused = done.iter().any(|done| done.result == Outcome::Different);
    match arguments.json {
        true => context
            .terminal
            .say(&(serde_json::json!({ "clients": done }).to_string() + "\n")),
        false => done.iter().for_each(|done| tell(done, context)),
    }
    Ok(if refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn set_up(host: Host, arguments: &Init, dir: &Path, entry: &serde_json::Value, context: &Context) -> Result<Done> {
    let file = dir.join(host.file());
    let old = text(&file)?;
    let edited = edit::edit(old.as_deref().unwrap_or_default(), host, entry, arguments.force)
        .map_err(|error| cant("understand", &file).hint(format!("{error}; mend the file, or add the entry by hand")))?;
    let mut done = Done {
        client: host.title(),
        file,
        result: Outcome::Unchanged,
        backup: None,
        diff: String::new(),
    };
    match edited {
        Edit::Unchanged => {}
        Edit::Different => done.result = Outcome::Different,
        Edit::Changed(new) => {
            let shown = old.as_deref().unwrap_or_default();
            done.diff = diff::between(host.file(), shown, &new, context.terminal.out);
            done.result = Outcome::WouldWrite;
            if !arguments.dry_run {
                done.backup = write(&done.file, old.is_some(), &new)?;
                done.result = Outcome::Written;
            }
        }
    }
    Ok(done)
}

/// In place of the old file at once, never half of it. A link stays a link.
fn write(file: &Path, exists: bool, text: &str) -> Result<Option<PathBuf>> {
    let failed = |error: std::io::Error| cant("write", file).source(error);
    let file = &target(file);
    let dir = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir).map_err(failed)?;
    let backup = exists.then(|| backup_of(file));
    if let Some(backup) = &backup {
        std::fs::copy(file, backup).map_err(failed)?;
    }
    let temporary = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    std::fs::write(temporary.path(), text).map_err(failed)?;
    let permissions = match std::fs::metadata(file) {
        Ok(old) => old.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    std::fs::set_permissions(temporary.path(), permissions).map_err(failed)?;
    temporary.persist(file).map_err(|error| failed(error.error))?;
    Ok(backup)
}

/// Where a link leads to, also if nothing is there yet.
fn target(file: &Path) -> PathBuf {
    if let Ok(real) = file.canonicalize() {
        return real;
    }
    match std::fs::read_link(file) {
        Ok(next) => file.parent().unwrap_or(Path::new(".")).join(next),
        Err(_) => file.to_owned(),
    }
}

/// The first name that is free: an older copy is not lost.
fn backup_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = |n: u32| match n {
        0 => file.with_file_name(format!("{name}.bak")),
        n => file.with_file_name(format!("{name}.bak.{n}")),
    };
    (0..)
        .map(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| numbered(0))
}

fn tell(done: &Done, context: &Context) {
    let style = context.terminal.out;
    let (client, file) = (style.bold(done.client), done.file.display());
    let told = match done.result {
        Outcome::Written => format!("{client}: wrote {file}"),
        Outcome::WouldWrite => format!("{client}: would write {file}"),
        Outcome::Unchanged => format!("{client}: {file} has it already"),
        Outcome::Different => {
            format!("{client}: {file} has an entry `{NAME}` that starts something else; --force replaces it")
        }
    };
    let backup = done
        .backup
        .iter()
        .map(|backup| format!(" (as it was: {})", backup.display()));
    let told: String = std::iter::once(told).chain(backup).collect();
    context.terminal.say(&format!("{told}\n{}", done.diff));
}

fn clients(named: &[Host], dir: &Path) -> Result<Vec<Host>> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let used = |host: &&Host| host.traces().iter().any(|trace| dir.join(trace).exists());
    let found: Vec<Host> = ALL.iter().filter(used).copied().collect();
    match found.is_empty() {
        false => Ok(found),
        true => Err(Error::new(
            Kind::InvalidArguments,
            format!("no client has left traces in `{}`", dir.display()),
        )
        .hint("name one, such as `coatepec init claude`; `coatepec init --help` lists them")),
    }
}

/// The app's directory as seen from the one that is opened; empty when they are the same.
fn relative(root: &Path, dir: &Path) -> Result<String> {
    let below = root.strip_prefix(dir).map_err(|_| {
        Error::new(
            Kind::InvalidArguments,
            format!("the app `{}` is not below `{}`", root.display(), dir.display()),
        )
        .hint("`--dir` is a directory that holds the app")
    })?;
    Ok(below.to_string_lossy().into_owned())
}

/// A file that is shared with others should not name a directory of this machine, if that can be helped.
fn our_command() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).any(|dir| dir.join(NAME).is_file());
    match std::env::current_exe() {
        Ok(ours) if !on_path => ours.to_string_lossy().into_owned(),
        _ => NAME.to_owned(),
    }
}

/// None if there is no such file.
fn text(file: &Path) -> Result<Option<String>> {
    let is_file = std::fs::metadata(file).map(|found| found.is_file());
    match is_file.and_then(|is_file| is_file.then(|| std::fs::read_to_string(file)).transpose()) {
        Ok(Some(text)) => Ok(Some(text)),
        // Reading a pipe would wait for who writes to it.
        Ok(None) => Err(cant("read", file).source(std::io::Error::other("it is not a file"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cant("read", file).source(error)),
    }
}

fn cant(what: &str, file: &Path) -> Error {
    Error::new(Kind::InvalidArguments, format!("failed to {what} `{}`", file.display()))
}
