//! From the settings to a policy: which places a mode grants, and which it protects. Pure, but for what [`Place`] looks at.

use std::collections::BTreeSet;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};

use super::grants::{self, Disk, Tree};
use super::policy::{Files, Grant, Limits, Policy, Sockets, Syscalls};
use super::sockets;
use crate::config::sandbox::{Mode, Sandbox};
use crate::dirs;

/// What belongs to whoever works on the app, and is only read by tests: its history, our own settings, and what tells
/// tools (hooks, shells, services that build, editors, agents) what to run. Directly in the root.
pub const PROTECTED: &[&str] = &[
    ".git",
    ".gitmodules",
    ".coatepec.yml",
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ".buildkite",
    ".husky",
    ".githooks",
    ".overcommit.yml",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".claude",
    ".codex",
    ".cursor",
    ".cursorrules",
    ".gemini",
    ".opencode",
    "opencode.json",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
];

/// What no test reads, below the home: keys, tokens, keyrings, browser profiles, histories of shells.
const SECRETS: [&str; 66] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".oci",
    ".boto",
    ".s3cfg",
    ".config/gcloud",
    ".config/doctl",
    ".config/rclone",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/git/credentials",
    ".git-credentials",
    ".netrc",
    ".docker",
    ".config/containers",
    ".kube",
    ".config/helm",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".npmrc",
    ".pypirc",
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/op",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/keepassxc",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".bash_history",
    ".zsh_history",
    ".local/share/fish",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/github-copilot",
    ".config/heroku",
    ".config/stripe",
    ".local/share/opencode",
    ".cursor",
    ".copilot",
    ".local/share/atuin",
    ".zsh_sessions",
    ".histfile",
    ".irb_history",
    ".python_history",
    ".psql_history",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".thunderbird",
    ".pgpass",
    ".config/hcloud",
    ".fly",
    ".composer/auth.json",
    ".m2/settings.xml",
    ".terraformrc",
    ".config/sops",
];

/// What tools of tests keep below the home. What is not there can't be made.
const CACHES: [&str; 12] = [
    ".cache/selenium",
    ".cache/puppeteer",
    ".cache/ms-playwright",
    ".cache/google-chrome",
    ".cache/chromium",
    ".cache/fontconfig",
    ".cache/mesa_shader_cache",
    ".cache/mesa_shader_cache_db",
    ".cache/node",
    ".cache/yarn",
    ".npm/_cacache",
    ".webdrivers",
];

/// Where version managers and gems are below the home: all of the home that a strict policy reads.
const TOOLS: [&str; 22] = [
    ".rbenv",
    ".asdf",
    ".local/share/mise",
    ".config/mise",
    ".rvm",
    ".rubies",
    ".gem",
    ".local/share/gem",
    ".bundle",
    ".gemrc",
    ".rspec",
    ".config/rspec",
    ".tool-versions",
    ".asdfrc",
    ".nvm",
    ".nodenv",
    ".volta",
    ".yarn",
    ".local/bin",
    ".local/share/pnpm",
    ".gitconfig",
    ".config/git",
];

/// What a unit test writes below the root.
const STRICTLY_WRITTEN: [&str; 5] = ["log", "tmp", "storage", "coverage", "db"];

/// Devices without a memory of their own, and the graphics of a browser.
const DEVICES: [&str; 11] = [
    "null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "mqueue", "dri",
];

/// Directly in the root nothing can be made, so that these are made before, as Rails would.
const MADE: [&str; 2] = ["log", "tmp"];

/// Gems that drive a browser, as they stand in a lock file.
const BROWSERS: [&str; 7] = [
    "selenium-webdriver",
    "cuprite",
    "ferrum",
    "apparition",
    "playwright-ruby-client",
    "puppeteer-ruby",
    "grover",
];

/// The machine, as far as a policy depends on it. All paths without symbolic links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub root: PathBuf,
    pub home: Option<PathBuf>,
    /// What TMPDIR names.
    pub temporary: PathBuf,
    pub superuser: bool,
    /// The text of the app's lock file, if it has one.
    pub lock_file: String,
    /// Sockets of whoever serves the user outside: those that the environment names, and our own.
    pub sockets: Vec<PathBuf>,
}

/// A place that is granted if it is there when a process is confined.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grantable {
    pub path: PathBuf,
    /// Where it matters that it is the same one; else 0.
    pub inode: u64,
    /// To be written, or only read.
    pub written: bool,
}

impl Place {
    /// This machine, this user and this app.
    pub fn here(root: &Path) -> Place {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        Place {
            root: real(root.to_owned()),
            home: std::env::home_dir().filter(|home| home.parent().is_some()).map(real),
            temporary: real(std::env::temp_dir()),
            superuser: nix::unistd::geteuid().is_root(),
            lock_file: std::fs::read_to_string(root.join("Gemfile.lock")).unwrap_or_default(),
            sockets: sockets::named(|name| std::env::var(name).ok())
                .into_iter()
                .chain(dirs::runtime())
                .map(real)
                .collect(),
        }
    }

