//! Which daemon somebody wants. Pure.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::supervisor::setup::Site;
use crate::worker::environment::BootKey;

/// Bytes of a digest that are used: enough to tell daemons apart, and short enough for the name of a socket.
const BYTES: usize = 8;

/// Two that have the same key can be served by the same daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    root: String,
    rest: String,
}

impl Key {
    /// `binary` tells one build of ours from another; `environment` is the one that the app boots with.
    pub fn new(site: &Site, environment: BootKey, binary: &str) -> Key {
        let rest = format!("{environment} {binary} {}", site.sandbox_at_least);
        Key {
            root: Key::of_root(&site.root),
            rest: digest(rest.as_bytes()),
        }
    }

    /// What all keys of a checkout begin with.
    pub fn of_root(root: &Path) -> String {
        digest(root.as_os_str().as_bytes())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.root, self.rest)
    }
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}
