//! What a changed file calls for. Pure: paths in, one of four effects out.
//!
//! | changed | thrown away |
//! |---|---|
//! | a spec file, a view, data read at run time | nothing |
//! | a file the zygote loaded, schema, migrations | the zygote |
//! | classes of the app and what they loaded and read, routes, locales | the app |
//! | anything that the boot loaded and read before them | the worker |

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::protocol::Inputs;
use super::traced::Traced;
use super::zygote::Loaded;
use crate::project::Framework;
use crate::project::changes::{Change, ChangeKind, Target};

/// In ascending order of price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Nothing,
    NewZygote,
    Reload,
    Reboot,
}

/// Files in the root that decide how the app boots.
const BOOT_FILES: &[&str] = &[
    ".ruby-version",
    ".ruby-gemset",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    "gems.rb",
    "gems.locked",
];

/// The same, by how their names begin: a Gemfile may read a Gemfile.local, once there is one.
const BOOT_PREFIXES: &[&str] = &[".env", "Gemfile"];

/// Directories below `app` that Rails does not load code from.
const NOT_AUTOLOADED: &[&str] = &["assets", "javascript", "views"];

/// Files in the root that the test framework reads before the helper.
const FRAMEWORK_FILES: &[&str] = &[".rspec", ".rspec-local"];

/// What is watched for one booted worker, and how to read a change.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    root: PathBuf,
    inputs: Inputs,
    features: HashSet<PathBuf>,
    app_features: HashSet<PathBuf>,
    zygote_features: HashSet<PathBuf>,
    boot_traces: Traced,
    class_traces: Traced,
    zygote_traces: Traced,
    test_dirs: Vec<PathBuf>,
}

impl Watch {
    /// `test_dirs`: absolute directories of spec files and their helpers.
    pub fn new(root: &Path, inputs: Inputs, test_dirs: Vec<PathBuf>) -> Self {
        Watch {
            root: root.to_owned(),
            features: inputs.features.iter().cloned().collect(),
            app_features: inputs.app_features.iter().cloned().collect(),
            boot_traces: Traced::new(&inputs.boot_traces),
            class_traces: Traced::new(&inputs.class_traces),
            inputs,
            test_dirs,
            ..Watch::default()
        }
    }

    /// Whether the worker knows tables, and not only the app.
    pub fn worker_asks_tables(&self) -> bool {
        self.inputs.asks_tables
    }

    /// What is known before the first boot: where an app keeps its code. A change during the boot must not be missed.
    pub fn before_boot(root: &Path, test_dirs: Vec<PathBuf>) -> Self {
        let dirs = ["app", "packs", "engines", "gems"].map(|dir| root.join(dir)).to_vec();
        let inputs = Inputs {
            reload_dirs: dirs,
            code_dirs: vec![root.join("lib")],
            ..Inputs::default()
        };
        Watch::new(root, inputs, test_dirs)
    }

    /// Test directories come and go with packs and engines.
    pub fn set_test_dirs(&mut self, test_dirs: Vec<PathBuf>) {
        self.test_dirs = test_dirs;
    }

    /// What the zygote has loaded on top of the app's.
    pub fn loaded_by_zygote(&mut self, loaded: &Loaded) {
        let features = loaded.features.iter();
        self.zygote_features = features
            .filter(|file| !self.features.contains(*file) && !self.app_features.contains(*file))
            .cloned()
            .collect();
        self.zygote_traces = Traced::new(&loaded.traces);
    }

    /// Everything to look at.
    pub fn targets(&self) -> Vec<Target> {
        // Gems by path lie among the code, and their gemspecs are known only after the first boot.
        let ruby = |dir: &PathBuf| tree(dir, Some(&["rb", "gemspec"]));
        let code = self.inputs.reload_dirs.iter().chain(&self.inputs.code_dirs).cloned();
        let code: Vec<PathBuf> = code.chain(self.app_dirs()).collect();
        let mut targets: Vec<Target> = outermost(&code).into_iter().map(ruby).collect();
        targets.extend(outermost(&self.test_dirs).into_iter().map(ruby));
        targets.extend(self.config_dirs().iter().map(|dir| tree(dir, None)));
        targets.push(tree(&self.root.join("db"), Some(&["rb", "sql"])));
        targets.push(tree(&self.root.join("lib"), Some(&["rb"])));
        targets.push(Target::Named {
            dir: self.root.clone(),
            prefixes: BOOT_PREFIXES,
        });
        let named = BOOT_FILES
            .iter()
            .chain(FRAMEWORK_FILES)
            .map(|name| self.root.join(name));
        let Inputs {
            reload_files,
            features,
            app_features,
            gemfiles,
            ..
        } = &self.inputs;
        let reported = [reload_files, features, app_features, gemfiles];
        targets.extend(named.chain(reported.into_iter().flatten().cloned()).map(Target::File));
        targets.extend(self.zygote_features.iter().cloned().map(Target::File));
        let traces = [&self.boot_traces, &self.class_traces, &self.zygote_traces];
        targets.extend(traces.into_iter().flat_map(|traces| traces.targets(&self.root)));
        targets
    }

