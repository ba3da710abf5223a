//! What of the kernel's surface no test needs, by seccomp: each call of these fails, and can do no harm by a bug in the kernel.
//!
//! Where somebody listens, the filter asks him instead of refusing by itself, so that a refusal is told. He lets none of
//! these go, and when he is gone, they fail all the same.

use std::collections::BTreeMap;

use nix::errno::Errno;
use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::act::{Act, Kind};
use super::bpf;
use super::enforcement::{Name, Part};
use super::network::Wanted;
use super::policy::Syscalls;

/// A system call, by its number and its name.
type Call = (libc::c_long, &'static str);

macro_rules! calls {
    ($($name:ident),* $(,)?) => {
        &[$((libc::$name, stringify!($name))),*]
    };
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with EPERM, whatever the arguments are.
const REFUSED: &[Call] = calls![
    // Programs in the kernel, and its own counters, traces and keys.
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_lookup_dcookie,
    // The machine itself: modules, kernels, clocks, disks, quotas, accounting.
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_acct,
    SYS_syslog,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    // Mounts. Landlock forbids them, too, where there is Landlock.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    // A file by its number, past all directories.
    SYS_open_by_handle_at,
    // Somebody else's namespaces.
    SYS_setns,
];

/// Where they exist: not on every architecture, or only since lately.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[Call] = calls![SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_kexec_file_load,];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[Call] = &[];

/// Refused with some arguments only: words into a terminal, user namespaces, limits of another process, by which it could be
/// ended.
const IN_PART: &[Call] = calls![SYS_ioctl, SYS_unshare, SYS_clone, SYS_prlimit64];

/// Refused as if this kernel did not have them, so that programs do it another way. What io_uring does, no filter sees.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Families of sockets: the others lead into parts of the kernel that are seldom looked at, or out of a virtual machine.
pub(super) const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Options of sockets that join a group, with their level.
const JOINING: [(libc::c_int, libc::c_int); 7] = [
    (libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP),
    (libc::IPPROTO_IP, libc::IP_ADD_SOURCE_MEMBERSHIP),
    (libc::IPPROTO_IP, MCAST_JOIN_GROUP),
    (libc::IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP),
    (libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP),
    (libc::IPPROTO_IPV6, MCAST_JOIN_GROUP),
    (libc::IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP),
];
const MCAST_JOIN_GROUP: libc::c_int = 42;
const MCAST_JOIN_SOURCE_GROUP: libc::c_int = 46;

/// What puts words into the mouth of whoever has a terminal.
const TERMINAL_INPUT: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Refuses them for this process and all that it starts. What whoever listens is asked about is none of it.
pub(super) fn restrict(syscalls: Syscalls, asks: bool) -> Part {
    match filters(syscalls, asks) {
        Ok(filters) => match filters.iter().try_for_each(|filter| apply_filter(filter)) {
            Ok(()) => Part::full(Name::Syscalls),
            Err(error) => Part::none(Name::Syscalls, format!("the kernel takes no filter: {error}")),
        },
        Err(error) => Part::none(Name::Syscalls, format!("no filter for this machine: {error}")),
    }
}

/// What was wanted by a call that these filters stop, and what it fails with.
pub(super) fn wanted(number: i64, first: libc::c_int) -> (Errno, Act) {
    if number == libc::SYS_socket {
        return (Errno::EAFNOSUPPORT, Wanted::Family(first).into());
    }
    let named = |calls: &[Call]| calls.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
    let name = [REFUSED, REFUSED_HERE, IN_PART].into_iter().find_map(named);
    let name = name.unwrap_or_default().trim_start_matches("SYS_");
    (Errno::EPERM, Act::new(Kind::Syscall, name))
}

/// One filter for each error: a filter has one answer to what it matches.
fn filters(syscalls: Syscalls, asks: bool) -> Result<Vec<BpfProgram>, BackendError> {
    let mut filters = vec![
        program(absent(syscalls), libc::ENOSYS)?,
        #[cfg(target_arch = "x86_64")]
        bpf::without_x32(),
    ];
    if !asks {
        filters.push(program(refused(syscalls)?, libc::EPERM)?);
        filters.push(program(families()?, libc::EAFNOSUPPORT)?);
    }
    Ok(filters)
}

/// A filter that asks where one of those without a listener would refuse.
pub(super) fn asking(syscalls: Syscalls) -> Result<BpfProgram, BackendError> {
    let rules = refused(syscalls)?.into_iter().chain(families()?).collect();
    Ok(bpf::asking(program(rules, libc::EPERM)?))
}

/// Asks about each group that a socket is to join: of that the kernel tells routers, whatever device the socket is bound to.
pub(super) fn asking_about_groups() -> Result<BpfProgram, BackendError> {
    let join = |(level, name): &(libc::c_int, libc::c_int)| {
        let equal =
            |argument, value: &libc::c_int| compare(argument, SeccompCmpOp::Eq, u64::from(value.cast_unsigned()));
        SeccompRule::new(vec![equal(1, level)?, equal(2, name)?])
    };
    let rules = JOINING.iter().map(join).collect::<Result<_, _>>()?;
    let rules = BTreeMap::from([(libc::SYS_setsockopt, rules)]);
    Ok(bpf::asking(program(rules, libc::EACCES)?))
}

fn refused(syscalls: Syscalls) -> Result<Rules, BackendError> {
    let always = [REFUSED, REFUSED_HERE].concat();
    let mut refused: Rules = always.into_iter().map(|(number, _)| (number, Vec::new())).collect();
    refused.insert(libc::SYS_ioctl, either(1, &TERMINAL_INPUT)?);
    refused.insert(libc::SYS_prlimit64, vec![limits_of_another()?]);
    if !syscalls.user_namespaces {
        let new_user = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
        refused.insert(libc::SYS_unshare, vec![has_bit(0, new_user)?]);
        refused.insert(libc::SYS_clone, vec![has_bit(0, new_user)?]);
    }
    Ok(refused)
}

/// A process that is not the caller, and a pointer to new limits.
fn limits_of_another() -> Result<SeccompRule, BackendError> {
    let limits = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    SeccompRule::new(vec![compare(0, SeccompCmpOp::Ne, 0)?, limits])
}

fn families() -> Result<Rules, BackendError> {
    Ok(BTreeMap::from([(libc::SYS_socket, vec![none_of(0, &FAMILIES)?])]))
}

fn absent(syscalls: Syscalls) -> Rules {
    // The flags of this one lie in memory, where a filter can't look. Every C library then takes `clone`.
    let cloning = (!syscalls.user_namespaces).then_some(libc::SYS_clone3);
    let numbers = ABSENT.iter().copied().chain(cloning);
    numbers.map(|number| (number, Vec::new())).collect()
}

fn program(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    let errno = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, here)?.try_into()
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
