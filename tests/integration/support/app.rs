//! A copy of the fixture app in a directory of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use coatepec::daemon::place::cards;
use coatepec::supervisor::card::Card;
use nix::sys::signal::Signal;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::server::{Server, Setup};
use super::watchdog::Watchdog;
use super::{tree, watchdog};

/// Short, so that no test waits long for what ignores TERM.
const SETTINGS: &str = "grace_seconds: 1\n";

/// What a run leaves behind in the fixture itself.
const LEFT_OUT: &[&str] = &["log", "tmp", "storage", "coverage", "examples.txt", ".bundle"];

/// Kept on disk, and its path printed, when the test fails.
pub(crate) struct App {
    dir: Option<TempDir>,
    root: PathBuf,
    _watchdog: Watchdog,
}

impl App {
    /// With databases, so that the test helper need not make them, and with short grace.
    pub(crate) fn copy() -> App {
        let app = App::bare();
        copy_tree(&Template::get().storage(), &app.path("storage")).expect("the template can be copied");
        app
    }

    /// Not among temporary files, where everybody may write: below the home.
    pub(crate) fn at_home() -> App {
        let home = std::env::home_dir().expect("there is a home");
        fs::create_dir_all(&home).expect("it can be made");
        App::at(&home)
    }

    pub(crate) fn at(place: &Path) -> App {
        let app = App::bare_in(place);
        copy_tree(&Template::get().storage(), &app.path("storage")).expect("the template can be copied");
        app
    }

    /// As a fresh clone: no database.
    pub(crate) fn bare() -> App {
        App::bare_in(&std::env::temp_dir())
    }

    /// All specs and tests of it, for those that a test writes itself.
    pub(crate) fn remove_tests(&self) {
        for place in ["", "engines/billing/", "gems/money_math/", "packs/catalog/"] {
            for dir in ["spec", "test"] {
                fs::remove_dir_all(self.path(&format!("{place}{dir}"))).expect("it is in the fixture");
            }
        }
    }

    fn bare_in(place: &Path) -> App {
        tree::adopt();
        let dir = tempfile::Builder::new()
            .prefix("coatepec-test-")
            .tempdir_in(place)
            .expect("a temp dir can be made");
        let root = dir.path().canonicalize().expect("it exists").join("app");
        copy_tree(&fixture(), &root).expect("the fixture can be copied");
        for place in ["app/log", "app/tmp", "app/storage", "tmp"] {
            fs::create_dir_all(dir.path().join(place)).expect("a directory can be made");
        }
        let app = App {
            dir: Some(dir),
            root,
            _watchdog: Watchdog::new(),
        };
        app.write(".coatepec.yml", SETTINGS);
        app
    }

    /// For a test that is meant to take minutes.
    pub(crate) fn lasting(mut self, limit: Duration) -> App {
        self._watchdog = Watchdog::lasting(limit);
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Beside the app: the server's TMPDIR and log.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().expect("it is in a temp dir").join(name)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Makes the directories on the way, too.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("a directory can be made");
        fs::write(&path, text).unwrap_or_else(|error| panic!("failed to write {}: {error}", path.display()));
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("failed to read {path}: {error}"))
    }

    /// `from` must be there.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no `{from}`");
        self.write(path, text.replacen(from, to, 1));
    }

    pub(crate) fn append(&self, path: &str, text: &str) {
        self.write(path, self.read(path) + text);
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap_or_else(|error| panic!("failed to remove {path}: {error}"));
    }

    /// One more line of settings.
    pub(crate) fn setting(&self, line: &str) {
        self.append(".coatepec.yml", &format!("{line}\n"));
    }

    /// The shared servers of this app that are there.
    pub(crate) fn daemons(&self) -> Vec<Card> {
        let cards = cards(&self.root).into_iter().map(|(_, card)| card);
        cards.filter(Card::is_alive).collect()
    }

    pub(crate) fn server(&self) -> Server {
        self.server_with(Setup::default())
    }

    pub(crate) fn server_with(&self, setup: Setup) -> Server {
        Server::start(self, setup)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.daemons()
            .iter()
            .for_each(|card| tree::kill(card.pid, Signal::SIGKILL));
        if std::thread::panicking()
            && let Some(dir) = self.dir.take()
        {
            keep(dir);
        }
    }
}

#[expect(clippy::print_stderr, reason = "a failing test tells where to look")]
fn keep(dir: TempDir) {
    let path = dir.keep();
    eprintln!("kept for a look: {}{}", path.display(), watchdog::remark());
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixture_app")
}

/// Databases and a cache of compiled gems as one plain run of the app makes them; made once per machine and set of gems.
struct Template(PathBuf);

impl Template {
    fn get() -> &'static Template {
        static TEMPLATE: OnceLock<Template> = OnceLock::new();
        TEMPLATE.get_or_init(|| Template(make_template().expect("the databases can be made")))
    }

    fn storage(&self) -> PathBuf {
        self.0.join("storage")
    }
}

/// Without this cache a boot takes several times as long. Only read, or it would grow with every copy of the app.
pub(super) fn shared_cache() -> [(&'static str, OsString); 2] {
    let cache = Template::get().0.join("cache");
    [("BOOTSNAP_CACHE_DIR", cache.into()), ("BOOTSNAP_READONLY", "1".into())]
}

fn make_template() -> io::Result<PathBuf> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let template = place.join(format!("fixture-{}", key()?));
    fs::create_dir_all(place)?;
    // Other test processes make the same one at the same time.
    let lock = File::create(place.join("fixture.lock"))?;
    lock.lock()?;
    if !template.exists() {
        let app = App::bare();
        let partial = place.join("fixture-partial");
        let _ = fs::remove_dir_all(&partial);
        plain_rspec(&app, &partial.join("cache"));
        copy_tree_with(&app.path("storage"), &partial.join("storage"), &[])?;
        fs::rename(&partial, &template)?;
    }
    Ok(template)
}

/// What the databases depend on.
fn key() -> io::Result<String> {
    let mut hash = Sha256::new();
    for path in [
        "Gemfile.lock",
        "config/database.yml",
        "db/schema.rb",
        "db/audit_schema.rb",
    ] {
        hash.update(fs::read(fixture().join(path)).unwrap_or_default());
    }
    Ok(hash
        .finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// The test helper makes what is missing.
fn plain_rspec(app: &App, cache: &Path) {
    #[expect(clippy::disallowed_methods, reason = "what a person would type")]
    let ran = Command::new("bundle")
        .args(["exec", "rspec", "spec/models", "spec/requests"])
        .current_dir(app.root())
        .env("RAILS_ENV", "test")
        // With it the fixture loads everything, as a warm worker does, so that all of it is in the cache.
        .env("CI", "1")
        .env("BOOTSNAP_CACHE_DIR", cache)
        .stdin(Stdio::null())
        .output()
        .expect("Bundler is here: bin/with-ruby saw to it");
    assert!(
        ran.status.success(),
        "plain rspec fails: {}",
        String::from_utf8_lossy(&ran.stdout)
    );
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy_tree_with(from, to, if from == fixture() { LEFT_OUT } else { &[] })
}

fn copy_tree_with(from: &Path, to: &Path, left_out: &[&str]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if left_out.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree_with(&from, &to, left_out)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
