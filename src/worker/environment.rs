//! The environment a Ruby of the app gets: what the user set on purpose, without what happened to
//! surround the supervisor. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use sha2::{Digest, Sha256};

use crate::config::Sandbox;
use crate::config::glob::matches;
use crate::config::sandbox::Mode;
use crate::worker::surroundings::is_of_surroundings;

pub type Variables = BTreeMap<OsString, OsString>;

/// Where Bundler keeps what a variable was before `bundle exec` changed it.
const BUNDLER_BACKUP: &str = "BUNDLER_ORIG_";
/// What Bundler writes there for a variable that was not set.
const BUNDLER_WAS_UNSET: &str = "BUNDLER_ENVIRONMENT_PRESERVER_INTENTIONALLY_NIL";
/// What `bundle exec` sets for the processes below it, and only for them.
const BUNDLER_OWN: [&str; 5] = [
    "BUNDLE_BIN_PATH",
    "BUNDLE_GEMFILE",
    "BUNDLE_LOCKFILE",
    "BUNDLER_VERSION",
    "BUNDLER_SETUP",
];

/// These would change which tests run, or how, behind the caller's back: they beat the command line.
const TEST_OPTIONS: [&str; 3] = ["SPEC_OPTS", "TESTOPTS", "TESTOPT"];

/// Whoever looks at a terminal wants colours there or not. What the app writes goes to a pipe, whoever has started us.
const COLOURS: [&str; 4] = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"];

/// Tracers run threads that deadlock in a fork, and report test runs as production traffic.
const TRACERS: [&str; 3] = ["DD_TRACE_ENABLED", "DD_PROFILING_ENABLED", "DD_CRASHTRACKING_ENABLED"];

/// Names of variables that hold what no test needs and somebody else would like to have. What a database or the app itself
/// needs to start is not among them.
const SECRETS: [&str; 33] = [
    "*_TOKEN",
    "*_TOKEN_*",
    "TOKEN",
    "*_API_KEY",
    "*_APIKEY",
    "*_SECRET",
    "*_SECRET_KEY",
    "*_SECRET_ACCESS_KEY",
    "*_ACCESS_KEY",
    "*_ACCESS_KEY_ID",
    "*_PRIVATE_KEY",
    "*_CREDENTIALS",
    "*_CREDENTIALS_*",
    "AWS_*",
    "AZURE_*",
    "GCP_*",
    "GCLOUD_*",
    "CLOUDSDK_*",
    "DIGITALOCEAN_*",
    "VAULT_*",
    "KUBECONFIG",
    "DOCKER_AUTH_CONFIG",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "BUNDLE_*__COM",
    "BUNDLE_*__ORG",
    "BUNDLE_*__NET",
    "BUNDLE_*__IO",
    "BUNDLE_*__DEV",
    "*_WEBHOOK_URL",
    "SENTRY_DSN",
    "*_PAT",
];

/// Names that look like those and hold nothing secret; apps ask for them when they boot.
const HARMLESS: [&str; 10] = [
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_DEFAULT_OUTPUT",
    // Of an imitation on this machine, as tests have one.
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_*",
    "AWS_CA_BUNDLE",
    "AWS_MAX_ATTEMPTS",
    "AWS_RETRY_MODE",
    "AWS_EC2_METADATA_DISABLED",
    "CLOUDSDK_PYTHON",
];

const OF_AGENTS: [&str; 3] = ["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO"];

/// Where Chrome puts what is left of a crash, and profiles that nobody named. Its usual places, in the home, are closed, and
/// without them it does not start.
const OF_CHROME: [&str; 2] = ["BREAKPAD_DUMP_LOCATION", "CHROME_CONFIG_HOME"];

/// macOS has no `C.UTF-8` before release 14; every release has this one.
const UTF8_LOCALE_OF_MACOS: &str = "en_US.UTF-8";
const UTF8_LOCALE: &str = "C.UTF-8";

