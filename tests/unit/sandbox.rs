//! From settings to grants, and from grants to the paths that the kernel gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coatepec::config::sandbox::{Mode, Network, Sandbox};
use coatepec::sandbox::Kind;
use coatepec::sandbox::enforcement::{Enforcement, Name, Part};
use coatepec::sandbox::floor::lowered;
use coatepec::sandbox::grants::{Granted, Identity, RefusedFile, Tree, paths};
use coatepec::sandbox::policy::Grant;
use coatepec::sandbox::rules::{Place, not_there, policy};
use coatepec::sandbox::sockets::named;

/// A disk of directories, files and symbolic links. What ends in `/` is a directory.
struct Fake(BTreeMap<PathBuf, Option<PathBuf>>);

impl Fake {
    fn new(entries: &[&str]) -> Fake {
        let mut all = BTreeMap::new();
        for entry in entries {
            let (path, target) = match entry.split_once(" -> ") {
                Some((path, target)) => (path, Some(target.into())),
                None => (*entry, None),
            };
            let path = Path::new(path.trim_end_matches('/'));
            for dir in path.ancestors().skip(1) {
                all.entry(dir.to_owned()).or_insert(None);
            }
            all.insert(path.to_owned(), target);
        }
        Fake(all)
    }
}

impl Tree for Fake {
    fn names(&self, dir: &Path) -> Vec<PathBuf> {
        let below = self.0.iter().filter(|(path, _)| path.parent() == Some(dir));
        below
            .filter(|(_, target)| target.is_none())
            .map(|(path, _)| path.file_name().unwrap().into())
            .collect()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        match self.0.get(path)? {
            Some(target) => self.real(target),
            None => Some(path.to_owned()),
        }
    }

    fn identity(&self, path: &Path) -> Option<Identity> {
        let remade = self.0.contains_key(&path.join("remade"));
        Some((0, u64::from(remade)))
    }
}

fn disk() -> Fake {
    Fake::new(&[
        "/etc/hosts",
        "/usr/bin/ruby",
        "/bin -> /usr/bin",
        "/home/ann/.ssh/id",
        "/home/ann/.cache/x",
        "/home/ann/.aws -> /home/ann/dotfiles/aws",
        "/home/ann/dotfiles/aws/credentials",
        "/home/ann/dotfiles/vimrc",
        "/home/ann/shortcut -> /home/ann/.ssh",
        "/home/ann/app/.git/HEAD",
        "/home/ann/app/app/models/a.rb",
        "/home/ann/app/Gemfile",
        "/home/ann/app/.coatepec.yml",
        "/home/ann/app/shared -> /home/ann/other",
        "/home/ann/other/secret",
        "/home/bob/x",
        "/tmp/",
    ])
}

fn granted(path: &str, except: &[&str]) -> Vec<String> {
    let grant = Grant {
        within: None,
        path: path.into(),
        except: except.iter().map(PathBuf::from).collect(),
    };
    let paths = paths(&[grant], &disk());
    paths.iter().map(|path| path.display().to_string()).collect()
}

#[test]
fn a_link_that_leads_out_of_where_a_place_must_lie_grants_nothing() {
    let granted = |path: &str, within: Option<&str>| {
        let grant = Grant {
            path: path.into(),
            except: Vec::new(),
            within: within.map(PathBuf::from),
        };
        paths(&[grant], &disk()).len()
    };
    assert_eq!(granted("/home/ann/app/shared", None), 1);
    assert_eq!(granted("/home/ann/app/shared", Some("/home/ann/app")), 0);
    assert_eq!(granted("/home/ann/app/app", Some("/home/ann/app")), 1);
}

#[test]
fn places_of_the_settings_that_name_nothing_are_known() {
    let place = Place {
        root: "/home/ann/app".into(),
        home: Some("/home/ann".into()),
        ..Place::default()
    };
    let of = |settings: &str| {
        let sandbox = coatepec::config::Config::parse(&format!("sandbox: {settings}"))
            .unwrap()
            .sandbox;
        not_there(&sandbox, &place, &disk())
    };
    assert_eq!(
        of("{write: [app, ap, '~/.cache', '~/x*', 'app/*'], read: [shared, '~/.bash', /bin]}"),
        ["write: ap", "write: ~/x*", "read: ~/.bash"]
    );
    assert_eq!(of("{mode: off, write: [ap]}"), Vec::<String>::new());
}

