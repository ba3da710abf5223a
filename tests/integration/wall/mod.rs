//! The wall, attacked from inside: by a spec, and by a program that the spec starts. What it stops is let through when it
//! is off, so that each refusal is the wall's doing.

mod attacker;
mod browser;
mod door;
mod flood;
mod floor;
mod impostor;
mod network;
mod refusals;

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Child, Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{App, Deviations, Server, Setup, has_text};

const SPEC: &str = "spec/attacks_spec.rb";

/// Refused by a standard policy; done when it is off.
const REFUSED: &[&str] = &[
    "writes_a_hook",
    "writes_into_git",
    "cuts_off_a_file_of_git",
    "renames_into_git",
    "links_into_git",
    "deletes_of_git",
    "makes_a_lock_of_git",
    "moves_git_away",
    "writes_the_settings",
    "replaces_the_settings",
    "writes_instructions_for_agents",
    "writes_to_the_home",
    "configures_an_agent",
    "gives_agents_a_server",
    "gives_an_editor_a_task",
    "gives_a_shell_something_to_run",
    "makes_instructions_for_agents",
    "writes_to_the_start_of_a_shell",
    "opens_a_descriptor_anew",
    "writes_into_the_servers_memory",
    "writes_what_the_server_dumps",
    "races_with_a_link",
    "signals_its_keeper",
    "makes_a_directory_in_the_home",
    "writes_to_another_project",
    "writes_through_a_link",
    "writes_through_proc",
    "reads_a_key",
    "reads_through_a_link",
    "reads_through_a_hard_link",
    "reads_through_proc",
    "reads_of_the_cloud",
    "reads_of_the_forge",
    "reads_logins",
    "reads_a_keyring",
    "reads_of_containers",
    "reads_of_the_cluster",
    "reads_a_secret_that_came_later",
    "reads_the_servers_environment",
    "follows_the_servers_files",
    "signals_the_server",
    "signals_another_process",
    "talks_to_an_abstract_socket",
    "talks_to_an_agent_for_keys",
    "talks_to_an_agent_through_a_link",
    "talks_to_an_agent_from_where_it_is",
    "talks_to_an_agent_through_proc",
    "talks_to_an_agent_through_a_descriptor",
    "talks_to_an_agent_under_another_name",
    "talks_to_an_agent_by_a_child",
    "connects_datagrams_to_an_agent",
    "talks_to_an_agent_in_a_secret_place",
    "talks_to_whom_the_environment_names",
    "has_a_token",
    "has_a_key_of_the_cloud",
];

/// Done under a standard policy: what ordinary tests do.
const DONE: &[&str] = &[
    "talks_to_a_database_elsewhere",
    "talks_to_a_server_of_its_own",
    "talks_to_a_server_of_the_app",
    "talks_to_a_server_through_a_descriptor",
    "talks_to_an_abstract_socket_of_its_own",
    "talks_without_blocking",
    "waits_for_who_is_slow_to_answer",
    "is_told_that_nobody_listens",
    "is_told_that_nothing_is_there",
    "writes_a_file_of_the_app",
    "writes_a_log",
    "writes_the_list_of_examples",
    "makes_a_database",
    "renames_between_directories",
    "writes_to_tmp",
    "writes_to_shared_memory",
    "writes_to_nowhere",
    "opens_a_terminal",
    "listens_on_a_socket",
    "reads_the_home",
    "reads_the_settings_of_a_tool",
    "lists_the_home",
    "reads_git",
    "reads_another_project",
    "signals_its_own_child",
    "has_its_region",
];

/// Of those, what a strict policy refuses as well.
const REFUSED_STRICTLY: &[&str] = &[
    "writes_a_file_of_the_app",
    "writes_the_list_of_examples",
    "reads_the_home",
    "reads_another_project",
    "talks_to_a_database_elsewhere",
];

/// An app in a home, beside another project, with somebody else's process.
struct Scene {
    app: App,
    server: Server,
    victim: Victim,
    agent: TempDir,
    _listening: (Vec<UnixListener>, UnixDatagram),
}

impl Scene {
    fn new(settings: &str) -> Scene {
        Scene::with(App::at_home(), settings, |_| Setup::default())
    }

