//! A cgroup (version 2) for each run, where the supervisor may make one below its own: the kernel then keeps the limit of
//! memory between two looks, and knows the members of a run whatever they did. Everywhere else, and for whatever of it
//! the kernel does not offer here, a run is looked at and its tree is walked, as it is anyway.
//!
//! `OWN/coatepec-PID/run-N`: the first belongs to the supervisor of that pid. Whoever ends last removes it: the
//! supervisor, or a keeper when the supervisor was killed; and the next supervisor what both had to leave.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::procfs::{self, Identity};
use super::tree::Leftover;

/// How long the members of a cgroup may take to be gone once they were killed.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// The kernel counts threads, too, and what it refuses is a fork that fails and no outcome. So it is only a brake, far
/// above the limit that is looked at.
const TASKS_PER_PROCESS: usize = 8;

const PREFIX: &str = "coatepec-";

/// The cgroup of one run. It is removed, with all that is in it, when this is dropped.
#[derive(Debug)]
pub struct Cgroup {
    dir: PathBuf,
}

impl Cgroup {
    /// With this process in it, the first of a run, and these limits; `None` where none can be made.
    pub fn of(root: Identity, memory: u64, processes: usize) -> Option<Cgroup> {
        let cgroup = Cgroup::for_run(memory, processes)?;
        cgroup.join(root).then_some(cgroup)
    }

