//! What would let a file be had that the sandbox refused, by the disk and the settings as they are now.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::config::sandbox::{Mode, Sandbox};
use crate::run::allow::Remedy;
use crate::sandbox::Kind;
use crate::sandbox::floor;
use crate::sandbox::grants::{Disk, Granted, is_of_a_process};
use crate::sandbox::rules::{self, Place};

/// What is asked again and again of one run.
#[derive(Debug)]
pub struct Remedies<'a> {
    sandbox: &'a Sandbox,
    at_least: Mode,
    place: Place,
    now: Granted,
}

impl<'a> Remedies<'a> {
    pub fn new(place: Place, sandbox: &'a Sandbox, at_least: Mode) -> Remedies<'a> {
        Remedies {
            now: granted(sandbox, &place),
            sandbox,
            at_least,
            place,
        }
    }

    /// Of a file, or of a socket where the kind is the network.
    pub fn of(&self, kind: Kind, path: &Path) -> Remedy {
        if kind == Kind::Network {
            return self.of_socket(path);
        }
        if is_of_a_process(path) || is_a_disk(path) {
            return Remedy::Off;
        }
        if self.now.allows(kind, path, &Disk) {
            return match kind == Kind::Write && self.now.is_a_place(path) {
                true => Remedy::RestartOrMove,
                false => Remedy::Restart,
            };
        }
        let Some(named) = self.place_to_name(path) else {
            return Remedy::Elsewhere;
        };
        let settings = self.naming(kind, &named);
        if self.lowers(&settings) {
            return Remedy::Floor;
        }
        if named.symlink_metadata().is_err() {
            return Remedy::Make(named);
        }
        let may_be_moved = |dir: &Path| kind == Kind::Write && named == path && !self.place.is_too_much(dir);
        match granted(&settings, &self.place).allows(kind, path, &Disk) {
            true if path.parent().is_some_and(may_be_moved) => Remedy::NameFile(named),
            true => Remedy::Name(named),
            false if self.sandbox.deny.is_empty() => Remedy::Off,
            false => Remedy::Undeny(named),
        }
    }

    /// `write` opens the way to it, whether or not it is there.
    fn of_socket(&self, path: &Path) -> Remedy {
        let settings = self.naming(Kind::Write, path);
        let sockets = rules::policy(&settings, &self.place).sockets;
        match sockets.is_none_or(|sockets| sockets.admit(path)) {
            _ if self.lowers(&settings) => Remedy::Floor,
            true => Remedy::Name(path.to_owned()),
            false => Remedy::Undeny(path.to_owned()),
        }
    }

    fn lowers(&self, settings: &Sandbox) -> bool {
        floor::lowered(self.at_least, settings, &self.place, &Disk).is_some()
    }

    /// The file, or the closest directory around it that exists and is not too much to be opened: else it is what is to be
    /// made there. None where that is there already.
    fn place_to_name(&self, path: &Path) -> Option<PathBuf> {
        if path.is_dir() && self.place.is_too_much(path) {
            return None;
        }
        let mut named = path;
        for around in path.ancestors() {
            if around != path && self.place.is_too_much(around) {
                break;
            }
            named = around;
            if around.symlink_metadata().is_ok() {
                break;
            }
        }
        Some(named.to_owned())
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

/// All files of a machine are in it.
fn is_a_disk(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.file_type().is_block_device())
}

fn granted(sandbox: &Sandbox, place: &Place) -> Granted {
    let files = rules::policy(sandbox, place).files.unwrap_or_default();
    Granted::of(&files, &Disk)
}
