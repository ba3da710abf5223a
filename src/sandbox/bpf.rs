//! Filters that the library has no words for, by hand.

use nix::libc;
use seccompiler::{BpfProgram, sock_filter};

/// Where in what a filter looks at (`struct seccomp_data`) the number of the call is, and the architecture.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// Calls of the x32 kind carry this mark.
const X32: u32 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xC000_00B7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: u32 = 0;

/// Answers calls of the x32 kind, a second door to everything that filters know by its number, as a kernel without them.
pub(super) fn without_x32() -> BpfProgram {
    vec![
        load(NUMBER),
        jump(libc::BPF_JGE, X32, 0, 1),
        answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        answer(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Both in a row: what the first lets go, the second looks at.
pub(super) fn both(first: BpfProgram, second: BpfProgram) -> BpfProgram {
    let length = first.len();
    let go_on = |(at, step): (usize, sock_filter)| match step.k {
        libc::SECCOMP_RET_ALLOW if is_answer(&step) => {
            let behind = u32::try_from(length - at - 1).unwrap_or(0);
            statement(libc::BPF_JMP | libc::BPF_JA, behind)
        }
        _ => step,
    };
    first.into_iter().enumerate().map(go_on).chain(second).collect()
}

/// Asks whoever listens, where it would refuse by itself.
pub(super) fn asking(program: BpfProgram) -> BpfProgram {
    let ask = |step: sock_filter| match step.k & libc::SECCOMP_RET_ACTION_FULL {
        libc::SECCOMP_RET_ERRNO if is_answer(&step) => answer(libc::SECCOMP_RET_USER_NOTIF),
        _ => step,
    };
    program.into_iter().map(ask).collect()
}

fn is_answer(step: &sock_filter) -> bool {
    u32::from(step.code) == libc::BPF_RET | libc::BPF_K
}

/// Asks whoever listens: about each internet socket that is to be made, each connection, and each datagram that names
/// where it goes. What a socket sends after that goes unasked, at full speed.
pub(super) fn asking_about_the_network() -> BpfProgram {
    let inet = [libc::AF_INET, libc::AF_INET6].map(libc::c_int::cast_unsigned);
    by_number(&[
        jump(libc::BPF_JEQ, libc::SYS_connect as u32, 10, 0),
        jump(libc::BPF_JEQ, libc::SYS_sendto as u32, 4, 0),
        jump(libc::BPF_JEQ, libc::SYS_socket as u32, 0, 7),
        // The family of a socket.
        load(argument(0)),
        jump(libc::BPF_JEQ, inet[0], 6, 0),
        jump(libc::BPF_JEQ, inet[1], 5, 4),
        // The address of a datagram, both halves of a pointer: there is none on a connected socket.
        load(argument(4)),
        jump(libc::BPF_JEQ, 0, 0, 3),
        load(argument(4) + 4),
        jump(libc::BPF_JEQ, 0, 0, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_USER_NOTIF),
    ])
}

/// Asks whoever listens about each connection.
pub(super) fn asking_about_connections() -> BpfProgram {
    by_number(&[
        jump(libc::BPF_JEQ, libc::SYS_connect as u32, 1, 0),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_USER_NOTIF),
    ])
}

/// What judges the number of a call. There are other doors to the same calls, with numbers of their own: closed.
fn by_number(rest: &[sock_filter]) -> BpfProgram {
    let unknown = || answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned());
    let door = [
        load(ARCHITECTURE),
        jump(libc::BPF_JEQ, NATIVE, 1, 0),
        unknown(),
        load(NUMBER),
        jump(libc::BPF_JGE, X32, 0, 1),
        unknown(),
    ];
    [&door, rest].concat()
}

/// Where the lower half of an argument is, on a machine that puts it first.
const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn answer(value: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, value)
}

fn statement(code: u32, k: u32) -> sock_filter {
    instruction(code, 0, 0, k)
}

/// Goes on behind as many instructions as it says.
fn jump(comparison: u32, k: u32, if_true: u8, if_false: u8) -> sock_filter {
    instruction(libc::BPF_JMP | comparison | libc::BPF_K, if_true, if_false, k)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    let code = u16::try_from(code).unwrap_or(u16::MAX);
    sock_filter { code, jt, jf, k }
}
