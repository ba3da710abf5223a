//! Which Ruby a project gets, on machines of every kind.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use coatepec::error::{Error, Kind, Result};
use coatepec::worker::environment::Variables;
use coatepec::worker::ruby::{Disk, RubyCommand, resolve, resolve_on};
use coatepec::worker::ruby_version::{self, Format};
use coatepec::worker::version_manager::Manager;

const ROOT: &str = "/home/me/work/shop";

/// A machine made of files, and a caller on it. There is a Gemfile, unless a test takes it away.
struct Machine {
    files: BTreeMap<PathBuf, String>,
    programs: BTreeSet<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    env: Variables,
}

impl Machine {
    /// What every one has, as a GUI sees it.
    fn bare() -> Machine {
        let machine = Machine {
            files: BTreeMap::new(),
            programs: BTreeSet::new(),
            links: BTreeMap::new(),
            env: Variables::new(),
        };
        machine
            .env("HOME", "/home/me")
            .env("PATH", "/usr/bin:/bin")
            .project("Gemfile", "")
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    fn project(self, name: &str, text: &str) -> Self {
        self.file(&format!("{ROOT}/{name}"), text)
    }

    fn without(mut self, path: &str) -> Self {
        self.files.remove(Path::new(path));
        self
    }

    fn program(mut self, path: &str) -> Self {
        self.programs.insert(path.into());
        self
    }

    /// `ruby` and `bundle` in a directory.
    fn ruby(self, bin: &str) -> Self {
        self.program(&format!("{bin}/ruby")).program(&format!("{bin}/bundle"))
    }

    fn link(mut self, from: &str, to: &str) -> Self {
        self.links.insert(from.into(), to.into());
        self
    }

    fn resolve(&self) -> Result<RubyCommand> {
        resolve_on(self, Path::new(ROOT), &self.env, None)
    }

    fn configured(&self, words: &[&str]) -> Result<RubyCommand> {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        resolve_on(self, Path::new(ROOT), &self.env, Some(&words))
    }

    /// The directory that the command starts in, the manager, and what is before the caller's PATH.
    #[track_caller]
    fn check(&self, manager: Manager, bundle: &str, prepended: &[&str]) {
        let command = self.resolve().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(command.argv, [bundle, "exec", "ruby"], "{command:?}");
        assert_eq!(command.manager, manager);
        let old = self.env[OsStr::new("PATH")].to_str().unwrap();
        let new = prepended.iter().copied().chain([old]).collect::<Vec<_>>().join(":");
        let expected = (!prepended.is_empty()).then_some(new);
        assert_eq!(set(&command, "PATH"), expected.as_deref());
    }

    #[track_caller]
    fn refuse(&self) -> Error {
        let error = self.resolve().expect_err("a Ruby was found");
        assert_eq!(error.kind, Kind::RubyNotFound);
        error
    }
}

impl Disk for Machine {
    fn exists(&self, path: &Path) -> bool {
        self.files.contains_key(path) || self.programs.iter().any(|program| program.starts_with(path))
    }

    fn is_executable(&self, path: &Path) -> bool {
        self.programs.contains(&self.real(path).unwrap_or(path.into()))
    }

    fn read(&self, path: &Path) -> Option<String> {
        self.files.get(path).cloned()
    }

    fn list(&self, dir: &Path) -> Vec<String> {
        let all = self.files.keys().chain(&self.programs).chain(self.links.keys());
        let below = all.filter_map(|path| path.strip_prefix(dir).ok()?.iter().next()?.to_str());
        below.map(String::from).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let link = self.links.iter().find(|(from, _)| path.starts_with(from));
        Some(link.map_or(path.into(), |(from, to)| to.join(path.strip_prefix(from).unwrap())))
    }
}

fn set<'a>(command: &'a RubyCommand, name: &str) -> Option<&'a str> {
    command.env.get(OsStr::new(name))?.as_ref()?.to_str()
}

fn removes(command: &RubyCommand, name: &str) -> bool {
    command.env.get(OsStr::new(name)) == Some(&None)
}

// Rubies without a manager.

