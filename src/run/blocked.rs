//! What the sandbox refused to a run, rolled up by what it was and the example that was running. Pure.

use serde::{Deserialize, Serialize};

/// Different ones that are kept.
const MOST: usize = 50;

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Network,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Refused {
    pub kind: Kind,
    /// An address with its port, or what else was asked for.
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
}

impl Refusals {
    pub fn note(&mut self, kind: Kind, what: String, example: Option<&str>) {
        let same =
            |known: &&mut Refused| known.kind == kind && known.what == what && known.example.as_deref() == example;
        if let Some(known) = self.listed.iter_mut().find(same) {
            known.count += 1;
        } else if self.listed.len() < MOST {
            self.listed.push(Refused {
                kind,
                what,
                example: example.map(str::to_owned),
                count: 1,
            });
        } else {
            self.unlisted += 1;
        }
    }
}
