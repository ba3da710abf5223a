//! The program that a spec starts: this very test binary, told to attack. What Ruby has no words for is done here.

use std::fs;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc::{self, c_long, c_ulong};
use serde_json::{Map, Value, json};

/// Refused by a standard policy, by the kernel, whoever asks.
pub(super) const REFUSED: &[&str] = &[
    "traces",
    "reads_memory",
    "writes_memory",
    "takes_a_descriptor",
    "signals_by_descriptor",
    "limits_another_process",
    "uses_the_keyring_of_the_kernel",
    "makes_a_user_namespace",
    "forks_into_a_user_namespace",
    "forks_in_a_way_that_no_filter_sees",
    "submits_to_a_ring",
    "catches_page_faults",
    "types_into_a_terminal",
    "races_to_an_agent",
];

/// Refused likewise; without a sandbox, only root may.
pub(super) const REFUSED_TO_ROOT: &[&str] = &[
    "makes_a_device",
    "loads_a_program_into_the_kernel",
    "mounts",
    "counts_events",
    "opens_by_number",
    "sees_all_packets",
    "connects_as_who_keeps_it",
];

pub(super) const DONE: &[&str] = &["asks_for_its_pid", "forks", "is_told_what_is_wrong_with_an_address"];

const VICTIM: &str = "WALL_VICTIM";
const AGENT: &str = "WALL_AGENT";

/// Enough to win any race that can be won.
const TRIES: u32 = 2000;

/// How the spec starts it.
pub(super) fn command(victim: u32, agent: &Path) -> Value {
    let program = std::env::current_exe().expect("we run");
    let words = ["wall::attacker::attack", "--exact", "--ignored", "--nocapture"];
    let env = [format!("{VICTIM}={victim}"), format!("{AGENT}={}", agent.display())];
    let arguments: Vec<&str> = [env[0].as_str(), env[1].as_str(), program.to_str().expect("it is text")]
        .into_iter()
        .chain(words)
        .collect();
    json!({ "program": "env", "arguments": arguments })
}

#[test]
#[ignore = "not a test but what one starts"]
#[expect(clippy::print_stdout, reason = "how it tells")]
fn attack() {
    let victim: i32 = std::env::var(VICTIM).expect("whom").parse().expect("a pid");
    let came_of: Map<String, Value> = acts(victim)
        .into_iter()
        .map(|(name, result)| (name.to_owned(), outcome(result).into()))
        .collect();
    println!("\nWALL {}", Value::from(came_of));
}

/// A wrong argument was looked at, so that the call was let through.
fn outcome(result: Result<c_long, Errno>) -> String {
    match result {
        Ok(_)
        | Err(
            Errno::EINVAL
            | Errno::EFAULT
            | Errno::EBADF
            | Errno::ENOENT
            | Errno::ESRCH
            | Errno::ENOTTY
            | Errno::EOPNOTSUPP,
        ) => "done".into(),
        Err(errno) => format!("{errno:?}"),
    }
}

