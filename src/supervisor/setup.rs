//! What a tree is made for and made with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::Config;
use crate::error::Result;
use crate::project::{Framework, Project, Rules};
use crate::worker::environment::{self, Variables};
use crate::worker::freshness::Effect;
use crate::worker::launch::Plan;
use crate::worker::ruby;

/// What the tree is made for.
#[derive(Debug, Clone)]
pub struct Setup {
    pub project: Project,
    pub config: Config,
    pub framework: Framework,
}

impl Setup {
    /// The project at `root`, with its settings as they are at this moment, for the framework that it seems to use.
    ///
    /// # Errors
    /// What is wrong with the settings, or that there is no project.
    pub fn at(root: &Path) -> Result<Setup> {
        let config = Config::load(root)?;
        let project = Project::at(root, &config)?;
        Ok(Setup {
            framework: Framework::of_project(&project.root),
            project,
            config,
        })
    }

    pub(super) fn boot_limit(&self) -> Duration {
        Duration::from_secs(self.config.boot_timeout_seconds)
    }

    pub(super) fn test_dirs(&self) -> Vec<PathBuf> {
        Rules::new(&self.config.spec_roots).dirs(&self.project.root)
    }

    /// The command line and environment of a Ruby of this app, as the machine is at this moment.
    pub fn plan(&self) -> Result<Plan> {
        let env: Variables = environment::clean(std::env::vars_os());
        let ruby = ruby::resolve(&self.project.root, &env, self.config.ruby_command.as_deref())?;
        Ok(Plan {
            root: self.project.root.clone(),
            ruby,
            env,
        })
    }
}

/// The settings that a tree is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    boot: PathBuf,
    ruby_command: Option<Vec<String>>,
    preload: Vec<PathBuf>,
}

impl Settings {
    pub(super) fn of(setup: &Setup) -> Self {
        Settings {
            boot: setup.project.boot.clone(),
            ruby_command: setup.config.ruby_command.clone(),
            preload: setup.config.preload.clone(),
        }
    }

    /// What a change to `others` calls for.
    pub(super) fn effect(&self, others: &Settings) -> Effect {
        if (&self.boot, &self.ruby_command) != (&others.boot, &others.ruby_command) {
            Effect::Reboot
        } else if self.preload != others.preload {
            Effect::NewZygote
        } else {
            Effect::Nothing
        }
    }
}
