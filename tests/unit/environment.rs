//! What of the supervisor's environment a Ruby of the app gets to see.

use coatepec::config::Config;
use coatepec::worker::environment::{Variables, boot_key, clean_for, differences, for_app, held_back};

fn vars(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn cleaned(pairs: &[(&str, &str)]) -> Variables {
    clean_for("linux", vars(pairs))
}

fn value<'a>(vars: &'a Variables, name: &str) -> Option<&'a str> {
    vars.get(std::ffi::OsStr::new(name))
        .map(|value| value.to_str().unwrap())
}

/// Each row: variables before, one name, its value after.
#[track_caller]
fn check(before: &[(&str, &str)], name: &str, after: Option<&str>) {
    assert_eq!(value(&cleaned(before), name), after, "{name} after cleaning {before:?}");
}

const UNSET: &str = "BUNDLER_ENVIRONMENT_PRESERVER_INTENTIONALLY_NIL";

#[test]
fn a_surrounding_bundle_exec_is_undone() {
    let around = [
        ("BUNDLER_ORIG_BUNDLE_BIN_PATH", UNSET),
        ("BUNDLER_ORIG_BUNDLE_GEMFILE", UNSET),
        ("BUNDLER_ORIG_BUNDLER_VERSION", UNSET),
        ("BUNDLER_ORIG_GEM_HOME", "/usr/local/bundle"),
        ("BUNDLER_ORIG_MANPATH", ""),
        ("BUNDLER_ORIG_PATH", "/usr/bin:/bin"),
        ("BUNDLER_ORIG_RUBYLIB", UNSET),
        ("BUNDLER_ORIG_RUBYOPT", "-W0"),
        ("BUNDLE_BIN_PATH", "/gems/bundler-2.6.7/exe/bundle"),
        ("BUNDLE_GEMFILE", "/elsewhere/Gemfile"),
        ("BUNDLER_SETUP", "/gems/bundler-2.6.7/lib/bundler/setup"),
        ("BUNDLER_VERSION", "2.6.7"),
        ("GEM_HOME", "/elsewhere/vendor"),
        ("MANPATH", "/elsewhere/man"),
        ("PATH", "/elsewhere/bin:/usr/bin:/bin"),
        ("RUBYLIB", "/gems/bundler-2.6.7/lib"),
        ("RUBYOPT", "-W0 -r/gems/bundler-2.6.7/lib/bundler/setup"),
        ("BUNDLE_WITHOUT", "production"),
    ];
    let after = cleaned(&around);
    for (name, expected) in [
        ("BUNDLE_BIN_PATH", None),
        ("BUNDLE_GEMFILE", None),
        ("BUNDLER_SETUP", None),
        ("BUNDLER_VERSION", None),
        ("GEM_HOME", Some("/usr/local/bundle")),
        ("MANPATH", Some("")),
        ("PATH", Some("/usr/bin:/bin")),
        ("RUBYLIB", None),
        ("RUBYOPT", Some("-W0")),
        ("BUNDLE_WITHOUT", Some("production")),
    ] {
        assert_eq!(value(&after, name), expected, "{name}");
    }
    assert!(
        !after
            .keys()
            .any(|name| name.to_str().unwrap().starts_with("BUNDLER_ORIG_"))
    );
}

#[test]
fn a_gemfile_that_was_chosen_before_the_surrounding_bundle_comes_back() {
    let before = [
        ("BUNDLER_ORIG_BUNDLE_GEMFILE", "gemfiles/next"),
        ("BUNDLE_GEMFILE", "/elsewhere/Gemfile"),
    ];
    check(&before, "BUNDLE_GEMFILE", Some("gemfiles/next"));
}

#[test]
fn signs_of_bundle_exec_without_backups_suffice() {
    for sign in [
        ("BUNDLE_BIN_PATH", "/gems/bundler/exe/bundle"),
        ("BUNDLER_SETUP", "/usr/lib/ruby/bundler/setup"),
        ("RUBYOPT", "-W1 -rbundler/setup"),
        ("RUBYOPT", "-r bundler/setup"),
        ("RUBYOPT", "-r/usr/lib/ruby/vendor_ruby/bundler/setup.rb"),
    ] {
        let before = [
            sign,
            ("BUNDLE_GEMFILE", "/elsewhere/Gemfile"),
            ("BUNDLER_VERSION", "2.6.7"),
        ];
        check(&before, "BUNDLE_GEMFILE", None);
        check(&before, "BUNDLER_VERSION", None);
        check(&before, sign.0, sign.1.strip_suffix(" -rbundler/setup"));
    }
}

