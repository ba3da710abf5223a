//! What a tree is made for and made with.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::sandbox::Mode;
use crate::config::{Config, FILE, Sandbox};
use crate::error::{Error, Kind, Result};
use crate::project::{Framework, Project, Rules};
use crate::sandbox::Policy;
use crate::sandbox::floor;
use crate::sandbox::grants::Disk;
use crate::sandbox::rules::{self, Grantable, Place};
use crate::worker::environment::{self, Variables};
use crate::worker::freshness::Effect;
use crate::worker::launch::Plan;
use crate::worker::ruby;

/// The project of a server, and what whoever started that insists on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub root: PathBuf,
    /// The least that the settings may ask of the sandbox.
    pub sandbox_at_least: Mode,
}

impl Site {
    /// The settings as they are at this moment.
    ///
    /// # Errors
    /// What is wrong with them, or that they ask for too little.
    pub fn config(&self) -> Result<Config> {
        let config = Config::load(&self.root)?;
        match floor::lowered(self.sandbox_at_least, &config.sandbox, &Place::here(&self.root), &Disk) {
            Some(what) => Err(self.too_open(&what)),
            None => Ok(config),
        }
    }

    fn too_open(&self, what: &str) -> Error {
        let message = format!(
            "`{what}` of {FILE} opens the sandbox further than `--sandbox-at-least {}` of this server allows",
            self.sandbox_at_least
        );
        Error::new(Kind::SandboxTooOpen, message).hint(format!(
            "take it out of {FILE}; only whoever starts the server can say otherwise, where the client is configured"
        ))
    }
}

/// What the tree is made for.
#[derive(Debug, Clone)]
pub struct Setup {
    pub project: Project,
    pub config: Config,
    pub framework: Framework,
    /// What the settings may not go below.
    pub sandbox_at_least: Mode,
}

impl Setup {
    /// The project of a site, with its settings as they are at this moment, for the framework that it seems to use.
    ///
    /// # Errors
    /// What is wrong with the settings, or that there is no project.
    pub fn at(site: &Site) -> Result<Setup> {
        let config = site.config()?;
        let project = Project::at(&site.root, &config)?;
        Ok(Setup {
            framework: Framework::of_project(&project.root),
            project,
            config,
            sandbox_at_least: site.sandbox_at_least,
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
        let all: Variables = environment::clean(std::env::vars_os());
        let ruby = ruby::resolve(&self.project.root, &all, self.config.ruby_command.as_deref())?;
        Place::here(&self.project.root).make_missing(&self.config.sandbox);
        let Confined { root, env, policy } = self.confined();
        Ok(Plan {
            root,
            ruby,
            env,
            policy,
        })
    }

    /// What the sandbox could grant at this moment, once the app's own directories are there.
    pub(super) fn grantable(&self) -> BTreeSet<Grantable> {
        let (place, sandbox) = (Place::here(&self.project.root), &self.config.sandbox);
        place.make_missing(sandbox);
        place.grantable(sandbox)
    }

    /// What any program of this app gets.
    pub(super) fn confined(&self) -> Confined {
        let sandbox = &self.config.sandbox;
        let all: Variables = environment::clean(std::env::vars_os());
        Confined {
            root: self.project.root.clone(),
            env: environment::for_app(all, sandbox),
            policy: rules::policy(sandbox, &Place::here(&self.project.root)),
        }
    }
}

/// Where a program runs, with which environment, and what it may do.
#[derive(Debug, Clone)]
pub(super) struct Confined {
    pub(super) root: PathBuf,
    pub(super) env: Variables,
    pub(super) policy: Policy,
}

/// The settings that a tree is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    boot: PathBuf,
    ruby_command: Option<Vec<String>>,
    sandbox: Sandbox,
    preload: Vec<PathBuf>,
}

impl Settings {
    pub(super) fn of(setup: &Setup) -> Self {
        Settings {
            boot: setup.project.boot.clone(),
            ruby_command: setup.config.ruby_command.clone(),
            sandbox: setup.config.sandbox.clone(),
            preload: setup.config.preload.clone(),
        }
    }

    /// What a change to `others` calls for.
    pub(super) fn effect(&self, others: &Settings) -> Effect {
        let of_boot = |of: &Settings| (of.boot.clone(), of.ruby_command.clone(), of.sandbox.clone());
        if of_boot(self) != of_boot(others) {
            Effect::Reboot
        } else if self.preload != others.preload {
            Effect::NewZygote
        } else {
            Effect::Nothing
        }
    }
}

/// The names of variables that look like secrets and are kept from the app.
pub(super) fn held_back(sandbox: &Sandbox) -> Vec<String> {
    environment::held_back(&environment::clean(std::env::vars_os()), sandbox)
}
