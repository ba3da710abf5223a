//! What a process of ours may do.
#![expect(unsafe_code, reason = "closing file descriptors that nobody in this process owns")]

pub mod policy;

pub mod jail;

pub use policy::{Limits, Policy};