#[test]
fn in_a_container_the_ruby_on_path_serves() {
    for path in [
        "/usr/local/bin:/usr/bin:/bin",
        "/usr/local/bundle/bin:/usr/local/sbin:/usr/local/bin",
    ] {
        let machine = Machine::bare().env("PATH", path).ruby("/usr/local/bin");
        machine.check(Manager::Path, "/usr/local/bin/bundle", &[]);
        // Nothing here reads the file; whether the version fits is for Bundler to say.
        machine
            .project(".ruby-version", "3.3.8")
            .check(Manager::Path, "/usr/local/bin/bundle", &[]);
    }
}

#[test]
fn the_ruby_of_the_system_serves_when_there_is_no_other() {
    Machine::bare()
        .ruby("/usr/bin")
        .check(Manager::Path, "/usr/bin/bundle", &[]);
}

#[test]
fn homebrew_is_found_without_its_path() {
    let bin = "/opt/homebrew/opt/ruby/bin";
    Machine::bare()
        .ruby("/usr/bin")
        .ruby(bin)
        .check(Manager::Path, &format!("{bin}/bundle"), &[bin]);
}

#[test]
fn relative_entries_of_path_are_passed_over() {
    let machine = Machine::bare()
        .env("PATH", "::bin:/usr/bin")
        .ruby("/usr/bin")
        .ruby("bin")
        .ruby("");
    machine.check(Manager::Path, "/usr/bin/bundle", &[]);
}

#[test]
fn without_a_path_the_usual_directories_are_searched() {
    let mut machine = Machine::bare().ruby("/usr/bin");
    machine.env.remove(OsStr::new("PATH"));
    assert_eq!(machine.resolve().unwrap().argv[0], "/usr/bin/bundle");
}

#[test]
fn no_ruby_at_all_is_an_error_with_a_next_step() {
    let error = Machine::bare().refuse();
    assert!(error.hint.unwrap().contains("install Ruby"));
}

// Bundles.

#[test]
fn without_a_gemfile_ruby_is_started_alone() {
    let machine = Machine::bare().ruby("/usr/bin").without(&format!("{ROOT}/Gemfile"));
    assert_eq!(machine.resolve().unwrap().argv, ["/usr/bin/ruby"]);
    for gemfile in ["/home/me/work/Gemfile", "/home/me/work/shop/gems.rb"] {
        let machine = Machine::bare()
            .ruby("/usr/bin")
            .without(&format!("{ROOT}/Gemfile"))
            .file(gemfile, "");
        machine.check(Manager::Path, "/usr/bin/bundle", &[]);
    }
    machine
        .env("BUNDLE_GEMFILE", "gemfiles/next")
        .check(Manager::Path, "/usr/bin/bundle", &[]);
}

#[test]
fn a_missing_bundler_is_named() {
    let error = Machine::bare().program("/usr/bin/ruby").refuse();
    assert!(error.message.contains("`bundle`"), "{error}");
}

// Managers with what they read.

/// Where each keeps a Ruby of some version.
const BINS: [(Manager, &str, &str); 7] = [
    (Manager::Mise, "/home/me/.local/share/mise/installs/ruby/", ""),
    (Manager::Rbenv, "/home/me/.rbenv/versions/", ""),
    (Manager::Asdf, "/home/me/.asdf/installs/ruby/", ""),
    (Manager::Rvm, "/home/me/.rvm/rubies/", "ruby-"),
    (Manager::Rvm, "/usr/local/rvm/rubies/", "ruby-"),
    (Manager::Chruby, "/home/me/.rubies/", "ruby-"),
    (Manager::Chruby, "/opt/rubies/", "ruby-"),
];

#[test]
fn each_manager_is_found_at_home_by_a_server_with_a_bare_path() {
    for (manager, dir, prefix) in BINS {
        let bin = format!("{dir}{prefix}3.3.8/bin");
        let other = format!("{dir}{prefix}3.2.2/bin");
        for declared in ["3.3.8\n", "ruby-3.3.8", "# ours\n3.3.8 # until May\n", "3.3", "3"] {
            let machine = Machine::bare()
                .ruby("/usr/bin")
                .ruby(&other)
                .ruby(&bin)
                .project(".ruby-version", declared);
            machine.check(manager, &format!("{bin}/bundle"), &[&bin]);
        }
    }
}

