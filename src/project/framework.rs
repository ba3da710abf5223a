//! The test frameworks, and which files are whose.

use std::path::Path;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Framework {
    Rspec,
    Minitest,
}

impl Framework {
    pub const ALL: [Framework; 2] = [Framework::Rspec, Framework::Minitest];

    /// Whose file this is, by its name; the case counts, also where the file system ignores it.
    pub fn of_file(name: &str) -> Option<Framework> {
        Framework::ALL
            .into_iter()
            .find(|framework| name.ends_with(framework.ending()))
    }

    /// The one that a project at `root` uses, as far as that can be seen before anybody names a file.
    pub fn of_project(root: &Path) -> Framework {
        let (spec, test) = (root.join("spec").is_dir(), root.join("test").is_dir());
        match test && !spec && !root.join(".rspec").is_file() {
            true => Framework::Minitest,
            false => Framework::Rspec,
        }
    }

    /// Where an app has its files.
    pub fn root(self) -> &'static str {
        match self {
            Framework::Rspec => "spec",
            Framework::Minitest => "test",
        }
    }

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Framework::Rspec => "_spec.rb",
            Framework::Minitest => "_test.rb",
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Framework::Rspec => "RSpec",
            Framework::Minitest => "Minitest",
        }
    }
}
