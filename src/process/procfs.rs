//! What the kernel tells about processes, read from /proc.
//!
//! Nothing here fails: a process that can't be read is one that is gone.

use std::time::Duration;

use nix::unistd::Pid;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Children, arguments, command, environment, stat};
#[cfg(target_os = "linux")]
pub use linux::{Children, arguments, command, environment, stat};

/// How often a process is looked at that may be stopped: the kernel tells only its parent of that.
const POLL: Duration = Duration::from_millis(250);

/// One process for all time: the kernel reuses a pid, but not together with its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    pub pid: Pid,
    /// In clock ticks since the machine started.
    pub start: u64,
}

/// A process as it was when it was read.
#[derive(Debug, Clone)]
pub struct Proc {
    pub id: Identity,
    pub parent: Pid,
    pub group: Pid,
    pub session: Pid,
    /// The kernel's letter: R, S, D, T (stopped), t (traced), Z (zombie), X (dead), I (idle).
    pub state: char,
    pub threads: u32,
    /// The kernel's name for it: 15 bytes at most, chosen by the process itself.
    pub name: String,
}

/// Whether this very process is stopped, and so neither answers nor ends until somebody lets it go on.
pub fn is_stopped(id: Identity) -> bool {
    stat(id.pid).is_some_and(|found| found.id == id && found.stopped())
}

/// Whether this very process is there and can run: neither gone, reaped or not, nor stopped.
pub fn can_run(id: Identity) -> bool {
    stat(id.pid).is_some_and(|found| found.id == id && !found.gone() && !found.stopped())
}

/// Returns once it is stopped.
pub async fn stopped(id: Identity) {
    while !is_stopped(id) {
        tokio::time::sleep(POLL).await;
    }
}

impl Proc {
    /// No code of it can run any more. A leader that has ended while other threads go on is also shown as a
    /// zombie, but it is not gone.
    pub fn gone(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }

    pub fn stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    /// It does not fork: stopped, or deep in the kernel, where the stop waits for it. A parent is there for as long
    /// as the child that it vforked has not executed anything, which a stopped child never does.
    pub fn held(&self) -> bool {
        self.stopped() || self.state == 'D'
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::ffi::{OsStr, OsString};
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    use std::sync::OnceLock;

    use nix::unistd::Pid;

    use super::{Identity, Proc};

    /// How much of a command line is read, in bytes.
    const COMMAND_BYTES: u64 = 256;

    /// The process with this pid now, zombies included.
    pub fn stat(pid: Pid) -> Option<Proc> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        parse(pid, &text)
    }

    /// `pid (name) state parent group session …`. The name may hold anything, brackets and line ends too, so that
    /// only the last bracket tells where it ends.
    pub(super) fn parse(pid: Pid, text: &[u8]) -> Option<Proc> {
        let open = text.iter().position(|byte| *byte == b'(')?;
        let close = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let other = |at: usize| Some(Pid::from_raw(fields.get(at)?.parse().ok()?));
        Some(Proc {
            id: Identity {
                pid,
                start: number(19)?,
            },
            parent: other(1)?,
            group: other(2)?,
            session: other(3)?,
            state: fields.first()?.chars().next()?,
            threads: u32::try_from(number(17)?).ok()?,
            name: String::from_utf8_lossy(text.get(open + 1..close)?).into_owned(),
        })
    }

    /// What a person would recognise it by: the start of its command line, or the kernel's name in brackets for
    /// one that has none. Control characters are replaced.
    pub fn command(of: &Proc) -> String {
        let mut line = Vec::new();
        if let Ok(file) = File::open(format!("/proc/{}/cmdline", of.id.pid)) {
            let _ = file.take(COMMAND_BYTES).read_to_end(&mut line);
        }
        let line: String = String::from_utf8_lossy(&line)
            .trim_end_matches('\0')
            .replace(|c: char| c.is_control(), " ");
        if line.is_empty() {
            format!("[{}]", of.name)
        } else {
            line
        }
    }

    /// The words that a process was started with; none of one that has ended.
    pub fn arguments(pid: Pid) -> Option<Vec<OsString>> {
        let block = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = block.split(|byte| *byte == 0);
        Some(words.map(|word| OsStr::from_bytes(word).to_owned()).collect())
    }

    /// The environment that a process of this user was started with.
    pub fn environment(pid: Pid) -> Option<Vec<(OsString, OsString)>> {
        let block = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let pairs = block.split(|byte| *byte == 0).filter_map(|pair| {
            let at = pair.iter().position(|byte| *byte == b'=')?;
            let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
            Some((text(&pair[..at]), text(&pair[at + 1..])))
        });
        Some(pairs.collect())
    }

