//! What would let a file be had that the sandbox refused, by the disk and the settings as they are now.

use std::path::{Path, PathBuf};

use crate::config::Sandbox;
use crate::run::allow::Remedy;
use crate::sandbox::Kind;
use crate::sandbox::grants::{Disk, Granted};
use crate::sandbox::rules::{self, Place};

/// What is asked again and again of one run.
#[derive(Debug)]
pub(super) struct Remedies<'a> {
    sandbox: &'a Sandbox,
    place: Place,
    now: Granted,
}

impl<'a> Remedies<'a> {
    pub(super) fn at(root: &Path, sandbox: &'a Sandbox) -> Remedies<'a> {
        let place = Place::here(root);
        Remedies {
            now: granted(sandbox, &place),
            sandbox,
            place,
        }
    }

    pub(super) fn of(&self, kind: Kind, path: &Path) -> Remedy {
        if self.now.allows(kind, path) {
            return Remedy::Restart;
        }
        let named = self.place_to_name(path);
        if named.symlink_metadata().is_err() {
            return Remedy::Make(named);
        }
        match granted(&self.naming(kind, &named), &self.place).allows(kind, path) {
            true => Remedy::Name(named),
            // Of other processes, no setting opens anything.
            false if self.sandbox.deny.is_empty() => Remedy::Off,
            false => Remedy::Undeny(named),
        }
    }

    /// The file, or the closest directory around it that exists. Never all of the app, of the home or of the machine: then
    /// it is what is to be made there.
    fn place_to_name(&self, path: &Path) -> PathBuf {
        let too_much = |dir: &Path| {
            let whole = [Some(self.place.root.as_path()), self.place.home.as_deref()];
            dir.parent().is_none() || whole.into_iter().flatten().any(|whole| whole.starts_with(dir))
        };
        let mut named = path;
        for around in path.ancestors() {
            if too_much(around) {
                break;
            }
            named = around;
            if around.exists() {
                break;
            }
        }
        named.to_owned()
    }

    fn naming(&self, kind: Kind, place: &Path) -> Sandbox {
        let mut sandbox = self.sandbox.clone();
        let places = match kind {
            Kind::Read => &mut sandbox.read,
            _ => &mut sandbox.write,
        };
        places.push(place.to_string_lossy().into_owned());
        sandbox
    }
}

fn granted(sandbox: &Sandbox, place: &Place) -> Granted {
    let files = rules::policy(sandbox, place).files.unwrap_or_default();
    Granted::of(&files, &Disk)
}