#[test]
fn a_manager_that_moved_is_found_by_its_variable() {
    for (variable, rubies) in [
        ("MISE_DATA_DIR", "/data/installs/ruby"),
        ("RBENV_ROOT", "/data/versions"),
        ("ASDF_DATA_DIR", "/data/installs/ruby"),
        ("rvm_path", "/data/rubies"),
    ] {
        let bin = format!("{rubies}/3.3.8/bin");
        let machine = Machine::bare()
            .env(variable, "/data")
            .ruby(&bin)
            .project(".ruby-version", "3.3.8");
        assert_eq!(
            machine.resolve().unwrap().argv[0],
            *format!("{bin}/bundle"),
            "{variable}"
        );
    }
}

#[test]
fn each_manager_reads_its_own_files() {
    let both = |file: &str, text: &str| {
        let machine = BINS.iter().fold(Machine::bare(), |machine, (_, dir, prefix)| {
            machine.ruby(&format!("{dir}{prefix}3.3.8/bin"))
        });
        machine.project(file, text).resolve().unwrap().manager
    };
    assert_eq!(both("mise.toml", "[tools]\nruby = '3.3'"), Manager::Mise);
    assert_eq!(both(".rvmrc", "rvm use 3.3.8@shop"), Manager::Rvm);
}

#[test]
fn of_several_managers_the_one_on_path_is_in_use() {
    for (active, path) in [
        (Manager::Rbenv, "/home/me/.rbenv/shims:/usr/bin"),
        (Manager::Asdf, "/home/me/.asdf/shims:/usr/bin"),
        (Manager::Chruby, "/home/me/.rubies/ruby-3.2.2/bin:/usr/bin"),
    ] {
        let machine = BINS.iter().fold(Machine::bare(), |machine, (_, dir, prefix)| {
            machine.ruby(&format!("{dir}{prefix}3.3.8/bin"))
        });
        let command = machine
            .env("PATH", path)
            .project(".ruby-version", "3.3.8")
            .resolve()
            .unwrap();
        assert_eq!(command.manager, active);
    }
}

#[test]
fn a_file_for_another_manager_still_names_the_version() {
    let bin = "/home/me/.rbenv/versions/3.3.8/bin";
    let machine = Machine::bare().ruby(bin).ruby("/home/me/.rbenv/versions/3.2.2/bin");
    let machine = machine
        .project(".tool-versions", "ruby 3.2.2")
        .project(".ruby-version", "3.3.8");
    // rbenv reads one of the two only.
    machine.check(Manager::Rbenv, &format!("{bin}/bundle"), &[bin]);
}

#[test]
fn the_nearest_directory_that_declares_decides() {
    let (old, new) = (
        "/home/me/.rbenv/versions/3.2.2/bin",
        "/home/me/.rbenv/versions/3.3.8/bin",
    );
    let machine = Machine::bare()
        .ruby(old)
        .ruby(new)
        .file("/home/me/work/.ruby-version", "3.2.2");
    let machine = machine.project(".tool-versions", "nodejs 22.1.0");
    machine.check(Manager::Rbenv, &format!("{old}/bundle"), &[old]);
    machine
        .project(".ruby-version", "3.3.8")
        .check(Manager::Rbenv, &format!("{new}/bundle"), &[new]);
}

#[test]
fn a_variable_beats_the_files_for_its_own_manager() {
    let (old, new) = (
        "/home/me/.rbenv/versions/3.2.2/bin",
        "/home/me/.rbenv/versions/3.3.8/bin",
    );
    let machine = || Machine::bare().ruby(old).ruby(new).project(".ruby-version", "3.3.8");
    machine()
        .env("RBENV_VERSION", "3.2.2")
        .check(Manager::Rbenv, &format!("{old}/bundle"), &[old]);
    machine()
        .env("ASDF_RUBY_VERSION", "3.2.2")
        .check(Manager::Rbenv, &format!("{new}/bundle"), &[new]);
}

#[test]
fn the_first_installed_of_several_declared_versions_serves() {
    let bin = "/home/me/.asdf/installs/ruby/3.2.2/bin";
    let machine = Machine::bare()
        .ruby(bin)
        .project(".tool-versions", "nodejs 22.1.0\nruby 3.3.8 3.2.2\n");
    machine.check(Manager::Asdf, &format!("{bin}/bundle"), &[bin]);
}

