//! Which files of the app each test file ran lines of, as runs with coverage have told. Kept for each app in the user's
//! state directory, bounded, with hashes of what the files held, so that what is out of date is known for it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dirs;

/// Bytes of what is kept of one app; the oldest goes first.
const FULL: usize = 4 * 1024 * 1024;

/// Apps that are kept: those written last.
const APPS: usize = 40;

/// A test file, and what it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRecord {
    pub test: String,
    pub hash: String,
    /// In UTC, as of RFC 3339.
    pub time: String,
    /// All of its tests ran.
    pub whole: bool,
    pub files: Vec<TouchedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TouchedFile {
    pub path: String,
    pub hash: String,
}

/// Of what a file holds.
pub fn hash(bytes: &[u8]) -> String {
    hex(bytes, 8)
}

fn hex(bytes: &[u8], length: usize) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(length).map(|byte| format!("{byte:02x}")).collect()
}

/// What is kept of one app.
#[derive(Debug, Clone)]
pub struct TouchedStore {
    dir: PathBuf,
    name: String,
    full: usize,
}

impl TouchedStore {
    /// That of this user.
    ///
    /// # Errors
    /// When there is no place for it.
    pub fn find(root: &Path) -> io::Result<TouchedStore> {
        Ok(TouchedStore::within(dirs::state()?.join("touched"), root, FULL))
    }

    /// In a directory, with a limit in bytes, of its own.
    pub fn within(dir: PathBuf, root: &Path, full: usize) -> TouchedStore {
        let name = hex(root.as_os_str().as_encoded_bytes(), 16);
        TouchedStore { dir, name, full }
    }

    /// All that is known; nothing if it can't be read. Lines that are none of ours are skipped.
    pub fn read(&self) -> Vec<TestRecord> {
        let Ok(file) = File::open(self.path()) else {
            return Vec::new();
        };
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
    }

    /// Adds what was learnt to what is known.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn learn(&self, news: Vec<TestRecord>) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let mut options = File::options();
        let lock = options.write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(self.dir.join("lock"))?;
        lock.lock()?;
        let text = within(merged(self.read(), news), self.full)?;
        let partial = self.dir.join(format!("{}.partial", self.name));
        let mut options = File::options();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&partial)?;
        file.write_all(text.as_bytes())?;
        fs::rename(partial, self.path())?;
        self.forget_others();
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.ndjson", self.name))
    }

    fn forget_others(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let written = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
        let mut apps: Vec<(SystemTime, PathBuf)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "ndjson"))
            .filter_map(|path| Some((written(&path).ok()?, path)))
            .collect();
        apps.sort_unstable_by(|one, other| other.cmp(one));
        for (_, path) in apps.into_iter().skip(APPS) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Of tests of a file that is the same, those that ran before may have run more than those that ran now.
fn merged(known: Vec<TestRecord>, news: Vec<TestRecord>) -> Vec<TestRecord> {
    let mut all: BTreeMap<String, TestRecord> = known.into_iter().map(|record| (record.test.clone(), record)).collect();
    for mut new in news {
        if let Some(old) = all.remove(&new.test).filter(|old| !new.whole && old.hash == new.hash) {
            let again = |file: &TouchedFile| new.files.iter().any(|known| known.path == file.path);
            let more: Vec<TouchedFile> = old.files.into_iter().filter(|file| !again(file)).collect();
            new.files.extend(more);
            new.whole = old.whole;
        }
        all.insert(new.test.clone(), new);
    }
    all.into_values().collect()
}

/// The newest of them, as many as fit.
fn within(mut records: Vec<TestRecord>, full: usize) -> io::Result<String> {
    records.sort_by(|one, other| other.time.cmp(&one.time));
    let mut text = String::new();
    for record in records {
        let line = serde_json::to_string(&record)? + "\n";
        if text.len() + line.len() > full {
            break;
        }
        text += &line;
    }
    Ok(text)
}
