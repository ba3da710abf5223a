//! What a daemon has on disk: a socket to reach it, a card that says who it is, a log, and the lock of whoever starts or
//! ends it.

use std::io;
use std::path::{Path, PathBuf};

use super::key::Key;
use crate::config::Config;
use crate::dirs;
use crate::supervisor::card::{self, Card};
use crate::supervisor::setup::Site;
use crate::worker::environment::{boot_key, clean, without_secrets};

/// The files of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    dir: PathBuf,
    name: String,
}

impl Place {
    /// Of the daemon that this process, in its environment, would share.
    ///
    /// # Errors
    /// When there is no directory for it, or when somebody else has made that.
    pub fn of(site: &Site) -> io::Result<Place> {
        let sandbox = Config::load(&site.root).unwrap_or_default().sandbox;
        let environment = without_secrets(clean(std::env::vars_os()), &sandbox);
        let key = Key::new(site, boot_key(&environment), &card::build()?);
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

/// The cards of all daemons of a checkout, of whatever version, with where they lie.
pub fn cards(root: &Path) -> Vec<(PathBuf, Card)> {
    let prefix = Key::of_root(root);
    let all = card::cards().into_iter();
    all.filter(|(path, _)| name(path).starts_with(&prefix)).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