/// What fits a glob and came after the boot is to have the app booted anew.
#[test]
fn what_comes_to_fit_a_glob_comes_to_be_grantable() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place {
        home: Some(dir.path().canonicalize().unwrap()),
        root: "/nowhere".into(),
        ..Place::default()
    };
    let sandbox = sandbox("sandbox: {write: ['~/gl*']}");
    std::fs::create_dir(dir.path().join("other")).unwrap();
    assert_eq!(place.grantable(&sandbox).len(), 0);
    std::fs::create_dir(dir.path().join("glob")).unwrap();
    assert_eq!(place.grantable(&sandbox).len(), 1);
}

#[test]
fn a_place_without_exceptions_is_granted_whole() {
    assert_eq!(granted("/home/ann", &["/home/bob"]), ["/home/ann"]);
}

#[test]
fn what_lies_beside_an_exception_is_granted_one_by_one() {
    assert_eq!(
        granted("/home/ann/app", &["/home/ann/app/.git", "/home/ann/app/.coatepec.yml"]),
        ["/home/ann/app/Gemfile", "/home/ann/app/app"]
    );
    assert_eq!(
        granted("/", &["/home/ann/.ssh", "/home/ann/.cache/x"]),
        [
            "/etc",
            "/home/ann/app",
            "/home/ann/dotfiles",
            "/home/ann/other",
            "/home/bob",
            "/tmp",
            "/usr"
        ]
    );
}

#[test]
fn an_exception_holds_for_all_that_is_beneath_it_and_where_it_leads_to() {
    assert_eq!(granted("/home/ann/.ssh/id", &["/home/ann/.ssh"]), [""; 0]);
    assert_eq!(
        granted("/home/ann/dotfiles", &["/home/ann/.aws"]),
        ["/home/ann/dotfiles/vimrc"]
    );
    // A link in the repository does not open what is elsewhere.
    let app = granted("/home/ann/app", &["/home/ann/app/.git"]);
    assert!(!app.iter().any(|path| path.contains("other")), "{app:?}");
}

#[test]
fn a_place_that_is_named_is_followed_and_may_have_globs() {
    assert_eq!(granted("/home/ann/app/shared", &[]), ["/home/ann/other"]);
    assert_eq!(granted("/home/*/x", &[]), ["/home/ann/x", "/home/bob/x"]);
    assert_eq!(
        granted("/home/ann/app", &["/home/ann/app/*"]),
        ["/home/ann/app/.coatepec.yml", "/home/ann/app/.git"]
    );
}

fn place() -> Place {
    Place {
        root: "/home/ann/app".into(),
        home: Some("/home/ann".into()),
        temporary: "/var/folders/t".into(),
        superuser: false,
        lock_file: "GEM\n  specs:\n    rails (7.2.2)\n".into(),
        sockets: vec!["/tmp/coatepec-1000".into(), "/tmp/agent".into()],
    }
}

fn sandbox(text: &str) -> Sandbox {
    coatepec::config::Config::parse(text).unwrap().sandbox
}

/// The paths that are granted for writing, and for reading, on the disk above.
fn files(text: &str, place: &Place) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let files = policy(&sandbox(text), place).files.unwrap();
    (paths(&files.write, &disk()), paths(&files.read, &disk()))
}

fn has(paths: &[PathBuf], path: &str) -> bool {
    paths.iter().any(|granted| Path::new(path).starts_with(granted))
}

