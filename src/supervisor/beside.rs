//! What a selection holds, asked of a fork of the zygote while a run is under way. No lock of a database is needed for it,
//! since the fork may not write to any. All else takes its turn in the queue.

use std::time::SystemTime;

use super::account::{self, Attempt};
use super::call::Checked;
use super::execute;
use super::lease::Lease;
use super::runs::{Ongoing, Over};
use super::serving::{request, wanted};
use super::steward::Office;
use super::warm::Prepared;
use crate::run::mode::Decision;
use crate::run::paths::Paths;
use crate::run::report::Mode;
use crate::worker::freshness::Effect;
use crate::worker::protocol::{ProcessMode, RunRequest};

/// `None` where nothing is to be had without a turn: a helper would have to be loaded first, or forking is not safe.
pub(super) async fn list(office: &Office, checked: &Checked, ongoing: &Ongoing) -> Option<Over> {
    let lease = lease(office, checked).await?;
    let facts = lease.fork_facts(&checked.setup.config).await;
    let decision = facts.map(|facts| wanted(checked, lease.crashes).decide(&facts));
    let ran = match decision {
        Some(Decision::Fork) => {
            let request = RunRequest {
                ask_tables: true,
                read_only: true,
                ..request(ongoing.id, checked, ProcessMode::Fork)
            };
            execute::beside(&lease.zygote, request, checked.limits, ongoing)
                .await
                .ok()
        }
        _ => None,
    };
    lease.give_back(&office.warm).await;
    let attempt = Attempt {
        mode: Mode::Fork,
        mode_reason: None,
        prepared: Prepared::default(),
        waited: 0.0,
        crashed_fork: None,
        measuring: None,
        end: Ok(ran?),
    };
    Some(Over {
        asked: ongoing.asked(),
        ended: SystemTime::now(),
        listing: true,
        facts: account::facts(ongoing.id, checked, attempt),
        view: checked.view,
        paths: Paths::new(checked.root(), std::env::home_dir()),
    })
}

/// Of the zygote, if it has loaded nothing older than the files.
async fn lease(office: &Office, checked: &Checked) -> Option<Lease> {
    wanted(checked, 0).early().is_none().then_some(())?;
    let mut warm = office.warm.lock().await;
    let (prepared, effect) = warm.freshened(&checked.setup).await;
    office.board.prepared(&prepared, warm.booted());
    let booted = warm.booted()?;
    let fit = effect == Some(Effect::Nothing) && !booted.is_of_another(checked.setup.framework);
    booted.lease().filter(|_| fit)
}