#[test]
fn only_the_directory_of_bundler_leaves_rubylib() {
    let own = (
        "RUBYLIB",
        "/opt/bundler/lib:/gems/bundler-2.6.7/lib:/home/me/lib:/home/me/bundler-tools/lib",
    );
    let before = [own, ("RUBYOPT", "-r/opt/bundler/lib/bundler/setup")];
    check(&before, "RUBYLIB", Some("/home/me/lib:/home/me/bundler-tools/lib"));
    check(&[own], "RUBYLIB", Some(own.1));
}

#[test]
fn what_images_and_version_managers_set_stays() {
    for kept in [
        ("GEM_HOME", "/usr/local/bundle"),
        ("GEM_HOME", "/home/me/.rvm/gems/ruby-3.3.8@shop"),
        (
            "GEM_PATH",
            "/home/me/.gem/ruby/3.3.8:/opt/rubies/ruby-3.3.8/lib/ruby/gems/3.3.0",
        ),
        ("BUNDLE_PATH", "/usr/local/bundle"),
        ("BUNDLE_APP_CONFIG", "/usr/local/bundle"),
        ("BUNDLE_WITHOUT", "production"),
        ("BUNDLE_GEMFILE", "gemfiles/rails_8.gemfile"),
        ("BUNDLER_VERSION", "2.6.7"),
        ("RBENV_VERSION", "3.3.8"),
        ("DATABASE_URL", "postgres://db/shop_test"),
        ("LD_PRELOAD", "libjemalloc.so.2"),
        ("CI", "1"),
    ] {
        check(&[kept], kept.0, Some(kept.1));
    }
}

#[test]
fn rubyopt_loses_debuggers_and_keeps_the_rest() {
    for (before, after) in [
        ("-rdebug", None),
        ("-rdebug/open_nonstop -W0", Some("-W0")),
        ("-r debug --yjit", Some("--yjit")),
        ("-r/home/me/.gem/gems/debug-1.9.2/lib/debug/open", None),
        ("-r/opt/ide/ruby-debug-ide.rb", None),
        ("-rbyebug/core -w", Some("-w")),
        ("-rlogger -W:no-deprecated", Some("-rlogger -W:no-deprecated")),
        ("-r logger", Some("-r logger")),
        (
            "-I /home/me/debug -rdebug_helper",
            Some("-I /home/me/debug -rdebug_helper"),
        ),
        ("-r/home/debug/lib/patches", Some("-r/home/debug/lib/patches")),
        ("-r", Some("-r")),
        ("", None),
    ] {
        check(&[("RUBYOPT", before)], "RUBYOPT", after);
    }
}

#[test]
fn what_would_change_the_tests_behind_our_back_is_dropped() {
    for dropped in [
        ("SPEC_OPTS", "--dry-run"),
        ("TESTOPTS", "--name=/x/"),
        ("RUBY_DEBUG_OPEN", "1"),
        ("COATEPEC_SOCKET_FD", "90"),
    ] {
        check(&[dropped], dropped.0, None);
    }
}

#[test]
fn rails_and_rack_are_told_test() {
    for name in ["RAILS_ENV", "RACK_ENV"] {
        check(&[], name, Some("test"));
        check(&[(name, "development")], name, Some("test"));
    }
}

#[test]
fn a_locale_without_utf8_is_replaced_and_one_with_it_stays() {
    for (before, lc_all) in [
        (&[][..], Some("C.UTF-8")),
        (&[("LANG", "C")], Some("C.UTF-8")),
        (&[("LANG", "")], Some("C.UTF-8")),
        (&[("LANG", "de_DE.ISO-8859-1")], Some("C.UTF-8")),
        (&[("LANG", "de_DE")], Some("C.UTF-8")),
        (&[("LANG", "de_DE.UTF-8")], None),
        (&[("LANG", "de_DE.utf8@euro")], None),
        (&[("LC_CTYPE", "UTF-8")], None),
        (&[("LC_CTYPE", "C"), ("LANG", "en_US.UTF-8")], Some("C.UTF-8")),
        (&[("LC_ALL", ""), ("LC_CTYPE", "en_US.UTF-8")], Some("")),
        (&[("LC_ALL", "POSIX"), ("LANG", "en_US.UTF-8")], Some("C.UTF-8")),
        (&[("LC_ALL", "en_US.UTF-8"), ("LANG", "C")], Some("en_US.UTF-8")),
    ] {
        check(before, "LC_ALL", lc_all);
    }
    assert_eq!(value(&clean_for("macos", vars(&[])), "LC_ALL"), Some("en_US.UTF-8"));
}

