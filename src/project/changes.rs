//! Fingerprints: which files changed since.
//!
//! A `Snapshot` is a list of files with what `stat` says of each, and for a baseline also with a
//! digest of the content. To ask for changes, take a cheap second look and compare: a fingerprint
//! that differs is confirmed by content, so that `touch`, or `git checkout` there and back, is none.
//!
//! Everything here blocks on the file system.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::libc::{O_NOCTTY, O_NONBLOCK};
use sha2::{Digest, Sha256};

pub use super::walk::Target;
use super::walk::{Interest, walk};

/// A larger file, in bytes, is known by its fingerprint alone: it is data, and slow to read.
const MAX_HASHED: u64 = 1024 * 1024;

/// Times of files move in ticks: of the kernel's timer, or of the file system's format, which has
/// whole seconds, and even every second one only, in some. The clock of a shared or remote file
/// system may lag behind ours, too.
const LONGEST_TICK_NS: i128 = 2_000_000_000;

/// What `stat` says of a regular file. Times are nanoseconds since 1970. The ctime gives away an edit
/// that restored size and mtime; the inode a file that was replaced by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    pub size: u64,
    pub mtime_ns: i128,
    pub ctime_ns: i128,
    pub inode: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub path: PathBuf,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

impl ChangeKind {
    /// "modified", for a sentence.
    pub fn past(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
        }
    }
}

/// The regular files of some targets at one time. What cannot be looked at (it vanished meanwhile, or
/// may not be read) is not part of it.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    files: HashMap<PathBuf, Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    fingerprint: Fingerprint,
    content: Option<Content>,
    /// The file changed so shortly before the look that it may change again without a trace: two
    /// changes within one tick have the same time. An equal fingerprint then proves nothing.
    recent: bool,
    interest: Interest,
}

/// The kernel stamps files with a clock that ticks up to 10 ms behind the one that programs read.
const COARSE_NS: i128 = 10_000_000;

type Content = [u8; 32];

impl Snapshot {
    /// A baseline: reads every file of at most 1 MiB once.
    pub fn take(targets: &[Target]) -> Snapshot {
        Snapshot::default().retake(targets)
    }

    /// The next baseline, reading only what may differ from this one.
    pub fn retake(&self, targets: &[Target]) -> Snapshot {
        let mut next = Snapshot::look(targets);
        for (path, seen) in &mut next.files {
            match self.files.get(path) {
                _ if seen.interest == Interest::Existence => {}
                Some(known) if known.content.is_some() && known.vouches_for(seen) => {
                    seen.content = known.content;
                }
                _ => *seen = Seen::read(path).unwrap_or(*seen),
            }
        }
        next
    }

    /// Fingerprints only: no file is opened.
    pub fn look(targets: &[Target]) -> Snapshot {
        let now_ns = now_ns();
        let mut files: HashMap<PathBuf, Seen> = HashMap::new();
        walk(targets, &mut |path, metadata, interest| {
            // Who wants the content wants to know of its existence, too.
            match interest {
                Interest::Content => _ = files.insert(path, Seen::new(metadata, now_ns)),
                Interest::Existence => _ = files.entry(path).or_insert_with(|| Seen::listed(metadata)),
            }
        });
        Snapshot { files }
    }

    /// What changed from this baseline to a newer look at the same targets, sorted by path.
    ///
    /// A file whose content turns out to be that of the baseline is no change, and its new fingerprint
    /// is remembered, so that it is not read again. Where the content of the baseline is not known
    /// (larger than 1 MiB, not readable, or this was a mere look), the fingerprint decides.
    pub fn diff(&mut self, newer: &Snapshot) -> Vec<Change> {
        let created = newer.files.keys().filter(|path| !self.files.contains_key(*path));
        let mut changes: Vec<Change> = created.map(|path| change(path, ChangeKind::Created)).collect();
        for (path, seen) in &mut self.files {
            match newer.files.get(path) {
                // Still there, and not looked at any more: no target covers it.
                None if seen.is_still_there(path) => {}
                None => changes.push(change(path, ChangeKind::Deleted)),
                Some(new) if seen.vouches_for(new) || seen.confirm(path, new) => {}
                Some(_) => changes.push(change(path, ChangeKind::Modified)),
            }
        }
        changes.sort_unstable();
        changes
    }

