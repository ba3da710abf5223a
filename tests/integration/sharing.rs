//! Several clients on one checkout, and the server that they share.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use coatepec::daemon::place::cards;
use coatepec::daemon::stop;
use coatepec::supervisor::card::Card;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{App, Server, Setup, eventually};

const QUICK: &str = "spec/services/price_list_spec.rb";
const HANGS: &str = "spec/faults/hangs_spec.rb";

/// Whose shared server leaves with the last client.
fn app() -> App {
    let app = App::copy();
    app.setting("idle_timeout_seconds: 0");
    app
}

fn client(app: &App) -> Server {
    app.server_with(Setup::default().shared())
}

/// The only one.
fn daemon(app: &App) -> Card {
    let mut found = app.daemons();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn gone(app: &App) {
    eventually("the shared server has gone", || app.daemons().is_empty().then_some(()));
}

/// The place of the app's only daemon, dead or alive: its socket.
fn socket(app: &App) -> PathBuf {
    let (card, _) = cards(app.root()).remove(0);
    let name = card.file_name().unwrap().to_str().unwrap();
    card.with_file_name(format!("{}.sock", name.split('.').next().unwrap()))
}

fn passes(server: &Server) {
    let report = server.run([QUICK]);
    assert_eq!(report["outcome"], "passed", "{report}");
}

fn worker(server: &Server) -> i32 {
    server.status()["worker_pid"]
        .as_i64()
        .expect("it is booted")
        .try_into()
        .unwrap()
}

fn begins(server: &Server) -> crate::support::Pending {
    let call = server.begin([HANGS], json!({"timeout_seconds": 600}));
    eventually("it runs", || (server.status()["state"] == "running").then_some(()));
    call
}

#[test]
fn two_clients_on_one_checkout_share_one_worker_and_the_last_one_out_ends_it() {
    let app = app();
    let (one, other) = (client(&app), client(&app));
    passes(&one);
    passes(&other);
    assert_eq!(worker(&one), worker(&other));
    let status = other.status();
    assert_eq!(status["boot_id"], 1, "{status}");
    assert_eq!(status["runs"]["outcomes"], json!({"passed": 2}), "{status}");
    let (socket, pid) = (socket(&app), daemon(&app).pid);
    one.end();
    assert_eq!(daemon(&app).pid, pid);
    passes(&other);
    other.close_stdin();
    assert_eq!(other.wait().code(), Some(0));
    gone(&app);
    other.nothing_is_left();
    assert!(!socket.exists(), "{}", socket.display());
    assert_eq!(cards(app.root()), []);
}

#[test]
fn a_shared_server_waits_for_the_next_client() {
    let app = App::copy();
    let first = client(&app);
    passes(&first);
    let pid = worker(&first);
    first.end();
    let next = client(&app);
    assert_eq!(worker(&next), pid);
    next.end();
}

#[test]
fn when_the_shared_server_is_killed_all_its_clients_go_on_with_another() {
    let app = app();
    let (one, other) = (client(&app), client(&app));
    passes(&other);
    let lost = worker(&other);
    let call = begins(&one);
    let killed = daemon(&app);
    one.signal_to(killed.pid, Signal::SIGKILL);
    let refusal = call.wait().refusal();
    assert_eq!(refusal["code"], "server_lost", "{refusal}");
    assert!(refusal["hint"].is_string(), "{refusal}");
    passes(&one);
    passes(&other);
    assert_ne!(daemon(&app).pid, killed.pid);
    assert_eq!(worker(&one), worker(&other));
    one.ended(lost);
    assert_eq!(one.stray_lines(), [""; 0], "the client hears nothing of it");
    one.end();
    other.close_stdin();
    gone(&app);
    other.nothing_is_left();
}

#[test]
fn what_only_reads_is_asked_again_of_the_next_server() {
    let app = app();
    app.write(
        "config/initializers/waits.rb",
        r#"File.write("tmp/booting", ""); sleep 0.01 until File.exist?("tmp/go")"#,
    );
    let server = client(&app);
    let call = server.call("rails_runtime_status", json!({"boot": true}));
    eventually("it boots", || app.path("tmp/booting").exists().then_some(()));
    server.signal_to(daemon(&app).pid, Signal::SIGKILL);
    app.write("tmp/go", "");
    let status = call
        .wait()
        .success(&server.tool("rails_runtime_status")["outputSchema"]);
    assert_eq!(status["boot_id"], 1, "{status}");
    server.end();
}

#[test]
fn what_lies_where_the_socket_should_be_is_in_nobodys_way() {
    let app = App::copy();
    let first = client(&app);
    let socket = socket(&app);
    let end = |server: Server| {
        server.signal_to(daemon(&app).pid, Signal::SIGKILL);
        server.end();
        gone(&app);
    };
    end(first);
    assert!(socket.exists(), "a killed server leaves its socket");
    let second = client(&app);
    assert_eq!(second.status()["state"], "absent");
    end(second);
    fs::remove_file(&socket).unwrap();
    fs::write(&socket, "no socket").unwrap();
    let third = client(&app);
    assert_eq!(third.status()["state"], "absent");
    end(third);
    fs::remove_file(&socket).unwrap();
    // Something that is not one of ours.
    let stranger = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for stream in stranger.incoming() {
            let _ = stream.and_then(|mut stream| stream.write_all(b"220 at your service\r\n"));
        }
    });
    let fourth = client(&app);
    assert_eq!(fourth.status()["state"], "absent");
    end(fourth);
}