/// The environment for a Ruby of the app on this machine, from the supervisor's own.
pub fn clean(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Variables {
    clean_for(std::env::consts::OS, vars)
}

/// The same for an operating system by its name in `std::env::consts::OS`.
pub fn clean_for(os: &str, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Variables {
    let mut vars: Variables = vars.into_iter().collect();
    leave_surrounding_bundle(&mut vars);
    drop_preloads(&mut vars);
    drop_foreign_switches(&mut vars);
    pin_test_environment(&mut vars);
    ensure_utf8(os, &mut vars);
    make_forkable(os, &mut vars);
    vars
}

/// The same as the settings have it: without what they keep from the app, and with what they add.
pub fn for_app(vars: Variables, sandbox: &Sandbox) -> Variables {
    let mut vars = without_secrets(vars, sandbox);
    if sandbox.mode != Mode::Off {
        let place = place_of_chrome(&vars);
        OF_CHROME.iter().for_each(|name| set_default(&mut vars, name, &place));
    }
    for (name, value) in &sandbox.env.set {
        set(&mut vars, name, value);
    }
    vars
}

/// The same without what the settings keep from the app.
pub fn without_secrets(mut vars: Variables, sandbox: &Sandbox) -> Variables {
    vars.retain(|name, _| !is_dropped(&name.to_string_lossy(), sandbox));
    vars
}

/// The names of those that look like secrets and are therefore kept from the app; but for those that lead to an agent for
/// keys, which every desktop has and no app asks for.
pub fn held_back(vars: &Variables, sandbox: &Sandbox) -> Vec<String> {
    let names = vars.keys().map(|name| name.to_string_lossy());
    let held = names.filter(|name| looks_secret(name, sandbox) && is_dropped(name, sandbox) && !fits(name, OF_AGENTS));
    held.filter(|name| !sandbox.env.set.contains_key(&**name))
        .map(std::borrow::Cow::into_owned)
        .collect()
}

/// Of each user one, since nobody may write to another's. Chrome makes it.
fn place_of_chrome(vars: &Variables) -> String {
    let temporary = get(vars, "TMPDIR").unwrap_or("/tmp");
    let user = get(vars, "USER").filter(|user| !user.contains('/')).unwrap_or("user");
    format!("{temporary}/coatepec-chrome-{user}")
}

fn is_dropped(name: &str, sandbox: &Sandbox) -> bool {
    let env = &sandbox.env;
    let named = fits(name, env.drop.iter().map(String::as_str));
    (looks_secret(name, sandbox) || named) && !fits(name, env.keep.iter().map(String::as_str))
}

fn looks_secret(name: &str, sandbox: &Sandbox) -> bool {
    sandbox.mode != Mode::Off && fits(name, SECRETS) && !fits(name, HARMLESS)
}

fn fits<'a>(name: &str, globs: impl IntoIterator<Item = &'a str>) -> bool {
    globs.into_iter().any(|glob| matches(glob, name))
}

/// Undoes a `bundle exec` around the supervisor: its bundle is not the app's.
///
/// Without a sign of `bundle exec`, nothing is touched: then `BUNDLE_GEMFILE` or `BUNDLER_VERSION`
/// is somebody's choice. Settings such as `BUNDLE_PATH`, `BUNDLE_WITHOUT` and `BUNDLE_APP_CONFIG`
/// are a choice always; `bundle exec` never sets them, container images do.
fn leave_surrounding_bundle(vars: &mut Variables) {
    if !is_below_bundle_exec(vars) {
        return;
    }
    let bundler_lib = bundler_lib(vars);
    for name in BUNDLER_OWN {
        vars.remove(OsStr::new(name));
    }
    let (backups, mut rest): (Variables, Variables) = std::mem::take(vars)
        .into_iter()
        .partition(|(name, _)| starts_with(name, BUNDLER_BACKUP));
    for (name, value) in backups {
        let original = OsStr::from_bytes(&name.as_bytes()[BUNDLER_BACKUP.len()..]);
        // Old releases backed up the name of a backup, too.
        if starts_with(original, BUNDLER_BACKUP) {
            continue;
        }
        match value == BUNDLER_WAS_UNSET {
            true => rest.remove(original),
            false => rest.insert(original.to_owned(), value),
        };
    }
    drop_from_rubylib(&mut rest, bundler_lib.as_deref());
    *vars = rest;
}

fn is_below_bundle_exec(vars: &Variables) -> bool {
    vars.keys().any(|name| starts_with(name, BUNDLER_BACKUP))
        || ["BUNDLE_BIN_PATH", "BUNDLER_SETUP"]
            .iter()
            .any(|name| vars.contains_key(OsStr::new(name)))
        || preloads(get(vars, "RUBYOPT")).any(is_bundler_setup)
}

/// The directory that `bundle exec` put into `RUBYLIB`, so that its preload is found.
fn bundler_lib(vars: &Variables) -> Option<String> {
    let preloaded = preloads(get(vars, "RUBYOPT")).find(|feature| is_bundler_setup(feature));
    let setup = get(vars, "BUNDLER_SETUP").or(preloaded)?;
    Some(setup.strip_suffix("/bundler/setup")?.to_owned())
}

fn drop_from_rubylib(vars: &mut Variables, bundler_lib: Option<&str>) {
    let Some(lib) = get(vars, "RUBYLIB") else { return };
    let is_bundler = |dir: &str| Some(dir) == bundler_lib || is_lib_of_bundler_gem(dir);
    let kept: Vec<&str> = lib.split(':').filter(|dir| !is_bundler(dir)).collect();
    set_or_remove(vars, "RUBYLIB", kept.join(":"));
}

/// `…/gems/bundler-2.6.7/lib`
fn is_lib_of_bundler_gem(dir: &str) -> bool {
    dir.strip_suffix("/lib")
        .and_then(|gem| gem.rsplit('/').next())
        .and_then(|name| name.strip_prefix("bundler-"))
        .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Drops preloads from `RUBYOPT` that belong to another process: Bundler's, and a debugger's, which
/// would wait for its client. Warning flags, `--yjit`, `-I` and other preloads stay.
fn drop_preloads(vars: &mut Variables) {
    let Some(options) = get(vars, "RUBYOPT") else { return };
    let mut kept = Vec::new();
    let mut words = options.split_ascii_whitespace();
    while let Some(word) = words.next() {
        // `-r feature` is two words, `-rfeature` is one.
        let option = match word {
            "-r" => [Some(word), words.next()],
            _ => [Some(word), None],
        };
        let feature = option[1].or(word.strip_prefix("-r")).unwrap_or_default();
        if !is_bundler_setup(feature) && !is_debugger(feature) {
            kept.extend(option.into_iter().flatten());
        }
    }
    set_or_remove(vars, "RUBYOPT", kept.join(" "));
}

/// The features that `RUBYOPT` preloads.
fn preloads(options: Option<&str>) -> impl Iterator<Item = &str> {
    let mut words = options.unwrap_or_default().split_ascii_whitespace();
    std::iter::from_fn(move || {
        loop {
            match words.next()?.strip_prefix("-r") {
                Some("") => return words.next(),
                Some(feature) => return Some(feature),
                None => {}
            }
        }
    })
}

fn is_bundler_setup(feature: &str) -> bool {
    let feature = feature.strip_suffix(".rb").unwrap_or(feature);
    feature == "bundler/setup" || feature.ends_with("/bundler/setup")
}

fn is_debugger(feature: &str) -> bool {
    // An editor names its debugger by path: `…/gems/debug-1.9.2/lib/debug/open`.
    let feature = match feature.rsplit_once("/lib/") {
        Some((_, below_lib)) => below_lib,
        None if feature.starts_with('/') => feature.rsplit('/').next().unwrap_or(feature),
        None => feature,
    };
    let library = feature.split('/').next().unwrap_or(feature);
    matches!(
        library.strip_suffix(".rb").unwrap_or(library),
        "debug" | "debase" | "byebug" | "pry-byebug" | "rdbg" | "ruby-debug" | "ruby-debug-ide"
    )
}

fn drop_foreign_switches(vars: &mut Variables) {
    vars.retain(|name, _| {
        // Settings of the gem `debug` open a port or stop at the first line, for ever without a client.
        !starts_with(name, "RUBY_DEBUG_")
            // Ours to set, per process.
            && !starts_with(name, "COATEPEC_")
            && !TEST_OPTIONS.iter().chain(&COLOURS).any(|dropped| name == dropped)
    });
}

/// A server started from a shell or a container made for development says `development`; a run that
/// believed it would write to the wrong database.
fn pin_test_environment(vars: &mut Variables) {
    set(vars, "RAILS_ENV", "test");
    set(vars, "RACK_ENV", "test");
}

/// A server started by a GUI has no locale, and then Ruby reads every file name and source as ASCII.
fn ensure_utf8(os: &str, vars: &mut Variables) {
    // The first of these that is set and not empty decides (POSIX, "Internationalization Variables").
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| get(vars, name).filter(|value| !value.is_empty()));
    if !locale.is_some_and(is_utf8_locale) {
        set(
            vars,
            "LC_ALL",
            if os == "macos" {
                UTF8_LOCALE_OF_MACOS
            } else {
                UTF8_LOCALE
            },
        );
    }
}

/// `language_TERRITORY.codeset@modifier`, or the bare codeset that macOS terminals send.
fn is_utf8_locale(locale: &str) -> bool {
    let base = locale.split('@').next().unwrap_or(locale);
    let codeset = base.rsplit('.').next().unwrap_or(base);
    codeset.eq_ignore_ascii_case("UTF-8") || codeset.eq_ignore_ascii_case("UTF8")
}

/// Turns off what is known to hang or crash in a forked child. A value of the user's wins.
fn make_forkable(os: &str, vars: &mut Variables) {
    for tracer in TRACERS {
        set_default(vars, tracer, "false");
    }
    if os == "macos" {
        // The first PostgreSQL connection asks Kerberos, whose framework aborts in a forked child.
        set_default(vars, "PGGSSENCMODE", "disable");
    }
}

/// Identifies the environment of a boot: two boots with the same key can stand in for each other.
/// A digest, since it is compared and shown, and values may be secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BootKey([u8; 32]);

impl fmt::Display for BootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BootKey({self})")
    }
}

