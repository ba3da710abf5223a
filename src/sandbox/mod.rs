//! What a process of ours may do.
#![expect(unsafe_code, reason = "system calls that no library of ours has")]

pub mod policy;
pub mod rules;
pub mod sockets;

pub mod floor;
pub mod grants;

pub mod act;
pub mod enforcement;
pub mod jail;

#[cfg(target_os = "linux")]
pub mod gate;
#[cfg(not(target_os = "linux"))]
#[path = "no_gate.rs"]
pub mod gate;
#[cfg(target_os = "linux")]
pub mod network;

#[cfg(target_os = "linux")]
mod bound;
#[cfg(target_os = "linux")]
mod bpf;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod connect;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod syscalls;

#[cfg(target_os = "linux")]
pub(crate) use capabilities::keep_those_of_a_keeper;
#[cfg(target_os = "linux")]
pub(crate) use files::keep_to_abstract_sockets_within;

pub use act::{Act, Kind, RefusedAct};
pub use enforcement::Enforcement;
pub use policy::{Limits, Policy};
