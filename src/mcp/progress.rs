//! Tells a client that asked for it how far its call has come.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::watch;

use crate::run::progress::Progress;

/// The least time between two messages: a run of many quick examples must not drown its client.
const PACE: Duration = Duration::from_millis(200);

/// To whom, and under which name.
#[derive(Debug, Clone)]
pub(super) struct Reporter {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

impl Reporter {
    /// `None` when the client has not asked for it.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Reporter> {
        Some(Reporter {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token()?,
        })
    }

    /// Tells each change, until there are no more. The numbers never fall: the protocol wants them to rise.
    pub(super) async fn tell(self, mut progress: watch::Receiver<Progress>) {
        let mut step = 0.0;
        loop {
            let now = progress.borrow_and_update().clone();
            step = f64::max(step + 0.001, f64::from(now.finished));
            let message = ProgressNotificationParam::new(self.token.clone(), step).with_message(now.sentence());
            let message = match now.examples {
                Some(examples) => message.with_total(f64::from(examples)),
                None => message,
            };
            if self.peer.notify_progress(message).await.is_err() {
                return;
            }
            tokio::time::sleep(PACE).await;
            if progress.changed().await.is_err() {
                return;
            }
        }
    }
}
