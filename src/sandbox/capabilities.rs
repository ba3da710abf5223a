//! What root has beyond files: given up, so that root in a sandbox can no more than the owner of all files could.

use nix::errno::Errno;
use nix::libc;

/// Capabilities that tests need when they are run as root: to own, read and write files, to change ids, to signal and
/// to listen on low ports. By their numbers in `linux/capability.h`.
const KEPT: [u32; 12] = [
    0,  // CHOWN
    1,  // DAC_OVERRIDE
    3,  // FOWNER
    4,  // FSETID
    5,  // KILL
    6,  // SETGID
    7,  // SETUID
    10, // NET_BIND_SERVICE
    14, // IPC_LOCK
    18, // SYS_CHROOT
    23, // SYS_NICE
    31, // SETFCAP
];

/// Takes all others from whatever this process executes. Without effect for an ordinary user, who has none.
pub(super) fn drop_all_but_kept() -> Result<(), Errno> {
    for capability in (0..64).filter(|number| !KEPT.contains(number)) {
        // SAFETY: takes plain numbers.
        match Errno::result(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0) }) {
            Ok(_) => {}
            // Behind the last one that this kernel knows; or there was none to drop.
            Err(Errno::EINVAL | Errno::EPERM) => break,
            Err(errno) => return Err(errno),
        }
    }
    clear_inheritable()
}

/// What is inheritable would survive the exec.
fn clear_inheritable() -> Result<(), Errno> {
    change(|[effective, permitted, _]| [effective, permitted, 0])
}

/// To look into a process that has made itself private, or is another user's, and take over its socket.
const SYS_PTRACE: u32 = 19;

/// For whoever keeps a process and answers it: no more than that may have, since what has more can't be looked into, and what
/// looking takes.
pub(crate) fn keep_those_of_a_keeper() -> Result<(), Errno> {
    let kept = KEPT.iter().fold(bit(SYS_PTRACE), |all, number| all | bit(*number));
    keep_only(kept)
}

/// Of this thread, and of those that it starts from now on.
pub(super) fn keep_only(kept: u64) -> Result<(), Errno> {
    change(|[effective, permitted, _]| [effective & kept, permitted & kept, 0])
}

fn bit(number: u32) -> u64 {
    1 << number
}

/// Changes what is effective, permitted and inheritable.
fn change(to: impl FnOnce([u64; 3]) -> [u64; 3]) -> Result<(), Errno> {
    /// `_LINUX_CAPABILITY_VERSION_3`
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    // Effective, permitted, inheritable; twice, for the lower and the upper half.
    let mut sets = [0_u32; 6];
    // SAFETY: both point to as many words as this version reads and writes.
    Errno::result(unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()) })?;
    let whole = |at: usize| u64::from(sets[at]) | u64::from(sets[at + 3]) << 32;
    for (at, set) in to([whole(0), whole(1), whole(2)]).into_iter().enumerate() {
        (sets[at], sets[at + 3]) = (set as u32, (set >> 32) as u32);
    }
    // SAFETY: as above.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) })?;
    Ok(())
}
