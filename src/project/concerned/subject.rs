//! What a changed file is to tests. Pure.

use super::names::Code;
use crate::project::roots::Place;
use crate::project::{Framework, Rules};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A test file itself.
    Test(Framework),
    /// Everything may depend on it; of one framework, if it is only loaded there. And why.
    Everything(Option<Framework>, &'static str),
    /// No test can notice it, and why.
    Nothing(&'static str),
    /// Loaded beside the tests of a framework, for those that use what it defines.
    Support(Framework),
    /// Definitions of factories, wherever they are.
    Factories,
    /// A file of fixtures, by the name of the table.
    Fixtures,
    Code,
    Other,
}

/// What no test notices, by the first directory, by the whole name, and by the ending.
const IDLE_DIRS: [&str; 15] = [
    ".git",
    ".github",
    ".gitlab",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".husky",
    ".claude",
    ".cursor",
    "docs",
    "doc",
    "log",
    "tmp",
    "coverage",
    "sorbet",
];
const IDLE_NAMES: [&str; 19] = [
    "LICENSE",
    "Dockerfile",
    "Procfile",
    "Procfile.dev",
    "CODEOWNERS",
    ".gitignore",
    ".gitattributes",
    ".dockerignore",
    ".editorconfig",
    ".rubocop.yml",
    ".rubocop_todo.yml",
    ".erb_lint.yml",
    ".overcommit.yml",
    ".mcp.json",
    "lefthook.yml",
    "docker-compose.yml",
    "package.yml",
    "packwerk.yml",
    "package_todo.yml",
];
const IDLE_ENDINGS: [&str; 4] = [".md", ".rdoc", ".rbi", ".rbs"];

/// Below `config`, and for other environments than that of tests.
const IDLE_CONFIG: [&str; 6] = [
    "environments/development.rb",
    "environments/production.rb",
    "environments/staging.rb",
    "deploy.rb",
    "deploy.yml",
    "puma.rb",
];

const VERSIONS: [&str; 8] = [
    "Gemfile",
    "Gemfile.lock",
    "gems.rb",
    "gems.locked",
    ".ruby-version",
    ".tool-versions",
    "mise.toml",
    ".coatepec.yml",
];

const HELPERS: [(&str, Framework); 5] = [
    ("rails_helper.rb", Framework::Rspec),
    ("spec_helper.rb", Framework::Rspec),
    ("test_helper.rb", Framework::Minitest),
    ("minitest_helper.rb", Framework::Minitest),
    ("application_system_test_case.rb", Framework::Minitest),
];

impl Subject {
    pub fn of(path: &str, rules: &Rules) -> Subject {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        if rules.place(directory) == Place::Within {
            return in_tests(directory, path, name);
        }
        let idle = IDLE_DIRS.contains(&path.split('/').next().unwrap_or_default()) && !directory.is_empty()
            || IDLE_NAMES.contains(&name)
            || IDLE_ENDINGS.iter().any(|ending| name.ends_with(ending));
        if idle {
            return Subject::Nothing("no test loads it");
        }
        general(directory, path, name).unwrap_or(match Code::of(path) {
            Some(_) => Subject::Code,
            None => Subject::Other,
        })
    }
}

fn in_tests(directory: &str, path: &str, name: &str) -> Subject {
    if let Some(framework) = Framework::of_file(name) {
        return Subject::Test(framework);
    }
    if let Some((_, framework)) = HELPERS.iter().find(|(helper, _)| *helper == name) {
        return Subject::Everything(Some(*framework), "every test loads it");
    }
    let below = |wanted: &str| directory.split('/').any(|dir| dir == wanted);
    if below("factories") || matches!(name, "factories.rb") {
        return Subject::Factories;
    }
    if below("fixtures") && name.ends_with(".yml") {
        return Subject::Fixtures;
    }
    let framework = match path.split('/').any(|dir| dir == "test") {
        true => Framework::Minitest,
        false => Framework::Rspec,
    };
    match name.ends_with(".rb") {
        true => Subject::Support(framework),
        false => Subject::Other,
    }
}

/// What everything depends on.
fn general(directory: &str, path: &str, name: &str) -> Option<Subject> {
    let everything = |why| Some(Subject::Everything(None, why));
    if VERSIONS.contains(&name) || name.ends_with(".gemspec") {
        return everything("it decides which code is loaded");
    }
    if name == ".rspec" {
        return Some(Subject::Everything(
            Some(Framework::Rspec),
            "it has options of every run",
        ));
    }
    let within = |wanted: &str| {
        let parts = [path, path.splitn(3, '/').nth(2).unwrap_or_default()];
        parts
            .into_iter()
            .find_map(|part| part.strip_prefix(wanted)?.strip_prefix('/'))
    };
    if let Some(config) = within("config") {
        return match IDLE_CONFIG.contains(&config) {
            true => Some(Subject::Nothing("it is for another environment than that of tests")),
            false => everything("it is configuration, which every test runs with"),
        };
    }
    if let Some(below) = within("db") {
        let schema = below.ends_with("schema.rb") || below.ends_with(".sql") || below.contains("migrate/");
        return schema
            .then_some(())
            .and_then(|()| everything("it is the schema of the database"));
    }
    let base = name.starts_with("application_") && name.ends_with(".rb");
    let of_app = directory.strip_prefix("app/").is_some_and(|kind| !kind.contains('/'));
    match base && of_app {
        true => everything("the others of its kind inherit from it"),
        false => None,
    }
}