    /// Of an ordinary user, made by root.
    fn of_nobody() -> Scene {
        // Where everybody may go, unlike the home of root.
        let app = App::at(Path::new("/run"));
        Scene::with(app, "sandbox: {mode: standard}", |app| {
            give_to_nobody(app.beside("").as_path());
            Setup::default().through(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        })
    }

    /// `setup` may prepare the app, once it is complete, and says how the server is started.
    fn with(app: App, settings: &str, setup: impl FnOnce(&App) -> Setup) -> Scene {
        for (file, text) in [
            (".git/HEAD", "ref: refs/heads/main"),
            (".git/index", "index"),
            (".git/description", "x"),
            (".git/hooks/README", "x"),
            ("CLAUDE.md", "Be careful."),
            (".claude/settings.json", "{}"),
            (".mcp.json", "{}"),
            (".vscode/tasks.json", "{}"),
            (".envrc", ""),
            ("../other/app.rb", "other"),
            ("../home/.ssh/id", "key"),
            ("../home/.aws/credentials", "key"),
            ("../home/.config/gh/hosts.yml", "key"),
            ("../home/.netrc", "key"),
            ("../home/.local/share/keyrings/login", "key"),
            ("../home/.docker/config.json", "key"),
            ("../home/.kube/config", "key"),
            ("../home/.gitconfig", "[user]"),
            ("../home/notes", "x"),
        ] {
            app.write(file, text);
        }
        app.setting(settings);
        app.write(SPEC, include_str!("attacks_spec.rb"));
        let home = app.beside("home");
        let engine = format!("unix://{}", app.beside("other/engine.sock").display());
        let setup = setup(&app);
        let (agent, sockets, log) = listen(&app);
        let server = app.server_with(
            setup
                .env("HOME", home.to_str().expect("it is text"))
                .env("GITHUB_TOKEN", "t")
                .env("AWS_SECRET_ACCESS_KEY", "k")
                .env("AWS_REGION", "r")
                .env("DOCKER_HOST", &engine),
        );
        let name = format!("coatepec-wall-{}", server.pid());
        let address = SocketAddr::from_abstract_name(&name).expect("it is short");
        Scene {
            server,
            victim: victim(),
            agent,
            _listening: (
                sockets
                    .into_iter()
                    .chain([UnixListener::bind_addr(&address).expect("the name is free")])
                    .collect(),
                log,
            ),
            app,
        }
    }

    /// What came of each act.
    fn attack(&self, arguments: Value) -> Value {
        let facts = json!({
            "home": self.app.beside("home"),
            "other": self.app.beside("other"),
            "server": self.server.pid(),
            "victim": self.victim.0.id(),
            "abstract": format!("coatepec-wall-{}", self.server.pid()),
            "agent": self.agent.path().join("agent"),
            "helper": attacker::command(self.victim.0.id(), &self.agent.path().join("agent")),
        });
        self.app.write("tmp/facts.json", facts.to_string());
        // Booted before this exists.
        self.server.run_with(["spec/models/widget_spec.rb"], arguments.clone());
        self.app.write("../home/.gnupg/key", "key");
        let report = self.server.run_with([SPEC], arguments);
        assert_eq!(report["outcome"], "passed", "{report}");
        serde_json::from_str(&self.app.read("tmp/came_of.json")).expect("it is JSON")
    }

    fn end(self) {
        self.server.end();
    }
}

/// Whoever serves the user: an agent for keys where it would be, one in a secret place, an engine that a variable names;
/// and a database. Everybody may reach them, were it not for the sandbox.
fn listen(app: &App) -> (TempDir, Vec<UnixListener>, UnixDatagram) {
    let dir = tempfile::Builder::new()
        .prefix("ssh-")
        .tempdir_in("/tmp")
        .expect("/tmp can be written");
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
    if is_mighty() {
        // Who renames it must own it.
        let owner = fs::metadata(app.root()).expect("it is there");
        std::os::unix::fs::chown(dir.path(), Some(owner.uid()), Some(owner.gid())).expect("we are root");
    }
    let agent = dir.path().join("agent");
    let paths = [
        agent.clone(),
        app.beside("home/.ssh/agent"),
        app.beside("other/engine.sock"),
        app.beside("other/database.sock"),
    ];
    let listening = paths.iter().map(|path| {
        let listener = UnixListener::bind(path).expect("nothing is there");
        open(path);
        listener
    });
    let listening = listening.collect();
    let log = agent.with_file_name("agent.log");
    let datagrams = UnixDatagram::bind(&log).expect("nothing is there");
    open(&log);
    (dir, listening, datagrams)
}

/// Ended also by a test that fails.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a process that is none of the server's business"
)]
fn victim() -> Victim {
    Victim(Command::new("sleep").arg("600").spawn().expect("there is a sleep"))
}

fn done(came_of: &Value, act: &str) -> bool {
    came_of[act] == "done"
}

fn of_root() -> &'static [&'static str] {
    if is_mighty() { attacker::REFUSED_TO_ROOT } else { &[] }
}

/// Root in a container may lack what root on a machine has, and be refused without a sandbox, too.
fn is_mighty() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    capabilities.is_some_and(|set| set.count_ones() > 35)
}

fn check(wrong: &mut Deviations, what: &str, came_of: &Value, acts: &[&str], expected: bool) {
    for act in acts {
        wrong.check(came_of[*act].is_string() && done(came_of, act) == expected, || {
            format!("{what}: {act}: {}", came_of[*act])
        });
    }
}

