//! Other servers of this checkout, and why their clients don't share this one.

use schemars::JsonSchema;
use serde::Serialize;

use super::card::{Card, cards};
use super::setup::Site;
use crate::config::{self, Config, Sandbox};
use crate::process::procfs;
use crate::worker::environment::{Variables, clean, differences, without_secrets};

/// Names that are told; more tell nothing more.
const NAMES: usize = 12;

/// Nobody else is to find this server.
const NO_SHARE: &str = "--no-share";

/// Two servers are alike: one did not answer in time, or its socket was removed, and so the other one was started.
const LOST: &str = "the socket, which one of them has lost";

/// A server of clients that could not share this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neighbour {
    pub pid: i32,
    /// What is not alike: names of variables, `sandbox` in `.coatepec.yml` when the server was started, `--sandbox-at-least`,
    /// `the build of Coatepec`, `--no-share` of this one, the socket that one of them has lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
}

/// As they are at this moment. Reads files.
pub(super) fn neighbours(site: &Site) -> Vec<Neighbour> {
    let cards = cards().into_iter().map(|(_, card)| card);
    let (own, others): (Vec<Card>, Vec<Card>) = cards
        .filter(|card| card.root == site.root && card.is_alive())
        .partition(|card| card.pid == std::process::id().cast_signed());
    if others.is_empty() {
        return Vec::new();
    }
    let shared = !own.is_empty();
    // As it was written at the start: the settings may be others by now.
    let ours = own.into_iter().next().unwrap_or_else(|| Card::ours(site));
    let sandbox = Config::load(&site.root).unwrap_or_default().sandbox;
    let environment = counting(std::env::vars_os(), &sandbox);
    let told = others.iter().map(|other| {
        let theirs = procfs::environment(other.identity().pid);
        let variables = theirs.map(|theirs| differences(&environment, &counting(theirs, &sandbox)));
        let differs = apart(&ours, other, variables);
        Neighbour {
            pid: other.pid,
            differs: match (shared, differs.is_empty()) {
                (false, _) => differs.into_iter().chain([NO_SHARE.to_owned()]).collect(),
                (true, true) if other.environment.is_some() => vec![LOST.to_owned()],
                (true, _) => differs,
            },
        }
    });
    told.collect()
}

fn counting(vars: impl IntoIterator<Item = (std::ffi::OsString, std::ffi::OsString)>, sandbox: &Sandbox) -> Variables {
    without_secrets(clean(vars), sandbox)
}

/// Why a server that begins boots an app that another one has, in the words of a trigger.
pub(super) fn own_app(others: &[Neighbour]) -> Option<String> {
    let wants_to = |other: &&Neighbour| !other.differs.is_empty() && !other.differs.iter().any(|what| what == NO_SHARE);
    let other = others.iter().find(wants_to)?;
    Some(format!(
        "booted: the app of the server with pid {} can't be shared, since these differ: {}",
        other.pid,
        other.differs.join(", ")
    ))
}

/// In words; a card of an old version does not tell everything.
fn apart(ours: &Card, other: &Card, variables: Option<Vec<String>>) -> Vec<String> {
    let differ = |one: &Option<String>, two: &Option<String>| two.is_some() && one != two;
    let environment = match (variables, differ(&ours.environment, &other.environment)) {
        // Secrets, and what else the settings keep from the app or let it have.
        (Some(names), true) if names.is_empty() => vec![format!("`sandbox` in {}", config::FILE)],
        (Some(names), _) => first(names),
        // Where nobody is shown the environment of another process.
        (None, true) => vec!["the environment".to_owned()],
        (None, false) => Vec::new(),
    };
    let floor = (other.sandbox_at_least.is_some() && other.sandbox_at_least != ours.sandbox_at_least)
        .then(|| "--sandbox-at-least".to_owned());
    let build = (other.version != ours.version || differ(&ours.build, &other.build))
        .then(|| "the build of Coatepec".to_owned());
    environment.into_iter().chain(floor).chain(build).collect()
}

fn first(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    names.extend((more > 0).then(|| format!("and {more} more")));
    names
}