    /// What a change calls for.
    pub fn effect(&self, change: &Change) -> Effect {
        match self.effect_of_parts(change) {
            Effect::Reload if self.inputs.whole => Effect::Reboot,
            effect => effect,
        }
    }

    fn effect_of_parts(&self, change: &Change) -> Effect {
        let path = &change.path;
        // For a listing it makes no difference what is in a file, nor does what nobody has asked for.
        let listed = change.kind != ChangeKind::Modified;
        let beside = of_an_editor(path);
        let wanted = |traces: &Traced| {
            traces.read(path)
                || (listed
                    && if beside {
                        traces.asked_for(path)
                    } else {
                        traces.listed(path)
                    })
        };
        let read = if wanted(&self.boot_traces) {
            Effect::Reboot
        } else if wanted(&self.class_traces) {
            Effect::Reload
        } else if wanted(&self.zygote_traces) {
            Effect::NewZygote
        } else {
            Effect::Nothing
        };
        read.max(self.by_place(path, listed))
    }

    /// What the place of a file, and its name, say.
    fn by_place(&self, path: &Path, listed: bool) -> Effect {
        if of_an_editor(path) {
            Effect::Nothing
        } else if self.gemfile(path) || self.boot_file(path) || self.new_autoload_root(path) {
            Effect::Reboot
        } else if self.features.contains(path) {
            // Wherever it is: the worker has it.
            Effect::Reboot
        } else if listed && self.listed_by_worker(path) {
            Effect::Reboot
        } else if self.reloadable(path) || (!listed && self.app_features.contains(path)) {
            Effect::Reload
        } else if self.beside(&self.features, path) || self.for_the_boot(path) {
            Effect::Reboot
        } else if self.app_features.contains(path) || self.beside(&self.app_features, path) {
            Effect::Reload
        } else if self.zygote_features.contains(path) || self.test_support(path) || self.schema(path) {
            Effect::NewZygote
        } else {
            Effect::Nothing
        }
    }