    /// Who is whose child. The kernel can list the children of one process; where it was built without that, one
    /// pass over every process gives the same, only slower and a moment older.
    #[derive(Debug)]
    pub enum Children {
        Listed,
        Scanned(HashMap<Pid, Vec<Pid>>),
    }

    impl Children {
        pub fn look() -> Self {
            static LISTED: OnceLock<bool> = OnceLock::new();
            if *LISTED.get_or_init(|| fs::exists("/proc/thread-self/children").unwrap_or(false)) {
                Children::Listed
            } else {
                Children::scan()
            }
        }

        pub(super) fn scan() -> Self {
            let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
            for found in numbers("/proc").into_iter().filter_map(stat) {
                children.entry(found.parent).or_default().push(found.id.pid);
            }
            Children::Scanned(children)
        }

        /// The direct children of `pid`, zombies included.
        pub fn of(&self, pid: Pid) -> Vec<Pid> {
            match self {
                Children::Listed => listed(pid),
                Children::Scanned(children) => children.get(&pid).cloned().unwrap_or_default(),
            }
        }
    }

    /// A child belongs to the thread that forked it, so that each thread has a list.
    fn listed(pid: Pid) -> Vec<Pid> {
        let tasks = format!("/proc/{pid}/task");
        let lists = numbers(&tasks).into_iter().filter_map(|thread| {
            let text = fs::read_to_string(format!("{tasks}/{thread}/children")).ok()?;
            Some(text.split_ascii_whitespace().filter_map(number).collect::<Vec<Pid>>())
        });
        lists.flatten().collect()
    }

    fn numbers(directory: &str) -> Vec<Pid> {
        let Ok(entries) = fs::read_dir(directory) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| number(entry.ok()?.file_name().to_str()?))
            .collect()
    }

    fn number(text: &str) -> Option<Pid> {
        text.parse().ok().map(Pid::from_raw)
    }
}

/// Without /proc only the process itself is known: its descendants are reached by its process group.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::ffi::OsString;

    use nix::sys::signal::kill;
    use nix::unistd::{Pid, getpgid, getsid};

    use super::{Identity, Proc};

    #[expect(clippy::disallowed_methods, reason = "signal 0 only asks whether the process exists")]
    pub fn stat(pid: Pid) -> Option<Proc> {
        kill(pid, None).ok()?;
        Some(Proc {
            id: Identity { pid, start: 0 },
            parent: Pid::from_raw(0),
            group: getpgid(Some(pid)).ok()?,
            session: getsid(Some(pid)).ok()?,
            state: 'R',
            threads: 1,
            name: String::new(),
        })
    }

    pub fn command(of: &Proc) -> String {
        format!("[{}]", of.id.pid)
    }

    pub fn arguments(_: Pid) -> Option<Vec<OsString>> {
        None
    }

    pub fn environment(_: Pid) -> Option<Vec<(OsString, OsString)>> {
        None
    }

    #[derive(Debug)]
    pub struct Children;

    impl Children {
        pub fn look() -> Self {
            Children
        }

        pub fn of(&self, _pid: Pid) -> Vec<Pid> {
            Vec::new()
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::collections::BTreeSet;

    use nix::unistd::{Pid, getppid};

    use super::linux::{Children, parse, stat};

    #[test]
    fn a_name_may_hold_brackets_spaces_and_line_ends() {
        let text = b"7 (a) (b\n) T 3 5 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 6 0 991 0 0";
        let read = parse(Pid::from_raw(7), text).unwrap();
        assert_eq!(read.name, "a) (b\n");
        assert_eq!((read.state, read.threads, read.id.start), ('T', 6, 991));
        assert_eq!(
            (read.parent.as_raw(), read.group.as_raw(), read.session.as_raw()),
            (3, 5, 4)
        );
    }

    #[test]
    fn a_cut_or_foreign_text_is_no_process() {
        for text in ["", "7", "7 (a", "7 (a) S 1", ") 7 (", "7 (a) S x 5 4 0 -1"] {
            assert!(parse(Pid::from_raw(7), text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_leader_that_ended_before_its_threads_is_not_gone() {
        let mut read = stat(Pid::this()).unwrap();
        read.state = 'Z';
        read.threads = 2;
        assert!(!read.gone());
        read.threads = 1;
        assert!(read.gone());
    }

    #[test]
    fn both_ways_to_find_children_agree_on_us() {
        for children in [Children::Listed, Children::scan()] {
            let siblings: BTreeSet<Pid> = children.of(getppid()).into_iter().collect();
            assert!(siblings.contains(&Pid::this()), "{children:?}");
        }
    }
}