/// A person's terminal, an agent that an editor has started, and what both call their editor.
#[test]
fn a_shell_and_an_agent_share_one_worker_whatever_surrounds_them() {
    let app = App::copy();
    let agent = app.server_with(
        Setup::default()
            .shared()
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SSE_PORT", "4711")
            .env("PAGER", "cat")
            .env("SHELL", "/bin/sh")
            .env("ANTHROPIC_API_KEY", "none of an app's business")
            .without_env("EDITOR"),
    );
    passes(&agent);
    let mut shell = app.command(env!("CARGO_BIN_EXE_coatepec"));
    let surroundings = [
        ("EDITOR", "vim"),
        ("VISUAL", "vim"),
        ("SHELL", "/bin/zsh"),
        ("HISTSIZE", "1000"),
        ("TERM", "dumb"),
        ("TERM_PROGRAM", "tmux"),
        ("XDG_SESSION_ID", "3"),
        ("NO_COLOR", "1"),
        ("SSH_CONNECTION", "::1 4 ::1 22"),
    ];
    shell.env("XDG_STATE_HOME", app.beside("state")).envs(surroundings);
    let status = shell.args(["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["worker_pid"], worker(&agent), "{status}");
    assert_eq!(status["server_pid"], daemon(&app).pid, "{status}");
    assert_eq!(status["other_servers"], Value::Null, "{status}");
    agent.end();
}

#[test]
fn who_does_not_share_is_told_of_the_other_server_and_of_what_differs() {
    let app = app();
    let one = client(&app);
    let other = app.server_with(
        Setup::default()
            .shared()
            .env("DATABASE_URL", "sqlite3:other.sqlite3")
            .env("EDITOR", "ed")
            .argument("--sandbox-at-least")
            .argument("standard"),
    );
    let pids = |server: &Server| {
        let status = server.status();
        let others = &status["other_servers"];
        assert_eq!(others.as_array().map(Vec::len), Some(1), "{status}");
        assert_eq!(
            others[0]["differs"],
            json!(["DATABASE_URL", "--sandbox-at-least"]),
            "{status}"
        );
        (status["server_pid"].clone(), others[0]["pid"].clone())
    };
    let (of_one, of_other) = (pids(&one), pids(&other));
    assert_eq!(of_one, (of_other.1, of_other.0));
    other.end();
    eventually("it is alone again", || {
        one.status()["other_servers"].is_null().then_some(())
    });
    one.end();
    gone(&app);
}

#[test]
fn servers_that_differ_by_the_settings_of_the_sandbox_say_so_and_the_first_run_says_why_it_booted() {
    let app = app();
    let with_secret = || app.server_with(Setup::default().shared().env("PAYMENT_TOKEN", "secret"));
    let one = with_secret();
    assert_eq!(one.run([QUICK])["trigger"], Value::Null);
    app.setting("sandbox: {env: {keep: [PAYMENT_TOKEN]}}");
    let other = with_secret();
    for server in [&one, &other] {
        let status = server.status();
        assert_eq!(
            status["other_servers"][0]["differs"],
            json!(["`sandbox` in .coatepec.yml"]),
            "{status}"
        );
    }
    let first = other.run([QUICK]);
    let trigger = first["trigger"].as_str().unwrap_or_default();
    assert!(
        trigger.starts_with("booted: ") && trigger.contains("`sandbox` in .coatepec.yml"),
        "{first}"
    );
    one.end();
    other.end();
    gone(&app);
}

#[test]
fn servers_that_are_alike_say_which_of_them_can_not_be_shared_and_why() {
    let app = app();
    let one = client(&app);
    passes(&one);
    let differs = |server: &Server| server.status()["other_servers"][0]["differs"].clone();
    let private = app.server();
    assert_eq!(differs(&private), json!(["--no-share"]));
    assert_eq!(private.run([QUICK])["trigger"], Value::Null);
    private.end();
    fs::remove_file(socket(&app)).unwrap();
    let other = client(&app);
    for server in [&one, &other] {
        let told = differs(server);
        assert!(
            told[0].as_str().is_some_and(|what| what.starts_with("the socket")),
            "{told}"
        );
    }
    one.end();
    other.end();
    gone(&app);
}

#[test]
fn another_environment_or_another_build_has_a_server_of_its_own() {
    let app = app();
    let copy = app.beside("coatepec");
    fs::copy(env!("CARGO_BIN_EXE_coatepec"), &copy).unwrap();
    let one = client(&app);
    let terminal = app.server_with(Setup::default().shared().env("TERM", "dumb").env("SHLVL", "7"));
    assert_eq!(app.daemons().len(), 1);
    let environment = app.server_with(Setup::default().shared().env("DATABASE_URL", "sqlite3:other.sqlite3"));
    assert_eq!(app.daemons().len(), 2);
    let build = app.server_with(Setup::default().shared().binary(copy));
    assert_eq!(app.daemons().len(), 3);
    passes(&one);
    passes(&build);
    assert_ne!(worker(&one), worker(&build));
    assert_eq!(worker(&one), worker(&terminal));
    for server in [one, terminal, environment, build] {
        server.end();
    }
    gone(&app);
}

#[test]
fn of_all_that_start_at_once_one_starts_the_server() {
    let app = App::bare();
    let clients = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..5).map(|_| scope.spawn(|| client(&app))).collect();
        starting.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    daemon(&app);
    for client in clients {
        assert_eq!(client.status()["state"], "absent");
        client.end();
    }
}

#[test]
fn a_client_that_vanishes_takes_its_run_along_and_nothing_else() {
    let app = app();
    let (one, other) = (client(&app), client(&app));
    passes(&other);
    let (pid, worker_pid) = (daemon(&app).pid, worker(&other));
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let vanishing = client(&app);
        let _call = begins(&vanishing);
        vanishing.signal(signal);
        vanishing.wait();
        passes(&other);
    }
    let call = begins(&one);
    one.close_stdin();
    assert_eq!(one.wait().code(), Some(0));
    drop(call);
    passes(&other);
    assert_eq!((daemon(&app).pid, worker(&other)), (pid, worker_pid));
    let outcomes = other.status()["runs"]["outcomes"].clone();
    assert_eq!(outcomes, json!({"passed": 4, "cancelled": 3}));
    other.end();
}

