//! What a daemon has on disk: a socket to reach it, a card that says who it is, a log, and the lock of whoever starts or
//! ends it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::key::Key;
use crate::dirs;
use crate::process::procfs::{self, Identity};
use crate::process::spawn::ourselves;
use crate::supervisor::setup::Site;
use crate::worker::environment::{boot_key, clean};

/// The files of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    dir: PathBuf,
    name: String,
}

/// Who a daemon is. Daemons of all versions write it and read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    pub pid: i32,
    /// When it was started, as the kernel counts: no other process has both numbers.
    pub start: u64,
    pub version: String,
    pub root: PathBuf,
}

impl Place {
    /// Of the daemon that this process, in its environment, would share.
    ///
    /// # Errors
    /// When there is no directory for it, or when somebody else has made that.
    pub fn of(site: &Site) -> io::Result<Place> {
        let key = Key::new(site, boot_key(&clean(std::env::vars_os())), &binary()?);
        Place::named(key.to_string())
    }

    pub fn named(name: String) -> io::Result<Place> {
        let dir = dirs::runtime()?;
        Ok(Place { dir, name })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn socket(&self) -> PathBuf {
        self.file("sock")
    }

    pub fn lock(&self) -> PathBuf {
        self.file("start.lock")
    }

    pub fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// One per process: a daemon that was replaced may still be there.
    pub fn card(&self, pid: i32) -> PathBuf {
        self.file(&format!("{pid}.json"))
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.dir.join(format!("{}.{extension}", self.name))
    }
}

impl Card {
    /// Of this process.
    pub fn ours(root: &Path) -> Card {
        let pid = Pid::this();
        Card {
            pid: pid.as_raw(),
            start: procfs::stat(pid).map_or(0, |found| found.id.start),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            root: root.to_owned(),
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

/// The cards of all daemons of a checkout, of whatever version, with where they lie.
pub fn cards(root: &Path) -> Vec<(PathBuf, Card)> {
    let prefix = Key::of_root(root);
    let all = all_cards().into_iter();
    all.filter(|(path, _)| name(path).starts_with(&prefix)).collect()
}

/// The cards of all daemons of this user.
pub fn all_cards() -> Vec<(PathBuf, Card)> {
    let entries = dirs::runtime().and_then(fs::read_dir).into_iter().flatten().flatten();
    let cards = entries.filter(|entry| name(&entry.path()).ends_with(".json"));
    cards
        .filter_map(|entry| {
            let card = serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?;
            Some((entry.path(), card))
        })
        .collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Tells this build from others: the very file that was started, also when it was replaced since.
fn binary() -> io::Result<String> {
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