fn acts(victim: i32) -> Vec<(&'static str, Result<c_long, Errno>)> {
    vec![
        ("asks_for_its_pid", call(libc::SYS_getpid, [0; 6])),
        ("is_told_what_is_wrong_with_an_address", connects_to_no_address()),
        ("traces", traces(victim)),
        ("reads_memory", memory(libc::SYS_process_vm_readv, victim)),
        ("writes_memory", memory(libc::SYS_process_vm_writev, victim)),
        ("takes_a_descriptor", takes_a_descriptor(victim)),
        ("signals_by_descriptor", signals(victim)),
        ("limits_another_process", limits(victim)),
        ("makes_a_device", makes_a_device()),
        (
            "forks",
            plain(libc::SYS_clone, [word(libc::CLONE_NEWNS | libc::CLONE_FS), 0]),
        ),
        ("uses_the_keyring_of_the_kernel", plain(libc::SYS_keyctl, [999, 0])),
        (
            "makes_a_user_namespace",
            plain(libc::SYS_unshare, [word(libc::CLONE_NEWUSER), 0]),
        ),
        (
            "forks_into_a_user_namespace",
            plain(libc::SYS_clone, [word(libc::CLONE_NEWUSER | libc::CLONE_FS), 0]),
        ),
        ("forks_in_a_way_that_no_filter_sees", plain(libc::SYS_clone3, [0, 0])),
        ("submits_to_a_ring", plain(libc::SYS_io_uring_setup, [0, 0])),
        ("catches_page_faults", plain(libc::SYS_userfaultfd, [word(-1), 0])),
        ("races_to_an_agent", races_to_an_agent()),
        ("types_into_a_terminal", plain(libc::SYS_ioctl, [0, libc::TIOCSTI])),
        (
            "sees_all_packets",
            plain(libc::SYS_socket, [word(libc::AF_PACKET), word(libc::SOCK_DGRAM)]),
        ),
        ("loads_a_program_into_the_kernel", plain(libc::SYS_bpf, [0, 0])),
        ("connects_as_who_keeps_it", connects_with_the_rights_of_another()),
        ("mounts", plain(libc::SYS_mount, [0, 0])),
        ("counts_events", plain(libc::SYS_perf_event_open, [0, 0])),
        ("opens_by_number", plain(libc::SYS_open_by_handle_at, [word(-1), 0])),
    ]
}

/// Plain numbers and pointers that stay valid for the call.
#[expect(unsafe_code, reason = "an attacker calls the kernel directly")]
fn call(number: c_long, with: [c_ulong; 6]) -> Result<c_long, Errno> {
    // SAFETY: a wrong argument is an error of the call, and each pointer that is given is valid.
    Errno::result(unsafe { libc::syscall(number, with[0], with[1], with[2], with[3], with[4], with[5]) })
}

/// With two arguments that matter, mostly wrong ones: it is enough to see whether the call is let in.
fn plain(number: c_long, [first, second]: [c_ulong; 2]) -> Result<c_long, Errno> {
    call(number, [first, second, 0, 0, 0, 0])
}

fn word(number: impl Into<i64>) -> c_ulong {
    number.into().cast_unsigned()
}

fn traces(pid: i32) -> Result<c_long, Errno> {
    // The end of this process lets it go.
    call(
        libc::SYS_ptrace,
        [c_ulong::from(libc::PTRACE_SEIZE), word(pid), 0, 0, 0, 0],
    )
}

/// Each time it is something else that is wrong, as the kernel itself would tell.
fn connects_to_no_address() -> Result<c_long, Errno> {
    let socket = call(
        libc::SYS_socket,
        [word(libc::AF_UNIX), word(libc::SOCK_STREAM), 0, 0, 0, 0],
    )?;
    let address = [0_u8; 256];
    let there = address.as_ptr().addr() as c_ulong;
    let table = [
        ([word(socket), 0, 16], Errno::EFAULT),
        ([word(socket), there, 256], Errno::EINVAL),
        ([word(socket), there, word(-1)], Errno::EINVAL),
        ([word(0), there, 16], Errno::ENOTSOCK),
        ([word(-1), there, 16], Errno::EBADF),
    ];
    for ([socket, address, length], expected) in table {
        match call(libc::SYS_connect, [socket, address, length, 0, 0, 0]) {
            Err(errno) if errno == expected => {}
            Err(errno) => return Err(errno),
            Ok(_) => return Err(Errno::EPROTO),
        }
    }
    Ok(0)
}

/// To what it has: by less of it, whoever is another's could be ended.
fn limits(pid: i32) -> Result<c_long, Errno> {
    let mut limits = [0_u64; 2];
    let limits = (&raw mut limits).addr() as c_ulong;
    let core = c_ulong::from(libc::RLIMIT_CORE);
    call(libc::SYS_prlimit64, [word(pid), core, 0, limits, 0, 0])?;
    call(libc::SYS_prlimit64, [word(pid), core, limits, 0, 0, 0])
}