    /// Takes these files as they are now. Only for files whose change is about to be acted upon: whatever else has changed
    /// meanwhile must stay a change.
    pub fn refresh<'a>(&mut self, paths: impl IntoIterator<Item = &'a PathBuf>) {
        for path in paths {
            let listed = || fs::metadata(path).ok().filter(Metadata::is_dir);
            match Seen::read(path).or_else(|| listed().as_ref().map(Seen::listed)) {
                Some(seen) => self.files.insert(path.clone(), seen),
                None => self.files.remove(path),
            };
        }
    }

    /// Files of a newer baseline that this one does not know join it; the others keep what is known of them. A file that
    /// changed after `since`, when somebody began to read it, does not join: which form was read is not known, and so its
    /// next look is a change.
    pub fn add_missing(&mut self, newer: Snapshot, since: SystemTime) {
        let since = clock_ns(since) - COARSE_NS;
        for (path, seen) in newer.files {
            let known = |old: &Seen| old.interest == Interest::Content || seen.interest == Interest::Existence;
            if seen.fingerprint.ctime_ns < since && !self.files.get(&path).is_some_and(known) {
                self.files.insert(path, seen);
            }
        }
    }

    /// The files that `known` has not and that changed after `since`.
    pub fn unknown_since(&self, known: &Snapshot, since: SystemTime) -> Vec<PathBuf> {
        let since = clock_ns(since) - COARSE_NS;
        let unknown = self.files.iter().filter(|(path, _)| !known.files.contains_key(*path));
        unknown
            .filter(|(_, seen)| seen.fingerprint.ctime_ns >= since)
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// This baseline with some files as an older one has them: their next look is a change.
    #[must_use]
    pub fn with_older<'a>(mut self, older: &Snapshot, paths: impl IntoIterator<Item = &'a PathBuf>) -> Snapshot {
        for path in paths {
            match older.files.get(path) {
                Some(seen) => self.files.insert(path.clone(), *seen),
                None => self.files.remove(path),
            };
        }
        self
    }

    pub fn fingerprint(&self, path: &Path) -> Option<Fingerprint> {
        self.files.get(path).map(|seen| seen.fingerprint)
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Seen {
    /// Whether the fingerprint alone tells that a newer look saw the same content.
    fn vouches_for(&self, newer: &Seen) -> bool {
        if newer.interest == Interest::Existence {
            return true;
        }
        self.fingerprint == newer.fingerprint && !(self.recent && self.content.is_some())
    }

    /// Whether the file still has the content of the baseline; if so, remembers how it looks now.
    fn confirm(&mut self, path: &Path, newer: &Seen) -> bool {
        if self.content.is_none() || self.fingerprint.size != newer.fingerprint.size {
            return false;
        }
        match Seen::read(path) {
            Some(now) if now.content == self.content => {
                *self = now;
                true
            }
            _ => false,
        }
    }

    fn new(metadata: &Metadata, now_ns: i128) -> Seen {
        let fingerprint = Fingerprint::new(metadata);
        let recent = fingerprint.ctime_ns > now_ns - LONGEST_TICK_NS;
        Seen {
            fingerprint,
            content: None,
            recent,
            interest: Interest::Content,
        }
    }

    fn is_still_there(&self, path: &Path) -> bool {
        match self.interest {
            Interest::Content => path.is_file(),
            Interest::Existence => path.exists(),
        }
    }

    /// Something that is there, whatever is in it. A directory changes with each file in it: what counts is when it
    /// came to be.
    fn listed(metadata: &Metadata) -> Seen {
        let fingerprint = Fingerprint {
            ctime_ns: metadata.created().map_or(0, clock_ns),
            ..Fingerprint::new(metadata)
        };
        Seen {
            fingerprint,
            content: None,
            recent: false,
            interest: Interest::Existence,
        }
    }

    /// A look at the content. The fingerprint is from before the reading: a write meanwhile leaves a
    /// later ctime, and so shows at the next look.
    fn read(path: &Path) -> Option<Seen> {
        let now_ns = now_ns();
        let (file, metadata) = open_regular(path)?;
        let content = if metadata.len() <= MAX_HASHED {
            hash(&file)
        } else {
            None
        };
        Some(Seen {
            content,
            ..Seen::new(&metadata, now_ns)
        })
    }
}

/// Digest of a file that may grow while it is read.
fn hash(file: &File) -> Option<Content> {
    within_bounds(file).map(|bytes| Sha256::digest(&bytes).into())
}

/// What is in a file that somebody else has named; none if it is no file, or too large to be code.
pub fn content(path: &Path) -> Option<Vec<u8>> {
    within_bounds(&open_regular(path)?.0)
}

/// It may be, or have become, a pipe; opening that must not wait for a writer.
fn open_regular(path: &Path) -> Option<(File, Metadata)> {
    let flags = O_NONBLOCK | O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    Some((file, metadata))
}

fn within_bounds(file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.take(MAX_HASHED + 1).read_to_end(&mut bytes).ok()?;
    (read as u64 <= MAX_HASHED).then_some(bytes)
}

impl Fingerprint {
    fn new(metadata: &Metadata) -> Fingerprint {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Fingerprint {
            size: metadata.size(),
            mtime_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }
}

fn change(path: &Path, kind: ChangeKind) -> Change {
    Change {
        path: path.to_owned(),
        kind,
    }
}

fn now_ns() -> i128 {
    clock_ns(SystemTime::now())
}

fn clock_ns(time: SystemTime) -> i128 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |duration| duration.as_nanos() as i128)
}
