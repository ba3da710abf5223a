//! What is asked for, as data. What a kernel makes of it is decided in [`super::jail`].

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::sandbox::{Mode, Network};

/// Travels from the supervisor to the stage that confines, as JSON. The default confines nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// What it was made from.
    pub mode: Mode,
    pub limits: Limits,
    /// None leaves all files alone, and signals.
    pub files: Option<Files>,
    /// None leaves the kernel's surface as it is, and the capabilities of root.
    pub syscalls: Option<Syscalls>,
    pub network: Network,
    /// None leaves all Unix sockets that lie somewhere as they are.
    pub sockets: Option<Sockets>,
    /// Whether to refuse to start anything when a part of this can't be enforced.
    pub required: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            mode: Mode::Off,
            limits: Limits::default(),
            files: None,
            syscalls: None,
            network: Network::Allow,
            sockets: None,
            required: false,
        }
    }
}

/// Limits of each single process. None leaves what the supervisor itself has; none goes above that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest file it may write, in bytes. Writing on gives SIGXFSZ, or EFBIG where that is ignored.
    pub file_size: Option<u64>,
    /// Open files at a time.
    pub open_files: Option<u64>,
}

/// What may be read and written. All else may not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Also read, and executed.
    pub write: Vec<Grant>,
    /// Also executed.
    pub read: Vec<Grant>,
    /// A place that has to be writable and has the app in it, so that nothing of the app is protected.
    pub open_around_root: Option<PathBuf>,
    /// The same of the home, so that no key in it is protected.
    pub open_around_home: Option<PathBuf>,
}

/// A place, and what is beneath it. `*` and `?` in it stand for parts of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub path: PathBuf,
    /// Not granted, as far as it is beneath the place. The kernel knows no exceptions: what is beside them when the process
    /// starts is granted one by one, and nothing can be made beside them later.
    pub except: Vec<PathBuf>,
    /// Where it must lie in truth: a symbolic link may have been put there by a test.
    #[serde(default)]
    pub within: Option<PathBuf>,
}

/// What is taken of the kernel's surface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syscalls {
    /// Whether user namespaces can be made: a browser makes its own sandbox of them.
    pub user_namespaces: bool,
}

/// Which Unix sockets may be talked to, by where they lie. `*` and `?` stand for parts of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sockets {
    pub allow: Vec<PathBuf>,
    pub refuse: Vec<PathBuf>,
    /// Whatever else is said.
    pub deny: Vec<PathBuf>,
}
