//! Tells a client of changes that it asked to hear of: which runs there are, and how one of them goes on. In the older
//! protocol a client subscribes to one resource at a time, in that of 2026 it listens to several in one request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::resources::Name;
use crate::supervisor::Supervisor;
use crate::supervisor::runs::Found;

/// The least time between two messages on one run.
const PACE: Duration = Duration::from_millis(500);

/// Whom to tell.
#[derive(Debug, Clone)]
pub(super) enum Listener {
    Session(Peer<RoleServer>),
    Subscription(SubscriptionSink),
}

impl Listener {
    /// Whether it can still be told.
    async fn list_changed(&self) -> bool {
        match self {
            Listener::Session(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Listener::Subscription(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }

    async fn updated(&self, uri: &str) -> bool {
        match self {
            Listener::Session(peer) => {
                let update = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(update).await.is_ok()
            }
            Listener::Subscription(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    /// Each time when a run begins or ends, for as long as somebody listens.
    pub(super) async fn tell_of_runs(self, supervisor: Supervisor) {
        let mut changes = supervisor.changes_of_runs();
        while changes.changed().await.is_ok() && self.list_changed().await {
            tokio::time::sleep(PACE).await;
        }
    }

    /// Until the run is over, its end included. Of what does not change there is nothing to tell.
    pub(super) async fn tell_of(self, supervisor: Supervisor, uri: String) {
        let Ok(Name::Run(id)) = uri.parse() else { return };
        let Ok(Found::Ongoing(ongoing)) = supervisor.found(id) else {
            return;
        };
        let mut progress = ongoing.progress();
        loop {
            tokio::select! {
                biased;
                () = ongoing.over() => {
                    self.updated(&uri).await;
                    return;
                }
                changed = progress.changed() => {
                    if changed.is_err() || !self.updated(&uri).await {
                        return;
                    }
                }
            }
            tokio::time::sleep(PACE).await;
        }
    }
}

/// What one session has subscribed to, by URI, until it ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<HashMap<String, AbortHandle>>>);

impl Subscriptions {
    /// Replaces an earlier one of the same name.
    pub(super) fn add(&self, uri: String, telling: impl Future<Output = ()> + Send + 'static, over: CancellationToken) {
        let task = tokio::spawn(async move { _ = over.run_until_cancelled(telling).await });
        self.replace(uri, Some(task.abort_handle()));
    }

    pub(super) fn remove(&self, uri: String) {
        self.replace(uri, None);
    }

    fn replace(&self, uri: String, task: Option<AbortHandle>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = match task {
            Some(task) => known.insert(uri, task),
            None => known.remove(&uri),
        };
        if let Some(last) = last {
            last.abort();
        }
    }
}
