//! Fork or spawn: a decision over facts, with the reason for it. Pure.

use std::collections::HashMap;

use super::denylist::{self, Entry, Platform, When};
use super::report::Mode;
use crate::config::{Config, Fork};

/// Crashes of forked runs in a row, after which this boot is not forked any more.
pub const STRIKES: u32 = 3;

/// Threads that lose nothing in a fork: they are started anew when they are needed.
const HARMLESS: &[&str] = &["Timeout stdlib thread", "AR Pool Reaper"];

/// What the process that would be forked is like at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForkFacts {
    /// Ruby's threads besides the main one, by name, else by where they were started.
    pub threads: Vec<String>,
    /// Threads that Ruby doesn't know of, by the name that the kernel has for them; empty where it doesn't tell.
    pub native: Vec<String>,
    /// The same two after the boot: what was there then is known to do no harm, or gone with the first fork.
    pub threads_after_boot: Vec<String>,
    pub native_after_boot: Vec<String>,
    /// Gems of the denylist and of the project's own whose code is loaded.
    pub loaded: Vec<String>,
    /// Those of them that have something running.
    pub live: Vec<String>,
}

/// What the caller and the project want, and what happened so far.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub fork: Fork,
    /// Lines are counted.
    pub coverage: bool,
    pub config: &'a Config,
    /// Forked runs of this boot that crashed in a row.
    pub crashes: u32,
    pub macos: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Fork,
    Spawn { mode: Mode, reason: String },
}

impl Wanted<'_> {
    /// What can be decided without asking the process.
    pub fn early(&self) -> Option<Decision> {
        if self.coverage {
            return Some(spawn(Mode::Spawn, "`coverage` counts from the first line on"));
        }
        if self.fork == Fork::Never {
            return Some(spawn(Mode::Spawn, "asked for with `fork: never`"));
        }
        if self.macos && !self.config.macos_fork {
            return Some(spawn(Mode::Spawn, "`macos_fork: false` in .coatepec.yml"));
        }
        if self.fork == Fork::Always {
            return Some(Decision::Fork);
        }
        let strikes = format!("{STRIKES} forked runs of this boot crashed in a row");
        (self.crashes >= STRIKES).then(|| spawn(Mode::SpawnFallback, strikes))
    }

    pub fn decide(&self, facts: &ForkFacts) -> Decision {
        if let Some(decision) = self.early() {
            return decision;
        }
        let reason = self.unsafe_gem(facts).or_else(|| extra_threads(facts));
        reason.map_or(Decision::Fork, |reason| spawn(Mode::SpawnFallback, reason))
    }

    fn unsafe_gem(&self, facts: &ForkFacts) -> Option<String> {
        let applies = |entry: &&Entry| entry.platform == Platform::All || self.macos;
        let present = |entry: &&Entry| match entry.when {
            When::Loaded => facts.loaded.iter().any(|gem| gem == entry.gem),
            When::Live => facts.live.iter().any(|gem| gem == entry.gem),
        };
        let built_in = denylist::BUILT_IN.iter().filter(applies).find(present);
        let built_in =
            built_in.map(|entry| format!("gem {} is loaded: {} ({})", entry.gem, entry.hazard, entry.source));
        built_in.or_else(|| {
            let own = project_gems(self.config, self.macos).find(|gem| facts.loaded.contains(gem))?;
            Some(format!(
                "gem {own} is loaded, and .coatepec.yml lists it as unsafe to fork"
            ))
        })
    }
}

impl ForkFacts {
    /// Threads, of Ruby or native, that came after the boot.
    pub fn extra_threads(&self) -> Vec<String> {
        let native = beyond(&self.native, &self.native_after_boot);
        let all = beyond(&self.threads, &self.threads_after_boot)
            .into_iter()
            .chain(native);
        all.map(ToOwned::to_owned).collect()
    }
}

/// The project's own additions to the denylist.
pub fn project_gems(config: &Config, macos: bool) -> impl Iterator<Item = &String> {
    let more = if macos { &config.macos_fork_unsafe_gems[..] } else { &[] };
    config.fork_unsafe_gems.iter().chain(more)
}

/// A thread that came after the boot may hold a lock at the fork, which nobody in the child will ever release.
fn extra_threads(facts: &ForkFacts) -> Option<String> {
    let extra = |what: &str, now, after_boot| {
        let names = beyond(now, after_boot);
        (!names.is_empty()).then(|| {
            format!(
                "{what} are running that were not there after the boot: {}",
                names.join(", ")
            )
        })
    };
    extra("threads", &facts.threads, &facts.threads_after_boot)
        .or_else(|| extra("native threads", &facts.native, &facts.native_after_boot))
}

/// What of `now` is not matched by the baseline, each name as often as it occurs.
fn beyond<'a>(now: &'a [String], baseline: &[String]) -> Vec<&'a str> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for name in baseline {
        *known.entry(name).or_default() += 1;
    }
    let mut extra = Vec::new();
    for name in now.iter().map(String::as_str).filter(|name| !HARMLESS.contains(name)) {
        match known.get_mut(name).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => extra.push(name),
        }
    }
    extra
}

fn spawn(mode: Mode, reason: impl Into<String>) -> Decision {
    Decision::Spawn {
        mode,
        reason: reason.into(),
    }
}
