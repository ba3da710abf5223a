//! What `.coatepec.yml` may say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use coatepec::config::nearest::{distance, nearest};
use coatepec::config::sandbox::{self, Env, Mode, Network, Sandbox};
use coatepec::config::{
    Check, Config, Defaults, EXAMPLE, EngineRoutes, FILE, Finding, Fork, IncludeStdout, Routes, SpecRun,
};
use coatepec::error::{Error, Kind};

/// The example with its settings, which have no space or more than one behind the `#`, uncommented.
fn uncommented() -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') || rest.starts_with("  ") => rest.to_owned(),
        _ => line.to_owned(),
    };
    EXAMPLE.lines().map(|text| line(text) + "\n").collect()
}

fn refused(text: &str) -> Error {
    let error = Config::parse(text).expect_err(text);
    assert_eq!(error.kind, Kind::InvalidConfig);
    error
}

#[test]
fn the_example_says_what_holds_without_it() {
    assert_eq!(Config::parse(EXAMPLE).unwrap(), Config::default());
    assert_eq!(Config::parse(&uncommented()).unwrap(), Config::default());
}

#[test]
fn the_example_has_every_key() {
    // Taken apart without `..`, so that a new key does not compile until it is listed here.
    let Config {
        ruby_command: _,
        boot: _,
        boot_timeout_seconds: _,
        grace_seconds: _,
        spec_roots: _,
        preload: _,
        fork: _,
        fork_unsafe_gems: _,
        macos_fork: _,
        macos_fork_unsafe_gems: _,
        max_memory_mib: _,
        max_processes: _,
        max_warm_memory_mib: _,
        max_file_mib: _,
        max_result_bytes: _,
        max_output_bytes: _,
        idle_timeout_seconds: _,
        sandbox,
        defaults: Defaults { spec_run, routes },
        check: Check { ignore: _ },
    } = Config::default();
    let Sandbox {
        mode: _,
        write: _,
        read: _,
        deny: _,
        network: _,
        env: Env {
            keep: _,
            drop: _,
            set: _,
        },
        limits: sandbox::Limits { open_files: _ },
        required: _,
    } = sandbox;
    let SpecRun {
        include_passing: _,
        include_stdout: _,
        timeout_seconds: _,
    } = spec_run;
    let Routes { engines: _ } = routes;
    let keys = [
        "ruby_command",
        "boot",
        "boot_timeout_seconds",
        "grace_seconds",
        "spec_roots",
        "preload",
        "fork",
        "fork_unsafe_gems",
        "macos_fork",
        "macos_fork_unsafe_gems",
        "max_memory_mib",
        "max_processes",
        "max_warm_memory_mib",
        "max_file_mib",
        "max_result_bytes",
        "max_output_bytes",
        "idle_timeout_seconds",
        "sandbox",
        "  mode",
        "  write",
        "  read",
        "  deny",
        "  network",
        "  env",
        "    keep",
        "    drop",
        "    set",
        "  limits",
        "    open_files",
        "  required",
        "defaults",
        "  spec_run",
        "    include_passing",
        "    include_stdout",
        "    timeout_seconds",
        "  routes",
        "    engines",
        "check",
        "  ignore",
    ];
    let example = uncommented();
    let mut written: Vec<&str> = example
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    written.sort_unstable();
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    assert_eq!(written, keys);
}

