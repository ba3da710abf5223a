//! The app on disk: where its root is, what boots it, and which of its specs a caller named.
//!
//! `selector` says what may run. It sees the disk only through `tree`, so that its rules can be tested
//! with tables; `disk` and `beneath` are the real one.

pub mod app_file;
#[cfg(target_os = "linux")]
pub mod beneath;
pub mod changes;
pub mod concerned;
pub mod diff;
pub mod disk;
pub mod everything;
mod expand;
mod framework;
pub mod glob;
pub mod lines;
mod merge;
mod near;
pub mod overview;
mod policy;
mod refusal;
pub mod roots;
pub mod selector;
pub mod since;
pub mod suffix;
pub mod tree;
mod walk;

use std::path::{Path, PathBuf};

use crate::config::{self, Config};
use crate::error::{Error, Kind, Result};

pub use framework::Framework;
pub use lines::Lines;
pub use refusal::Refusal;
pub use roots::Rules;
pub use selector::{Selection, Selector, Skipped, select, select_told};
pub use suffix::Filter;

const APPLICATION: &str = "config/application.rb";
const ENVIRONMENT: &str = "config/environment.rb";

/// Where an engine keeps the app that it is tested in.
const DUMMIES: [&str; 2] = ["spec/dummy", "test/dummy"];

/// A Rails app or engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The directory that runs start in and that selectors are relative to, without symbolic links.
    pub root: PathBuf,
    /// What the worker loads to boot the app, relative to `root`.
    pub boot: PathBuf,
}

impl Project {
    /// The project whose root is the nearest one from `start` upwards ([`find_root`]).
    ///
    /// # Errors
    /// `ProjectNotFound`; `InvalidConfig` if its `.coatepec.yml` can't be understood.
    pub fn discover(start: &Path) -> Result<Project> {
        let root = find_root(start)?;
        Project::at(&root, &Config::load(&root)?)
    }

    /// The project whose root is `root`.
    ///
    /// # Errors
    /// `ProjectNotFound` if nothing there can be booted; `InvalidConfig` if `boot` or `preload` of the
    /// configuration names no file.
    pub fn at(root: &Path, config: &Config) -> Result<Project> {
        let root = canonical(root)?;
        let boot = match &config.boot {
            Some(boot) => existing(&root, "boot", boot)?,
            None => usual_boot(&root).ok_or_else(|| not_found(&root, "is not the root of a Rails app or engine"))?,
        };
        for file in &config.preload {
            // As Ruby requires it: with its ending or without.
            if !root.join(format!("{}.rb", file.display())).is_file() {
                existing(&root, "preload", file)?;
            }
        }
        Ok(Project { root, boot })
    }
}

/// The nearest directory from `start` upwards that is the root of a project: it holds
/// config/application.rb, or is an engine with a dummy app, or its `.coatepec.yml` says what boots it.
///
/// A dummy app stands for its engine, so that from spec/dummy the engine is found: the specs are the
/// engine's. A `.coatepec.yml` that can't be understood does not keep a root from being found, so
/// that a server starts, and answers each call with what is wrong in the file.
///
/// # Errors
/// `ProjectNotFound`.
pub fn find_root(start: &Path) -> Result<PathBuf> {
    let start = canonical(start)?;
    let root = start.ancestors().find(|dir| is_root(dir));
    let root = root.ok_or_else(|| not_found(&start, "is not inside a Rails app or engine"))?;
    Ok(engine_of(root).unwrap_or(root).to_owned())
}

/// The root that was named, without symbolic links.
///
/// # Errors
/// `ProjectNotFound` if nothing there can be booted.
pub fn exactly(root: &Path) -> Result<PathBuf> {
    let root = canonical(root)?;
    if !root.is_dir() {
        Err(not_found(&root, "is not a directory"))
    } else if is_root(&root) {
        Ok(root)
    } else {
        Err(not_found(&root, "is not the root of a Rails app or engine"))
    }
}

fn is_root(dir: &Path) -> bool {
    usual_boot(dir).is_some() || Config::load(dir).map_or(true, |config| config.boot.is_some())
}

fn existing(root: &Path, key: &str, file: &Path) -> Result<PathBuf> {
    if root.join(file).is_file() {
        return Ok(file.to_owned());
    }
    let what = format!("`{key}` names `{}`, which is not a file", file.display());
    let hint = format!("`{key}` in `{}` is relative to the root", config::FILE);
    Err(Error::new(Kind::InvalidConfig, what).hint(hint))
}

fn usual_boot(root: &Path) -> Option<PathBuf> {
    if root.join(APPLICATION).is_file() {
        return Some(ENVIRONMENT.into());
    }
    let dummies = DUMMIES.iter().map(|dummy| Path::new(dummy).join(ENVIRONMENT));
    dummies.into_iter().find(|boot| root.join(boot).is_file())
}

/// The engine whose dummy app `dir` is.
fn engine_of(dir: &Path) -> Option<&Path> {
    let dummy = DUMMIES.iter().find(|dummy| dir.ends_with(dummy))?;
    let engine = dir.ancestors().nth(Path::new(dummy).components().count())?;
    usual_boot(engine).map(|_| engine)
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize()
        .map_err(|error| not_found(path, "can't be entered").source(error))
}

fn not_found(path: &Path, why: &str) -> Error {
    Error::new(Kind::ProjectNotFound, format!("`{}` {why}", path.display())).hint(
        "start inside the app, or name its directory with --root: it holds config/application.rb, \
         or spec/dummy or test/dummy with an app, or a `.coatepec.yml` with `boot:`",
    )
}
