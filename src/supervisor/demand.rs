//! Who wants the warm tree at this moment, and whether somebody wants it made anew.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Debug, Clone, Default)]
pub(super) struct Demand(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    wishes: watch::Sender<usize>,
    /// A restart was asked for, and whoever has the tree has not heard of it yet.
    restart: watch::Sender<bool>,
    heeded: watch::Sender<()>,
}

/// The tree is wanted until this is dropped.
#[derive(Debug)]
pub(super) struct Wish(Demand);

impl Demand {
    pub(super) fn wish(&self) -> Wish {
        self.0.wishes.send_modify(|wishes| *wishes += 1);
        Wish(self.clone())
    }

    /// Returns when nobody wants it.
    pub(super) async fn none(&self) {
        let mut wishes = self.0.wishes.subscribe();
        let _ = wishes.wait_for(|wishes| *wishes == 0).await;
    }

    /// Asks for a restart. What is returned changes when somebody has heeded it.
    pub(super) fn start_over(&self) -> watch::Receiver<()> {
        let heeded = self.0.heeded.subscribe();
        self.0.restart.send_replace(true);
        heeded
    }

    /// Returns when a restart is asked for.
    pub(super) async fn restart(&self) {
        let mut restart = self.0.restart.subscribe();
        let _ = restart.wait_for(|asked| *asked).await;
    }

    /// The restart that was asked for is under way.
    pub(super) fn heed(&self) {
        self.0.restart.send_replace(false);
        self.0.heeded.send_replace(());
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        self.0.0.wishes.send_modify(|wishes| *wishes -= 1);
    }
}