    /// The dearest effect of all changes, and the change that calls for it.
    pub fn verdict<'a>(&self, changes: &'a [Change]) -> (Effect, Option<&'a Change>) {
        changes.iter().map(|change| (self.effect(change), Some(change))).fold(
            (Effect::Nothing, None),
            |dearest, next| if next.0 > dearest.0 { next } else { dearest },
        )
    }

    fn reloadable(&self, path: &Path) -> bool {
        self.inputs.reload_files.iter().any(|file| file == path)
            || (ruby(path) && below(path, &self.inputs.reload_dirs))
            || below(
                path,
                &["config/locales", "config/routes"].map(|dir| self.root.join(dir)),
            )
    }

    /// Code is there that is found by its name, and by a list that the worker has made.
    fn listed_by_worker(&self, path: &Path) -> bool {
        let nearest = |dirs: &[PathBuf]| {
            let above = dirs.iter().filter(|dir| path.starts_with(dir));
            above.map(|dir| dir.as_os_str().len()).max()
        };
        let of_worker = nearest(&self.inputs.code_dirs);
        ruby(path) && of_worker.is_some() && of_worker >= nearest(&self.inputs.reload_dirs)
    }

    /// Rails looks for the directories below `app`, and for the `concerns` in them, when it boots.
    fn new_autoload_root(&self, path: &Path) -> bool {
        let (true, Some((app, rest))) = (ruby(path), self.in_app_dir(path)) else {
            return false;
        };
        let names: Vec<&OsStr> = rest.iter().collect();
        let [kind, next, ..] = names[..] else { return false };
        let kind = app.join(kind);
        if NOT_AUTOLOADED.iter().any(|name| kind.ends_with(name)) {
            return false;
        }
        let concerns = (names.len() > 2 && next == "concerns").then(|| kind.join(next));
        let roots = &self.inputs.reload_dirs;
        let above = roots.iter().any(|root| kind != *root && kind.starts_with(root));
        !above && (!roots.contains(&kind) || concerns.is_some_and(|dir| !roots.contains(&dir)))
    }

    /// The `app` directory that a file is in, and the rest of its path.
    fn in_app_dir<'a>(&self, path: &'a Path) -> Option<(PathBuf, &'a Path)> {
        self.app_dirs()
            .into_iter()
            .find_map(|app| path.strip_prefix(&app).ok().map(|rest| (app.clone(), rest)))
    }

    /// `app` of the app, and of each engine and pack that has one.
    fn app_dirs(&self) -> Vec<PathBuf> {
        let known = self.inputs.reload_dirs.iter().filter_map(|dir| dir.parent());
        let mut dirs: Vec<PathBuf> = known.filter(|dir| dir.ends_with("app")).map(Path::to_owned).collect();
        dirs.push(self.root.join("app"));
        dirs.sort_unstable();
        dirs.dedup();
        dirs
    }

    /// A new file in a lib/ directory may be required by a glob beside the ones that were.
    fn beside(&self, features: &HashSet<PathBuf>, path: &Path) -> bool {
        let beside = || features.iter().any(|file| file.parent() == path.parent());
        ruby(path) && path.starts_with(self.root.join("lib")) && beside()
    }

    fn for_the_boot(&self, path: &Path) -> bool {
        below(path, &self.config_dirs()) || (ruby(path) && below(path, &self.inputs.code_dirs))
    }

    /// Helpers, support files, factories, shared examples: everything of the tests that is not loaded by a run itself.
    fn test_support(&self, path: &Path) -> bool {
        let spec = Framework::of_file(&path.to_string_lossy()).is_some();
        self.in_root(path, FRAMEWORK_FILES) || (ruby(path) && !spec && below(path, &self.test_dirs))
    }

    fn schema(&self, path: &Path) -> bool {
        let kind = path
            .extension()
            .is_some_and(|extension| extension == "rb" || extension == "sql");
        kind && path.starts_with(self.root.join("db"))
    }

    fn config_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = self.inputs.config_dirs.clone();
        dirs.push(self.root.join("config"));
        dirs
    }

    fn gemfile(&self, path: &Path) -> bool {
        self.inputs.gemfiles.iter().any(|file| file == path)
    }

    fn boot_file(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let begins = BOOT_PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()));
        self.in_root(path, BOOT_FILES) || (begins && path.parent() == Some(&self.root))
    }

    fn in_root(&self, path: &Path, names: &[&str]) -> bool {
        path.parent() == Some(&self.root) && names.iter().any(|name| path.ends_with(name))
    }
}

fn tree(dir: &Path, extensions: Option<&[&str]>) -> Target {
    let extensions = extensions.map(|list| list.iter().map(Into::into).collect());
    Target::Tree {
        dir: dir.to_owned(),
        extensions,
        exclude: Vec::new(),
        links: true,
    }
}

/// What editors and people put beside a file and no app reads.
pub fn of_an_editor(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ends = [
        "~",
        ".swp",
        ".swo",
        ".swx",
        ".tmp",
        ".kate-swp",
        "___jb_tmp___",
        "___jb_old___",
        ".bak",
        ".orig",
        ".md",
        ".DS_Store",
    ];
    let begins = [".#", "#", ".goutputstream-"];
    ends.iter().any(|end| name.ends_with(end))
        || begins.iter().any(|begin| name.starts_with(begin))
        || name == "4913"
        || name.contains(".tmp.")
        || of_sed(&name)
}

/// `sed -i` writes to `sedXXXXXX`, and renames that.
fn of_sed(name: &str) -> bool {
    let random = name.strip_prefix("sed").unwrap_or_default();
    random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn ruby(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rb")
}

fn below(path: &Path, dirs: &[PathBuf]) -> bool {
    dirs.iter().any(|dir| path.starts_with(dir))
}

/// Without the directories that lie in another one of the list.
fn outermost(dirs: &[PathBuf]) -> Vec<&PathBuf> {
    dirs.iter()
        .filter(|dir| !dirs.iter().any(|other| other != *dir && dir.starts_with(other)))
        .collect()
}