#[test]
fn every_value_is_read() {
    let text = "
ruby_command: mise exec --
boot: ./spec/boot.rb
boot_timeout_seconds: 3600
grace_seconds: 0
spec_roots: [components/*/spec/, checks]
preload: [spec/support/heavy.rb]
fork: never
fork_unsafe_gems: [grpc]
macos_fork: false
macos_fork_unsafe_gems: [pg]
max_memory_mib: 64
max_processes: 1
max_warm_memory_mib: 256
max_file_mib: 1
max_result_bytes: 4096
max_output_bytes: 1024
idle_timeout_seconds: 0
sandbox:
  mode: strict
  write: [~/x/*, $TMPDIR/y, ./z]
  read: [/opt//data]
  deny: ['~']
  network: none
  env: {keep: [AWS_*], drop: [EDITOR], set: {LOG_LEVEL: warn}}
  limits: {open_files: 64}
  required: true
defaults:
  spec_run: {include_passing: true, include_stdout: always, timeout_seconds: 900}
  routes: {engines: only}
check: {ignore: [action_without_route, inverse_missing]}
";
    let spec_run = SpecRun {
        include_passing: true,
        include_stdout: IncludeStdout::Always,
        timeout_seconds: 900,
    };
    let expected = Config {
        ruby_command: Some(["mise", "exec", "--"].map(String::from).to_vec()),
        boot: Some(PathBuf::from("spec/boot.rb")),
        boot_timeout_seconds: 3600,
        grace_seconds: 0,
        spec_roots: vec!["components/*/spec".into(), "checks".into()],
        preload: vec![PathBuf::from("spec/support/heavy.rb")],
        fork: Fork::Never,
        fork_unsafe_gems: vec!["grpc".into()],
        macos_fork: false,
        macos_fork_unsafe_gems: vec!["pg".into()],
        max_memory_mib: 64,
        max_processes: 1,
        max_warm_memory_mib: 256,
        max_file_mib: 1,
        max_result_bytes: 4096,
        max_output_bytes: 1024,
        idle_timeout_seconds: 0,
        sandbox: Sandbox {
            mode: Mode::Strict,
            write: ["~/x/*", "$TMPDIR/y", "z"].map(String::from).to_vec(),
            read: vec!["/opt/data".into()],
            deny: vec!["~".into()],
            network: Some(Network::None),
            env: Env {
                keep: vec!["AWS_*".into()],
                drop: vec!["EDITOR".into()],
                set: BTreeMap::from([("LOG_LEVEL".into(), "warn".into())]),
            },
            limits: sandbox::Limits { open_files: Some(64) },
            required: true,
        },
        defaults: Defaults {
            spec_run,
            routes: Routes {
                engines: EngineRoutes::Only,
            },
        },
        check: Check {
            ignore: vec![Finding::ActionWithoutRoute, Finding::InverseMissing],
        },
    };
    assert_eq!(Config::parse(text).unwrap(), expected);
}

#[test]
fn a_command_may_be_a_list_with_spaces_in_its_words() {
    let config = Config::parse("ruby_command: [/opt/my ruby/bin/env, -S]").unwrap();
    assert_eq!(config.ruby_command.unwrap(), ["/opt/my ruby/bin/env", "-S"]);
}

#[test]
fn nothing_written_means_the_default() {
    let empty = [
        "",
        "---\n",
        "# a comment\n",
        "defaults:\n",
        "defaults:\n  spec_run:\n  routes:\n",
        "spec_roots:\npreload:\n",
        "check:\n",
        "check:\n  ignore:\n",
        "sandbox:\n  write:\n  network:\n  env:\n    set:\n  limits:\n    open_files:\n",
        "fork_unsafe_gems:\nboot:\nruby_command:\n",
    ];
    for text in empty {
        assert_eq!(Config::parse(text).expect(text), Config::default(), "{text:?}");
    }
}

