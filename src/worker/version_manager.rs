//! The version managers of Ruby: where each keeps its Rubies, and what it reads. Pure.

use std::fmt;
use std::path::PathBuf;

use super::ruby_version::{self as version, Format};

/// Who provides the Ruby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// `ruby_command` in the configuration.
    Configured,
    Mise,
    Rbenv,
    Asdf,
    Rvm,
    Chruby,
    /// None: the first on `PATH`.
    Path,
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Manager::Configured => "ruby_command",
            Manager::Mise => "mise",
            Manager::Rbenv => "rbenv",
            Manager::Asdf => "asdf",
            Manager::Rvm => "rvm",
            Manager::Chruby => "chruby",
            Manager::Path => "PATH",
        })
    }
}

/// A version manager, where it keeps things, and what it reads.
#[derive(Debug)]
pub struct Layout {
    pub manager: Manager,
    /// The variable that moves it.
    pub variable: &'static str,
    pub default: &'static str,
    /// Below it, a directory per Ruby.
    pub rubies: &'static str,
    /// Below it, stand-ins for `ruby` and its like, which ask the manager at each start.
    pub shims: &'static str,
    pub formats: &'static [Format],
    /// The variable that beats all files, for this manager alone.
    pub override_variable: &'static str,
    /// The file that decides where no project does.
    pub global: Option<(&'static str, Format)>,
}

/// In order of preference, where a machine has several and `PATH` mentions none of them.
pub const LAYOUTS: [Layout; 7] = [
    Layout {
        manager: Manager::Mise,
        variable: "MISE_DATA_DIR",
        default: "~/.local/share/mise",
        rubies: "installs/ruby",
        shims: "shims",
        formats: &[Format::Mise, Format::ToolVersions, Format::RubyVersion],
        override_variable: "MISE_RUBY_VERSION",
        global: Some(("~/.config/mise/config.toml", Format::Mise)),
    },
    Layout {
        manager: Manager::Rbenv,
        variable: "RBENV_ROOT",
        default: "~/.rbenv",
        rubies: "versions",
        shims: "shims",
        formats: &[Format::RubyVersion],
        override_variable: "RBENV_VERSION",
        global: Some(("version", Format::RubyVersion)),
    },
    Layout {
        manager: Manager::Asdf,
        variable: "ASDF_DATA_DIR",
        default: "~/.asdf",
        rubies: "installs/ruby",
        shims: "shims",
        formats: &[Format::ToolVersions, Format::RubyVersion],
        override_variable: "ASDF_RUBY_VERSION",
        global: Some(("~/.tool-versions", Format::ToolVersions)),
    },
    RVM,
    Layout {
        variable: "",
        default: "/usr/local/rvm",
        ..RVM
    },
    CHRUBY,
    Layout {
        default: "/opt/rubies",
        ..CHRUBY
    },
];

const RVM: Layout = Layout {
    manager: Manager::Rvm,
    variable: "rvm_path",
    default: "~/.rvm",
    rubies: "rubies",
    shims: "",
    formats: &[Format::RubyVersion, Format::Rvmrc],
    override_variable: "",
    global: Some(("config/alias", Format::RvmAlias)),
};

const CHRUBY: Layout = Layout {
    manager: Manager::Chruby,
    variable: "",
    default: "~/.rubies",
    rubies: "",
    shims: "",
    formats: &[Format::RubyVersion],
    override_variable: "",
    global: None,
};

/// A version manager that is installed here, with at least one Ruby.
#[derive(Debug)]
pub struct Home {
    pub layout: &'static Layout,
    pub dir: PathBuf,
    pub rubies: Vec<String>,
}

impl Home {
    pub fn rubies_dir(&self) -> PathBuf {
        self.dir.join(self.layout.rubies)
    }

    pub fn shims(&self) -> Option<PathBuf> {
        (!self.layout.shims.is_empty()).then(|| self.dir.join(self.layout.shims))
    }

    pub fn pick(&self, wanted: &str) -> Option<&str> {
        version::pick(wanted, &self.rubies)
    }
}
