//! A file of the app that a caller names: any, as long as it lies below the root.

use std::path::Path;

use super::policy::normal;
use super::selector::Disk;
use super::tree::{Found, Tree};
use crate::error::{Error, Kind, Result};

/// Bytes of a name: no path is longer on Linux.
const BYTES: usize = 4096;

/// What is there under a name that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppFile {
    /// Relative to the root, spelled as on disk if it is there.
    pub path: String,
    pub exists: bool,
}

/// The files `named` in the argument of that name, each below `root`, which has no symbolic link in it. Reads the disk.
///
/// # Errors
/// `InvalidArguments` for the first one that lies elsewhere or is no file.
pub fn app_files(root: &Path, argument: &str, named: &[String]) -> Result<Vec<AppFile>> {
    let disk = Disk::open(root)?;
    named.iter().map(|text| app_file(&disk, argument, text)).collect()
}

fn app_file(disk: &impl Tree, argument: &str, text: &str) -> Result<AppFile> {
    let refused = |why: &str, hint: &str| {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
        Err(Error::new(
            Kind::InvalidArguments,
            format!("`{argument}` names `{shown}`, which {why}"),
        )
        .hint(hint))
    };
    let outside = "name files of the app, relative to its root";
    if text.trim().is_empty() || text.len() > BYTES || text.contains(char::is_control) {
        return refused("is no name of a file", outside);
    }
    let path = Path::new(text);
    let inside = path.strip_prefix(disk.root()).ok().and_then(Path::to_str);
    let Some(path) = inside.or((!path.is_absolute()).then_some(text)).and_then(normal) else {
        return refused("does not lie below the app", outside);
    };
    match disk.probe(&path) {
        Found::File(path) => Ok(AppFile { path, exists: true }),
        Found::Missing => Ok(AppFile { path, exists: false }),
        Found::Directory(_) => refused("is a directory", "name its files"),
        Found::Symlink(_) => refused("is behind a symbolic link", "name the file itself"),
        Found::Other(_) => refused("is no regular file", outside),
        Found::Unreadable(why) => refused(&format!("can't be read: {why}"), outside),
    }
}