    /// What an app makes in its root by itself, and could not below a policy. That it fails is for the app to see.
    pub fn make_missing(&self, sandbox: &Sandbox) {
        if sandbox.mode == Mode::Off {
            return;
        }
        let measured = names_gem(&self.lock_file, "simplecov").then_some("coverage");
        for name in MADE.into_iter().chain(measured) {
            let _ = std::fs::create_dir(self.root.join(name));
        }
    }

    /// What would be granted by itself or by the settings to a process that is confined at this moment, as far as it may
    /// come, or come anew, while another one lives, which then can't have it. None of an app that may be written as a whole.
    pub fn grantable(&self, sandbox: &Sandbox) -> BTreeSet<Grantable> {
        if sandbox.mode == Mode::Off {
            return BTreeSet::new();
        }
        let open = files(sandbox, self).open_around_root.is_some();
        let own = if open {
            Vec::new()
        } else {
            self.own_directories(sandbox.mode)
        };
        let named = |places: &[String], written: bool| {
            let places = self.resolve_all(places).into_iter();
            let there = places
                .flat_map(|path| grants::named(&path, &Disk))
                .filter(|path| path.exists());
            there
                .map(move |path| Grantable {
                    path,
                    inode: 0,
                    written,
                })
                .collect::<Vec<_>>()
        };
        let named = [named(&sandbox.write, true), named(&sandbox.read, false)].concat();
        own.into_iter().chain(named).collect()
    }

    fn own_directories(&self, mode: Mode) -> Vec<Grantable> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let own = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let usual = STRICTLY_WRITTEN.contains(&name.as_str());
            let granted = usual || (mode != Mode::Strict && !PROTECTED.contains(&name.as_str()));
            // Others are made anew by builds, and tests seldom write to them.
            let inode = if usual { entry.ino() } else { 0 };
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (granted && is_dir).then(|| Grantable {
                path: entry.path(),
                inode,
                written: true,
            })
        });
        own.collect()
    }

    pub(super) fn temporaries(&self) -> [PathBuf; 4] {
        let [tmp, var_tmp, shm] = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        [self.temporary.clone(), tmp, var_tmp, shm]
    }

    pub(super) fn below_home(&self, names: &[&str]) -> Vec<PathBuf> {
        let home = self.home.iter();
        home.flat_map(|home| names.iter().map(move |name| home.join(name)))
            .collect()
    }

    /// The home, and what the root lies in, as other projects would.
    fn projects(&self) -> Vec<PathBuf> {
        let around = self.root.parent().filter(|around| around.parent().is_some());
        self.home.iter().cloned().chain(around.map(Path::to_owned)).collect()
    }

    /// A place of the settings.
    pub(super) fn resolve(&self, place: &String) -> Option<PathBuf> {
        let below = |start: &Path, rest: &str| start.join(rest.trim_start_matches('/'));
        if let Some(rest) = place.strip_prefix('~') {
            return self.home.as_deref().map(|home| below(home, rest));
        }
        match place.strip_prefix("$TMPDIR") {
            Some(rest) => Some(below(&self.temporary, rest)),
            None => Some(self.root.join(place)),
        }
    }

    pub(super) fn resolve_all(&self, places: &[String]) -> Vec<PathBuf> {
        places.iter().filter_map(|place| self.resolve(place)).collect()
    }
}

/// What the settings ask for at this place.
pub fn policy(sandbox: &Sandbox, place: &Place) -> Policy {
    let on = sandbox.mode != Mode::Off;
    Policy {
        mode: sandbox.mode,
        limits: Limits {
            file_size: None,
            open_files: sandbox.limits.open_files,
        },
        files: on.then(|| files(sandbox, place)),
        syscalls: on.then(|| Syscalls {
            user_namespaces: sandbox.mode == Mode::Standard && drives_a_browser(&place.lock_file),
        }),
        network: sandbox.network(),
        sockets: on.then(|| Sockets::of(sandbox, place, secrets(sandbox.mode, place))),
        required: sandbox.required,
    }
}

/// The places of the settings that name nothing there is, with their keys: they grant nothing.
pub fn not_there(sandbox: &Sandbox, place: &Place, tree: &impl Tree) -> Vec<String> {
    if sandbox.mode == Mode::Off {
        return Vec::new();
    }
    let named = |key: &'static str, places: &[String]| -> Vec<String> {
        let is_there = |written: &&String| place.resolve(written).is_some_and(|path| grants::is_there(&path, tree));
        let lost = places.iter().filter(|written| !is_there(written));
        lost.map(|written| format!("{key}: {written}")).collect()
    };
    [named("write", &sandbox.write), named("read", &sandbox.read)].concat()
}