#[test]
fn an_unknown_word_is_named_with_its_line_and_the_nearest_right_one() {
    let table = [
        (
            "fork: auto\nwhatever: 3\n",
            "key `whatever` in line 2",
            "known here: ruby_command, boot",
        ),
        (
            "boot_timout_seconds: 3\n",
            "key `boot_timout_seconds` in line 1",
            "did you mean `boot_timeout_seconds`?",
        ),
        (
            "defaults:\n  spec_run:\n    timeout: 3\n",
            "key `timeout` in line 3",
            "did you mean `timeout_seconds`?",
        ),
        (
            "idle_timeout: 3\n",
            "key `idle_timeout` in line 1",
            "did you mean `idle_timeout_seconds`?",
        ),
        (
            "MAX_RESULT_BYTES: 9000\n",
            "key `MAX_RESULT_BYTES` in line 1",
            "did you mean `max_result_bytes`?",
        ),
        (
            "timeout_seconds: 5\n",
            "key `timeout_seconds` in line 1",
            "it belongs to `defaults: {spec_run: {timeout_seconds: …}}`",
        ),
        (
            "defaults.spec_run.timeout: 5\n",
            "key `defaults.spec_run.timeout` in line 1",
            "did you mean `defaults: {spec_run: {timeout_seconds: …}}`?",
        ),
        (
            "mode: off\n",
            "key `mode` in line 1",
            "it belongs to `sandbox: {mode: …}`",
        ),
        (
            "sandbox: {max_processes: 9}\n",
            "key `max_processes` in line 1",
            "it belongs to `max_processes: …`",
        ),
        (
            "sandbox: {open_files: 99}\n",
            "key `open_files` in line 1",
            "it belongs to `sandbox: {limits: {open_files: …}}`",
        ),
        (
            "defaults:\n  specrun: {}\n",
            "key `specrun` in line 2",
            "did you mean `spec_run`?",
        ),
        (
            "\nfork: allways\n",
            "value `allways` in line 2",
            "did you mean `always`?",
        ),
        (
            "defaults: {routes: {engines: none}}",
            "value `none` in line 1",
            "known here: include, exclude, only",
        ),
        (
            "check:\n  ignore:\n    - job_missing\n    - mailer_mising\n",
            "value `mailer_mising` in line 4",
            "did you mean `mailer_missing`?",
        ),
    ];
    for (text, message, hint) in table {
        let error = refused(text);
        assert!(error.message.contains(message), "{}", error.message);
        assert!(error.hint.as_ref().unwrap().starts_with(hint), "{:?}", error.hint);
    }
}

#[test]
fn what_is_no_section_is_answered_with_how_to_write_one() {
    let table = [
        ("sandbox: off\n", "`sandbox: {mode: off}`"),
        ("sandbox: [off]\n", "`sandbox: {mode: off}`"),
        ("sandbox: {env: KEY}\n", "`env: {keep: [NAME]}`"),
        ("sandbox: {limits: 9}\n", "`limits: {open_files: 1024}`"),
        ("defaults: 5\n", "`defaults: {spec_run: {timeout_seconds: 60}}`"),
        ("defaults: {routes: x}\n", "`routes: {engines: include}`"),
        ("check: job_missing\n", "`check: {ignore: [foreign_key_not_indexed]}`"),
        ("- a\n", "settings, such as `fork: never`"),
        ("off\n", "settings, such as `fork: never`"),
    ];
    for (text, expected) in table {
        let error = refused(text);
        assert!(error.message.contains(expected), "{}", error.message);
        assert!(!error.message.contains("struct"), "{}", error.message);
    }
}

#[test]
fn a_value_out_of_range_is_answered_with_the_range() {
    let table = [
        ("boot_timeout_seconds", "0 3601 -1 1.5 soon", "1 to 3600"),
        ("grace_seconds", "61 -1 true", "0 to 60"),
        ("idle_timeout_seconds", "86401 -1 never", "0 to 86400"),
        ("max_result_bytes", "4095 1048577 24KiB", "4096 to 1048576"),
        (
            "max_output_bytes",
            "1023 262145 99999999999999999999999",
            "1024 to 262144",
        ),
    ];
    for (key, values, range) in table {
        for value in values.split(' ') {
            let message = refused(&format!("fork: auto\n{key}: {value}\n")).message;
            assert!(message.contains(key) && message.contains(range), "{value}: {message}");
            assert!(message.contains("line 2"), "{value}: {message}");
        }
    }
    for value in [0, 901] {
        let message = refused(&format!("defaults:\n  spec_run:\n    timeout_seconds: {value}\n")).message;
        assert!(message.contains("defaults.spec_run.timeout_seconds"), "{message}");
        assert!(message.contains("1 to 900") && message.contains("line 3"), "{message}");
    }
}

