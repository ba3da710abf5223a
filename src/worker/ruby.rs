//! How to start the Ruby of a project, as the shell of its developer would.
//!
//! A server that a GUI starts inherits no shell: no version manager is active, and `PATH` is
//! `/usr/bin:/bin`. So this reads what the project declares and looks where the managers keep their
//! Rubies. Nothing is run: which Ruby it is follows from files alone.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

use super::environment::Variables;
use super::ruby_version::{self as version, Format};
use super::version_manager::{Home, LAYOUTS, Layout, Manager};

/// The start of a command line; what to run follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RubyCommand {
    /// An absolute program and its first arguments: `…/bundle exec ruby`, or `…/ruby` if there is no
    /// Gemfile.
    pub argv: Vec<OsString>,
    pub manager: Manager,
    /// Variables to set, or with `None` to remove, on top of the environment that was asked about.
    pub env: BTreeMap<OsString, Option<OsString>>,
}

/// The questions to a file system.
pub trait Disk {
    fn exists(&self, path: &Path) -> bool;
    /// Whether this is a file that may be run.
    fn is_executable(&self, path: &Path) -> bool;
    /// The text of a file, if it can be read.
    fn read(&self, path: &Path) -> Option<String>;
    /// The names in a directory; none, if it cannot be read.
    fn list(&self, dir: &Path) -> Vec<String>;
    /// The path without symlinks, if it exists.
    fn real(&self, path: &Path) -> Option<PathBuf>;
}

/// The Ruby for the project at `root` (absolute), in an environment that was cleaned.
///
/// `configured` is the `ruby_command` of the configuration and wins. Then what the project declares,
/// in the nearest directory upwards that declares anything; then what a shell would find.
///
/// Fails with `RubyNotFound` if there is none, or not the one that is declared.
pub fn resolve(root: &Path, env: &Variables, configured: Option<&[String]>) -> Result<RubyCommand> {
    resolve_on(&Machine, root, env, configured)
}

/// The same on any file system.
pub fn resolve_on(disk: &dyn Disk, root: &Path, env: &Variables, configured: Option<&[String]>) -> Result<RubyCommand> {
    let search = Search::new(disk, root, env);
    match configured {
        Some(words) => search.configured(words),
        None => search.command(search.ruby()?),
    }
}

/// Where Rubies and tools are that a server without a shell has not on its `PATH`.
const USUAL_BINS: [&str; 5] = [
    "/opt/homebrew/opt/ruby/bin",
    "/opt/homebrew/bin",
    "/usr/local/opt/ruby/bin",
    "/usr/local/bin",
    "~/.local/bin",
];
/// Where the operating system has a Ruby of its own, which nobody chose.
const SYSTEM_BINS: [&str; 2] = ["/usr/bin", "/bin"];
/// What `execvp` uses without a `PATH`, and then some.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

struct Search<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    env: &'a Variables,
    path: Vec<PathBuf>,
    homes: Vec<Home>,
}

/// A place that declares versions.
struct Declaration {
    /// As a person would name it.
    place: String,
    readers: Readers,
    versions: Vec<String>,
    gemset: Option<String>,
}

#[derive(Clone, Copy)]
enum Readers {
    Of(Format),
    Only(Manager),
}

/// A Ruby, as the environment in which a shell would find it.
struct Found {
    manager: Manager,
    path: Vec<PathBuf>,
    gems: BTreeMap<OsString, Option<OsString>>,
}

