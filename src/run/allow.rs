//! What would let a run do what the sandbox refused to it, in words. Pure.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::blocked::Refused;
use crate::config::sandbox::{Mode, Network, Sandbox};
use crate::sandbox::Kind;

/// Places that a hint names of each sort.
const PLACES: usize = 3;

/// What would let a file be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// To name this place, the file or what it is to lie in.
    Name(PathBuf),
    /// To name this file, or, if it is to be deleted, renamed or linked, its directory.
    NameFile(PathBuf),
    /// To make this first, and to name it: what is not there can't be granted.
    Make(PathBuf),
    /// To boot anew: it came after the boot, and would be granted now.
    Restart,
    /// To take it out of `deny`.
    Undeny(PathBuf),
    /// The same, if it was to be written. It lies directly in what can't be granted as a whole, so that it can't be deleted,
    /// renamed or linked.
    RestartOrMove,
    /// To use another directory: this one is all of the app, of the home or of the machine, or what is protected there.
    Elsewhere,
    /// None: the setting would be refused.
    Floor,
    /// To have no sandbox.
    Off,
}

#[derive(Debug, Default)]
struct Wishes {
    write: Vec<PathBuf>,
    read: Vec<PathBuf>,
    network: bool,
    off: bool,
    make: Vec<PathBuf>,
    undeny: Vec<PathBuf>,
    restart: bool,
    /// Something may have been meant that takes the directory of a file.
    entries: bool,
    elsewhere: bool,
    floor: bool,
}

/// The hint for a run to which this was refused. `remedy` knows the disk and the settings.
/// `at_least` is what the settings may not go below.
pub fn hint(refused: &[Refused], at_least: Mode, remedy: impl Fn(Kind, &Path) -> Remedy) -> Option<String> {
    let mut wishes = Wishes::default();
    for refused in refused {
        wishes.take(refused.kind, &refused.what, &remedy);
    }
    wishes.keep_to(at_least);
    let parts = [
        wishes.settings(),
        wishes.without(),
        wishes.to_make(),
        wishes.anew(),
        wishes.in_another(),
        wishes.kept(at_least),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("where tests are meant to do what `refused` lists: {}", parts.join("; ")))
}

/// The hint for a run that did not pass and names a variable which was kept from it.
pub fn variables<'a>(
    held_back: &[String],
    at_least: Mode,
    texts: impl Iterator<Item = &'a str> + Clone,
) -> Option<String> {
    let missed = |name: &&String| texts.clone().any(|text| text.contains(name.as_str()));
    let missed: Vec<&str> = held_back.iter().filter(missed).map(String::as_str).collect();
    (!missed.is_empty()).then(|| {
        let names = missed.join(", ");
        if at_least > Mode::Off {
            return format!("the sandbox keeps {names} from the app, by the name, and {}", floor(at_least));
        }
        format!(
            "the sandbox keeps {names} from the app, by the name; `sandbox: {{env: {{keep: [{names}]}}}}` in .coatepec.yml \
             lets the app have it"
        )
    })
}

/// Hints in one.
pub fn joined<const N: usize>(hints: [Option<String>; N]) -> Option<String> {
    let hints: Vec<String> = hints.into_iter().flatten().collect();
    (!hints.is_empty()).then(|| hints.join("; "))
}

impl Wishes {
    fn take(&mut self, kind: Kind, what: &str, remedy: impl Fn(Kind, &Path) -> Remedy) {
        let path = Path::new(what);
        match kind {
            Kind::Syscall => self.off = true,
            // To a socket that lies somewhere, `write` opens the way.
            Kind::Network if path.is_absolute() => self.take_file(kind, remedy(kind, path)),
            Kind::Network if what.parse::<SocketAddr>().is_ok() || is_in_the_network(what) => {
                self.network = true;
            }
            Kind::Network => self.off = true,
            Kind::Read | Kind::Write => self.take_file(kind, remedy(kind, path)),
        }
    }