/// Each row: settings, then what may be done. `w` is write, `r` is read; a capital letter says that it may not.
#[test]
fn a_mode_grants_and_protects_what_it_says() {
    let table = [
        ("", "w /home/ann/app/app/models/a.rb"),
        ("", "w /tmp/x"),
        ("", "w /var/folders/t/x"),
        ("", "w /dev/null"),
        ("", "r /etc/hosts"),
        ("", "r /home/bob/x"),
        ("", "r /home/ann/app/.git/HEAD"),
        ("", "W /home/ann/app/.git/HEAD"),
        ("", "W /home/ann/app/.coatepec.yml"),
        ("", "W /home/ann/app/new"),
        ("", "W /home/ann/other/secret"),
        ("", "W /home/ann/.profile"),
        ("", "W /etc/hosts"),
        ("", "R /home/ann/.ssh/id"),
        ("", "R /home/ann/dotfiles/aws/credentials"),
        ("", "R /home/ann/.netrc"),
        ("", "R /dev/sda"),
        ("{mode: strict}", "w /home/ann/app/tmp/x"),
        ("{mode: strict}", "W /home/ann/app/app/models/a.rb"),
        ("{mode: strict}", "r /home/ann/app/app/models/a.rb"),
        ("{mode: strict}", "R /home/ann/other/secret"),
        ("{mode: strict}", "r /home/ann/.rbenv/versions"),
        ("{mode: strict}", "R /home/ann/.gem/credentials"),
        ("{write: [~/other, .git]}", "w /home/ann/other/secret"),
        ("{write: [~/other, .git]}", "w /home/ann/app/.git/HEAD"),
        ("{write: [~/other], deny: [~/other/secret]}", "W /home/ann/other/secret"),
        ("{deny: [app]}", "W /home/ann/app/app/models/a.rb"),
        ("{deny: [app]}", "R /home/ann/app/app/models/a.rb"),
        ("{deny: [/etc]}", "R /etc/hosts"),
        ("{read: [~/.ssh]}", "r /home/ann/.ssh/id"),
        ("{read: [~/.ssh], deny: [~/.ssh/id]}", "R /home/ann/.ssh/id"),
        ("{mode: strict, read: [~/other]}", "r /home/ann/other/secret"),
    ];
    for (settings, act) in table {
        let (write, read) = files(&format!("sandbox: {settings}"), &place());
        let (how, path) = act.split_once(' ').unwrap();
        let granted = match how.to_lowercase().as_str() {
            "w" => has(&write, path),
            _ => has(&read, path) || has(&write, path),
        };
        assert_eq!(
            granted,
            how == "w" || how == "r",
            "{settings} {act}\n{write:?}\n{read:?}"
        );
    }
}