#[test]
fn a_standard_policy_stops_attacks_and_lets_tests_work() {
    let mut wrong = Deviations::default();
    let scene = Scene::new("sandbox: {mode: standard}");
    for fork in ["always", "never"] {
        let came_of = scene.attack(json!({ "fork": fork }));
        check(
            &mut wrong,
            fork,
            &came_of,
            &[REFUSED, attacker::REFUSED, of_root()].concat(),
            false,
        );
        check(&mut wrong, fork, &came_of, &[DONE, attacker::DONE].concat(), true);
        tidy(&scene.app);
    }
    scene.end();
    wrong.none();
}

#[test]
fn what_it_stops_is_done_when_it_is_off() {
    let mut wrong = Deviations::default();
    let scene = Scene::new("sandbox: {mode: off}");
    let came_of = scene.attack(json!({}));
    check(
        &mut wrong,
        "off",
        &came_of,
        &[REFUSED, attacker::REFUSED, of_root(), DONE, attacker::DONE].concat(),
        true,
    );
    scene.end();
    wrong.none();
}

#[test]
fn a_strict_policy_stops_more() {
    let mut wrong = Deviations::default();
    let scene = Scene::new("sandbox: {mode: strict}");
    let came_of = scene.attack(json!({}));
    check(
        &mut wrong,
        "strict",
        &came_of,
        &[REFUSED, REFUSED_STRICTLY].concat(),
        false,
    );
    let still: Vec<&str> = DONE
        .iter()
        .filter(|act| !REFUSED_STRICTLY.contains(act))
        .copied()
        .collect();
    check(&mut wrong, "strict", &came_of, &still, true);
    scene.end();
    wrong.none();
}

/// As `nobody`, who has no rights at all beyond his files.
#[test]
fn an_ordinary_user_is_confined_as_root_is() {
    if !is_mighty() {
        return;
    }
    let mut wrong = Deviations::default();
    let scene = Scene::of_nobody();
    let came_of = scene.attack(json!({}));
    let refused = [REFUSED, attacker::REFUSED, attacker::REFUSED_TO_ROOT].concat();
    check(&mut wrong, "nobody", &came_of, &refused, false);
    check(&mut wrong, "nobody", &came_of, &[DONE, attacker::DONE].concat(), true);
    scene.end();
    wrong.none();
}

fn give_to_nobody(path: &Path) {
    std::os::unix::fs::lchown(path, Some(65534), Some(65534)).expect("we are root");
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).expect("it is ours").flatten() {
            give_to_nobody(&entry.path());
        }
    }
}

#[test]
fn status_and_results_say_how_far_it_is_enforced() {
    let app = App::at_home();
    let server = app.server();
    let report = server.run(["spec/models/widget_spec.rb"]);
    let status = server.at_rest();
    let mut wrong = Deviations::default();
    let parts = status["sandbox"]["parts"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = parts.iter().filter_map(|part| part["part"].as_str()).collect();
    wrong.equal(
        "parts",
        &names[..],
        &["limits", "environment", "filesystem", "signals", "syscalls", "sockets"][..],
    );
    let missing = parts.iter().filter(|part| part["enforced"] != "full").count();
    wrong.check(
        parts
            .iter()
            .all(|part| part["why"].is_string() == (part["enforced"] != "full")),
        || format!("why: {parts:?}"),
    );
    let line = report["sandbox"].as_str().unwrap_or_default();
    wrong.check(
        line.starts_with("standard") && (line == "standard") == (missing == 0),
        || line.to_owned(),
    );
    server.stop();
    wrong.none();
}

#[test]
fn what_is_required_and_missing_keeps_the_app_from_being_booted() {
    // Among temporary files nothing can be protected.
    let app = App::copy();
    app.setting("sandbox: {required: true}");
    let server = app.server();
    let mut wrong = Deviations::default();
    for fork in ["always", "never"] {
        let answer = server
            .call(
                "rails_spec_run",
                json!({"paths": ["spec/models/widget_spec.rb"], "fork": fork}),
            )
            .wait();
        let told = match answer.is_refusal() {
            true => answer.refusal(),
            false => answer.success(&server.tool("rails_spec_run")["outputSchema"]),
        };
        wrong.check(
            has_text(&told, "sandbox.required") && told["outcome"] != "passed",
            || format!("{fork}: {told}"),
        );
    }
    app.edit(".coatepec.yml", "required: true", "required: false");
    wrong.equal(
        "not required",
        &server.run(["spec/models/widget_spec.rb"])["outcome"],
        "passed",
    );
    server.stop();
    wrong.none();
}

/// What acts left, so that they can be done again.
fn tidy(app: &App) {
    for name in [
        "link",
        "keys",
        "id",
        "socket",
        "door",
        "own",
        "described",
        "unblocked",
        "slow",
        "left",
    ] {
        let _ = fs::remove_file(app.path("tmp").join(name));
    }
}