    fn for_run(memory: u64, processes: usize) -> Option<Cgroup> {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        let home = home()?;
        // A keeper may have found it empty, and removed it.
        prepare(home).ok()?;
        let dir = home.join(format!("run-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&dir).ok()?;
        let cgroup = Cgroup { dir };
        cgroup.limit(memory, processes);
        Some(cgroup)
    }

    /// As far as the kernel lets us: the controllers may be elsewhere.
    fn limit(&self, memory: u64, processes: usize) {
        let tasks = processes.saturating_mul(TASKS_PER_PROCESS);
        let _ = self.write("pids.max", &tasks.to_string());
        if self.write("memory.max", &memory.to_string()).is_ok() {
            // All of the run or none of it: half of it would look like something else.
            let _ = self.write("memory.oom.group", "1");
            let _ = self.write("memory.swap.max", "0");
        }
    }

    /// Moves a process in; what it forks from then on is in there by itself. Says whether it did.
    fn join(&self, process: Identity) -> bool {
        let pid = process.pid.to_string();
        let is_there = || procfs::stat(process.pid).is_some_and(|found| found.id == process);
        if !is_there() || self.write("cgroup.procs", &pid).is_err() {
            return false;
        }
        let joined = is_there();
        if !joined {
            // It ended at this moment, and its number may have passed to a stranger.
            let _ = own().map(|own| write(&own.join("cgroup.procs"), &pid));
        }
        joined
    }

    /// The most memory that it had at a time, in bytes, if the kernel has ended it because of that.
    pub fn out_of_memory(&self) -> Option<u64> {
        let events = self.read("memory.events")?;
        let killed = ["oom_kill", "oom_group_kill"]
            .iter()
            .any(|name| event(&events, name).is_some_and(|count| count > 0));
        let number = |file: &str| self.read(file)?.trim().parse().ok();
        // Before Linux 5.19 there is no peak.
        killed.then(|| number("memory.peak").or_else(|| number("memory.max")).unwrap_or(0))
    }

    /// Kills all that is still in there, removes it, and tells what that was. No fork is fast enough for this. Blocks until
    /// it is done, for two seconds at most.
    pub fn end(self) -> Vec<Leftover> {
        let pids = self.read("cgroup.procs").unwrap_or_default();
        let pids = pids.split_whitespace().filter_map(|pid| pid.parse().ok());
        let found = pids.filter_map(|pid| procfs::stat(Pid::from_raw(pid)));
        found
            .filter(|found| !found.gone())
            .map(|found| Leftover::of(&found))
            .collect()
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.dir.join(file)).ok()
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        write(&self.dir.join(file), text)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = self.write("cgroup.kill", "1");
        let over = Instant::now() + PATIENCE;
        while fs::remove_dir(&self.dir).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            if Instant::now() > over {
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// `name 3` of a file of such lines.
fn event(events: &str, name: &str) -> Option<u64> {
    let mut lines = events.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(event, _)| *event == name)?.1.trim().parse().ok()
}

/// Where this supervisor makes the cgroups of its runs; `None` where it may not. Its directory need not exist.
pub fn home() -> Option<&'static Path> {
    home_and_memory().map(|(home, _)| home.as_path())
}

/// Whether the kernel keeps the limit of memory of runs here.
pub fn keeps_memory() -> bool {
    home_and_memory().is_some_and(|(_, memory)| *memory)
}

fn home_and_memory() -> Option<&'static (PathBuf, bool)> {
    static HOME: OnceLock<Option<(PathBuf, bool)>> = OnceLock::new();
    HOME.get_or_init(|| {
        let own = own()?;
        sweep(&own);
        let home = own.join(format!("{PREFIX}{}", std::process::id()));
        prepare(&home).ok()?;
        let memory = hands_down(&home, "memory");
        Some((home, memory))
    })
    .as_ref()
}

/// Whether the cgroups below one have this controller.
fn hands_down(home: &Path, controller: &str) -> bool {
    let controllers = fs::read_to_string(home.join("cgroup.subtree_control")).unwrap_or_default();
    controllers.split_whitespace().any(|given| given == controller)
}

/// The cgroup of this process, as a directory.
pub fn own() -> Option<PathBuf> {
    let cgroups = fs::read_to_string("/proc/self/cgroup").ok()?;
    own_of(&cgroups, &fs::read_to_string("/proc/self/mountinfo").ok()?)
}

/// The same from what the kernel says: the line `0::/path` of the one, and where the other mounts the file system.
pub fn own_of(cgroups: &str, mounts: &str) -> Option<PathBuf> {
    let path = cgroups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let outside = Path::new(path)
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    mounts
        .lines()
        .filter(|_| !outside)
        .find_map(|mount| below_mount(mount, Path::new(path)))
}

/// `ID PARENT DEV ROOT PLACE OPTIONS… - TYPE …`
fn below_mount(mount: &str, path: &Path) -> Option<PathBuf> {
    let (place, kind) = mount.split_once(" - ")?;
    let mut fields = place.split(' ').skip(3);
    let (root, place) = (fields.next()?, fields.next()?);
    let below = path.strip_prefix(root).ok()?;
    kind.starts_with("cgroup2 ").then(|| Path::new(place).join(below))
}

/// Makes the directory, and lets its children have the controllers that we have.
fn prepare(home: &Path) -> io::Result<()> {
    for controller in ["+memory", "+pids"] {
        // Refused where processes are, unless it is the root: then the kernel keeps no limits for us.
        let _ = home
            .parent()
            .map(|own| write(&own.join("cgroup.subtree_control"), controller));
    }
    match fs::create_dir(home) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for controller in ["+memory", "+pids"] {
        let _ = write(&home.join("cgroup.subtree_control"), controller);
    }
    Ok(())
}

/// What supervisors had to leave that were killed together with their keepers. The kernel removes none that is in use.
fn sweep(own: &Path) {
    for entry in fs::read_dir(own).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
        if pid.is_some_and(|pid| procfs::stat(Pid::from_raw(pid)).is_none()) {
            remove(&entry.path());
        }
    }
}

/// Removes a supervisor's cgroup, and those of its runs, as far as nothing is in them.
pub fn remove(home: &Path) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
    let _ = fs::remove_dir(home);
}

