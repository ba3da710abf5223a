//! Questions that are being answered at this moment: so many at a time, each by a process of its own, so that one that
//! hangs keeps nobody waiting.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How many at a time.
const SEATS: usize = 4;

/// How long a question has in any case. After that it leaves, if others wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often those who wait look whether somebody has had that long.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(super) struct Seats {
    free: Arc<Semaphore>,
    taken: Arc<Mutex<Vec<Weak<Taken>>>>,
}

#[derive(Debug, Default)]
struct Taken {
    asked: OnceLock<Instant>,
    leave: CancellationToken,
}

/// Given back by being dropped.
#[derive(Debug)]
pub(super) struct Seat {
    taken: Arc<Taken>,
    _permit: OwnedSemaphorePermit,
}

impl Default for Seats {
    fn default() -> Self {
        Seats {
            free: Arc::new(Semaphore::new(SEATS)),
            taken: Arc::default(),
        }
    }
}

impl Seats {
    /// Waits until one is free, and sees to it that one will be.
    pub(super) async fn take(&self) -> Seat {
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.free).acquire_owned() => permit.expect("it is never closed"),
            () = self.make_room() => unreachable!("it goes on for ever"),
        };
        let taken = Arc::<Taken>::default();
        self.taken().push(Arc::downgrade(&taken));
        Seat { taken, _permit: permit }
    }

    /// Has those leave that have been asked long enough ago, the first one first, one at a time.
    async fn make_room(&self) {
        loop {
            sleep(LOOK).await;
            let taken: Vec<Arc<Taken>> = {
                let mut taken = self.taken();
                taken.retain(|one| one.strong_count() > 0);
                taken.iter().filter_map(Weak::upgrade).collect()
            };
            if taken.iter().any(|one| one.leave.is_cancelled()) {
                continue;
            }
            let first = taken
                .iter()
                .filter_map(|one| Some((one.asked.get()?, one)))
                .min_by_key(|(at, _)| **at);
            if let Some((_, one)) = first.filter(|(at, _)| at.elapsed() >= PATIENCE) {
                one.leave.cancel();
            }
        }
    }

    /// Plain data: a panic elsewhere leaves it whole.
    fn taken(&self) -> MutexGuard<'_, Vec<Weak<Taken>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// From now on it takes time that others may want.
    pub(super) fn asked(&self) {
        self.taken.asked.get_or_init(Instant::now);
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.taken.leave.is_cancelled()
    }

    /// Returns when it is to leave for another one.
    pub(super) async fn wanted(&self) {
        self.taken.leave.cancelled().await;
    }
}