    fn take_file(&mut self, kind: Kind, remedy: Remedy) {
        let places = match kind {
            Kind::Read => &mut self.read,
            _ => &mut self.write,
        };
        match remedy {
            Remedy::Name(place) => add(places, &place),
            Remedy::NameFile(place) => {
                add(places, &place);
                self.entries = true;
            }
            Remedy::Make(place) => {
                add(places, &place);
                add(&mut self.make, &place);
            }
            Remedy::Restart => self.restart = true,
            Remedy::RestartOrMove => (self.restart, self.elsewhere) = (true, true),
            Remedy::Elsewhere => self.elsewhere = true,
            Remedy::Floor => self.floor = true,
            Remedy::Off => self.off = true,
            Remedy::Undeny(place) => add(&mut self.undeny, &place),
        }
    }

    /// What would be refused is no advice.
    fn keep_to(&mut self, at_least: Mode) {
        let by_itself = Sandbox {
            mode: at_least,
            ..Sandbox::default()
        };
        let network = self.network && by_itself.network() > Network::Allow;
        let off = self.off && at_least > Mode::Off;
        self.floor |= network || off;
        self.network &= !network;
        self.off &= !off;
    }

    fn settings(&self) -> Option<String> {
        let places =
            |name: &str, places: &[PathBuf]| (!places.is_empty()).then(|| format!("{name}: [{}]", list(places)));
        let network = self.network.then(|| "network: allow".to_owned());
        let keys = [places("write", &self.write), places("read", &self.read), network];
        let keys: Vec<String> = keys.into_iter().flatten().collect();
        let named = (!keys.is_empty()).then(|| {
            format!(
                "`sandbox: {{{}}}` in .coatepec.yml allows it{}",
                keys.join(", "),
                self.more()
            )
        });
        let undeny = (!self.undeny.is_empty()).then(|| format!("`sandbox.deny` has {}", list(&self.undeny)));
        match (named, undeny) {
            (Some(named), Some(undeny)) => Some(format!("{named}; {undeny}")),
            (named, undeny) => named.or(undeny),
        }
    }

    /// What it was that a file was wanted for is not known.
    fn more(&self) -> &'static str {
        match (self.entries, self.read.is_empty()) {
            (true, true) => " (to delete, rename or link a file, name its directory)",
            (true, false) => {
                " (to delete, rename or link a file, name its directory; to write what `read` has, name it in `write` instead)"
            }
            (false, false) => " (to write what `read` has, name it in `write` instead)",
            (false, true) => "",
        }
    }

    /// Wherever that lies.
    fn in_another(&self) -> Option<String> {
        let another = "no setting should open all of the app, of the home or of what is protected: what is to be made, deleted, \
                       renamed or linked directly in these belongs in a directory of its own";
        self.elsewhere.then(|| another.to_owned())
    }

    fn kept(&self, at_least: Mode) -> Option<String> {
        self.floor.then(|| floor(at_least))
    }

    fn without(&self) -> Option<String> {
        let kernel = "only `sandbox: {mode: off}` allows such files, system calls and sockets";
        self.off.then(|| kernel.to_owned())
    }

    fn to_make(&self) -> Option<String> {
        let made = (!self.make.is_empty()).then(|| list(&self.make));
        made.map(|made| format!("make {made} first, since only what exists can be granted"))
    }

    fn anew(&self) -> Option<String> {
        let anew = "what came after the boot is granted after `rails_runtime_restart`";
        self.restart.then(|| anew.to_owned())
    }
}

/// What the network says of what an open one would allow, besides addresses.
fn is_in_the_network(what: &str) -> bool {
    ["an internet socket", "a multicast group"].contains(&what) || what.starts_with("a socket of protocol ")
}

fn floor(at_least: Mode) -> String {
    format!("this server was started with `--sandbox-at-least {at_least}`, so that .coatepec.yml can't allow all of it")
}

/// Each once.
fn add(places: &mut Vec<PathBuf>, path: &Path) {
    if !places.iter().any(|known| known == path) {
        places.push(path.to_owned());
    }
}

/// Without what lies in another one of them.
fn list(places: &[PathBuf]) -> String {
    let inside = |place: &&PathBuf| places.iter().any(|other| other != *place && place.starts_with(other));
    let outermost: Vec<String> = places
        .iter()
        .filter(|place| !inside(place))
        .map(|place| quoted(place))
        .collect();
    let more = (outermost.len() > PLACES).then_some("…");
    let shown = outermost.iter().take(PLACES).map(String::as_str);
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// As it stands in YAML.
fn quoted(path: &Path) -> String {
    serde_json::to_string(&path.to_string_lossy()).unwrap_or_default()
}