/// These files are there or not; they are never made.
fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Cgroup, hands_down, own_of};

    const MOUNTS: &str = "\
        22 1 0:20 / /proc rw,nosuid - proc proc rw\n\
        30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_own_cgroup_is_found_where_it_is_mounted() {
        let found = |cgroups: &str, mounts: &str| own_of(cgroups, mounts);
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(found("0::/\n", MOUNTS), at("/sys/fs/cgroup/"));
        assert_eq!(found("0::/a/b.scope\n", MOUNTS), at("/sys/fs/cgroup/a/b.scope"));
        let both = "9:name=systemd:/x\n4:memory:/y\n0::/z\n";
        assert_eq!(found(both, MOUNTS), at("/sys/fs/cgroup/z"));
        // A part of the tree is mounted, as in a container.
        let part = MOUNTS.replace("0:26 / ", "0:26 /docker/7 ");
        assert_eq!(found("0::/docker/7/app", &part), at("/sys/fs/cgroup/app"));
        assert_eq!(found("0::/user", &part), None);
        // Outside of the namespace; only version 1; not mounted.
        assert_eq!(found("0::/../x", MOUNTS), None);
        assert_eq!(found("4:memory:/y", MOUNTS), None);
        assert_eq!(found("0::/", "22 1 0:20 / /proc rw - proc proc rw\n"), None);
    }

    /// A directory with these files, as the kernel would make it.
    fn cgroup(files: &[(&str, &str)]) -> (tempfile::TempDir, Cgroup) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let cgroup = Cgroup {
            dir: dir.path().to_owned(),
        };
        (dir, cgroup)
    }

    fn text(dir: &Path, name: &str) -> Option<String> {
        fs::read_to_string(dir.join(name)).ok()
    }

    #[test]
    fn limits_are_set_as_far_as_there_are_controllers() {
        let (dir, all) = cgroup(&[("memory.max", ""), ("memory.oom.group", ""), ("pids.max", "")]);
        all.limit(1 << 20, 512);
        let set = ["memory.max", "memory.oom.group", "pids.max", "memory.swap.max"].map(|name| text(dir.path(), name));
        let expected = ["1048576", "1", "4096"].map(|text| Some(text.to_owned()));
        assert_eq!(set[..3], expected);
        assert_eq!(set[3], None, "nothing is made that the kernel has not made");
        std::mem::forget(all);
        let (dir, none) = cgroup(&[]);
        none.limit(1 << 20, 512);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        std::mem::forget(none);
    }

    #[test]
    fn who_keeps_the_limit_of_memory_is_read_from_the_controllers_that_runs_get() {
        for (controllers, memory) in [
            ("cpu memory pids\n", true),
            ("cpu pids\n", false),
            ("memory_like\n", false),
        ] {
            let (dir, home) = cgroup(&[("cgroup.subtree_control", controllers)]);
            assert_eq!(hands_down(dir.path(), "memory"), memory, "{controllers:?}");
            std::mem::forget(home);
        }
        let (dir, none) = cgroup(&[]);
        assert!(!hands_down(dir.path(), "memory"));
        std::mem::forget(none);
    }

    /// Names and contents.
    type Files<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn that_the_kernel_ended_it_for_its_memory_is_known_with_the_figure() {
        let calm = "low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\noom_group_kill 0\n";
        let killed = calm.replace("oom_kill 0", "oom_kill 3");
        let table: [(Files<'_>, Option<u64>); 5] = [
            (&[], None),
            (&[("memory.events", calm), ("memory.peak", "900\n")], None),
            (&[("memory.events", &killed), ("memory.peak", "900\n")], Some(900)),
            (&[("memory.events", &killed), ("memory.max", "800\n")], Some(800)),
            (&[("memory.events", &killed)], Some(0)),
        ];
        for (files, peak) in table {
            let (_dir, cgroup) = cgroup(files);
            assert_eq!(cgroup.out_of_memory(), peak, "{files:?}");
            std::mem::forget(cgroup);
        }
    }
}
