//! What a tree of processes uses at this moment.

use std::fs;

use super::tree::Target;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub processes: usize,
    /// Bytes of memory; shared pages count in each process in part.
    pub memory: u64,
}

/// Of a tree.
pub fn of(target: &Target, limit: u64) -> Usage {
    let pids: Vec<i32> = target.members().iter().map(|member| member.id.pid.as_raw()).collect();
    Usage {
        processes: pids.len(),
        memory: memory(&pids, limit),
    }
}

/// Bytes of memory of some processes together.
///
/// Looks cheaply first: resident pages count in full in each process, so that while even their sum is below `limit`
/// nothing more has to be known. Only above it is each process asked for its proportional share, which makes the kernel
/// walk its pages.
pub fn memory(pids: &[i32], limit: u64) -> u64 {
    let resident = pids.iter().map(|pid| resident_of(*pid)).sum();
    if resident <= limit {
        resident
    } else {
        pids.iter().map(|pid| share_of(*pid)).sum()
    }
}

/// The proportional share; the resident size where the kernel doesn't tell it, 0 for a process that is gone.
fn share_of(pid: i32) -> u64 {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:").unwrap_or_else(|| resident_of(pid))
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
