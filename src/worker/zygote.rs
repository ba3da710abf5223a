//! The zygote: forked from the app, has the test helper loaded, forks a child for each run.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

use super::forked::{self, Forked, Kind, Pipes};
use super::protocol::{Ask, Facts, GemProbe, RunRequest, Told, Traces, Versions};
use super::{Broken, REPLY};

pub(super) const ZYGOTE: Kind = Kind {
    name: "zygote",
    load: "load of the test helper",
    died: "ZygoteDied",
};

#[derive(Debug)]
pub struct Zygote {
    forked: Forked,
    pub loaded: Loaded,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub seconds: f64,
    pub features: Vec<PathBuf>,
    pub traces: Traces,
    pub outdated: bool,
    pub versions: Versions,
}

/// How a run's process came to be, or why not.
#[derive(Debug)]
pub enum ForkEnd {
    Forked(i32),
    Refused(String),
    /// The zygote is gone or wedged: nothing was started that could have got its `go`.
    Lost(String),
}

impl Zygote {
    /// Waits until the forked zygote has loaded the helper.
    pub async fn load(pid: i32, pipes: Pipes, limit: Duration) -> Result<Zygote, Broken> {
        match Forked::load(ZYGOTE, pid, pipes, limit).await? {
            (
                forked,
                Told::Loaded {
                    seconds,
                    features,
                    traces,
                    versions,
                    outdated,
                },
            ) => Ok(Zygote {
                forked,
                loaded: Loaded {
                    seconds,
                    features,
                    traces,
                    outdated,
                    versions,
                },
            }),
            (_, other) => Err(forked::odd(ZYGOTE, &other)),
        }
    }

    pub fn pid(&self) -> i32 {
        self.forked.pid
    }

    /// Forks the process of a run; it waits for its `go`.
    pub async fn fork(&self, request: RunRequest, fds: &[BorrowedFd<'_>]) -> ForkEnd {
        match self.forked.ask(&Ask::Run(request), fds, REPLY).await {
            Ok(Told::Forked { pid }) => ForkEnd::Forked(pid),
            Ok(Told::Refused { reason }) => ForkEnd::Refused(reason),
            Ok(other) => ForkEnd::Lost(format!("an unexpected answer: {other:?}")),
            Err(cause) => ForkEnd::Lost(cause),
        }
    }

    pub async fn facts(&self, gems: Vec<GemProbe>) -> Option<Facts> {
        match self.forked.ask(&Ask::Facts { gems }, &[], REPLY).await {
            Ok(Told::Facts(facts)) => Some(facts),
            _ => None,
        }
    }

    /// The status of a child that has ended; `None` when the zygote can't say.
    pub async fn reap(&self, pid: i32) -> Option<(Option<i32>, Option<i32>)> {
        match self.forked.ask(&Ask::Reap { pid }, &[], REPLY).await {
            Ok(Told::Reaped { status, signal }) => Some((status, signal)),
            _ => None,
        }
    }

    pub fn can_run(&self) -> bool {
        self.forked.can_run()
    }
}
