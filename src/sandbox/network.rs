//! Whom a process may talk to: the decision, pure.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

use nix::errno::Errno;
use nix::libc;

use super::act::{Act, Kind};
use crate::config::sandbox::Network;

/// What a process asks of the kernel, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// `socket`: family, type with its flags, protocol.
    Socket(libc::c_int, libc::c_int, libc::c_int),
    /// `connect`, `sendto`: the address, as it is laid out in memory.
    Reach(&'a [u8]),
}

/// What is to be done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The kernel does it.
    Go,
    /// A socket is made for the process that can't leave the machine, whatever it does with it.
    Bound,
    Refuse(Errno, Wanted),
}

/// What was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Address(SocketAddr),
    /// A socket that is none for TCP or UDP: what it sends can't be judged.
    Kind(libc::c_int),
    /// One that makes its packets itself.
    Raw,
    /// To get, and be told to routers as who gets, what is sent to a group.
    Group,
    /// A socket for neither the internet nor this machine.
    Family(libc::c_int),
    /// Any socket for addresses.
    Internet,
}

/// The flags beside a type: close-on-exec and non-blocking.
const FLAGS: libc::c_int = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;

/// Like a machine without a network: ENETUNREACH for an address, EAFNOSUPPORT where there are none at all.
pub fn judge(network: Network, request: Request<'_>) -> Verdict {
    match (network, request) {
        (Network::Allow, _) => Verdict::Go,
        (_, Request::Socket(family, kind, protocol)) => socket(network, family, kind & !FLAGS, protocol),
        (_, Request::Reach(address)) => match address_of(address) {
            Some(address) if !is_here(address.ip()) => Verdict::Refuse(Errno::ENETUNREACH, Wanted::Address(address)),
            // A path, an interface of the kernel, or what the kernel will refuse by itself.
            _ => Verdict::Go,
        },
    }
}

fn socket(network: Network, family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Verdict {
    if ![libc::AF_INET, libc::AF_INET6].contains(&family) {
        return Verdict::Go;
    }
    match (network, kind, protocol) {
        (Network::None, _, _) => Verdict::Refuse(Errno::EAFNOSUPPORT, Wanted::Internet),
        (_, libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) | (_, libc::SOCK_DGRAM, 0 | libc::IPPROTO_UDP) => Verdict::Bound,
        (_, libc::SOCK_RAW, _) => Verdict::Refuse(Errno::EPERM, Wanted::Raw),
        (_, _, _) => Verdict::Refuse(Errno::EPROTONOSUPPORT, Wanted::Kind(protocol)),
    }
}

/// Loopback, also as IPv6 writes addresses of IPv4, and the unspecified address, which stands for it.
fn is_here(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified(),
    }
}

/// An internet address in memory: `struct sockaddr_in` or `sockaddr_in6`.
pub fn address_of(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    match libc::c_int::from(family) {
        libc::AF_INET => {
            let ip: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some((ip, port).into())
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(SocketAddrV6::new(Ipv6Addr::from(ip), port, 0, 0).into())
        }
        _ => None,
    }
}

impl From<Wanted> for Act {
    fn from(wanted: Wanted) -> Act {
        Act::new(Kind::Network, wanted.to_string())
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Address(address) => address.fmt(f),
            Wanted::Kind(protocol) => write!(f, "a socket of protocol {protocol}"),
            Wanted::Raw => f.write_str("a raw socket"),
            Wanted::Group => f.write_str("a multicast group"),
            Wanted::Family(family) => write!(f, "a socket of family {family}"),
            Wanted::Internet => f.write_str("an internet socket"),
        }
    }
}