#[test]
fn tracers_are_off_unless_the_user_wants_them() {
    check(&[], "DD_TRACE_ENABLED", Some("false"));
    check(
        &[("DD_PROFILING_ENABLED", "true")],
        "DD_PROFILING_ENABLED",
        Some("true"),
    );
}

#[test]
fn kerberos_is_off_for_postgresql_on_macos_only() {
    check(&[], "PGGSSENCMODE", None);
    assert_eq!(value(&clean_for("macos", vars(&[])), "PGGSSENCMODE"), Some("disable"));
    let chosen = clean_for("macos", vars(&[("PGGSSENCMODE", "require")]));
    assert_eq!(value(&chosen, "PGGSSENCMODE"), Some("require"));
}

#[test]
fn values_that_are_not_utf8_pass_unchanged() {
    use std::os::unix::ffi::OsStringExt;
    let raw = std::ffi::OsString::from_vec(vec![b'/', 0xff]);
    let after = clean_for("linux", [("RUBYLIB".into(), raw.clone()), (raw.clone(), "x".into())]);
    assert_eq!(after.get(std::ffi::OsStr::new("RUBYLIB")), Some(&raw));
    assert_eq!(after.get(&raw), Some(&"x".into()));
}

#[test]
fn cleaning_twice_changes_nothing_more() {
    let once = cleaned(&[
        ("RUBYOPT", "-W0 -rbundler/setup"),
        ("BUNDLER_ORIG_PATH", "/bin"),
        ("PATH", "/x"),
    ]);
    assert_eq!(clean_for("linux", once.clone()), once);
}

#[test]
fn the_boot_key_ignores_the_terminal_and_nothing_else() {
    let base = boot_key(&vars(&[("PATH", "/bin"), ("CI", "1")]));
    for noise in [
        "PWD",
        "_",
        "TERM",
        "SHLVL",
        "SSH_AUTH_SOCK",
        "TERM_PROGRAM",
        "WINDOWID",
        "TMUX_PANE",
        "EDITOR",
        "GH_PAGER",
        "HISTSIZE",
        "SHELL",
        "PYTHONUNBUFFERED",
        "XDG_SESSION_ID",
        "CLAUDE_PROJECT_DIR",
        "CURSOR_TRACE_ID",
        "npm_lifecycle_event",
    ] {
        assert_eq!(
            boot_key(&vars(&[("PATH", "/bin"), ("CI", "1"), (noise, "9")])),
            base,
            "{noise}"
        );
    }
    for different in [
        &[("PATH", "/bin")][..],
        &[("PATH", "/bin"), ("CI", "0")],
        &[("PATH", "/bin"), ("CI", "1"), ("BUNDLE_GEMFILE", "next")],
        &[("C", "I1PATH/bin")],
        &[("PATH", "/bin"), ("CI", "1"), ("PWD_CACHE", "9")],
        &[("PATH", "/bin"), ("CI", "1"), ("USER", "ada")],
        &[("PATH", "/bin"), ("CI", "1"), ("CLAUDE_MODEL", "9")],
    ] {
        assert_ne!(boot_key(&vars(different)), base, "{different:?}");
    }
}

#[test]
fn what_makes_two_keys_differ_is_told_by_name() {
    let one = vars(&[("PATH", "/bin"), ("TERM", "dumb"), ("CI", "1"), ("DATABASE_URL", "x")]);
    let other = vars(&[
        ("PATH", "/bin"),
        ("TERM", "xterm"),
        ("DATABASE_URL", "y"),
        ("LANG", "C"),
    ]);
    assert_eq!(differences(&one, &other), ["CI", "DATABASE_URL", "LANG"]);
    assert_eq!(differences(&other, &one), ["CI", "DATABASE_URL", "LANG"]);
    assert_eq!(differences(&one, &one), [""; 0]);
}

