//! What the sandbox refused to a run, rolled up by what it was and the example that was running. Pure.

use serde::{Deserialize, Serialize};

use crate::sandbox::{Act, Kind, RefusedAct};

/// Different ones that are kept.
const MOST: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Refused {
    pub kind: Kind,
    /// An address with its port, a file, the name of a system call, or what else was asked for.
    pub what: String,
    /// The example that was running; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// How often.
    pub count: u64,
}

/// In the order in which they first came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals {
    pub listed: Vec<Refused>,
    /// Of those that are not listed, because there were too many different ones.
    pub unlisted: u64,
    /// Known, and not yet of which example.
    open: Vec<RefusedAct>,
}

impl Refusals {
    /// Takes what was refused at some time, in order.
    pub fn hear(&mut self, acts: Vec<RefusedAct>) {
        self.open.extend(acts);
    }

    /// `example` was running, or none was, until `at`: all that was heard of from before that was refused to it.
    pub fn settle(&mut self, at: u64, example: Option<&str>) {
        let later = self.open.partition_point(|refused| refused.at < at);
        let settled: Vec<RefusedAct> = self.open.drain(..later).collect();
        for RefusedAct { act, .. } in settled {
            self.note(act, 1, example);
        }
    }

    /// Whether it is listed, of whatever example.
    pub fn has(&self, kind: Kind, what: &str) -> bool {
        self.listed.iter().any(|known| known.kind == kind && known.what == what)
    }

    pub fn note(&mut self, act: Act, count: u64, example: Option<&str>) {
        let Act { kind, what } = act;
        let same =
            |known: &&mut Refused| known.kind == kind && known.what == what && known.example.as_deref() == example;
        if let Some(known) = self.listed.iter_mut().find(same) {
            known.count += count;
        } else if self.listed.len() < MOST {
            self.listed.push(Refused {
                kind,
                what,
                example: example.map(str::to_owned),
                count,
            });
        } else {
            self.unlisted += count;
        }
    }
}