impl<'a> Search<'a> {
    fn new(disk: &'a dyn Disk, root: &'a Path, env: &'a Variables) -> Self {
        let path = env
            .get(OsStr::new("PATH"))
            .map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str);
        let path = std::env::split_paths(path).collect();
        let mut search = Search {
            disk,
            root,
            env,
            path,
            homes: Vec::new(),
        };
        let mut homes: Vec<Home> = LAYOUTS.iter().filter_map(|layout| search.home(layout)).collect();
        // The manager that the user's shell has activated is the one in use; others are left-overs.
        homes.sort_by_key(|home| !search.path.iter().any(|dir| dir.starts_with(&home.dir)));
        search.homes = homes;
        search
    }

    fn ruby(&self) -> Result<Found> {
        let declarations = self.declarations();
        let binds = |declaration: &&Declaration| self.homes.iter().any(|home| declaration.readers.include(home));
        // A file that no manager here reads binds nobody: in a container with one Ruby, say.
        match declarations.iter().find(binds) {
            Some(first) => self.declared(&declarations).ok_or_else(|| self.not_installed(first)),
            None => self.undeclared().ok_or_else(|| self.no_ruby()),
        }
    }

    // What the project declares.

    /// Those of the environment, then those of the nearest directory upwards that has any.
    fn declarations(&self) -> Vec<Declaration> {
        let overrides = LAYOUTS.iter().filter_map(|layout| self.overridden(layout));
        let mut dirs = self.root.ancestors().map(|dir| self.declared_in(dir));
        overrides
            .chain(dirs.find(|found| !found.is_empty()).unwrap_or_default())
            .collect()
    }

    fn overridden(&self, layout: &Layout) -> Option<Declaration> {
        let versions = version::declared(Format::RubyVersion, self.var(layout.override_variable)?);
        let place = format!("${}", layout.override_variable);
        Some(Declaration {
            place,
            readers: Readers::Only(layout.manager),
            versions,
            gemset: None,
        })
    }

    fn declared_in(&self, dir: &Path) -> Vec<Declaration> {
        let declaration = |(name, format): &(&str, Format)| self.declaration(dir, name, *format);
        version::FILES.iter().filter_map(declaration).collect()
    }

    fn declaration(&self, dir: &Path, name: &str, format: Format) -> Option<Declaration> {
        let versions = version::declared(format, &self.disk.read(&dir.join(name))?);
        let gemset_file = || Some(self.disk.read(&dir.join(".ruby-gemset"))?.trim().to_owned());
        let gemset = version::gemset(versions.first()?)
            .map(str::to_owned)
            .or_else(gemset_file);
        let place = match dir == self.root {
            true => format!("`{name}`"),
            // A path outside the root is nobody's business.
            false => format!("`{name}` in a directory above the root"),
        };
        Some(Declaration {
            place,
            readers: Readers::Of(format),
            versions,
            gemset,
        })
    }

    fn declared(&self, declarations: &[Declaration]) -> Option<Found> {
        let each = || {
            declarations
                .iter()
                .flat_map(|d| d.versions.iter().map(move |wanted| (d, wanted.as_str())))
        };
        each()
            .find_map(|(d, wanted)| self.managed(wanted, d, |home| d.readers.include(home)))
            // Another manager's Ruby of that version is as good.
            .or_else(|| each().find_map(|(d, wanted)| self.managed(wanted, d, |_| true)))
            .or_else(|| each().find_map(|(_, wanted)| self.on_path_as(wanted)))
            .or_else(|| each().find_map(|(d, wanted)| self.shims(wanted, d)))
    }

    fn managed(&self, wanted: &str, by: &Declaration, may_be: impl Fn(&Home) -> bool) -> Option<Found> {
        if wanted == version::SYSTEM {
            return self.system();
        }
        let mut homes = self.homes.iter().filter(|home| may_be(home));
        homes.find_map(|home| Some(self.found(home, home.pick(wanted)?, by.gemset.as_deref())))
    }

    /// The first Ruby on `PATH`, if its path says that it has this version.
    fn on_path_as(&self, wanted: &str) -> Option<Found> {
        let ruby = self.disk.real(&find(self.disk, &self.path, "ruby")?)?;
        let names = ruby.iter().filter_map(OsStr::to_str);
        names
            .rev()
            .any(|name| version::may_be(wanted, name))
            .then(|| self.on_path(self.path.clone()))
    }

    /// For a version in a form that only its manager understands.
    fn shims(&self, wanted: &str, by: &Declaration) -> Option<Found> {
        if version::is_plain(wanted) {
            return None;
        }
        let mut homes = self.homes.iter().filter(|home| by.readers.include(home));
        let dir = homes.find_map(|home| home.shims().filter(|dir| self.has_ruby(dir)))?;
        Some(self.on_path(self.path_after(dir)))
    }

    /// What is on `PATH` without any manager.
    fn system(&self) -> Option<Found> {
        let shims: Vec<PathBuf> = self.homes.iter().filter_map(Home::shims).collect();
        let path: Vec<PathBuf> = self.path.iter().filter(|dir| !shims.contains(dir)).cloned().collect();
        find(self.disk, &path, "ruby").map(|_| self.on_path(path))
    }

    // What there is without a declaration.

    fn undeclared(&self) -> Option<Found> {
        let first = self.path.iter().find(|dir| self.has_ruby(dir));
        match first {
            Some(dir) if !SYSTEM_BINS.iter().any(|system| dir == Path::new(system)) => {
                Some(self.on_path(self.path.clone()))
            }
            // Nobody chose the system's Ruby, if there is another.
            _ => self
                .global()
                .or_else(|| self.usual())
                .or_else(|| first.map(|_| self.on_path(self.path.clone()))),
        }
    }

    /// The version that a manager was told to use everywhere.
    fn global(&self) -> Option<Found> {
        self.homes.iter().find_map(|home| {
            let (file, format) = home.layout.global?;
            let text = self.disk.read(&home.dir.join(self.expand(file)?))?;
            let versions = version::declared(format, &text);
            let name = versions.iter().find_map(|wanted| home.pick(wanted))?;
            Some(self.found(home, name, None))
        })
    }

    fn usual(&self) -> Option<Found> {
        let dirs = USUAL_BINS.iter().filter_map(|dir| self.expand(dir));
        let dir = dirs
            .filter(|dir| !self.path.contains(dir))
            .find(|dir| self.has_ruby(dir))?;
        Some(self.on_path(self.path_after(dir)))
    }

    // From a Ruby to a command.

    fn path_after(&self, dir: PathBuf) -> Vec<PathBuf> {
        [dir].into_iter().chain(self.path.clone()).collect()
    }

    fn on_path(&self, path: Vec<PathBuf>) -> Found {
        let first = path.iter().find(|dir| self.has_ruby(dir));
        let owns = |home: &&Home| first.is_some_and(|dir| dir.starts_with(&home.dir));
        let manager = self
            .homes
            .iter()
            .find(owns)
            .map_or(Manager::Path, |home| home.layout.manager);
        Found {
            manager,
            path,
            gems: BTreeMap::new(),
        }
    }

    fn found(&self, home: &Home, name: &str, gemset: Option<&str>) -> Found {
        let gem_homes = self.gem_homes(home, name, gemset);
        let own = home.rubies_dir().join(name);
        let bins = gem_homes.iter().chain([&own]).map(|dir| dir.join("bin"));
        Found {
            manager: home.layout.manager,
            path: bins.chain(self.path.clone()).collect(),
            gems: self.gem_variables(&gem_homes, name),
        }
    }

    /// Where the managers without shims have a Ruby keep its gems, the main place first.
    fn gem_homes(&self, home: &Home, name: &str, gemset: Option<&str>) -> Vec<PathBuf> {
        let places = match home.layout.manager {
            Manager::Rvm => {
                let gems = home.dir.join("gems");
                let own = gemset.map(|gemset| gems.join(format!("{name}@{gemset}")));
                let own = own.filter(|dir| self.disk.exists(dir)).unwrap_or(gems.join(name));
                vec![own, gems.join(format!("{name}@global"))]
            }
            Manager::Chruby => {
                let (engine, version) = name.split_once('-').unwrap_or(("ruby", name));
                self.expand("~/.gem")
                    .map(|dir| dir.join(engine).join(version))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        };
        places.into_iter().filter(|dir| self.disk.exists(dir)).collect()
    }

    fn gem_variables(&self, gem_homes: &[PathBuf], name: &str) -> BTreeMap<OsString, Option<OsString>> {
        let variables = |home: Option<&PathBuf>, path| {
            BTreeMap::from([("GEM_HOME".into(), home.map(OsString::from)), ("GEM_PATH".into(), path)])
        };
        match gem_homes {
            [] if self.has_gems_of_other_than(name) => variables(None, None),
            [] => BTreeMap::new(),
            // Without GEM_PATH, the gems that came with Ruby are found, too.
            [only] => variables(Some(only), None),
            [first, ..] => variables(Some(first), std::env::join_paths(gem_homes).ok()),
        }
    }

    /// Whether GEM_HOME belongs to a Ruby that another shell activated: native gems of one series
    /// crash in another.
    fn has_gems_of_other_than(&self, name: &str) -> bool {
        let other = |part: &str| version::series(part).is_some_and(|series| Some(series) != version::series(name));
        version::series(name).is_some() && self.var("GEM_HOME").is_some_and(|home| home.split('/').any(other))
    }

    fn command(&self, found: Found) -> Result<RubyCommand> {
        let Found {
            manager,
            path,
            gems: mut env,
        } = found;
        let (program, rest) = if self.has_gemfile() {
            ("bundle", &["exec", "ruby"][..])
        } else {
            ("ruby", &[][..])
        };
        let program = find(self.disk, &path, program).ok_or_else(no_bundler)?;
        if path != self.path {
            let joined = std::env::join_paths(path);
            env.insert(
                "PATH".into(),
                Some(joined.map_err(|e| Error::internal("failed to set PATH").source(e))?),
            );
        }
        let argv = [program.into()]
            .into_iter()
            .chain(rest.iter().map(OsString::from))
            .collect();
        Ok(RubyCommand { argv, manager, env })
    }

    /// The configured words, with an absolute program. They may stand before `bundle exec ruby`, or end
    /// in a `ruby` of their own; that one is given the bundle by an option.
    fn configured(&self, words: &[String]) -> Result<RubyCommand> {
        let [program, rest @ ..] = words else {
            return Err(Error::new(Kind::InvalidConfig, "`ruby_command` is empty"));
        };
        let absolute = self.program(program).ok_or_else(|| no_program(program))?;
        let completion: &[&str] = match (ends_in_ruby(words), self.has_gemfile()) {
            (true, true) if !words.iter().any(|word| base_name(word) == "bundle") => &["-rbundler/setup"],
            (true, _) => &[],
            (false, true) => &["bundle", "exec", "ruby"],
            (false, false) => &["ruby"],
        };
        let rest = rest
            .iter()
            .map(String::as_str)
            .chain(completion.iter().copied())
            .map(OsString::from);
        let argv = [absolute.into()].into_iter().chain(rest).collect();
        Ok(RubyCommand {
            argv,
            manager: Manager::Configured,
            env: BTreeMap::new(),
        })
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            let path = self.root.join(self.expand(name)?);
            return self.disk.is_executable(&path).then_some(path);
        }
        let usual = USUAL_BINS.iter().filter_map(|dir| self.expand(dir));
        find(
            self.disk,
            &self.path.iter().cloned().chain(usual).collect::<Vec<_>>(),
            name,
        )
    }

    /// As Bundler looks for it.
    fn has_gemfile(&self) -> bool {
        let here = |dir: &Path| {
            ["Gemfile", "gems.rb"]
                .iter()
                .any(|name| self.disk.exists(&dir.join(name)))
        };
        self.var("BUNDLE_GEMFILE").is_some() || self.root.ancestors().any(here)
    }

    // Errors.

    fn not_installed(&self, by: &Declaration) -> Error {
        let wanted = by.versions.join(" or ");
        let message = format!("Ruby {wanted} is not installed, which {} asks for", by.place);
        let installed = self.installed();
        Error::new(Kind::RubyNotFound, message).hint(format!(
            "install it, declare one that is installed ({installed}), or set `ruby_command` in `.coatepec.yml`"
        ))
    }

    fn no_ruby(&self) -> Error {
        let hint = match self.homes.is_empty() {
            true => "install Ruby, or set `ruby_command` in `.coatepec.yml`".to_owned(),
            false => format!(
                "declare one that is installed ({}) in `.ruby-version`",
                self.installed()
            ),
        };
        Error::new(Kind::RubyNotFound, "no Ruby on PATH or in the usual places").hint(hint)
    }

    fn installed(&self) -> String {
        let of_home = |home: &Home| format!("{}: {}", home.layout.manager, home.rubies.join(", "));
        self.homes.iter().map(of_home).collect::<Vec<_>>().join("; ")
    }

    // Questions.

    fn home(&self, layout: &'static Layout) -> Option<Home> {
        let moved = self.var(layout.variable).map(PathBuf::from);
        let mut home = Home {
            layout,
            dir: moved.or_else(|| self.expand(layout.default))?,
            rubies: Vec::new(),
        };
        let dir = home.rubies_dir();
        let is_ruby = |name: &String| self.has_ruby(&dir.join(name).join("bin"));
        home.rubies = self
            .disk
            .list(&dir)
            .into_iter()
            .filter(|name| is_ruby(name) && !self.is_alias(&dir, name))
            .collect();
        home.rubies.sort();
        (!home.rubies.is_empty()).then_some(home)
    }

    /// Whether this is a link to its neighbour, such as `3.3` or `default`.
    fn is_alias(&self, dir: &Path, name: &str) -> bool {
        let real = self.disk.real(&dir.join(name));
        real.is_some_and(|real| {
            real.file_name() != Some(OsStr::new(name)) && real.parent() == self.disk.real(dir).as_deref()
        })
    }

    fn has_ruby(&self, dir: &Path) -> bool {
        dir.is_absolute() && self.disk.is_executable(&dir.join("ruby"))
    }

    /// A variable that is set and not empty.
    fn var(&self, name: &str) -> Option<&str> {
        self.env
            .get(OsStr::new(name))?
            .to_str()
            .filter(|value| !value.is_empty())
    }

    fn expand(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => self.var("HOME").map(|home| Path::new(home).join(rest)),
            None => Some(path.into()),
        }
    }
}

