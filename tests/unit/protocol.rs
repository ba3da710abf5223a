//! What was said between the two sides, read as the supervisor reads it. The transcripts are recorded; the Ruby side
//! has the same conversations in transcripts_test.rb.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use coatepec::run::log::RunLog;
use coatepec::run::outcome::{End, Outcome, Stop, judge};
use coatepec::worker::protocol::{
    Answer, Ask, Chosen, Cost, CoveredFile, Envelope, ExampleFinished, ExampleStatus, Expense, FactoryTotal,
    FactoryUse, Facts, Failure, Filters, Framework, GcTotal, GemProbe, Identity, Inputs, ListedExample, Listing,
    Location, ProcessMode, ProfileTotal, QueryUse, Ready, Record, RunEvent, RunRequest, SqlTotal, Started, ThreadDump,
    Told, Traces, VERSION, Versions,
};

use crate::told::failure;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unit/transcripts")
}

/// The lines of one transcript.
fn lines(name: &str) -> Vec<String> {
    let text = fs::read_to_string(directory().join(name).with_extension("ndjson")).unwrap();
    text.lines().map(ToOwned::to_owned).collect()
}

fn names() -> Vec<String> {
    let files = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let transcripts = files.filter(|file| file.extension().is_some_and(|extension| extension == "ndjson"));
    transcripts
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn is(line: &str, kind: &str) -> bool {
    serde_json::from_str::<Value>(line).unwrap().get(kind).is_some()
}

/// What the worker or zygote says in a transcript.
fn answers(name: &str) -> Vec<Answer> {
    let told = lines(name).into_iter().filter(|line| is(line, "told"));
    told.map(|line| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{name}: {error} in {line}")))
        .collect()
}

fn told(name: &str) -> Vec<Told> {
    answers(name).into_iter().map(|answer| answer.told).collect()
}

fn records(name: &str) -> Vec<Record> {
    let lines = lines(name).into_iter();
    lines
        .map(|line| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{name}: {error} in {line}")))
        .collect()
}

fn events(name: &str) -> Vec<RunEvent> {
    records(name).into_iter().map(|record| record.e).collect()
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn frames(failure: Failure, frames: &[&str]) -> Failure {
    Failure {
        frames: texts(frames),
        ..failure
    }
}

fn versions() -> Versions {
    Versions {
        ruby: Some("3.3.8".to_owned()),
        rails: Some("7.2.2.2".to_owned()),
        rspec: Some("3.13.0".to_owned()),
        minitest: Some("5.25.4".to_owned()),
    }
}

fn inputs() -> Inputs {
    Inputs {
        whole: false,
        reload_dirs: paths(&["/srv/shop/app/models"]),
        reload_files: paths(&["/srv/shop/config/routes.rb"]),
        app_features: Vec::new(),
        features: paths(&["/srv/shop/config/environment.rb"]),
        config_dirs: paths(&["/srv/shop/config"]),
        gemfiles: paths(&["/srv/shop/Gemfile", "/srv/shop/Gemfile.lock"]),
        code_dirs: paths(&["/srv/shop/engine/lib"]),
        vouched: paths(&["/srv/shop/Gemfile.lock"]),
        boot_traces: Traces {
            files: paths(&["/srv/shop/config/settings.yml"]),
            dirs: paths(&["/srv/shop/data"]),
            listings: vec![listing("/srv/shop/app", "*")],
            written: Vec::new(),
        },
        asks_tables: false,
        class_traces: Traces::default(),
    }
}

/// The worker's, and what its fork has loaded.
fn inputs_of_app() -> Inputs {
    Inputs {
        app_features: paths(&["/srv/shop/lib/prices.rb"]),
        class_traces: Traces {
            files: paths(&["/srv/shop/app/models/cart.txt"]),
            ..Traces::default()
        },
        ..inputs()
    }
}

fn listing(dir: &str, pattern: &str) -> Listing {
    Listing {
        dir: dir.into(),
        pattern: pattern.to_owned(),
    }
}

fn example(file: &str, id: &str, description: &str, line: u32) -> Identity {
    Identity {
        id: format!("./spec/{file}_spec.rb[{id}]"),
        description: description.to_owned(),
        file: format!("./spec/{file}_spec.rb"),
        line,
    }
}

fn ended(example: Identity, status: ExampleStatus) -> ExampleFinished {
    ExampleFinished {
        example,
        status,
        seconds: Some(0.25),
        assertions: None,
        reason: None,
        failure: None,
        pending_fixed: None,
        cost: None,
    }
}

fn failed(example: Identity, failure: Failure) -> ExampleFinished {
    ExampleFinished {
        failure: Some(failure),
        pending_fixed: Some(false),
        ..ended(example, ExampleStatus::Failed)
    }
}

fn started(file: &str, examples: u32) -> Started {
    Started {
        seconds: 0.25,
        selected: examples,
        loaded: examples,
        ids: (1..=examples)
            .map(|n| format!("./spec/{file}_spec.rb[1:{n}]"))
            .collect(),
        seed: Some(17),
        random: false,
        dry_run: false,
        fail_fast: false,
        excluded: Vec::new(),
        filters: Filters::default(),
        unmatched: Vec::new(),
        known_as: Vec::new(),
        outside: 0,
    }
}

/// The values of all events of one kind, in order.
macro_rules! all {
    ($events:expr, $pattern:pat => $value:expr) => {
        $events
            .into_iter()
            .filter_map(|event| match event {
                $pattern => Some($value),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
}

#[test]
fn a_worker_says_hello_and_boots() {
    let [hello, booted] = &answers("boot")[..] else {
        panic!("not two")
    };
    assert_eq!((hello.id, booted.id), (None, Some(1)));
    let Told::Hello {
        protocol,
        code,
        pid,
        ruby,
    } = &hello.told
    else {
        panic!("{hello:?}")
    };
    assert_eq!(
        (*protocol, code.as_str(), *pid, ruby.as_str()),
        (VERSION, "0123456789abcdef", 70, "3.3.8")
    );
    let Told::Booted { seconds, inputs: told } = &booted.told else {
        panic!("{booted:?}")
    };
    assert_eq!((*seconds, &**told), (0.25, &inputs()));
}

#[test]
fn an_app_is_forked_and_says_what_it_is() {
    assert!(matches!(told("app")[..], [Told::Forked { pid: 60 }]));
    assert_eq!(answers("ready")[0].id, None);
    let [Told::Ready(ready)] = &told("ready")[..] else {
        panic!("not ready")
    };
    assert_eq!(
        **ready,
        Ready {
            seconds: 0.25,
            versions: versions(),
            inputs: inputs_of_app(),
            eager_load_error: None,
            threads: texts(&["AR Pool Reaper", "config/initializers/poll.rb:3"]),
            native: texts(&["vips worker"]),
            databases: texts(&["sqlite:/srv/shop/storage/test.sqlite3"]),
            listening: texts(&["port 9394"]),
        }
    );
}

#[test]
fn a_boot_and_the_app_after_it_fail_with_the_place() {
    let [_, Told::BootFailed { seconds, error }] = &told("boot_failed")[..] else {
        panic!("no failed boot")
    };
    assert_eq!(*seconds, 0.25);
    assert_eq!((error.class.as_str(), error.frames.len()), ("SyntaxError", 2));
    assert_eq!(
        error.message,
        "/srv/shop/config/environment.rb:3: syntax error, unexpected ')'"
    );
    assert_eq!(
        error.location,
        Some(Location {
            file: "/srv/shop/config/environment.rb".to_owned(),
            line: 3
        })
    );

    let [Told::LoadFailed { seconds, error }] = &told("app_failed")[..] else {
        panic!("no failed app")
    };
    assert_eq!(*seconds, 0.25);
    assert_eq!(
        error.location,
        Some(Location {
            file: "/srv/shop/config/routes.rb".to_owned(),
            line: 3
        })
    );
}

#[test]
fn an_app_tells_what_could_not_be_loaded() {
    let [Told::Ready(ready)] = &told("eager_load_error")[..] else {
        panic!("not ready")
    };
    assert_eq!(ready.inputs, inputs_of_app());
    let error = ready.eager_load_error.as_ref().unwrap();
    assert_eq!(error.class, "NameError");
    assert!(
        error
            .message
            .starts_with("undefined local variable or method `oops' for class Cart\n")
    );
    assert_eq!(error.frames[0], "/srv/shop/app/models/cart.rb:1:in `<class:Cart>'");
    assert_eq!((&error.location, error.causes.len(), error.parts.len()), (&None, 0, 0));
}

#[test]
fn a_worker_answers_small_questions() {
    assert!(matches!(told("ping")[..], [Told::Pong {}]));
    let [Told::Facts(facts)] = &told("facts")[..] else {
        panic!("no facts")
    };
    assert_eq!(
        *facts,
        Facts {
            threads: texts(&["AR Pool Reaper"]),
            native: texts(&["vips worker"]),
            loaded: texts(&["rails", "railties"]),
            live: Vec::new(),
        }
    );
    let [Told::Refused { reason }] = &told("refused")[..] else {
        panic!("not refused")
    };
    assert_eq!(reason, "unknown question sing");
}

#[test]
fn a_zygote_is_forked_and_loads_the_helper_or_not() {
    assert!(matches!(told("zygote")[..], [Told::Forked { pid: 70 }]));
    let [
        Answer {
            id: None,
            told:
                Told::Loaded {
                    seconds,
                    features,
                    traces,
                    versions: with,
                    outdated: false,
                },
        },
    ] = &answers("loaded")[..]
    else {
        panic!("not loaded");
    };
    assert_eq!((*seconds, with), (0.25, &versions()));
    let loaded = ["config/environment.rb", "app/models/cart.rb", "spec/rails_helper.rb"];
    assert_eq!(*features, loaded.map(|file| Path::new("/srv/shop").join(file)));
    assert_eq!(traces.files, paths(&["/srv/shop/spec/data.txt"]));
    assert_eq!(traces.listings, [listing("/srv/shop/spec/support", "**/*.rb")]);

    let [
        Answer {
            id: None,
            told: Told::LoadFailed { seconds, error },
        },
    ] = &answers("load_failed")[..]
    else {
        panic!("loaded");
    };
    assert_eq!(*seconds, 0.25);
    let place = [
        "/srv/shop/spec/rails_helper.rb:1:in `abort'",
        "/srv/shop/spec/rails_helper.rb:1:in `<top (required)>'",
    ];
    assert_eq!(*error, frames(failure("SystemExit", "migrations are pending"), &place));
}

#[test]
fn a_run_is_forked_and_reaped() {
    let [
        Told::Forked { pid: 70 },
        Told::Reaped { status, signal },
        Told::Reaped {
            status: None,
            signal: None,
        },
    ] = told("run")[..]
    else {
        panic!("{:?}", told("run"));
    };
    assert_eq!((status, signal), (Some(0), None));
    assert!(matches!(
        told("run_killed")[1],
        Told::Reaped {
            status: None,
            signal: Some(9)
        }
    ));
}

#[test]
fn a_fresh_process_tells_of_its_databases() {
    let RunEvent::Databases { names } = &events("database")[1] else {
        panic!("no databases")
    };
    assert_eq!(names[..], ["postgresql:localhost:5432:shop_test"]);
}

#[test]
fn a_passing_run_is_told_event_by_event() {
    let events = events("passing");
    assert!(matches!(events[0], RunEvent::Hello {}));
    let works = example("passing", "1:1", "Passing works", 4);
    let unwritten = example("passing", "1:2", "Passing is not written yet", 5);
    assert_eq!(
        all!(events.clone(), RunEvent::Started(it) => it),
        [started("passing", 2)]
    );
    assert_eq!(
        all!(events.clone(), RunEvent::ExampleStarted(it) => it),
        [works.clone(), unwritten.clone()]
    );
    assert_eq!(
        all!(events.clone(), RunEvent::ExampleFinished(it) => it),
        [
            ended(works, ExampleStatus::Passed),
            ExampleFinished {
                reason: Some("Not yet implemented".to_owned()),
                ..ended(unwritten, ExampleStatus::Pending)
            }
        ]
    );
    let end = all!(events.clone(), RunEvent::Finished { status, quit, outside, .. } => (status, quit, outside));
    assert_eq!(end, [(0, false, 0)]);
    assert_eq!(all!(events, RunEvent::Exit { status } => status), [0]);
}

#[test]
fn a_failing_run_is_told_with_every_kind_of_failure() {
    let events = events("failing");
    let at = |line| format!("/srv/shop/spec/failing_spec.rb:{line}:in `block (2 levels) in <top (required)>'");
    let expected = |message: &str, line| {
        frames(
            failure("RSpec::Expectations::ExpectationNotMetError", message),
            &[&at(line)],
        )
    };
    let finished = all!(events.clone(), RunEvent::ExampleFinished(it) => it);
    let [wrong, caused, twice, fixed] = &finished[..] else {
        panic!("not four")
    };

    let diff = "\nexpected: \"a\\nc\\n\"\n     got: \"a\\nb\\n\"\n\n(compared using ==)\n\nDiff:\n@@ -1,3 +1,3 @@\n a\n-c\n+b\n";
    assert_eq!(
        *wrong,
        failed(example("failing", "1:1", "Failing is wrong", 6), expected(diff, 6))
    );

    let cause = frames(failure("IOError", "closed"), &[&at(9)]);
    let failure_of_it = caused.failure.clone().unwrap();
    assert_eq!(
        (failure_of_it.class.as_str(), failure_of_it.causes),
        ("ArgumentError", vec![cause])
    );
    assert!(failure_of_it.message.starts_with("not readable\n"));

    let parts = twice.failure.clone().unwrap().parts;
    let not_equal = |one, other, line| {
        expected(
            &format!("\nexpected: {one}\n     got: {other}\n\n(compared using ==)\n"),
            line,
        )
    };
    assert_eq!(parts, [not_equal(2, 1, 15), not_equal(4, 3, 16)]);

    let message = "Expected example to fail since it is pending, but it passed.";
    let pending = frames(
        failure("RSpec::Core::Pending::PendingExampleFixedError", message),
        &["./spec/failing_spec.rb:19"],
    );
    assert_eq!(
        *fixed,
        ExampleFinished {
            pending_fixed: Some(true),
            ..failed(example("failing", "1:4", "Failing was fixed", 19), pending)
        }
    );

    let outside = all!(events.clone(), RunEvent::OutsideError { context, failure } => (context, failure));
    let hook = frames(failure("RuntimeError", "in a hook"), &[&at(4)]);
    assert_eq!(
        outside,
        [("An error occurred in an `after(:context)` hook.".to_owned(), hook)]
    );
    let end = all!(events, RunEvent::Finished { status, quit, outside, .. } => (status, quit, outside));
    assert_eq!(end, [(1, false, 1)]);
}

#[test]
fn a_run_of_minitest_is_told_with_its_assertions_and_what_matched_nothing() {
    let test = |name: &str, line| Identity {
        id: format!("./test/minitest_test.rb#CartTest#{name}"),
        description: format!("CartTest#{name}"),
        file: "./test/minitest_test.rb".to_owned(),
        line,
    };
    let events = events("minitest");
    let started = all!(events.clone(), RunEvent::Started(it) => it);
    assert_eq!(started[0].unmatched, ["test/minitest_test.rb#test_z"]);
    let at = |line, method| format!("/srv/shop/test/minitest_test.rb:{line}:in `{method}'");
    let mut failure_of_it = frames(
        failure("Minitest::Assertion", "Expected: \"b\"\n  Actual: \"c\""),
        &[&at(13, "test_b")],
    );
    let finished = all!(events, RunEvent::ExampleFinished(it) => it);
    let torn = finished[1].failure.clone().unwrap_or_default().parts.remove(0);
    assert_eq!(
        (torn.class.as_str(), &torn.frames[..]),
        ("ArgumentError", &[at(7, "teardown")][..])
    );
    failure_of_it.parts = vec![torn];
    let checked = |assertions, end| ExampleFinished {
        assertions: Some(assertions),
        ..end
    };
    assert_eq!(
        finished,
        [
            checked(1, ended(test("test_a", 10), ExampleStatus::Passed)),
            checked(
                1,
                ExampleFinished {
                    failure: Some(failure_of_it),
                    ..ended(test("test_b", 12), ExampleStatus::Failed)
                }
            ),
            checked(
                0,
                ExampleFinished {
                    reason: Some("later".to_owned()),
                    ..ended(test("test_c", 16), ExampleStatus::Pending)
                }
            ),
        ]
    );
}

#[test]
fn a_run_tells_where_its_time_goes_if_it_is_asked() {
    let events = events("profiled");
    let expense = |count| Expense { count, seconds: 0.25 };
    let cost = |sql, factories| Cost {
        sql: Some(expense(sql)),
        factories: Some(expense(factories)),
        gc_seconds: 0.25,
    };
    let costs = all!(events.clone(), RunEvent::ExampleFinished(it) => it.cost);
    assert_eq!(costs, [Some(cost(1, 2)), Some(cost(0, 0))]);
    let query = QueryUse {
        sql: "INSERT INTO owners VALUES (?)".to_owned(),
        count: 1,
        seconds: 0.25,
    };
    let factory = FactoryUse {
        name: "cart".to_owned(),
        strategies: [("build".to_owned(), 1), ("create".to_owned(), 1)].into(),
        seconds: 0.25,
        own: 0.25,
        raised: 0,
    };
    let total = ProfileTotal {
        sql: Some(SqlTotal {
            count: 1,
            seconds: 0.25,
            failed: 0,
            cached: 1,
            statements: 1,
            queries: vec![query],
        }),
        factories: Some(FactoryTotal {
            count: 2,
            seconds: 0.25,
            raised: 0,
            names: 1,
            by_name: vec![factory],
        }),
        gc: Some(GcTotal {
            runs: 1,
            major: 1,
            seconds: 0.25,
            allocated: 1000,
        }),
    };
    assert_eq!(all!(events, RunEvent::Profile(it) => it), [total.clone(), total]);
}

#[test]
fn a_listing_tells_examples_with_their_tags_and_runs_none() {
    let events = events("listing");
    let told = all!(events.clone(), RunEvent::Listed { examples } => examples);
    let listing = |id, description, line, tags: &[&str]| ListedExample {
        example: example("passing", id, description, line),
        tags: tags.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(
        told.concat(),
        [
            listing("1:1", "Passing works", 4, &[]),
            listing("1:2", "Passing is not written yet", 5, &["skip: Not yet implemented"])
        ]
    );
    assert!(all!(events, RunEvent::ExampleStarted(it) => it).is_empty());
}

#[test]
fn a_run_that_is_measured_tells_lines_and_who_executed_them() {
    let files = all!(events("covering"), RunEvent::Covered { lines, .. } => lines).concat();
    let told = |file: &CoveredFile| {
        (
            file.path.clone(),
            file.loaded,
            file.executed.clone(),
            file.missed.clone(),
        )
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        files.iter().map(told).collect::<Vec<_>>(),
        [
            ("app/models/cart.rb".to_owned(), true, text("3"), text("")),
            ("config/environment.rb".to_owned(), false, text(""), text("4-5,7-9,12")),
            ("spec/gone_spec.rb".to_owned(), false, None, None),
        ]
    );
    let touched = all!(events("covering"), RunEvent::Touched { test, files } => (test, files));
    assert_eq!(
        touched,
        [("spec/covering_spec.rb".to_owned(), texts(&["app/models/cart.rb"]))]
    );
}

#[test]
fn a_hanging_run_tells_where() {
    let threads = all!(events("hanging"), RunEvent::Threads { threads } => threads);
    assert_eq!(
        threads,
        [[ThreadDump {
            name: None,
            main: true,
            status: "run".to_owned(),
            frames: texts(&[
                "/srv/shop/spec/hanging_spec.rb:6:in `sleep'",
                "/srv/shop/spec/hanging_spec.rb:6:in `block (2 levels) in <top (required)>'",
            ]),
        }]]
    );
    let started = all!(events("hanging"), RunEvent::Started(it) => (it.seed, it.random));
    assert_eq!(started, [(Some(4711), true)]);
}

#[test]
fn messages_of_the_framework_are_told() {
    let texts = all!(events("no_examples"), RunEvent::Message { text } => text);
    assert_eq!(
        texts,
        [
            "Run options: include {:full_description=>/Nothing/}",
            "\nAll examples were filtered out"
        ]
    );
}

#[test]
fn each_run_has_the_outcome_that_it_should() {
    let late = Some(Stop::Deadline);
    let table = [
        ("passing", End::Exited(0), None, Outcome::Passed, ""),
        ("forked", End::Exited(0), None, Outcome::Passed, ""),
        ("minitest", End::Exited(1), None, Outcome::Failed, ""),
        (
            "listing",
            End::Exited(0),
            None,
            Outcome::Incomplete,
            "the test framework came to its end, and 2 of the selected examples never ran",
        ),
        ("covering", End::Exited(0), None, Outcome::Passed, ""),
        ("forking", End::Exited(0), None, Outcome::Passed, ""),
        ("failing", End::Exited(1), None, Outcome::Failed, ""),
        (
            "many",
            End::Exited(0),
            None,
            Outcome::Incomplete,
            "the process exited with status 0 between examples",
        ),
        (
            "killed",
            End::Signaled(9),
            None,
            Outcome::Crashed,
            "the process was killed by SIGKILL in spec/killed_spec.rb[1:2]",
        ),
        (
            "exiting",
            End::Exited(0),
            None,
            Outcome::Incomplete,
            "the process exited with status 0 in spec/exiting_spec.rb[1:1]",
        ),
        (
            "hanging",
            End::Signaled(15),
            late,
            Outcome::TimedOut,
            "the deadline passed in spec/hanging_spec.rb[1:1]",
        ),
        (
            "hanging",
            End::Signaled(15),
            None,
            Outcome::Crashed,
            "the process was killed by SIGTERM in spec/hanging_spec.rb[1:1]",
        ),
        (
            "load_error",
            End::Exited(1),
            None,
            Outcome::LoadError,
            "an error occurred while loading, so no example was run",
        ),
        (
            "no_examples",
            End::Exited(0),
            None,
            Outcome::NoExamples,
            "none of 2 examples matched (All examples were filtered out)",
        ),
    ];
    for (name, end, stop, outcome, reason) in table {
        let mut log = RunLog::of_child(70);
        records(name).into_iter().for_each(|record| log.apply(record));
        let verdict = judge(&log, end, stop);
        assert_eq!(
            (verdict.outcome, verdict.reason.as_deref().unwrap_or("")),
            (outcome, reason),
            "{name}"
        );
        assert_eq!(log.ignored, 0, "{name}");
        assert_eq!(log.coverage_skipped, name == "forked", "{name}");
    }
}

/// A question with its number and how many descriptors come with it.
type Question = (u64, usize, Ask);

/// What is asked in the transcripts, in the words of this side. The worker refuses the one question that it does not
/// know.
fn asked() -> Vec<(&'static str, Vec<Question>)> {
    let boot = || Ask::Boot {
        root: "/srv/shop".into(),
        environment: "config/environment.rb".into(),
    };
    let probe = |gem: &str, constant: Option<&str>| GemProbe {
        gem: gem.to_owned(),
        constant: constant.map(ToOwned::to_owned),
    };
    let gems = vec![
        probe("rails", Some("Rails")),
        probe("railties", None),
        probe("bootsnap", None),
        probe("grpc", Some("GRPC")),
    ];
    let run = |file: &str| {
        Ask::Run(RunRequest {
            run: "run-1".to_owned(),
            root: "/srv/shop".into(),
            mode: ProcessMode::Fork,
            framework: Framework::Rspec,
            arguments: vec![format!("./spec/{file}_spec.rb")],
            files: vec![format!("spec/{file}_spec.rb")],
            chosen: vec![Chosen {
                path: format!("spec/{file}_spec.rb"),
                ..Chosen::default()
            }],
            directories: Vec::new(),
            named: vec![format!("spec/{file}_spec.rb")],
            example: None,
            seed: None,
            fail_fast: false,
            list: false,
            coverage: None,
            profile: false,
            max_file_bytes: 4 << 30,
            notice_refusals: true,
            ask_tables: true,
            read_only: false,
            keep_order: false,
        })
    };
    let zygote = Ask::Zygote {
        framework: Framework::Rspec,
        preload: Vec::new(),
    };
    let reap = || Ask::Reap { pid: 70 };
    let read = |what, arguments| Ask::Read { what, arguments };
    let carts = json!({
        "query": "CARTS", "controller": null, "verb": "get", "limit": 100, "offset": 0, "engines": "exclude",
    });
    vec![
        ("boot", vec![(1, 0, boot())]),
        ("boot_failed", vec![(1, 0, boot())]),
        ("ping", vec![(2, 0, Ask::Ping {})]),
        ("facts", vec![(3, 0, Ask::Facts { gems })]),
        ("app", vec![(5, 3, Ask::App { eager_load_error: None })]),
        ("zygote", vec![(6, 3, zygote)]),
        ("reader", vec![(9, 3, Ask::Reader {})]),
        ("read_failed", vec![(1, 0, read("weather", json!({})))]),
        ("read", vec![(2, 0, read("routes", carts))]),
        ("not_read", vec![(3, 0, read("controller", json!({"name": "Carts"})))]),
        ("run", vec![(2, 4, run("passing")), (3, 0, reap()), (4, 0, reap())]),
        ("run_killed", vec![(5, 4, run("killed")), (6, 0, reap())]),
    ]
}

#[test]
fn questions_are_written_as_they_are_in_the_transcripts() {
    for (name, questions) in asked() {
        let golden: Vec<Value> = lines(name)
            .iter()
            .filter(|line| is(line, "ask"))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ours: Vec<Value> = questions
            .iter()
            .map(|(id, fds, ask)| {
                serde_json::to_value(Envelope {
                    id: *id,
                    fds: *fds,
                    ask,
                })
                .unwrap()
            })
            .collect();
        assert_eq!(ours, golden, "{name}");
    }
}

#[test]
fn every_question_of_the_transcripts_is_known_here() {
    let known: BTreeSet<String> = asked().iter().map(|(name, _)| (*name).to_owned()).collect();
    let asking = names()
        .into_iter()
        .filter(|name| lines(name).iter().any(|line| is(line, "ask")));
    let unknown: Vec<String> = asking.filter(|name| !known.contains(name)).collect();
    assert_eq!(unknown, ["refused"]);
}

/// A new message does not compile here until it has a name, and does not pass until it is in a transcript.
#[test]
fn every_message_is_in_a_transcript() {
    let transcripts = names();
    let all = || transcripts.iter().map(String::as_str);
    let of_worker = all().filter(|name| lines(name).iter().any(|line| is(line, "told")));
    let said: BTreeSet<&str> = of_worker.flat_map(told).map(|told| name_of_told(&told)).collect();
    assert_eq!(said.len(), 14, "{said:?}");
    let of_runs = all().filter(|name| lines(name).iter().all(|line| is(line, "e")));
    let happened: BTreeSet<&str> = of_runs.flat_map(events).map(|event| name_of_event(&event)).collect();
    assert_eq!(happened.len(), 18, "{happened:?}");
    let asked: BTreeSet<&str> = asked()
        .iter()
        .flat_map(|(_, asked)| asked)
        .map(|(_, _, ask)| name_of_ask(ask))
        .collect();
    assert_eq!(asked.len(), 9, "{asked:?}");
}

fn name_of_told(told: &Told) -> &'static str {
    match told {
        Told::Hello { .. } => "hello",
        Told::Ready(_) => "ready",
        Told::BootFailed { .. } => "boot_failed",
        Told::Booted { .. } => "booted",
        Told::Forked { .. } => "forked",
        Told::Loaded { .. } => "loaded",
        Told::LoadFailed { .. } => "load_failed",
        Told::Facts(_) => "facts",
        Told::Reaped { .. } => "reaped",
        Told::Read { .. } => "read",
        Told::NotRead { .. } => "not_read",
        Told::ReadFailed { .. } => "read_failed",
        Told::Pong {} => "pong",
        Told::Refused { .. } => "refused",
    }
}

fn name_of_event(event: &RunEvent) -> &'static str {
    match event {
        RunEvent::Hello {} => "hello",
        RunEvent::Started(_) => "started",
        RunEvent::Selected { .. } => "selected",
        RunEvent::Listed { .. } => "listed",
        RunEvent::ExampleStarted(_) => "example_started",
        RunEvent::ExampleFinished(_) => "example_finished",
        RunEvent::Message { .. } => "message",
        RunEvent::OutsideError { .. } => "outside_error",
        RunEvent::Finished { .. } => "finished",
        RunEvent::Exit { .. } => "exit",
        RunEvent::Databases { .. } => "databases",
        RunEvent::CoverageSkipped {} => "coverage_skipped",
        RunEvent::Covered { .. } => "covered",
        RunEvent::Touched { .. } => "touched",
        RunEvent::Profile(_) => "profile",
        RunEvent::Outdated {} => "outdated",
        RunEvent::FilesRefused { .. } => "files_refused",
        RunEvent::Threads { .. } => "threads",
    }
}

fn name_of_ask(ask: &Ask) -> &'static str {
    match ask {
        Ask::Boot { .. } => "boot",
        Ask::App { .. } => "app",
        Ask::Zygote { .. } => "zygote",
        Ask::Reader {} => "reader",
        Ask::Read { .. } => "read",
        Ask::Run(_) => "run",
        Ask::Facts { .. } => "facts",
        Ask::Reap { .. } => "reap",
        Ask::Ping {} => "ping",
    }
}