#[test]
fn the_socket_is_its_owners_alone() {
    let app = App::bare();
    let server = client(&app);
    let socket = socket(&app);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    server.end();
}

#[test]
fn a_connection_that_says_nothing_or_nonsense_harms_nobody() {
    let app = App::copy();
    let server = client(&app);
    let socket = socket(&app);
    let silent = UnixStream::connect(&socket).unwrap();
    let mut wild = UnixStream::connect(&socket).unwrap();
    let _ = wild.write_all(&[b'x'; 100_000]);
    let gone = UnixStream::connect(&socket).unwrap();
    drop(gone);
    passes(&server);
    drop((silent, wild));
    server.end();
}

/// It greets nobody else's connection, whatever the files' permissions say.
#[test]
fn another_user_is_refused() {
    let app = App::bare();
    let server = client(&app);
    let socket = socket(&app);
    let place = tempfile::Builder::new().prefix("coatepec-door-").tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let door = place.path().join("door");
    fs::hard_link(&socket, &door).unwrap();
    fs::set_permissions(&door, fs::Permissions::from_mode(0o666)).unwrap();
    let heard = |uid: Option<u32>| heard_by(uid, &door);
    assert!(
        heard(None).is_some_and(|text| text.contains("coatepec")),
        "its own user is greeted"
    );
    // Where this process may not become somebody else, there is nothing to see.
    if let Some(text) = heard(Some(65534)) {
        assert_eq!(text, "connected: ");
    }
    server.end();
}