/// Each row: settings, whether it may be talked to, and where it lies.
#[test]
fn a_socket_is_judged_by_the_closest_place_around_it() {
    let table = [
        ("", true, "/run/postgresql/.s.PGSQL.5432"),
        ("", true, "/run/mysqld/mysqld.sock"),
        ("", true, "/run/nscd/socket"),
        ("", true, "/run/systemd/journal/dev-log"),
        ("", true, "/run/systemd/resolve/io.systemd.Resolve"),
        ("", true, "/tmp/.s.PGSQL.5432"),
        ("", true, "/tmp/.X11-unix/X0"),
        ("", true, "/tmp/x/redis.sock"),
        ("", true, "/home/ann/app/tmp/sockets/puma.sock"),
        ("", true, "/home/ann/other/mysql.sock"),
        ("", true, "/run/user/1000/wayland-0"),
        ("", true, "/run/user/1000/devenv-0af1/postgres/.s.PGSQL.5432"),
        ("", true, "/run/docker.sock.d/x"),
        ("", false, "/run/docker.sock"),
        ("", false, "/run/containerd/containerd.sock"),
        ("", false, "/run/dbus/system_bus_socket"),
        ("", false, "/run/systemd/private"),
        ("", false, "/run/user/1000/bus"),
        ("", false, "/run/user/1000/systemd/private"),
        ("", false, "/run/user/1000/gnupg/S.gpg-agent.ssh"),
        ("", false, "/tmp/ssh-XXXX/agent.7"),
        ("", false, "/var/folders/t/ssh-XXXX/agent.7"),
        ("", true, "/var/folders/t/x/redis.sock"),
        ("", false, "/tmp/tmux-1000/default"),
        ("", false, "/tmp/agent"),
        ("", false, "/tmp/coatepec-1000/abc.sock"),
        ("", false, "/home/ann/.ssh/cm-host"),
        ("", false, "/home/ann/.docker/run/docker.sock"),
        ("", false, "/home/ann/.colima/default/docker.sock"),
        ("{deny: [/run/postgresql]}", false, "/run/postgresql/.s.PGSQL.5432"),
        ("{deny: ['/tmp/*.sock']}", false, "/tmp/x.sock"),
        (
            "{deny: [tmp], write: [tmp]}",
            false,
            "/home/ann/app/tmp/sockets/puma.sock",
        ),
        ("{write: [/run/docker.sock]}", true, "/run/docker.sock"),
        ("{write: [~/.docker/run]}", true, "/home/ann/.docker/run/docker.sock"),
        ("{write: [~/.docker/run]}", false, "/home/ann/.docker/other.sock"),
        ("{write: [/tmp/ssh-XXXX]}", true, "/tmp/ssh-XXXX/agent.7"),
        // What may come to stand for anything opens nothing.
        ("{write: ['/tmp/*']}", false, "/tmp/ssh-XXXX/agent.7"),
        ("{write: [/run]}", false, "/run/docker.sock"),
        ("{mode: strict}", true, "/run/postgresql/.s.PGSQL.5432"),
        ("{mode: strict}", true, "/home/ann/app/tmp/sockets/puma.sock"),
        ("{mode: strict}", false, "/home/ann/other/mysql.sock"),
        ("{mode: strict}", false, "/tmp/.X11-unix/X0"),
        ("{mode: strict}", false, "/run/user/1000/wayland-0"),
        ("{mode: strict, write: [~/other]}", true, "/home/ann/other/mysql.sock"),
    ];
    for (settings, admitted, path) in table {
        let sockets = policy(&sandbox(&format!("sandbox: {settings}")), &place())
            .sockets
            .unwrap();
        assert_eq!(sockets.admit(Path::new(path)), admitted, "{settings} {path}");
    }
    assert_eq!(policy(&sandbox("sandbox: {mode: off}"), &place()).sockets, None);
}

#[test]
fn the_environment_names_sockets_in_many_ways() {
    let table = [
        ("SSH_AUTH_SOCK", "/tmp/agent", Some("/tmp/agent")),
        (
            "DBUS_SESSION_BUS_ADDRESS",
            "unix:path=/run/bus,guid=1",
            Some("/run/bus"),
        ),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:abstract=/tmp/x", None),
        ("DOCKER_HOST", "unix:///run/x.sock", Some("/run/x.sock")),
        ("DOCKER_HOST", "tcp://127.0.0.1:1", None),
        ("TMUX", "/tmp/mux/default,12,0", Some("/tmp/mux/default")),
        ("KITTY_LISTEN_ON", "unix:/tmp/cat", Some("/tmp/cat")),
        ("XDG_RUNTIME_DIR", "/", None),
        ("TMUX", "", None),
        ("DATABASE_SOCKET", "/tmp/database", None),
    ];
    for (name, value, path) in table {
        let found = named(|asked| (asked == name).then(|| value.to_owned()));
        assert_eq!(
            found,
            path.map(PathBuf::from).into_iter().collect::<Vec<_>>(),
            "{name}={value}"
        );
    }
}

#[test]
fn root_may_not_write_to_the_kernels_settings() {
    let root = Place {
        superuser: true,
        ..place()
    };
    assert!(!has(&files("", &root).0, "/proc/sys/kernel/core_pattern"));
}

/// A browser makes a sandbox of its own by these. A user's other processes have some that are the user's, too.
#[test]
fn files_of_processes_are_written_where_a_browser_is_driven() {
    let driving = Place {
        lock_file: "GEM\n  specs:\n    cuprite (0.15)\n".into(),
        ..place()
    };
    assert!(has(&files("", &driving).0, "/proc/self/uid_map"));
    assert!(!has(&files("", &place()).0, "/proc/7/oom_score_adj"));
}

