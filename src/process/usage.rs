//! What a tree of processes uses at this moment.

use std::fs;

use super::procfs::Proc;
use super::tree::Target;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub processes: usize,
    /// Bytes of memory; shared pages count in each process in part.
    pub memory: u64,
}

/// Looks cheaply first: resident pages count in full in each process, so that while even their sum is below
/// `limit` bytes nothing more has to be known. Only above it is each process asked for its proportional share, which
/// makes the kernel walk its pages.
pub fn of(target: &Target, limit: u64) -> Usage {
    let members = target.members();
    let resident = sum(&members, resident);
    let memory = if resident > limit {
        sum(&members, proportional)
    } else {
        resident
    };
    Usage {
        processes: members.len(),
        memory,
    }
}

/// Of one process, in bytes; the resident size where the kernel doesn't tell the share, 0 for one that is gone.
pub fn memory_of(pid: i32) -> u64 {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:").unwrap_or_else(|| resident_of(pid))
}

fn sum(members: &[Proc], of: impl Fn(&Proc) -> u64) -> u64 {
    members.iter().map(of).sum()
}

fn resident(member: &Proc) -> u64 {
    resident_of(member.id.pid.as_raw())
}

fn proportional(member: &Proc) -> u64 {
    memory_of(member.id.pid.as_raw())
}

fn resident_of(pid: i32) -> u64 {
    field(&format!("/proc/{pid}/status"), "VmRSS:").unwrap_or(0)
}

/// `Pss:   12 kB` → 12,288.
fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
