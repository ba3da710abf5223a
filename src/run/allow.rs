//! What would let a run do what the sandbox refused to it, in words. Pure.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::blocked::Refused;
use crate::sandbox::Kind;

/// Places that a hint names of each sort.
const PLACES: usize = 3;

/// What would let a file be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// To name this place, the file or what it is to lie in.
    Name(PathBuf),
    /// To make this first, and to name it: what is not there can't be granted.
    Make(PathBuf),
    /// To boot anew: it came after the boot, and would be granted now.
    Restart,
    /// To take it out of `deny`.
    Undeny(PathBuf),
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
}

/// The hint for a run to which this was refused. `remedy` knows the disk and the settings.
pub fn hint(refused: &[Refused], remedy: impl Fn(Kind, &Path) -> Remedy) -> Option<String> {
    let mut wishes = Wishes::default();
    for refused in refused {
        wishes.take(refused.kind, &refused.what, &remedy);
    }
    let parts = [wishes.settings(), wishes.without(), wishes.to_make(), wishes.anew()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("where tests are meant to do what `refused` lists: {}", parts.join("; ")))
}

/// The hint for a run that did not pass and names a variable which was kept from it.
pub fn variables<'a>(held_back: &[String], texts: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let missed = |name: &&String| texts.clone().any(|text| text.contains(name.as_str()));
    let missed: Vec<&str> = held_back.iter().filter(missed).map(String::as_str).collect();
    (!missed.is_empty()).then(|| {
        let names = missed.join(", ");
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
            Kind::Network if path.is_absolute() => add(&mut self.write, path),
            Kind::Network if what.parse::<SocketAddr>().is_ok() || IN_THE_NETWORK.contains(&what) => {
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
            Remedy::Make(place) => {
                add(places, &place);
                add(&mut self.make, &place);
            }
            Remedy::Restart => self.restart = true,
            Remedy::Off => self.off = true,
            Remedy::Undeny(place) => add(&mut self.undeny, &place),
        }
    }

    fn settings(&self) -> Option<String> {
        let places =
            |name: &str, places: &[PathBuf]| (!places.is_empty()).then(|| format!("{name}: [{}]", list(places)));
        let network = self.network.then(|| "network: allow".to_owned());
        let keys = [places("write", &self.write), places("read", &self.read), network];
        let keys: Vec<String> = keys.into_iter().flatten().collect();
        let named =
            (!keys.is_empty()).then(|| format!("`sandbox: {{{}}}` in .coatepec.yml allows it", keys.join(", ")));
        let undeny = (!self.undeny.is_empty()).then(|| format!("`sandbox.deny` has {}", list(&self.undeny)));
        match (named, undeny) {
            (Some(named), Some(undeny)) => Some(format!("{named}; {undeny}")),
            (named, undeny) => named.or(undeny),
        }
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
const IN_THE_NETWORK: [&str; 1] = ["an internet socket"];

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
