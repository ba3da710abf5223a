//! What a run is forked from, held until the run is over: whatever is booted or reloaded meanwhile, it stays.

use std::sync::Arc;

use super::warm::Shared;
use crate::config::Config;
use crate::run::denylist;
use crate::run::mode::{self, ForkFacts};
use crate::worker::app::{self, App};
use crate::worker::protocol::{Facts, GemProbe};
use crate::worker::zygote::Zygote;

#[derive(Debug)]
pub(super) struct Lease {
    pub(super) boot_id: u64,
    pub(super) app: Arc<App>,
    pub(super) zygote: Arc<Zygote>,
    /// Forked runs in a row that crashed.
    pub(super) crashes: u32,
}

impl Lease {
    /// What decides whether the zygote may be forked at this moment; `None` when it doesn't answer.
    pub(super) async fn fork_facts(&self, config: &Config) -> Option<ForkFacts> {
        let Facts {
            threads,
            native,
            loaded,
            live,
        } = self.zygote.facts(probes(config)).await?;
        Some(ForkFacts {
            threads,
            native,
            threads_after_boot: self.app.ready.threads.clone(),
            native_after_boot: self.app.ready.native.clone(),
            loaded,
            live,
        })
    }

    /// The run is over. What was replaced during it ends with its last user.
    pub(super) async fn give_back(self, warm: &Shared) {
        // Nobody takes a new lease of it then.
        let _warm = warm.lock().await;
        if let Some(zygote) = Arc::into_inner(self.zygote) {
            self.app.end_fork(zygote.pid()).await;
        }
        app::release(self.app).await;
    }
}

fn probes(config: &Config) -> Vec<GemProbe> {
    let built_in = denylist::BUILT_IN.iter();
    let built_in = built_in.map(|entry| GemProbe {
        gem: entry.gem.to_owned(),
        constant: Some(entry.constant.to_owned()),
    });
    let own = mode::project_gems(config, cfg!(target_os = "macos")).map(|gem| GemProbe {
        gem: gem.clone(),
        constant: None,
    });
    built_in.chain(own).collect()
}