#[test]
fn an_app_in_a_writable_place_is_told_to_be_open() {
    let open = |text: &str, root: &str| {
        let place = Place {
            root: root.into(),
            ..place()
        };
        policy(&sandbox(text), &place).files.unwrap().open_around_root
    };
    assert_eq!(open("", "/home/ann/app"), None);
    assert_eq!(open("", "/tmp/app"), Some("/tmp".into()));
    assert_eq!(
        open("sandbox: {write: ['~']}", "/home/ann/app"),
        Some("/home/ann".into())
    );
}

#[test]
fn a_home_in_a_writable_place_is_told_to_be_open() {
    let open = |text: &str, home: &str| {
        let place = Place {
            home: Some(home.into()),
            root: "/srv/app".into(),
            ..place()
        };
        policy(&sandbox(text), &place).files.unwrap().open_around_home
    };
    assert_eq!(open("", "/home/ann"), None);
    assert_eq!(open("", "/tmp"), Some("/tmp".into()));
    assert_eq!(open("sandbox: {mode: strict}", "/tmp/ann"), Some("/tmp".into()));
    assert_eq!(open("", "/srv/app"), Some("/srv/app".into()));
    assert_eq!(open("sandbox: {write: ['~']}", "/home/ann"), Some("/home/ann".into()));
}

#[test]
fn user_namespaces_are_for_browsers() {
    let allowed = |text: &str, gem: &str| {
        let place = Place {
            lock_file: format!("GEM\n  specs:\n    {gem} (4.1)\n"),
            ..place()
        };
        policy(&sandbox(text), &place).syscalls.unwrap().user_namespaces
    };
    assert!(allowed("", "selenium-webdriver"));
    assert!(!allowed("", "selenium-webdriver-mock"));
    assert!(!allowed("sandbox: {mode: strict}", "selenium-webdriver"));
}

#[test]
fn off_asks_for_nothing_but_what_is_said() {
    let policy = policy(&sandbox("sandbox: {mode: off, limits: {open_files: 99}}"), &place());
    assert_eq!((policy.files, policy.syscalls), (None, None));
    assert_eq!((policy.network, policy.limits.open_files), (Network::Allow, Some(99)));
}

#[test]
fn the_network_follows_the_mode_unless_it_is_named() {
    let network = |text: &str| sandbox(&format!("sandbox: {text}")).network();
    assert_eq!(network("{}"), Network::Allow);
    assert_eq!(network("{mode: strict}"), Network::Loopback);
    assert_eq!(network("{mode: strict, network: allow}"), Network::Allow);
    assert_eq!(network("{network: none}"), Network::None);
}

/// A file that could not be had, by who may read (`r`) and write (`w`) it.
fn refused(path: &str, permissions: &str) -> RefusedFile {
    RefusedFile {
        path: path.into(),
        readable: permissions.contains('r'),
        writable: permissions.contains('w'),
        count: 1,
    }
}

#[test]
fn a_refusal_is_the_sandboxs_where_it_grants_less_than_the_permissions() {
    let files = policy(&sandbox(""), &place()).files.expect("it is on");
    let granted = Granted::of(&files, &disk());
    let table = [
        ("/home/ann/app/.git/made", "w", Some(Kind::Write)),
        ("/home/ann/app/.git/HEAD", "rw", Some(Kind::Write)),
        ("/home/ann/app/app/made.rb", "rw", None),
        ("/home/ann/.ssh/id", "rw", Some(Kind::Read)),
        ("/home/ann/.ssh/id", "r", Some(Kind::Read)),
        ("/home/ann/.ssh/id", "", None),
        ("/etc/hosts", "r", None),
        ("/etc/hosts", "rw", Some(Kind::Write)),
        ("/tmp/made", "w", None),
        // Directly in the root: opened, and to be deleted.
        ("/home/ann/app/Gemfile", "rw", None),
        ("/home/ann/app/Gemfile", "w", Some(Kind::Write)),
        // Of a process outside.
        ("/proc/1/environ", "rw", Some(Kind::Read)),
    ];
    for (path, permissions, kind) in table {
        assert_eq!(
            granted.forbids(&refused(path, permissions), &disk()),
            kind,
            "{path} {permissions}"
        );
    }
}