/// The key of an environment: all variables of it that count.
pub fn boot_key(vars: &Variables) -> BootKey {
    let mut hash = Sha256::new();
    for part in counting(vars).flat_map(|(name, value)| [name, value]) {
        // Lengths keep ("A", "BC") and ("AB", "C") apart.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    BootKey(hash.finalize().into())
}

/// The names of variables by which two environments have different keys.
pub fn differences(one: &Variables, other: &Variables) -> Vec<String> {
    let differs = |from: &Variables, to: &Variables| {
        let found = counting(from).filter(|(name, value)| to.get(*name) != Some(value));
        found
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect::<BTreeSet<_>>()
    };
    let all = &differs(one, other) | &differs(other, one);
    all.into_iter().collect()
}

/// An app may read whatever it likes: everything counts but what is known to tell nothing about it.
fn counting(vars: &Variables) -> impl Iterator<Item = (&OsString, &OsString)> {
    vars.iter().filter(|(name, _)| !is_of_surroundings(name))
}

fn starts_with(name: &OsStr, prefix: &str) -> bool {
    name.as_bytes().starts_with(prefix.as_bytes())
}

/// The value of a variable; one that is not UTF-8 counts as not set, and so is never rewritten.
fn get<'a>(vars: &'a Variables, name: &str) -> Option<&'a str> {
    vars.get(OsStr::new(name))?.to_str()
}

fn set(vars: &mut Variables, name: &str, value: &str) {
    vars.insert(name.into(), value.into());
}

fn set_default(vars: &mut Variables, name: &str, value: &str) {
    vars.entry(name.into()).or_insert_with(|| value.into());
}

fn set_or_remove(vars: &mut Variables, name: &str, value: String) {
    match value.is_empty() {
        true => vars.remove(OsStr::new(name)),
        false => vars.insert(name.into(), value.into()),
    };
}