impl Readers {
    fn include(self, home: &Home) -> bool {
        match self {
            Readers::Of(format) => home.layout.formats.contains(&format),
            Readers::Only(manager) => home.layout.manager == manager,
        }
    }
}

/// The first program of that name in these directories. Relative ones do not count: they mean another
/// place in each process.
fn find(disk: &dyn Disk, path: &[PathBuf], name: &str) -> Option<PathBuf> {
    path.iter()
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|program| disk.is_executable(program))
}

/// `ruby`, `/opt/ruby3.3`, `jruby`
fn ends_in_ruby(words: &[String]) -> bool {
    let is_version = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    words
        .last()
        .is_some_and(|word| base_name(word).trim_end_matches(is_version).ends_with("ruby"))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn no_program(name: &str) -> Error {
    Error::new(
        Kind::RubyNotFound,
        format!("`{name}`, which `ruby_command` starts with, is no program here"),
    )
    .hint("name it by its full path in `.coatepec.yml`")
}

fn no_bundler() -> Error {
    Error::new(
        Kind::RubyNotFound,
        "there is a Gemfile, but no `bundle` beside Ruby or on PATH",
    )
    .hint("`gem install bundler`, or set `ruby_command` in `.coatepec.yml`")
}

/// The file system of this machine.
struct Machine;

impl Disk for Machine {
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_executable(&self, path: &Path) -> bool {
        path.metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }

    fn read(&self, path: &Path) -> Option<String> {
        // A pipe or a device of that name would block for ever.
        path.is_file().then(|| std::fs::read_to_string(path).ok()).flatten()
    }

    fn list(&self, dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }
}
