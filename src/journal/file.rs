//! The log on disk: appended to by all servers of a user, and bounded.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::entry::Entry;
use crate::dirs;

/// Bytes from which on a new file is begun.
const FULL: u64 = 1024 * 1024;

/// Files that are kept, besides the one that is written.
const KEPT: usize = 3;

const NAME: &str = "calls";

/// The files in one directory.
#[derive(Debug, Clone)]
pub struct LogFile {
    dir: PathBuf,
    full: u64,
}

impl LogFile {
    /// That of this user.
    ///
    /// # Errors
    /// When there is no place for it.
    pub fn find() -> io::Result<LogFile> {
        Ok(LogFile::within(dirs::state()?, FULL))
    }

    /// In a directory, with a limit in bytes, of its own.
    pub fn within(dir: PathBuf, full: u64) -> LogFile {
        LogFile { dir, full }
    }

    /// In one write, so that lines of several servers never mix.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn append(&self, entry: &Entry) -> io::Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        self.rotate()?;
        let mut options = File::options();
        let mut file = options.append(true).create(true).mode(0o600).open(self.path(0))?;
        file.write_all(line.as_bytes())
    }

    /// If it is time, and if nobody else does it at this moment.
    fn rotate(&self) -> io::Result<()> {
        if !self.is_full() {
            return Ok(());
        }
        let mut options = File::options();
        let lock = options.write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(self.dir.join(format!("{NAME}.lock")))?;
        if lock.try_lock().is_err() || !self.is_full() {
            return Ok(());
        }
        for number in (0..KEPT).rev() {
            match fs::rename(self.path(number), self.path(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        fs::metadata(self.path(0)).is_ok_and(|found| found.len() >= self.full)
    }

    /// The current one is 0, the oldest one has the highest number.
    fn path(&self, number: usize) -> PathBuf {
        match number {
            0 => self.dir.join(format!("{NAME}.ndjson")),
            number => self.dir.join(format!("{NAME}.{number}.ndjson")),
        }
    }

    /// The last lines that `wanted` takes, the oldest first, at most so many; and where to go on from there.
    pub fn last(&self, count: usize, wanted: impl Fn(&Entry) -> bool) -> (Vec<Entry>, Follow) {
        let mut follow = self.follow();
        let mut found: Vec<Entry> = follow.more().into_iter().filter(&wanted).collect();
        for number in 1..=KEPT {
            if found.len() >= count {
                break;
            }
            let older = read(&self.path(number), 0).0.into_iter().filter(&wanted);
            found.splice(..0, older);
        }
        let surplus = found.len().saturating_sub(count);
        found.drain(..surplus);
        (found, follow)
    }

    fn follow(&self) -> Follow {
        Follow {
            path: self.path(0),
            last: self.path(1),
            inode: None,
            offset: 0,
        }
    }
}

/// A place in the log.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    /// Where the file goes when it is full.
    last: PathBuf,
    inode: Option<u64>,
    offset: u64,
}

impl Follow {
    /// What was written since the last time.
    pub fn more(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let now = inode(&self.path);
        if now != self.inode {
            if self.inode.is_some() && inode(&self.last) == self.inode {
                entries = read(&self.last, self.offset).0;
            }
            (self.inode, self.offset) = (now, 0);
        }
        let (more, read) = read(&self.path, self.offset);
        self.offset += read;
        entries.extend(more);
        entries
    }
}

fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).map(|found| found.ino()).ok()
}

/// From there on, as far as whole lines go; lines that are none of ours are skipped.
fn read(path: &Path, offset: u64) -> (Vec<Entry>, u64) {
    let (mut entries, mut bytes) = (Vec::new(), 0);
    let Ok(mut file) = File::open(path) else {
        return (entries, bytes);
    };
    if io::Seek::seek(&mut file, io::SeekFrom::Start(offset)).is_err() {
        return (entries, bytes);
    }
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) && line.ends_with(b"\n") {
        bytes += line.len() as u64;
        entries.extend(serde_json::from_slice::<Entry>(&line));
        line.clear();
    }
    (entries, bytes)
}
