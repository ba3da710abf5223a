//! The least that settings may ask for, which whoever starts the server says: an agent that may write `.coatepec.yml` can
//! make the sandbox closer, and no more open. Pure, but for the tree it is given.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::grants::Tree;
use super::policy::{Grant, Policy, Sockets};
use super::rules::{Place, policy};
use crate::config::sandbox::{Mode, Sandbox};

/// The first of the settings that asks for less than a mode by itself does, in the words of the settings.
pub fn lowered(at_least: Mode, sandbox: &Sandbox, place: &Place, tree: &impl Tree) -> Option<String> {
    if at_least == Mode::Off {
        return None;
    }
    let by_itself = Sandbox {
        mode: at_least,
        ..Sandbox::default()
    };
    let Policy { files, sockets, .. } = policy(&by_itself, place);
    let (files, sockets) = (files.unwrap_or_default(), sockets.unwrap_or_default());
    let beyond = |places: &[String], granted: &[Grant]| {
        let asked = places.iter().map(|written| (written, place.resolve(written)));
        let mut beyond = asked.filter(|(_, path)| path.as_deref().is_some_and(|path| !within(path, granted, tree)));
        beyond.next().map(|(written, _)| written.clone())
    };
    let readable = [files.read, files.write.clone()].concat();
    let mode = (sandbox.mode < at_least).then(|| format!("mode: {}", sandbox.mode));
    let network = (sandbox.network() < by_itself.network()).then(|| format!("network: {}", sandbox.network()));
    let kept = sandbox.env.keep.first().map(|name| format!("env.keep: {name}"));
    mode.or(network)
        .or(kept)
        .or_else(|| beyond(&sandbox.write, &files.write).map(|path| format!("write: {path}")))
        .or_else(|| opened(&sandbox.write, &sockets, place).map(|path| format!("write: {path}")))
        .or_else(|| beyond(&sandbox.read, &readable).map(|path| format!("read: {path}")))
        .map(|what| format!("sandbox.{what}"))
}

/// The first that would let a process talk to who is refused to it by the mode alone.
fn opened<'a>(places: &'a [String], sockets: &Sockets, place: &Place) -> Option<&'a String> {
    let opens = |path: &Path| !sockets.admit(path);
    places
        .iter()
        .find(|written| place.resolve(written).as_deref().is_some_and(opens))
}

/// Whether all of a place, and all that its globs may come to stand for, is granted.
fn within(path: &Path, granted: &[Grant], tree: &impl Tree) -> bool {
    let Some(path) = settled(path, tree) else { return false };
    granted.iter().any(|grant| {
        let mut except = grant.except.iter();
        path.starts_with(&grant.path) && !except.any(|other| path.starts_with(other) || other.starts_with(&path))
    })
}

/// The part of a path before the first glob, where it leads to by now. None if it may lead elsewhere once it exists.
fn settled(path: &Path, tree: &impl Tree) -> Option<PathBuf> {
    let has_glob = |name: &OsStr| name.to_string_lossy().contains(['*', '?']);
    let plain: PathBuf = path
        .components()
        .take_while(|part| !has_glob(part.as_os_str()))
        .collect();
    let (there, real) = plain.ancestors().find_map(|there| Some((there, tree.real(there)?)))?;
    let rest = plain.strip_prefix(there).ok()?;
    let plain_names = rest.components().all(|part| matches!(part, Component::Normal(_)));
    plain_names.then(|| real.join(rest))
}