#[test]
fn a_directory_without_a_ruby_is_not_installed() {
    let machine = Machine::bare().ruby("/home/me/.rbenv/versions/3.3.7/bin");
    let machine = machine
        .file("/home/me/.rbenv/versions/3.3.8/build.log", "")
        .project(".ruby-version", "3.3");
    machine.check(
        Manager::Rbenv,
        "/home/me/.rbenv/versions/3.3.7/bin/bundle",
        &["/home/me/.rbenv/versions/3.3.7/bin"],
    );
}

#[test]
fn links_between_neighbours_are_no_versions_of_their_own() {
    let rubies = "/home/me/.local/share/mise/installs/ruby";
    let machine = Machine::bare().ruby(&format!("{rubies}/3.3.8/bin"));
    let machine = ["3", "3.3", "latest"].iter().fold(machine, |machine, alias| {
        machine.link(&format!("{rubies}/{alias}"), &format!("{rubies}/3.3.8"))
    });
    let bin = format!("{rubies}/3.3.8/bin");
    let machine = machine.project("mise.toml", "[tools]\nruby = \"3.3\"\n");
    machine.check(Manager::Mise, &format!("{bin}/bundle"), &[&bin]);
    let error = machine.project("mise.toml", "[tools]\nruby = \"3.4\"\n").refuse();
    assert!(error.hint.unwrap().contains("(mise: 3.3.8)"));
}

#[test]
fn a_link_to_elsewhere_is_a_version() {
    let bin = "/home/me/.rbenv/versions/3.3.8/bin";
    let machine = Machine::bare().ruby("/opt/homebrew/Cellar/ruby/3.3.8/bin");
    let machine = machine.link("/home/me/.rbenv/versions/3.3.8", "/opt/homebrew/Cellar/ruby/3.3.8");
    machine
        .project(".ruby-version", "3.3.8")
        .check(Manager::Rbenv, &format!("{bin}/bundle"), &[bin]);
}

#[test]
fn system_means_path_without_the_shims() {
    let machine = Machine::bare()
        .ruby("/usr/bin")
        .ruby("/home/me/.rbenv/versions/3.3.8/bin");
    let machine = machine
        .ruby("/home/me/.rbenv/shims")
        .env("PATH", "/home/me/.rbenv/shims:/usr/bin");
    let command = machine.project(".ruby-version", "system").resolve().unwrap();
    assert_eq!(command.argv[0], "/usr/bin/bundle");
    assert_eq!(set(&command, "PATH"), Some("/usr/bin"));
    assert_eq!(command.manager, Manager::Path);
}

#[test]
fn a_form_that_only_the_manager_understands_goes_through_its_shims() {
    let shims = "/home/me/.asdf/shims";
    let machine = Machine::bare()
        .ruby("/home/me/.asdf/installs/ruby/3.3.8/bin")
        .ruby(shims);
    let machine = machine.project(".tool-versions", "ruby ref:v3_4_0");
    machine.check(Manager::Asdf, &format!("{shims}/bundle"), &[shims]);
}

// A declared version that is missing.

#[test]
fn a_declared_version_that_is_not_installed_is_an_error_that_names_all_there_is() {
    let machine = Machine::bare()
        .ruby("/usr/bin")
        .ruby("/home/me/.rbenv/versions/3.2.2/bin")
        .ruby("/home/me/.rbenv/versions/3.3.7/bin")
        .ruby("/opt/rubies/ruby-3.1.0/bin");
    let error = machine.project(".ruby-version", "3.3.8").refuse();
    assert_eq!(
        error.message,
        "Ruby 3.3.8 is not installed, which `.ruby-version` asks for"
    );
    let hint = error.hint.unwrap();
    for part in ["(rbenv: 3.2.2, 3.3.7; chruby: ruby-3.1.0)", "`ruby_command`"] {
        assert!(hint.contains(part), "{hint}");
    }
}

#[test]
fn an_error_names_no_path_outside_the_root() {
    let machine = Machine::bare().ruby("/home/me/.rbenv/versions/3.2.2/bin");
    let error = machine.file("/home/me/.ruby-version", "3.3.8").refuse();
    let text = format!("{error} {}", error.hint.as_deref().unwrap());
    assert!(text.contains("above the root") && !text.contains("/home"), "{text}");
}