fn heard_by(uid: Option<u32>, door: &std::path::Path) -> Option<String> {
    use std::os::unix::process::CommandExt;
    let script =
        r#"require "socket"; s = UNIXSocket.new(ARGV[0]); print "connected: "; print (s.gets rescue nil).to_s"#;
    #[expect(clippy::disallowed_methods, reason = "a test plays another user")]
    let mut command = std::process::Command::new("ruby");
    command
        .args(["--disable-gems", "-e", script])
        .arg(door)
        .current_dir("/");
    if let Some(uid) = uid {
        command.uid(uid).gid(uid);
    }
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned()).filter(|text| !text.is_empty())
}

#[test]
fn a_shared_server_can_be_stopped_from_outside_and_its_clients_go_on() {
    let app = App::copy();
    let server = client(&app);
    passes(&server);
    let worker_pid = worker(&server);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for frozen in [false, true] {
        let pid = daemon(&app).pid;
        if frozen {
            server.signal_to(pid, Signal::SIGSTOP);
        }
        let stopped = runtime.block_on(stop::stop(app.root())).unwrap();
        assert_eq!(stopped.iter().map(|card| card.pid).collect::<Vec<_>>(), [pid]);
        assert!(app.daemons().is_empty(), "no client asks for another one by itself");
        server.ended(worker_pid);
        passes(&server);
    }
    let left = daemon(&app);
    server.end();
    assert_eq!(runtime.block_on(stop::stop(app.root())).unwrap().len(), 1);
    assert!(!left.is_alive());
    assert_eq!(runtime.block_on(stop::stop(app.root())).unwrap(), []);
}

#[test]
fn a_shared_server_that_does_not_answer_is_left_alone() {
    let app = App::bare();
    let first = client(&app);
    let frozen = daemon(&app);
    first.signal_to(frozen.pid, Signal::SIGSTOP);
    let second = client(&app);
    assert_eq!(second.status()["state"], "absent");
    assert_eq!(app.daemons().len(), 2);
    first.signal_to(frozen.pid, Signal::SIGCONT);
    assert_eq!(first.status()["state"], "absent");
    first.end();
    second.end();
}

#[test]
fn the_protocol_is_the_same_through_a_shared_server() {
    let app = App::bare();
    let (alone, shared) = (app.server(), client(&app));
    assert_eq!(alone.info(), shared.info());
    assert_eq!(alone.tools(), shared.tools());
    let long = format!("\"{}\"", "x".repeat(11_000_000));
    let wrong = ["garbage", "{", &long, "{}", "[]", ""];
    let complaints = |server: &Server| {
        for line in wrong {
            server.send_line(line);
            assert_eq!(server.status()["state"], "absent");
        }
        server.complaints()
    };
    assert_eq!(complaints(&shared), complaints(&alone));
    let flood: String = "nonsense\n".repeat(20_000);
    shared.send_line(&flood);
    let expected = shared.complaints().len().max(20_000);
    eventually("each line is answered", || {
        (shared.complaints().len() >= expected).then_some(())
    });
    let unknown: Value = json!({});
    assert_eq!(
        shared.request("tools/sharpen", unknown).wait().error_code(),
        Some(-32601)
    );
    alone.end();
    shared.end();
}
