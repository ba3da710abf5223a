//! Tells a client that asked for it how far its call has come.

use std::time::Duration;

use rmcp::model::{NotificationMetaObject, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::json;
use tokio::sync::watch;

use super::RUN_ID;
use crate::run::progress::Progress;
use crate::supervisor::runs::Ongoing;

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

    /// Tells each change, until there are no more, and of which run. The numbers never fall: the protocol wants them to
    /// rise.
    pub(super) fn tell(self, ongoing: &Ongoing) -> impl Future<Output = ()> + Send + 'static {
        let mut meta = NotificationMetaObject::new();
        meta.0.insert(RUN_ID.to_owned(), json!(ongoing.id.to_string()));
        self.tell_each(ongoing.progress(), meta)
    }

    async fn tell_each(self, mut progress: watch::Receiver<Progress>, meta: NotificationMetaObject) {
        let mut step = 0.0;
        loop {
            let now = progress.borrow_and_update().clone();
            step = f64::max(step + 0.001, f64::from(now.finished));
            let message = ProgressNotificationParam::new(self.token.clone(), step).with_message(now.sentence());
            let mut message = match now.examples {
                Some(examples) => message.with_total(f64::from(examples)),
                None => message,
            };
            message.meta = Some(meta.clone());
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