/// The kernel knows what it granted by what it is, and not by its name.
#[test]
fn what_was_made_anew_is_not_what_was_granted() {
    let files = policy(&sandbox(""), &place()).files.expect("it is on");
    let granted = Granted::of(&files, &disk());
    let later = Fake::new(&["/home/ann/app/app/remade", "/home/ann/other/remade", "/etc/hosts"]);
    let table = [
        ("/home/ann/app/app/x", "w", Some(Kind::Write)),
        ("/home/ann/other/secret", "rw", Some(Kind::Read)),
        ("/etc/hosts", "r", None),
    ];
    for (path, permissions, kind) in table {
        assert_eq!(granted.forbids(&refused(path, permissions), &later), kind, "{path}");
    }
}

#[test]
fn settings_may_make_a_sandbox_closer_than_the_least_and_not_more_open() {
    let table: &[(Mode, &str, Option<&str>)] = &[
        (Mode::Off, "mode: off", None),
        (Mode::Standard, "mode: off", Some("sandbox.mode: off")),
        (Mode::Standard, "mode: standard", None),
        (Mode::Standard, "mode: strict", None),
        (Mode::Strict, "mode: standard", Some("sandbox.mode: standard")),
        (Mode::Standard, "network: none", None),
        (
            Mode::Strict,
            "mode: strict, network: allow",
            Some("sandbox.network: allow"),
        ),
        (
            Mode::Standard,
            "env: {keep: [A_TOKEN]}",
            Some("sandbox.env.keep: A_TOKEN"),
        ),
        (Mode::Standard, "deny: [app, '~']", None),
        // What the mode grants anyway, or grants in a mode that is less strict.
        (Mode::Standard, "mode: strict, write: [app, $TMPDIR/x]", None),
        (Mode::Standard, "mode: strict, read: ['~/notes']", None),
        (Mode::Strict, "mode: strict, write: [app]", Some("sandbox.write: app")),
        // What it protects, what holds something of that, and what may lead there.
        (Mode::Standard, "write: [.git]", Some("sandbox.write: .git")),
        (
            Mode::Standard,
            "write: [app, .git/hooks]",
            Some("sandbox.write: .git/hooks"),
        ),
        // Whoever may be talked to by it is outside.
        (Mode::Standard, "write: [/tmp/agent]", Some("sandbox.write: /tmp/agent")),
        (
            Mode::Standard,
            "write: [/tmp/ssh-1/agent]",
            Some("sandbox.write: /tmp/ssh-1/agent"),
        ),
        (Mode::Standard, "write: [/tmp/own]", None),
        (Mode::Standard, "write: ['*']", Some("sandbox.write: *")),
        (Mode::Standard, "write: ['app/*']", None),
        (Mode::Standard, "write: ['~']", Some("sandbox.write: ~")),
        (Mode::Standard, "write: [/]", Some("sandbox.write: /")),
        (Mode::Standard, "write: [shared]", Some("sandbox.write: shared")),
        (Mode::Standard, "read: ['~/.ssh']", Some("sandbox.read: ~/.ssh")),
        (Mode::Standard, "read: ['~/.config']", Some("sandbox.read: ~/.config")),
    ];
    for (least, settings, expected) in table {
        let found = lowered(*least, &sandbox(&format!("sandbox: {{{settings}}}")), &place(), &disk());
        assert_eq!(found.as_deref(), *expected, "{least} {settings}");
    }
}

#[test]
fn enforcement_is_a_word_unless_something_is_missing() {
    let enforcement = |parts: &[Part]| Enforcement {
        mode: Mode::Standard,
        parts: parts.to_vec(),
    };
    let full = Part::full(Name::Limits);
    assert_eq!(enforcement(std::slice::from_ref(&full)).to_string(), "standard");
    let parts = [
        full,
        Part::none(Name::Signals, "too old"),
        Part::partial(Name::Network, "x"),
    ];
    assert_eq!(
        enforcement(&parts).to_string(),
        "standard, but signals: none (too old); network: partial (x)"
    );
}