/// At an address where nothing is: refused before that is noticed, or not.
fn memory(number: c_long, pid: i32) -> Result<c_long, Errno> {
    let mut byte = 0_u8;
    let ours = [(&raw mut byte).addr(), 1];
    let theirs = [8_usize, 1];
    let vectors = [ours.as_ptr().addr() as c_ulong, 1, theirs.as_ptr().addr() as c_ulong, 1];
    call(number, [word(pid), vectors[0], vectors[1], vectors[2], vectors[3], 0])
}

fn signals(pid: i32) -> Result<c_long, Errno> {
    let descriptor = call(libc::SYS_pidfd_open, [word(pid), 0, 0, 0, 0, 0])?;
    call(
        libc::SYS_pidfd_send_signal,
        [
            word(RawFd::try_from(descriptor).expect("it is small")),
            word(libc::SIGCONT),
            0,
            0,
            0,
            0,
        ],
    )
}

fn takes_a_descriptor(pid: i32) -> Result<c_long, Errno> {
    let descriptor = call(libc::SYS_pidfd_open, [word(pid), 0, 0, 0, 0, 0])?;
    call(libc::SYS_pidfd_getfd, [word(descriptor), 0, 0, 0, 0, 0])
}

/// Names a server of its own and the agent in turns, while the kernel, and whoever judges, looks at it.
fn races_to_an_agent() -> Result<c_long, Errno> {
    let agent = PathBuf::from(std::env::var_os(AGENT).expect("whom"));
    let _ = fs::remove_file("tmp/race-a").and(fs::remove_file("tmp/race-b"));
    symlink(&agent, "tmp/race-a").expect("nothing is there");
    let own = UnixListener::bind("tmp/race-b").expect("nothing is there");
    thread::spawn(move || own.incoming().for_each(drop));
    let address: Arc<Vec<AtomicU8>> = Arc::new(b"\x01\0tmp/race-b\0".iter().copied().map(AtomicU8::new).collect());
    let swapped = Arc::clone(&address);
    let letter = address.len() - 2;
    thread::spawn(move || {
        loop {
            swapped[letter].store(b'a', Ordering::Relaxed);
            swapped[letter].store(b'b', Ordering::Relaxed);
        }
    });
    let reaches = || {
        let made = plain(libc::SYS_socket, [word(libc::AF_UNIX), word(libc::SOCK_STREAM)]).expect("it can be made");
        #[expect(unsafe_code, reason = "an attacker calls the kernel directly")]
        // SAFETY: just made by the kernel for us.
        let socket = unsafe { UnixStream::from_raw_fd(RawFd::try_from(made).expect("it is small")) };
        let at = address.as_ptr().addr() as c_ulong;
        let connected = call(libc::SYS_connect, [word(made), at, address.len() as c_ulong, 0, 0, 0]);
        connected.is_ok() && socket.peer_addr().is_ok_and(|peer| peer.as_pathname() == Some(&agent))
    };
    // On a busy machine both threads may have the same processor.
    let tries = (0..TRIES).any(|tried| {
        if tried % 16 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        reaches()
    });
    match tries {
        true => Ok(0),
        false => Err(Errno::EACCES),
    }
}

/// To another program by netlink, which takes the rights of who administers the network: whoever makes the connection has them.
fn connects_with_the_rights_of_another() -> Result<c_long, Errno> {
    let socket = plain(libc::SYS_socket, [word(libc::AF_NETLINK), word(libc::SOCK_RAW)])?;
    // Family, padding, the number of the other, no groups.
    let address = [u32::from(libc::AF_NETLINK as u16), 1, 0];
    let at = address.as_ptr().addr() as c_ulong;
    call(
        libc::SYS_connect,
        [word(socket), at, size_of_val(&address) as c_ulong, 0, 0, 0],
    )
}

fn makes_a_device() -> Result<c_long, Errno> {
    let path = c"tmp/disk";
    let made = call(
        libc::SYS_mknodat,
        [
            word(libc::AT_FDCWD),
            path.as_ptr().addr() as c_ulong,
            c_ulong::from(libc::S_IFBLK | 0o600),
            0x0100,
            0,
            0,
        ],
    );
    let _ = fs::remove_file("tmp/disk");
    made
}
