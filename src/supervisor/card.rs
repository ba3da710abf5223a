//! Who a server is that clients share: a file that it leaves where others find it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::setup::Site;
use crate::config::Config;
use crate::config::sandbox::Mode;
use crate::dirs;
use crate::process::procfs::{self, Identity};
use crate::process::spawn::ourselves;
use crate::worker::environment::{boot_key, clean, without_secrets};

/// Servers of all versions write it and read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    pub pid: i32,
    /// When it was started, as the kernel counts: no other process has both numbers.
    pub start: u64,
    pub version: String,
    pub root: PathBuf,
    #[serde(default)]
    pub build: Option<String>,
    #[serde(default)]
    pub sandbox_at_least: Option<Mode>,
    /// A digest of the environment that the app got when the server was started.
    #[serde(default)]
    pub environment: Option<String>,
}

impl Card {
    /// Of this process, with the settings as they are now.
    pub fn ours(site: &Site) -> Card {
        let pid = Pid::this();
        let sandbox = Config::load(&site.root).unwrap_or_default().sandbox;
        let environment = without_secrets(clean(std::env::vars_os()), &sandbox);
        Card {
            pid: pid.as_raw(),
            start: procfs::stat(pid).map_or(0, |found| found.id.start),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            root: site.root.clone(),
            build: build().ok(),
            sandbox_at_least: Some(site.sandbox_at_least),
            environment: Some(boot_key(&environment).to_string()),
        }
    }

    pub fn identity(&self) -> Identity {
        Identity {
            pid: Pid::from_raw(self.pid),
            start: self.start,
        }
    }

    pub fn is_alive(&self) -> bool {
        let found = procfs::stat(Pid::from_raw(self.pid));
        found.is_some_and(|found| found.id == self.identity() && !found.gone())
    }
}

/// The cards of all servers of this user, with where they lie.
pub fn cards() -> Vec<(PathBuf, Card)> {
    let entries = dirs::runtime().and_then(fs::read_dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| {
            let card = serde_json::from_slice(&dirs::read_plain(&path).ok()?).ok()?;
            Some((path, card))
        })
        .collect()
}

/// Tells this build from others: the very file that was started, also when it was replaced since.
///
/// # Errors
/// When it can't be found.
pub fn build() -> io::Result<String> {
    let file = fs::metadata(ourselves()?)?;
    Ok(format!(
        "{} {} {} {} {}.{}",
        env!("CARGO_PKG_VERSION"),
        file.dev(),
        file.ino(),
        file.size(),
        file.mtime(),
        file.mtime_nsec()
    ))
}