#[cfg(target_os = "linux")]
mod of_the_network {
    use coatepec::config::sandbox::Network;
    use coatepec::sandbox::network::{Request, Verdict, Wanted, judge};
    use nix::errno::Errno;
    use nix::libc;

    fn v4(ip: [u8; 4], port: u16) -> Vec<u8> {
        let mut bytes = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        bytes.extend(port.to_be_bytes());
        bytes.extend(ip);
        bytes.extend([0; 8]);
        bytes
    }

    fn v6(ip: &str, port: u16) -> Vec<u8> {
        let mut bytes = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
        bytes.extend(port.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(ip.parse::<std::net::Ipv6Addr>().unwrap().octets());
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn an_address_is_here_or_outside() {
        let here = [
            v4([127, 0, 0, 1], 5432),
            v4([127, 255, 0, 53], 53),
            v4([0, 0, 0, 0], 1),
            v6("::1", 1),
            v6("::", 1),
            v6("::ffff:127.0.0.1", 1),
            // No internet address: a path, nothing, half of one.
            (libc::AF_UNIX as u16).to_ne_bytes().to_vec(),
            (libc::AF_UNSPEC as u16).to_ne_bytes().to_vec(),
            Vec::new(),
            v4([8, 8, 8, 8], 53)[..7].to_vec(),
        ];
        for address in here {
            assert_eq!(
                judge(Network::Loopback, Request::Reach(&address)),
                Verdict::Go,
                "{address:?}"
            );
        }
        let outside = [
            (v4([8, 8, 8, 8], 53), "8.8.8.8:53"),
            (v4([128, 0, 0, 1], 1), "128.0.0.1:1"),
            (v4([169, 254, 169, 254], 80), "169.254.169.254:80"),
            (v6("2001:db8::1", 443), "[2001:db8::1]:443"),
            (v6("::ffff:8.8.8.8", 53), "[::ffff:8.8.8.8]:53"),
            (v6("fe80::1", 1), "[fe80::1]:1"),
        ];
        for (address, what) in outside {
            match judge(Network::Loopback, Request::Reach(&address)) {
                Verdict::Refuse(Errno::ENETUNREACH, wanted) => assert_eq!(wanted.to_string(), what),
                other => panic!("{what}: {other:?}"),
            }
            assert_eq!(judge(Network::Allow, Request::Reach(&address)), Verdict::Go);
        }
    }

    #[test]
    fn a_socket_is_bound_refused_or_no_matter() {
        let socket = |network, family, kind, protocol| judge(network, Request::Socket(family, kind, protocol));
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        assert_eq!(
            socket(Network::Loopback, libc::AF_INET6, kind, libc::IPPROTO_TCP),
            Verdict::Bound
        );
        assert_eq!(
            socket(Network::Loopback, libc::AF_INET, libc::SOCK_DGRAM, 0),
            Verdict::Bound
        );
        for network in [Network::Loopback, Network::None] {
            assert_eq!(socket(network, libc::AF_UNIX, kind, 0), Verdict::Go);
            assert_eq!(socket(network, libc::AF_NETLINK, libc::SOCK_RAW, 0), Verdict::Go);
        }
        let refused = |kind, protocol| socket(Network::Loopback, libc::AF_INET, kind, protocol);
        assert_eq!(refused(libc::SOCK_RAW, 1), Verdict::Refuse(Errno::EPERM, Wanted::Raw));
        assert_eq!(
            refused(libc::SOCK_STREAM, 262),
            Verdict::Refuse(Errno::EPROTONOSUPPORT, Wanted::Kind(262))
        );
        assert_eq!(
            socket(Network::None, libc::AF_INET, kind, 0),
            Verdict::Refuse(Errno::EAFNOSUPPORT, Wanted::Internet)
        );
    }
}
