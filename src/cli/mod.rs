//! The command line: one file per subcommand, each of them thin: read the arguments, do it, show it. Without a
//! subcommand, Coatepec serves MCP over stdio.

mod completions;
mod concerned;
mod control;
mod doctor;
mod flaky;
pub mod init;
mod log;
mod man;
mod parts;
mod reading;
pub mod render;
pub mod run;
mod serve;
mod session;
mod terminal;
pub mod usage;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::config::sandbox::Mode;
use crate::daemon;
use crate::error::{Error, Result};
use crate::process::keeper;
use crate::project;
use crate::supervisor::setup::Site;
use render::style::Choice;
use serve::Manner;
use terminal::Terminal;

/// Runs exactly the specs you name in a warm, contained Rails process, over MCP or from the shell.
///
/// Without a subcommand it serves MCP on stdin and stdout, for a client such as a coding agent, until the client closes its
/// end or TERM, INT or HUP comes. Nothing is left of what it started, however it ends. `.coatepec.yml` in the root says what
/// is different in a project. COATEPEC_LOG=info tells more on stderr. Status: 0; 2 for what is wrong with the command line or
/// the project; 70 for what is wrong with Coatepec.
#[derive(Debug, Parser)]
#[command(name = "coatepec", version, about, max_term_width = 100)]
struct Arguments {
    /// The Rails app or engine [default: the nearest one from here upwards]
    #[arg(long, value_name = "PATH", global = true)]
    root: Option<PathBuf>,
    /// Boot the app at once instead of at the first call
    #[arg(long)]
    eager: bool,
    /// Keep the warm app to this client instead of sharing it with all others of this checkout
    #[arg(long, global = true)]
    no_share: bool,
    /// The least that .coatepec.yml may ask of the sandbox: what asks for less is refused
    #[arg(long, value_name = "MODE", global = true, value_enum)]
    sandbox_at_least: Option<Floor>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t)]
    color: Choice,
    #[command(subcommand)]
    command: Option<Command>,
}

/// A mode of the sandbox that settings can't go below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Floor {
    /// What ordinary test suites do
    Standard,
    /// What unit tests do
    Strict,
}

impl Floor {
    fn mode(self) -> Mode {
        match self {
            Floor::Standard => Mode::Standard,
            Floor::Strict => Mode::Strict,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    For(concerned::For),
    List(reading::List),
    Flaky(flaky::Flaky),
    Status(reading::Status),
    Routes(reading::Routes),
    Model(reading::Model),
    Controller(reading::Controller),
    Schema(reading::Schema),
    Job(reading::Job),
    Check(reading::Check),
    Restart(control::Restart),
    Stop(control::Stop),
    Doctor(doctor::Doctor),
    Init(init::Init),
    Log(log::Log),
    Completions(completions::Completions),
    Man(man::Man),
}

/// What each subcommand needs besides its own arguments.
#[derive(Debug)]
struct Context {
    root: Option<PathBuf>,
    sandbox_at_least: Mode,
    /// Use the server that everybody else of this checkout uses.
    share: bool,
    terminal: Terminal,
}

impl Context {
    /// The root of the app that this is about.
    fn root(&self) -> Result<PathBuf> {
        find_root(self.root.as_deref())
    }

    /// What a server is to be started for.
    fn site(&self) -> Result<Site> {
        Ok(Site {
            root: self.root()?,
            sandbox_at_least: self.sandbox_at_least,
        })
    }
}

pub fn main(argv: impl Iterator<Item = OsString>) -> ExitCode {
    let argv: Vec<OsString> = argv.collect();
    // First of all, since it must be fast and small: it stays for as long as what it starts.
    if argv.get(1).is_some_and(|word| word == keeper::COMMAND) {
        return keeper::main(argv.into_iter().skip(2));
    }
    if argv.get(1).is_some_and(|word| word == daemon::serve::COMMAND) {
        serve::log_to_stderr();
        let served = daemon::serve::main(argv.into_iter().skip(2));
        return served.map_or_else(
            |error| fail(&error, &Terminal::new(Choice::default())),
            |()| ExitCode::SUCCESS,
        );
    }
    let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let arguments = match Arguments::try_parse_from(argv) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error, &words),
    };
    let terminal = Terminal::new(arguments.color);
    let code = execute(arguments, terminal).unwrap_or_else(|error| fail(&error, &terminal));
    // Whoever reads half an answer must not take it for the whole.
    terminal.unwritten().map_or(code, |error| fail(&error, &terminal))
}

fn execute(arguments: Arguments, terminal: Terminal) -> Result<ExitCode> {
    let manner = Manner {
        eager: arguments.eager,
        share: !arguments.no_share,
    };
    let Arguments {
        root,
        sandbox_at_least,
        command,
        ..
    } = arguments;
    let context = Context {
        root,
        sandbox_at_least: sandbox_at_least.map_or(Mode::Off, Floor::mode),
        share: manner.share,
        terminal,
    };
    match command {
        None => {
            serve::log_to_stderr();
            serve::serve(&context.site()?, manner).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::Run(arguments)) => run::run(&arguments, &context),
        Some(Command::For(arguments)) => concerned::concerned(&arguments, &context),
        Some(Command::List(arguments)) => reading::list(&arguments, &context),
        Some(Command::Flaky(arguments)) => flaky::flaky(&arguments, &context),
        Some(Command::Status(arguments)) => reading::status(&arguments, &context),
        Some(Command::Routes(arguments)) => reading::routes(&arguments, &context),
        Some(Command::Model(arguments)) => reading::model(&arguments, &context),
        Some(Command::Controller(arguments)) => reading::controller(&arguments, &context),
        Some(Command::Schema(arguments)) => reading::schema(&arguments, &context),
        Some(Command::Job(arguments)) => reading::job(&arguments, &context),
        Some(Command::Check(arguments)) => reading::check(&arguments, &context),
        Some(Command::Restart(arguments)) => control::restart(&arguments, &context),
        Some(Command::Stop(arguments)) => control::stop(&arguments, &context),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments, &context),
        Some(Command::Init(arguments)) => init::init(&arguments, &context),
        Some(Command::Log(arguments)) => log::log(&arguments, &context),
        Some(Command::Completions(arguments)) => completions::completions(&arguments, &terminal),
        Some(Command::Man(arguments)) => man::man(&arguments, &terminal),
    }
}

/// The command line as data, for completions and manual pages.
pub fn definition() -> clap::Command {
    Arguments::command()
}

fn find_root(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(root) => project::exactly(root),
        None => project::find_root(&std::env::current_dir()?),
    }
}

/// Help and the version are no error.
fn refuse(error: &clap::Error, words: &[String]) -> ExitCode {
    if let Some(error) = usage::error(error, words) {
        return fail(&error, &Terminal::new(Choice::default()));
    }
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn fail(error: &Error, terminal: &Terminal) -> ExitCode {
    terminal.complain(error);
    ExitCode::from(error.kind.exit_code())
}
