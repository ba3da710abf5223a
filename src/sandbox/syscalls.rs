//! What of the kernel's surface no test needs, by seccomp: each call of these fails, and can do no harm by a bug in the kernel.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::bpf;
use super::enforcement::{Name, Part};
use super::policy::Syscalls;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with EPERM, whatever the arguments are.
const REFUSED: &[libc::c_long] = &[
    // Programs in the kernel, and its own counters, traces and keys.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    // The machine itself: modules, kernels, clocks, disks, quotas, accounting.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // Mounts. Landlock forbids them, too, where there is Landlock.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // A file by its number, past all directories.
    libc::SYS_open_by_handle_at,
    // Somebody else's namespaces.
    libc::SYS_setns,
];

/// Where they exist: not on every architecture, or only since lately.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Refused as if this kernel did not have them, so that programs do it another way. What io_uring does, no filter sees.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Families of sockets: the others lead into parts of the kernel that are seldom looked at, or out of a virtual machine.
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// What puts words into the mouth of whoever has a terminal.
const TERMINAL_INPUT: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Refuses them for this process and all that it starts.
pub(super) fn restrict(syscalls: Syscalls) -> Part {
    match filters(syscalls) {
        Ok(filters) => match filters.iter().try_for_each(|filter| apply_filter(filter)) {
            Ok(()) => Part::full(Name::Syscalls),
            Err(error) => Part::none(Name::Syscalls, format!("the kernel takes no filter: {error}")),
        },
        Err(error) => Part::none(Name::Syscalls, format!("no filter for this machine: {error}")),
    }
}

/// One filter for each error: a filter has one answer to what it matches.
fn filters(syscalls: Syscalls) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused = always(&[REFUSED, REFUSED_HERE].concat());
    refused.insert(libc::SYS_ioctl, either(1, &TERMINAL_INPUT)?);
    let mut absent = always(ABSENT);
    if !syscalls.user_namespaces {
        let new_user = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
        let makes_one = |argument| has_bit(argument, new_user).map(|rule| vec![rule]);
        refused.insert(libc::SYS_unshare, makes_one(0)?);
        refused.insert(libc::SYS_clone, makes_one(0)?);
        // Its flags lie in memory, where a filter can't look. Every C library then takes `clone`.
        absent.insert(libc::SYS_clone3, Vec::new());
    }
    let families = BTreeMap::from([(libc::SYS_socket, vec![none_of(0, &FAMILIES)?])]);
    Ok(vec![
        program(refused, libc::EPERM)?,
        program(absent, libc::ENOSYS)?,
        program(families, libc::EAFNOSUPPORT)?,
        #[cfg(target_arch = "x86_64")]
        bpf::without_x32(),
    ])
}

fn program(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    let errno = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, here)?.try_into()
}

fn always(numbers: &[libc::c_long]) -> Rules {
    numbers.iter().map(|number| (*number, Vec::new())).collect()
}

/// Rules of which one has to hold.
fn either(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |value: &u64| SeccompRule::new(vec![compare(argument, SeccompCmpOp::Eq, *value)?]);
    values.iter().map(rule).collect()
}

fn none_of(argument: u8, values: &[libc::c_int]) -> Result<SeccompRule, BackendError> {
    let other = |value: &libc::c_int| compare(argument, SeccompCmpOp::Ne, u64::from(value.cast_unsigned()));
    SeccompRule::new(values.iter().map(other).collect::<Result<_, _>>()?)
}

fn has_bit(argument: u8, bit: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![compare(argument, SeccompCmpOp::MaskedEq(bit), bit)?])
}

/// The kernel looks at the lower half of these arguments only.
fn compare(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}
