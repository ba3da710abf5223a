//! What is asked for, as data. What a kernel makes of it is decided in [`super::jail`].

use serde::{Deserialize, Serialize};

/// Travels from the supervisor to the stage that confines, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    pub limits: Limits,
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