#[test]
fn a_ruby_on_path_whose_path_tells_the_version_serves() {
    let bare = || {
        Machine::bare()
            .ruby("/home/me/.rbenv/versions/3.2.2/bin")
            .project(".ruby-version", "3.3.8")
    };
    for (path, real) in [
        ("/opt/hostedtoolcache/Ruby/3.3.8/x64/bin", None),
        (
            "/opt/homebrew/opt/ruby/bin",
            Some("/opt/homebrew/Cellar/ruby/3.3.8/bin"),
        ),
        ("/nix/store/f00-ruby-3.3.8/bin", None),
    ] {
        let machine = bare().env("PATH", path).ruby(real.unwrap_or(path));
        let machine = real.into_iter().fold(machine, |machine, real| machine.link(path, real));
        machine.check(Manager::Path, &format!("{path}/bundle"), &[]);
    }
    let debian = bare().program("/usr/bin/ruby3.3").program("/usr/bin/bundle");
    debian
        .link("/usr/bin/ruby", "/usr/bin/ruby3.3")
        .check(Manager::Path, "/usr/bin/bundle", &[]);
    bare()
        .env("PATH", "/opt/ruby/3.3.7/bin")
        .ruby("/opt/ruby/3.3.7/bin")
        .refuse();
}

// Nothing declared.

#[test]
fn an_active_manager_decides_where_nothing_is_declared() {
    let machine = Machine::bare()
        .ruby("/home/me/.rbenv/versions/3.3.8/bin")
        .ruby("/home/me/.rbenv/shims");
    let machine = machine.env("PATH", "/home/me/.rbenv/shims:/usr/bin").ruby("/usr/bin");
    machine.check(Manager::Rbenv, "/home/me/.rbenv/shims/bundle", &[]);
}

#[test]
fn the_global_choice_of_a_manager_comes_before_the_systems_ruby() {
    for (manager, bin, file, text) in [
        (
            Manager::Rbenv,
            "/home/me/.rbenv/versions/3.3.8/bin",
            "/home/me/.rbenv/version",
            "3.3.8\n",
        ),
        (
            Manager::Mise,
            "/home/me/.local/share/mise/installs/ruby/3.3.8/bin",
            "/home/me/.config/mise/config.toml",
            "[tools]\nruby = '3'",
        ),
        (
            Manager::Rvm,
            "/home/me/.rvm/rubies/ruby-3.3.8/bin",
            "/home/me/.rvm/config/alias",
            "default=ruby-3.3.8\n",
        ),
    ] {
        let machine = Machine::bare().ruby("/usr/bin").ruby(bin).file(file, text);
        machine.check(manager, &format!("{bin}/bundle"), &[bin]);
    }
    let machine = Machine::bare()
        .ruby("/usr/bin")
        .ruby("/home/me/.rbenv/versions/3.3.8/bin");
    machine
        .file("/home/me/.rbenv/version", "system")
        .check(Manager::Path, "/usr/bin/bundle", &[]);
}

#[test]
fn rubies_that_nobody_chose_are_offered_not_taken() {
    let error = Machine::bare().ruby("/opt/rubies/ruby-3.3.8/bin").refuse();
    assert!(error.hint.unwrap().contains("chruby: ruby-3.3.8"));
}

// Gems.

#[test]
fn rvm_gets_the_gem_homes_of_its_gemset() {
    let rvm = "/home/me/.rvm";
    let machine = || {
        let machine = Machine::bare().ruby(&format!("{rvm}/rubies/ruby-3.3.8/bin"));
        ["", "@global", "@shop"].iter().fold(machine, |machine, gemset| {
            machine.program(&format!("{rvm}/gems/ruby-3.3.8{gemset}/bin/rake"))
        })
    };
    for (machine, gemset) in [
        (machine().project(".ruby-version", "3.3.8"), ""),
        (machine().project(".ruby-version", "3.3.8@shop"), "@shop"),
        (
            machine()
                .project(".ruby-version", "3.3.8")
                .project(".ruby-gemset", "shop\n"),
            "@shop",
        ),
        (
            machine().project(".rvmrc", "# x\nenvironment_id=\"ruby-3.3.8@shop\"\n"),
            "@shop",
        ),
        (machine().project(".ruby-version", "3.3.8@missing"), ""),
    ] {
        let command = machine.resolve().unwrap();
        let home = format!("{rvm}/gems/ruby-3.3.8{gemset}");
        let global = format!("{rvm}/gems/ruby-3.3.8@global");
        assert_eq!(set(&command, "GEM_HOME"), Some(&*home));
        assert_eq!(set(&command, "GEM_PATH"), Some(&*format!("{home}:{global}")));
        let path = format!("{home}/bin:{global}/bin:{rvm}/rubies/ruby-3.3.8/bin:/usr/bin:/bin");
        assert_eq!(set(&command, "PATH"), Some(&*path));
    }
}