/// Whoever looks at it wants colours or not; what the app writes goes to a pipe.
#[test]
fn wishes_about_colours_are_not_passed_on() {
    let wishes = [
        ("NO_COLOR", "1"),
        ("FORCE_COLOR", "1"),
        ("CLICOLOR", "1"),
        ("CLICOLOR_FORCE", "1"),
    ];
    assert_eq!(cleaned(&wishes), cleaned(&[]));
}

#[test]
fn the_boot_key_never_shows_a_value() {
    let key = boot_key(&vars(&[("SECRET", "hunter2")]));
    assert_eq!(key.to_string().len(), 64);
    assert!(!format!("{key:?}").contains("hunter2"));
}

/// Each row: settings, a variable, and whether it stays.
#[test]
fn secrets_are_kept_from_the_app_unless_they_are_asked_for() {
    let table = [
        ("{}", "GITHUB_TOKEN", false),
        ("{}", "AWS_SECRET_ACCESS_KEY", false),
        ("{}", "ANTHROPIC_API_KEY", false),
        ("{}", "SSH_AUTH_SOCK", false),
        ("{}", "BUNDLE_GEMS__EXAMPLE__COM", false),
        ("{}", "AWS_REGION", true),
        ("{}", "AWS_ENDPOINT_URL_S3", true),
        ("{}", "PATH", true),
        ("{}", "DATABASE_URL", true),
        ("{}", "PGPASSWORD", true),
        ("{}", "RAILS_MASTER_KEY", true),
        ("{}", "TOKENIZERS", true),
        ("{mode: off}", "GITHUB_TOKEN", true),
        ("{mode: off, env: {drop: [PATH]}}", "PATH", false),
        ("{env: {keep: [GITHUB_*]}}", "GITHUB_TOKEN", true),
        ("{env: {drop: ['P*']}}", "PATH", false),
        ("{env: {drop: ['*'], keep: [PATH]}}", "PATH", true),
    ];
    for (settings, name, stays) in table {
        let sandbox = Config::parse(&format!("sandbox: {settings}")).unwrap().sandbox;
        let left = for_app(vars(&[(name, "x")]), &sandbox);
        assert_eq!(value(&left, name).is_some(), stays, "{settings} {name}");
    }
}

#[test]
fn what_is_held_back_is_known_by_name() {
    let all = vars(&[
        ("A_TOKEN", "x"),
        ("B_TOKEN", "x"),
        ("C_TOKEN", "x"),
        ("MINE", "x"),
        ("SSH_AUTH_SOCK", "x"),
        ("PATH", "x"),
    ]);
    let of = |settings: &str| {
        let sandbox = Config::parse(&format!("sandbox: {settings}")).unwrap().sandbox;
        held_back(&all, &sandbox).join(" ")
    };
    assert_eq!(of("{}"), "A_TOKEN B_TOKEN C_TOKEN");
    assert_eq!(of("{env: {keep: [A_*], set: {B_TOKEN: b}, drop: [MINE]}}"), "C_TOKEN");
    assert_eq!(of("{mode: off}"), "");
}

#[test]
fn variables_are_set_whatever_was_dropped() {
    let sandbox = Config::parse("sandbox: {env: {set: {API_TOKEN: test}}}")
        .unwrap()
        .sandbox;
    assert_eq!(
        value(&for_app(vars(&[("API_TOKEN", "real")]), &sandbox), "API_TOKEN"),
        Some("test")
    );
}

#[test]
fn chrome_gets_a_place_that_it_may_write_to_unless_it_has_one_or_may_write_anywhere() {
    let sandbox = |text: &str| Config::parse(text).unwrap().sandbox;
    let of = |set: &[(&str, &str)], settings: &str| {
        let vars = for_app(vars(set), &sandbox(settings));
        ["BREAKPAD_DUMP_LOCATION", "CHROME_CONFIG_HOME"].map(|name| value(&vars, name).unwrap_or("none").to_owned())
    };
    assert_eq!(of(&[("USER", "ann")], ""), ["/tmp/coatepec-chrome-ann"; 2]);
    assert_eq!(of(&[("TMPDIR", "/t")], ""), ["/t/coatepec-chrome-user"; 2]);
    assert_eq!(of(&[("CHROME_CONFIG_HOME", "/c")], "")[1], "/c");
    assert_eq!(of(&[("USER", "ann")], "sandbox: {mode: off}"), ["none"; 2]);
}
