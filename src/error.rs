//! What can be wrong with a request or with the machine: each kind has a stable code, a message that
//! says what happened, a hint that says what to do next, and the exit code of the command line.
//!
//! A run that times out, crashes or fails to boot is not an error: it is an outcome (`run::outcome`).

use std::fmt;
use std::sync::Arc;

/// The kinds of error, stable across releases. The code is what programs match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The caller's arguments are malformed.
    InvalidArguments,
    /// One or more selectors were refused.
    InvalidSelector,
    /// `.coatepec.yml` has an unknown key or a value out of range.
    InvalidConfig,
    /// `.coatepec.yml` asks for less of a sandbox than whoever started the server insists on.
    SandboxTooOpen,
    /// No Rails application or engine at the given root.
    ProjectNotFound,
    /// No Ruby that can run the project.
    RubyNotFound,
    /// The app does not boot, so that it can't be asked anything.
    BootFailed,
    /// Changed code can't be loaded.
    ReloadFailed,
    /// The app failed, or did not answer, while it was asked about itself.
    ReadFailed,
    ReadTimedOut,
    /// Git can't be asked what was changed.
    GitUnavailable,
    /// The repository has no commit of that name.
    RefNotFound,
    /// No run of that id is kept.
    RunNotFound,
    /// There is nothing of that name and kind.
    ControllerNotFound,
    ModelNotFound,
    TableNotFound,
    JobNotFound,
    /// There is neither a test database nor a schema file.
    NoDatabase,
    /// The queue of calls is full.
    Busy,
    /// The call was cancelled before it had an outcome.
    Cancelled,
    /// The supervisor is going away.
    ShuttingDown,
    /// The server that was shared ended while it had the call.
    ServerLost,
    /// Somebody who is not to be believed answers in the place of the server that is shared.
    ServerUsurped,
    /// What was asked for could not be written.
    Unwritten,
    /// Something of ours broke.
    Internal,
}

const ALL: &[Kind] = &[
    Kind::InvalidArguments,
    Kind::InvalidSelector,
    Kind::InvalidConfig,
    Kind::SandboxTooOpen,
    Kind::ProjectNotFound,
    Kind::RubyNotFound,
    Kind::BootFailed,
    Kind::ReloadFailed,
    Kind::ReadFailed,
    Kind::ReadTimedOut,
    Kind::ControllerNotFound,
    Kind::ModelNotFound,
    Kind::TableNotFound,
    Kind::JobNotFound,
    Kind::NoDatabase,
    Kind::GitUnavailable,
    Kind::RefNotFound,
    Kind::RunNotFound,
    Kind::Busy,
    Kind::Cancelled,
    Kind::ShuttingDown,
    Kind::ServerLost,
    Kind::ServerUsurped,
    Kind::Unwritten,
    Kind::Internal,
];

impl Kind {
    /// All of them.
    pub const ALL: &[Kind] = ALL;

    /// The stable code, in snake case.
    pub fn code(self) -> &'static str {
        match self {
            Kind::InvalidArguments => "invalid_arguments",
            Kind::InvalidSelector => "invalid_selector",
            Kind::InvalidConfig => "invalid_config",
            Kind::SandboxTooOpen => "sandbox_too_open",
            Kind::ProjectNotFound => "project_not_found",
            Kind::RubyNotFound => "ruby_not_found",
            Kind::BootFailed => "boot_failed",
            Kind::ReloadFailed => "reload_failed",
            Kind::ReadFailed => "read_failed",
            Kind::ReadTimedOut => "read_timed_out",
            Kind::GitUnavailable => "git_unavailable",
            Kind::RefNotFound => "ref_not_found",
            Kind::RunNotFound => "run_not_found",
            Kind::ControllerNotFound => "controller_not_found",
            Kind::ModelNotFound => "model_not_found",
            Kind::TableNotFound => "table_not_found",
            Kind::JobNotFound => "job_not_found",
            Kind::NoDatabase => "no_database",
            Kind::Busy => "busy",
            Kind::Cancelled => "cancelled",
            Kind::ShuttingDown => "shutting_down",
            Kind::ServerLost => "server_lost",
            Kind::ServerUsurped => "server_usurped",
            Kind::Unwritten => "unwritten",
            Kind::Internal => "internal",
        }
    }

    /// The kind that has this code.
    pub fn of_code(code: &str) -> Option<Kind> {
        ALL.iter().find(|kind| kind.code() == code).copied()
    }

    /// What the Ruby side refuses a question with.
    pub fn of_reading(code: &str) -> Option<Kind> {
        let kinds = [
            Kind::InvalidArguments,
            Kind::ControllerNotFound,
            Kind::ModelNotFound,
            Kind::TableNotFound,
            Kind::JobNotFound,
            Kind::NoDatabase,
            Kind::ReadFailed,
        ];
        kinds.into_iter().find(|kind| kind.code() == code)
    }

    /// The exit code of the command line: 2 for what the caller can mend, 70 for what we broke
    /// (`EX_SOFTWARE` of sysexits.h), 74 for what could not be written (`EX_IOERR`), 75 for what a later try may cure (`EX_TEMPFAIL`).
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::InvalidArguments
            | Kind::InvalidSelector
            | Kind::InvalidConfig
            | Kind::SandboxTooOpen
            | Kind::ServerUsurped
            | Kind::ProjectNotFound
            | Kind::RubyNotFound
            | Kind::BootFailed
            | Kind::ReloadFailed
            | Kind::ReadFailed
            | Kind::GitUnavailable
            | Kind::RefNotFound
            | Kind::RunNotFound
            | Kind::ControllerNotFound
            | Kind::ModelNotFound
            | Kind::TableNotFound
            | Kind::JobNotFound
            | Kind::NoDatabase => 2,
            Kind::ReadTimedOut | Kind::Busy | Kind::Cancelled | Kind::ShuttingDown | Kind::ServerLost => 75,
            Kind::Internal => 70,
            Kind::Unwritten => 74,
        }
    }
}

/// An error with its next step.
#[derive(Debug, Clone)]
pub struct Error {
    pub kind: Kind,
    /// What happened, without a final full stop.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// More about it, for programs.
    pub details: Option<Box<serde_json::Value>>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            hint: None,
            details: None,
            source: None,
        }
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Error::new(Kind::Internal, message)
    }

    /// In one line, for where there is no field for the hint.
    pub fn with_hint(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    #[must_use]
    pub fn source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Error::internal("an operation of the system failed").source(source)
    }
}

impl From<nix::Error> for Error {
    fn from(source: nix::Error) -> Self {
        Error::internal("an operation of the system failed").source(source)
    }
}