#[test]
fn chruby_gets_its_gem_home_if_there_is_one() {
    let machine = || {
        Machine::bare()
            .ruby("/opt/rubies/ruby-3.3.8/bin")
            .project(".ruby-version", "3.3.8")
    };
    assert_eq!(machine().resolve().unwrap().env.get(OsStr::new("GEM_HOME")), None);
    let command = machine()
        .program("/home/me/.gem/ruby/3.3.8/bin/rake")
        .resolve()
        .unwrap();
    assert_eq!(set(&command, "GEM_HOME"), Some("/home/me/.gem/ruby/3.3.8"));
    assert!(removes(&command, "GEM_PATH"));
}

#[test]
fn a_gem_home_of_another_series_is_left_behind_and_any_other_stays() {
    let machine = || {
        Machine::bare()
            .ruby("/home/me/.rbenv/versions/3.3.8/bin")
            .project(".ruby-version", "3.3.8")
    };
    for (home, foreign) in [
        ("/home/me/.rvm/gems/ruby-3.2.2@shop", true),
        ("/home/me/.gem/ruby/3.4.1", true),
        ("/home/me/.gem/ruby/3.3.0", false),
        ("/home/me/work/shop/.gems", false),
        ("/usr/local/bundle", false),
    ] {
        let command = machine().env("GEM_HOME", home).resolve().unwrap();
        assert_eq!(removes(&command, "GEM_HOME"), foreign, "{home}");
        assert_eq!(removes(&command, "GEM_PATH"), foreign, "{home}");
    }
}

// Configured.

#[test]
fn a_configured_command_is_completed_to_a_ruby_with_the_bundle() {
    let machine = || {
        Machine::bare()
            .program("/opt/homebrew/bin/mise")
            .program("/usr/bin/env")
            .program("/opt/bin/jruby")
    };
    for (words, argv) in [
        (
            &["mise", "exec", "--"][..],
            &["/opt/homebrew/bin/mise", "exec", "--", "bundle", "exec", "ruby"][..],
        ),
        (
            &["mise", "x", "--", "ruby"],
            &["/opt/homebrew/bin/mise", "x", "--", "ruby", "-rbundler/setup"],
        ),
        (
            &["env", "bundle", "exec", "ruby3.3"],
            &["/usr/bin/env", "bundle", "exec", "ruby3.3"],
        ),
        (&["/opt/bin/jruby"], &["/opt/bin/jruby", "-rbundler/setup"]),
    ] {
        let command = machine().configured(words).unwrap();
        assert_eq!(command.argv, argv);
        assert_eq!((command.manager, command.env.len()), (Manager::Configured, 0));
    }
    let without = machine().without(&format!("{ROOT}/Gemfile"));
    assert_eq!(without.configured(&["env"]).unwrap().argv, ["/usr/bin/env", "ruby"]);
    assert_eq!(
        without.configured(&["env", "ruby"]).unwrap().argv,
        ["/usr/bin/env", "ruby"]
    );
}

#[test]
fn a_configured_command_wins_over_what_is_declared() {
    let machine = Machine::bare()
        .program("/usr/bin/env")
        .project(".ruby-version", "9.9.9");
    machine
        .ruby("/home/me/.rbenv/versions/3.3.8/bin")
        .configured(&["env"])
        .unwrap();
}

#[test]
fn a_configured_program_may_be_relative_to_the_root_or_to_home() {
    let machine = Machine::bare()
        .program(&format!("{ROOT}/bin/my-ruby"))
        .program("/home/me/bin/ruby");
    let script = format!("{ROOT}/bin/my-ruby");
    assert_eq!(machine.configured(&["bin/my-ruby"]).unwrap().argv[0], *script);
    assert_eq!(
        machine.configured(&["~/bin/ruby"]).unwrap().argv[0],
        "/home/me/bin/ruby"
    );
}

