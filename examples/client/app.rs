//! A copy of an app, so that nothing that is edited or run touches the original.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Result, program};

/// What running an app leaves in its root, and what is too large to copy for nothing.
const LEFT_OUT: [&str; 6] = [".git", "coverage", "log", "node_modules", "storage", "tmp"];

/// Removed when it is dropped.
pub(crate) struct App {
    dir: TempDir,
}

impl App {
    pub(crate) fn copy_of(original: &Path) -> Result<App> {
        let dir = tempfile::Builder::new().prefix("coatepec-example-").tempdir()?;
        copy(original, dir.path(), &LEFT_OUT)?;
        for emptied in ["log", "storage", "tmp"] {
            fs::create_dir_all(dir.path().join(emptied))?;
        }
        Ok(App { dir })
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn read(&self, file: &str) -> Result<String> {
        fs::read_to_string(self.dir.path().join(file))
            .map_err(|error| format!("failed to read `{file}`: {error}").into())
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> Result<()> {
        fs::write(self.dir.path().join(file), text).map_err(|error| format!("failed to write `{file}`: {error}").into())
    }

    /// How long `bundle exec rspec SPEC` takes in a shell, from its start to its end.
    ///
    /// # Errors
    /// When it doesn't pass: what it printed.
    pub(crate) fn rspec(&self, spec: &str) -> Result<Duration> {
        let started = Instant::now();
        let ran = program(Path::new("bundle"))
            .args(["exec", "rspec", spec])
            .current_dir(self.root())
            .output()?;
        let took = started.elapsed();
        match ran.status.success() {
            true => Ok(took),
            false => Err(format!(
                "`bundle exec rspec {spec}` did not pass:\n{}{}",
                String::from_utf8_lossy(&ran.stdout),
                String::from_utf8_lossy(&ran.stderr)
            )
            .into()),
        }
    }
}

fn copy(from: &Path, to: &Path, left_out: &[&str]) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let copied = to.join(&name);
        // A database is made again from the schema: one that is being written to can't be copied.
        if left_out.iter().any(|out| name == *out) || name.to_string_lossy().contains(".sqlite3") {
            continue;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, copied)?;
        } else if kind.is_dir() {
            fs::create_dir(&copied)?;
            copy(&entry.path(), &copied, &[])?;
        } else {
            fs::copy(entry.path(), copied)?;
        }
    }
    Ok(())
}

/// The processes whose working directory is `dir` or below it, with their command lines. A daemon that got away would
/// be among them. Where there is no /proc, none is seen.
pub(crate) fn processes_in(dir: &Path) -> Result<Vec<(u32, String)>> {
    let dir = fs::canonicalize(dir)?;
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let inside = |path: &PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&dir));
    let found = processes.map(|entry| entry.path()).filter(inside);
    let mut named: Vec<(u32, String)> = found.filter_map(|path| named(&path)).collect();
    named.sort();
    Ok(named)
}

fn named(process: &Path) -> Option<(u32, String)> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let line = fs::read(process.join("cmdline")).ok()?;
    Some((pid, String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()))
}
