//! Which Unix sockets a process may talk to, by where they lie: whoever listens there is outside of the sandbox, and does
//! what he is asked. Pure.

use std::path::{Path, PathBuf};

use super::policy::Sockets;
use super::rules::Place;
use crate::config::glob::matches;
use crate::config::sandbox::{Mode, Sandbox};

/// Who runs something outside, or signs, for whoever asks: engines of containers and of machines, the system's own
/// services, multiplexers of terminals, editors, agents for keys. What is secret in the home is refused as well.
const SERVICES: [&str; 48] = [
    "/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/buildkit",
    "/run/k3s",
    "/run/libvirt",
    "/run/incus",
    "/var/lib/incus",
    "/var/lib/lxd",
    "/var/snap",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/dbus",
    "/run/systemd/private",
    "/run/systemd/machine",
    "/run/pcscd",
    "/run/screen",
    "/tmp/screens",
    "/tmp/tmux-*",
    "/tmp/zellij-*",
    "/tmp/emacs*",
    "/tmp/nvim*",
    "/tmp/vscode-*",
    "/tmp/kitty*",
    "/tmp/ssh-*",
    "/tmp/gpg-*",
    "/tmp/keyring-*",
    "/tmp/dbus-*",
    // Debuggers, preloaders and watchers of other apps: they run what they are told.
    "/tmp/rdbg-*",
    "/tmp/ruby-debug-sock-*",
    "/tmp/spring-*",
    "/tmp/*-state",
    "/run/docker-host.sock",
    "/run/WSL",
    "/nix/var/nix/daemon-socket",
    "/run/user",
    // As they were named before.
    "/var/run/docker.sock",
    "/var/run/docker",
    "/var/run/containerd",
    "/var/run/podman",
    "/var/run/crio",
    "/var/run/dbus",
    "/var/run/libvirt",
    "/var/run/screen",
    "/var/run/pcscd",
    "/var/run/user",
];

/// The same, below the home.
const SERVICES_AT_HOME: [&str; 15] = [
    ".1password",
    ".bitwarden-ssh-agent.sock",
    ".colima",
    ".emacs.d",
    ".cache/nvim",
    ".lima",
    ".local/share/containers",
    ".local/share/docker",
    ".local/state/watchman",
    ".local/share/zed",
    ".local/share/wezterm",
    ".orbstack",
    ".rd",
    ".screen",
    ".tmux",
];

/// Screens and sounds: a visible browser needs them, a unit test does not.
const SCREENS: [&str; 5] = [
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
    "/run/user/*/wayland-*",
    "/run/user/*/pulse",
    "/run/user/*/pipewire-*",
];

/// What shells for development keep among the user's sockets: databases of the app.
const OF_DEVELOPMENT: [&str; 1] = ["/run/user/*/devenv-*"];

/// Variables that name a socket of somebody outside, as a path or as `unix:…`, or where such sockets are.
const NAMING: [&str; 14] = [
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "BUILDKIT_HOST",
    "TMUX",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "VSCODE_IPC_HOOK",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
];

impl Sockets {
    /// What the settings ask for at this place. `secrets` may not be read either.
    pub(super) fn of(sandbox: &Sandbox, place: &Place, secrets: Vec<PathBuf>) -> Sockets {
        let strict = sandbox.mode == Mode::Strict;
        let screens = paths(&SCREENS);
        let (shown, hidden) = if strict {
            (Vec::new(), screens)
        } else {
            (screens, Vec::new())
        };
        // What stands for more than it says can't open what is refused: it might come to stand for anything.
        let plain = |path: &PathBuf| !path.to_string_lossy().contains(['*', '?']);
        let named = place.resolve_all(&sandbox.write).into_iter().filter(plain);
        let own = [place.root.clone()].into_iter().chain(place.temporaries());
        Sockets {
            allow: named.chain(own).chain(shown).chain(paths(&OF_DEVELOPMENT)).collect(),
            refuse: [
                paths(&SERVICES),
                among_temporary_files(&place.temporary),
                place.below_home(&SERVICES_AT_HOME),
                secrets,
                place.sockets.clone(),
                hidden,
            ]
            .concat(),
            deny: place.resolve_all(&sandbox.deny),
        }
    }

    /// Whether a process may talk to whoever listens at `path`, which has no symbolic links. The closest of the places
    /// around it decides; where none is, it may.
    pub fn admit(&self, path: &Path) -> bool {
        let depth = |places: &[PathBuf]| places.iter().filter_map(|place| covers(place, path)).max();
        depth(&self.deny).is_none() && depth(&self.refuse) <= depth(&self.allow)
    }

    /// Whether it lies where a process may have put it.
    pub fn may_be_moved(&self, path: &Path) -> bool {
        self.allow.iter().any(|place| covers(place, path).is_some())
    }
}

/// How many names a place has, if `path` is there or beneath it.
fn covers(place: &Path, path: &Path) -> Option<usize> {
    let mut names = path.components();
    let mut fits = |part: std::path::Component<'_>| {
        let name = names.next()?.as_os_str();
        let fits = part.as_os_str() == name || matches(part.as_os_str().to_str()?, name.to_str()?);
        fits.then_some(())
    };
    place.components().try_for_each(&mut fits)?;
    Some(place.components().count())
}

/// The sockets that an environment names, but for those that are the app's own business.
pub fn named(variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let values = NAMING.iter().filter_map(|name| variable(name));
    values.filter_map(|value| socket_in(&value)).collect()
}

/// `/path`, `/path,1,0`, `unix:/path`, `unix:///path`, `unix:path=/path,guid=…`
fn socket_in(value: &str) -> Option<PathBuf> {
    let path = value.split(',').next()?;
    let path = path.strip_prefix("unix:").unwrap_or(path);
    let path = path.strip_prefix("path=").unwrap_or(path);
    let path = path.strip_prefix("//").unwrap_or(path);
    Some(PathBuf::from(path)).filter(|path| path.is_absolute() && path.parent().is_some())
}

/// What lies in `/tmp` unless TMPDIR names another place.
fn among_temporary_files(temporary: &Path) -> Vec<PathBuf> {
    let names = SERVICES.iter().filter_map(|path| path.strip_prefix("/tmp/"));
    names.map(|name| temporary.join(name)).collect()
}

fn paths(all: &[&str]) -> Vec<PathBuf> {
    all.iter().map(PathBuf::from).collect()
}