#[test]
fn a_wrong_value_is_refused() {
    let texts = [
        "[a, list]",
        "just text",
        "fork: true",
        "fork: [auto]",
        "macos_fork: maybe",
        "check: {ignore: job_missing}",
        "check: {ignore: [1]}",
        "spec_roots: spec",
        "spec_roots: [/spec]",
        "spec_roots: [a/../spec]",
        "spec_roots: ['']",
        "spec_roots: ['.']",
        "spec_roots: ['**/a/**/spec']",
        "spec_roots: [3, [4]]",
        "preload: [../x.rb]",
        "boot: /etc/boot.rb",
        "boot: ''",
        "boot: [a]",
        "ruby_command: ''",
        "ruby_command: []",
        "ruby_command: {a: b}",
        "ruby_command: ['']",
        "fork_unsafe_gems: [' ']",
        "fork: auto\nfork: never",
        "grace_seconds:",
        "a: &a [*a]",
        "fork: [",
        "sandbox: {mode: on}",
        "sandbox: {modes: off}",
        "sandbox: {network: internet}",
        "sandbox: {write: [a/../..]}",
        "sandbox: {write: [/tmp/../etc]}",
        "sandbox: {write: [~]}",
        "sandbox: {write: [~root/x]}",
        "sandbox: {write: [$HOME/x]}",
        "sandbox: {env: {keep: ['A=B']}}",
        "sandbox: {env: {keep: ['']}}",
        "sandbox: {env: {set: {A: [1]}}}",
        "sandbox: {limits: {open_files: 63}}",
        "sandbox: {required: 1}",
        "\tfork: auto",
        "fork: auto\n---\nfork: never",
    ];
    for text in texts {
        assert!(refused(text).hint.is_some(), "{text}");
    }
}

#[test]
fn a_message_does_not_repeat_a_whole_file() {
    let error = refused(&format!("fork: {}", "x".repeat(50_000)));
    assert!(error.to_string().len() < 1_000);
}

#[test]
fn anchors_that_multiply_are_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..9 {
        let before = format!("*a{}, ", n - 1).repeat(9);
        text += &format!("a{n}: &a{n} [{before}]\n");
    }
    text += "spec_roots: *a8\n";
    refused(&text);
}

#[test]
fn the_file_is_read_below_the_root_or_missing() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(Config::load(root.path()).unwrap(), Config::default());
    assert_eq!(Config::load(Path::new("/nowhere/at/all")).unwrap(), Config::default());
    fs::write(root.path().join(FILE), "grace_seconds: 7").unwrap();
    assert_eq!(Config::load(root.path()).unwrap().grace_seconds, 7);
}

#[test]
fn a_file_that_can_not_be_one_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join(FILE);
    let refused = |what: &str| {
        let error = Config::load(root.path()).expect_err(what);
        assert_eq!(error.kind, Kind::InvalidConfig, "{what}");
        assert!(error.to_string().contains(what), "{error}");
    };
    fs::write(&file, "#".repeat(64 * 1024 + 1)).unwrap();
    refused("64 KiB");
    fs::write(&file, b"boot: caf\xe9").unwrap();
    refused("UTF-8");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused("not a file");
    fs::remove_dir(&file).unwrap();
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused("not a file");
}

#[test]
fn slips_are_counted_as_a_person_would() {
    for (a, b, slips) in [
        ("", "", 0),
        ("ab", "", 2),
        ("widget", "wdget", 1),
        ("fork", "fokr", 2),
        ("über", "uber", 1),
    ] {
        assert_eq!(distance(a, b), slips, "{a} {b}");
        assert_eq!(distance(b, a), slips, "{b} {a}");
    }
    assert_eq!(nearest("forc", ["boot", "fork", "form"]), Some("fork"));
    assert_eq!(nearest("x", ["boot", "fork"]), None);
}

#[test]
fn a_wrong_text_is_named_with_its_key_and_line() {
    let table = [
        ("boot: /etc/boot.rb", "boot", "must be relative to the root"),
        ("preload: [a.rb, ../b.rb]", "preload[1]", "must be relative to the root"),
        ("spec_roots: [a/**/b/**]", "spec_roots[0]", "more than one `**`"),
        ("fork_unsafe_gems: ['']", "fork_unsafe_gems[0]", "a name is empty"),
        ("fork_unsafe_gems: pg", "fork_unsafe_gems", "a list of strings"),
        ("fork: [auto]", "fork", "expected a word"),
        ("boot: [a]", "boot", "expected a string"),
        ("macos_fork: maybe", "macos_fork", "expected a boolean"),
    ];
    for (text, key, wrong) in table {
        let message = refused(&format!("grace_seconds: 1\n{text}")).message;
        for part in [key, wrong, "line 2"] {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