#[test]
fn a_configured_program_that_is_missing_is_an_error() {
    let error = Machine::bare().configured(&["rtx", "exec"]).unwrap_err();
    assert_eq!(error.kind, Kind::RubyNotFound);
    assert!(error.message.contains("`rtx`"));
    assert_eq!(Machine::bare().configured(&[]).unwrap_err().kind, Kind::InvalidConfig);
}

// The files themselves.

#[test]
fn every_form_of_a_declaration_is_read() {
    for (format, text, versions) in [
        (Format::RubyVersion, "", &[][..]),
        (Format::RubyVersion, "3.3.8\r\n", &["3.3.8"]),
        (Format::RubyVersion, "jruby-9.4.8.0", &["jruby-9.4.8.0"]),
        (Format::ToolVersions, "nodejs 22\nruby   3.3.8   # why\n", &["3.3.8"]),
        (Format::ToolVersions, "#ruby 3.3.8\nrubygems 3.5", &[]),
        (Format::Mise, "[tools]\nnode = '22'\nruby = '3.3'\n", &["3.3"]),
        (
            Format::Mise,
            "[tools]\n\"ruby\" = [\"3.3.8\", \"3.2\"]",
            &["3.3.8", "3.2"],
        ),
        (
            Format::Mise,
            "[tools]\nruby = { version = \"3.3\", os = ['linux'] }",
            &["3.3"],
        ),
        (Format::Mise, "[tools.ruby]\nversion = '3.3'", &["3.3"]),
        (Format::Mise, "tools.ruby = '3.3'\n[env]\nA = 'b'", &["3.3"]),
        (Format::Mise, "[env]\nruby = '3.3'\n[tools]\nnode = '22'", &[]),
        (
            Format::Rvmrc,
            "#!/bin/bash\nrvm use --create 3.3.8@shop",
            &["3.3.8@shop"],
        ),
        (Format::Rvmrc, "rvm 3.3.8", &["3.3.8"]),
        (Format::Rvmrc, "rvm_verbose_flag=1\necho 3.3.8", &[]),
        (
            Format::RvmAlias,
            "current=ruby-3.2.2\ndefault=ruby-3.3.8",
            &["ruby-3.3.8"],
        ),
    ] {
        assert_eq!(ruby_version::declared(format, text), versions, "{format:?} {text:?}");
    }
}

#[test]
fn a_beginning_of_a_version_means_the_newest_release_of_it() {
    let installed = [
        "3.2.10",
        "3.2.9",
        "3.3.0-preview1",
        "3.30.1",
        "3.40.0-preview1",
        "3.4.0-preview2",
        "3.4.0-rc1",
        "jruby-9.4.8.0",
    ];
    let installed = installed.map(String::from);
    for (wanted, picked) in [
        ("3.2", Some("3.2.10")),
        ("3.2.9", Some("3.2.9")),
        ("ruby-3.2", Some("3.2.10")),
        ("3.2.1", None),
        ("3.3", Some("3.3.0-preview1")),
        ("3.4.0", None),
        ("3.4", Some("3.4.0-rc1")),
        ("3", Some("3.30.1")),
        ("latest", Some("3.30.1")),
        ("jruby-9.4", Some("jruby-9.4.8.0")),
        ("jruby", None),
        ("", None),
    ] {
        assert_eq!(ruby_version::pick(wanted, &installed), picked, "{wanted}");
    }
}

// The real file system.

#[test]
fn on_a_real_disk_links_and_permissions_count() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let put = |path: &str, mode: u32| {
        std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        std::fs::write(at(path), "3.3\n").unwrap();
        std::fs::set_permissions(at(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    for program in ["3.3.7/bin/ruby", "3.3.7/bin/bundle"] {
        put(&format!(".rbenv/versions/{program}"), 0o755);
    }
    put(".rbenv/versions/3.3.9/bin/ruby", 0o644);
    put("shop/.ruby-version", 0o644);
    put("shop/Gemfile", 0o644);
    symlink("3.3.7", at(".rbenv/versions/3.3")).unwrap();
    let env: Variables = [("HOME", home.path().into()), ("PATH", OsString::from("/nowhere"))]
        .map(|(name, value): (&str, OsString)| (name.into(), value))
        .into();
    let command = resolve(&at("shop"), &env, None).unwrap();
    assert_eq!(command.argv[0], at(".rbenv/versions/3.3.7/bin/bundle"));
    assert_eq!(command.manager, Manager::Rbenv);
}