fn files(sandbox: &Sandbox, place: &Place) -> Files {
    let deny = place.resolve_all(&sandbox.deny);
    let wanted = place.resolve_all(&sandbox.write);
    let elsewhere = [place.temporaries().to_vec(), wanted.clone()].concat();
    let open_around = |what: &Path| elsewhere.iter().find(|open| what.starts_with(open)).cloned();
    let open_around_home =
        |home: &Path| open_around(home).or_else(|| home.starts_with(&place.root).then(|| place.root.clone()));
    let elsewhere = [place.temporaries().to_vec(), machinery(place)].concat();
    let wanted = in_truth(all_but(wanted, &deny), place);
    Files {
        write: [own(sandbox.mode, place, &deny), all_but(elsewhere, &deny), wanted].concat(),
        read: read(sandbox, place, &deny),
        open_around_root: open_around(&place.root),
        open_around_home: place.home.as_deref().and_then(open_around_home),
    }
}

/// What is written of the app itself.
fn own(mode: Mode, place: &Place, deny: &[PathBuf]) -> Vec<Grant> {
    let own = match mode {
        Mode::Strict => STRICTLY_WRITTEN.iter().map(|name| place.root.join(name)).collect(),
        Mode::Standard | Mode::Off => vec![place.root.clone()],
    };
    let protected: Vec<PathBuf> = PROTECTED.iter().map(|name| place.root.join(name)).collect();
    let own = all_but(own, &[&protected[..], deny].concat());
    let inside = |grant| Grant {
        within: Some(place.root.clone()),
        ..grant
    };
    own.into_iter().map(inside).collect()
}

/// What the settings name in a place where a test can put a link is followed no further than that place.
fn in_truth(grants: Vec<Grant>, place: &Place) -> Vec<Grant> {
    let tops = [place.temporaries().to_vec(), vec![place.root.clone()]].concat();
    let within = |path: &Path| {
        let top = tops.iter().find(|top| path.starts_with(top) && path != *top)?;
        // Directly in the root nothing can be made.
        (path.parent() != Some(&place.root)).then(|| top.clone())
    };
    let settled = |grant: Grant| Grant {
        within: within(&grant.path),
        ..grant
    };
    grants.into_iter().map(settled).collect()
}

/// What programs need to write to that is nobody's file, and caches.
fn machinery(place: &Place) -> Vec<PathBuf> {
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name));
    // A browser writes to files of its own processes. Of those that matter to the machine, only root may write to any; those of
    // the user's other processes lie open with them.
    let written = !place.superuser && drives_a_browser(&place.lock_file);
    let proc = written.then(|| PathBuf::from("/proc"));
    devices.chain(proc).chain(place.below_home(&CACHES)).collect()
}

fn read(sandbox: &Sandbox, place: &Place, deny: &[PathBuf]) -> Vec<Grant> {
    let back = match sandbox.mode {
        Mode::Strict => place.below_home(&TOOLS),
        Mode::Standard | Mode::Off => Vec::new(),
    };
    // A device may be a disk with all files on it.
    let hidden = [secrets(sandbox.mode, place), vec!["/dev".into()], deny.to_vec()].concat();
    let everything = all_but(vec!["/".into()], &hidden);
    let secret = place.below_home(&SECRETS);
    // Each with its own only: a command line has not room for all with each.
    let back = back.into_iter().flat_map(|tool| {
        let own = secret.iter().filter(|path| path.starts_with(&tool)).cloned();
        let hidden: Vec<PathBuf> = own.chain(deny.iter().cloned()).collect();
        all_but(vec![tool], &hidden)
    });
    let back: Vec<Grant> = back.collect();
    let wanted = in_truth(all_but(place.resolve_all(&sandbox.read), deny), place);
    [everything, back, all_but(vec![place.root.clone()], deny), wanted].concat()
}

impl Place {
    /// What is more than a hint may open: the app, the home and the machine, what is protected or secret there, and what holds
    /// any of these.
    pub fn is_too_much(&self, dir: &Path) -> bool {
        let protected = PROTECTED.iter().map(|name| self.root.join(name));
        let secret = self.below_home(&SECRETS);
        let mut kept = [self.root.clone()]
            .into_iter()
            .chain(self.home.clone())
            .chain(protected)
            .chain(secret);
        dir.parent().is_none() || kept.any(|kept| kept.starts_with(dir))
    }
}

/// What a mode lets nobody read.
fn secrets(mode: Mode, place: &Place) -> Vec<PathBuf> {
    match mode {
        Mode::Strict => place.projects(),
        Mode::Standard | Mode::Off => place.below_home(&SECRETS),
    }
}

fn all_but(places: Vec<PathBuf>, except: &[PathBuf]) -> Vec<Grant> {
    let grant = |path| Grant {
        path,
        except: except.to_vec(),
        within: None,
    };
    places.into_iter().map(grant).collect()
}

fn drives_a_browser(lock_file: &str) -> bool {
    BROWSERS.iter().any(|gem| names_gem(lock_file, gem))
}

/// Whether a Gemfile.lock has the gem.
fn names_gem(lock_file: &str, gem: &str) -> bool {
    let mut lines = lock_file.lines();
    lines.any(|line| line.trim().strip_prefix(gem).is_some_and(|rest| rest.starts_with(" (")))
}
