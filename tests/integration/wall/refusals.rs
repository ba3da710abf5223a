//! What was refused is told, with the example that was running, whether or not that minded.

use serde_json::{Value, json};

use super::{Scene, is_mighty};
use crate::support::{Deviations, has_text};

const SPEC: &str = "spec/refusals_spec.rb";
const TEST: &str = "test/refusals_test.rb";

impl Scene {
    fn facts_of_refusals(&self) {
        let facts = json!({
            "home": self.app.beside("home"),
            "other": self.app.beside("other"),
            "keyctl": nix::libc::SYS_keyctl,
        });
        self.app.write("tmp/facts.json", facts.to_string());
        self.app.write(SPEC, include_str!("refusals_spec.rb"));
        self.app.write(TEST, include_str!("refusals_test.rb"));
    }

    fn refused(&self, path: &str, arguments: Value) -> Vec<Value> {
        self.report(path, arguments)["refused"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    fn report(&self, path: &str, arguments: Value) -> Value {
        let report = self.server.run_with([path], arguments);
        assert_eq!(report["outcome"], "passed", "{report}");
        let _ = std::fs::remove_file(self.app.path("tmp/away"));
        report
    }
}

/// What the next step after all of these is.
const HINTS: [&str; 7] = [
    r#"".git/made""#,
    r#""~/.profile""#,
    r#"read: ["~/.ssh/id", "~/.aws/credentials"]"#,
    "` in .coatepec.yml allows it",
    "only `sandbox: {mode: off}` allows such files, system calls",
    "first, since only what exists can be granted",
    "where tests are meant to",
];

fn refusal(kind: &str, what: &str, number: u32, count: u32) -> Value {
    json!({"kind": kind, "what": what, "example": format!("{SPEC}[1:{number}]"), "count": count})
}

/// In the order of the file.
fn expected(scene: &Scene) -> Vec<Value> {
    let beside = |path: &str| scene.app.beside(path).display().to_string();
    vec![
        refusal("write", "~/.profile", 1, 1),
        refusal("read", "~/.ssh/id", 2, 3),
        refusal("write", ".git/made", 3, 1),
        refusal("write", ".git/renamed", 4, 1),
        refusal("write", ".git/description", 5, 1),
        refusal("write", &beside("other/app.rb"), 6, 1),
        refusal("syscall", "keyctl", 7, 2),
        refusal("network", "a socket of family 17", 8, 1),
        // Of these the program says it, and nobody knows when.
        json!({"kind": "read", "what": "~/.aws/credentials", "count": 1}),
    ]
}

fn check(scene: &Scene, wrong: &mut Deviations) {
    scene.facts_of_refusals();
    for fork in ["always", "never"] {
        // One by one, since it is the example that is asked for.
        let report = scene.report(SPEC, json!({"fork": fork, "seed": 1}));
        for hint in HINTS {
            wrong.check(has_text(&report["hint"], hint), || {
                format!("{fork}: {hint:?} is not in {}", report["hint"])
            });
        }
        let told = report["refused"].as_array().cloned().unwrap_or_default();
        for refusal in expected(scene) {
            wrong.check(told.contains(&refusal), || {
                format!("{fork}: {refusal} is not among {told:#?}")
            });
        }
        wrong.equal(fork, told.len(), expected(scene).len());
        let of_minitest = scene.refused(TEST, json!({"fork": fork}));
        wrong.equal(
            fork,
            &of_minitest[..],
            &[json!({
                "kind": "write", "what": "~/.profile", "example": format!("{TEST}#RefusalsTest#test_writes_to_the_home"), "count": 1,
            })][..],
        );
    }
}

#[test]
fn what_was_refused_is_told_with_the_example() {
    let mut wrong = Deviations::default();
    let scene = Scene::new("sandbox: {mode: standard}");
    check(&scene, &mut wrong);
    scene.end();
    wrong.none();
}

#[test]
fn what_was_refused_to_an_ordinary_user_is_told() {
    if !is_mighty() {
        return;
    }
    let mut wrong = Deviations::default();
    let scene = Scene::of_nobody();
    check(&scene, &mut wrong);
    scene.end();
    wrong.none();
}

/// A place is granted if it is there when the app boots.
#[test]
fn a_new_place_has_the_app_booted_anew_so_that_it_can_be_written() {
    let scene = Scene::new("sandbox: {mode: standard, write: [~/later]}");
    let spec = |path: &str| format!("RSpec.describe('x') {{ it('writes') {{ File.write(\"{path}/x\", '') }} }}");
    scene.app.write("spec/out_spec.rb", spec("out"));
    scene.app.write("spec/tmp_spec.rb", spec("tmp"));
    scene.app.write("spec/later_spec.rb", spec("#{Dir.home}/later"));
    let run = |spec: &str| scene.server.run([spec]);
    let missing = run("spec/out_spec.rb");
    assert_eq!(missing["outcome"], "failed", "{missing}");
    let status = scene.server.ask("rails_runtime_status", json!({}));
    assert_eq!(status["not_there"], json!(["write: ~/later"]), "{status}");
    // Of `tmp` another one of that name.
    for (dir, spec) in [("out", "out"), ("../home/later", "later"), ("tmp", "tmp")] {
        let spec = format!("spec/{spec}_spec.rb");
        let _ = std::fs::rename(scene.app.path(dir), scene.app.path("spec/away"));
        std::fs::create_dir(scene.app.path(dir)).expect("it is not there");
        let report = run(&spec);
        assert_eq!(report["outcome"], "passed", "{report}");
        assert!(
            has_text(&report["trigger"], "is new, and the sandbox"),
            "{dir}: {report}"
        );
        let again = run(&spec);
        assert!(again["trigger"].is_null(), "{dir}: {again}");
    }
    // Builds do that, so that it takes no boot by itself.
    std::fs::remove_dir_all(scene.app.path("out")).expect("it is there");
    std::fs::create_dir(scene.app.path("out")).expect("it is not there");
    let anew = run("spec/out_spec.rb");
    assert_eq!(anew["refused"][0]["what"], "out/x", "{anew}");
    assert!(has_text(&anew["hint"], "`rails_runtime_restart`"), "{anew}");
    scene.end();
}

#[test]
fn a_variable_that_is_missed_is_told_by_its_name() {
    let scene = Scene::new("sandbox: {mode: standard}");
    scene.app.write(
        "spec/env_spec.rb",
        "RSpec.describe('x') { it('asks') { ENV.fetch('GITHUB_TOKEN') } }",
    );
    let report = scene.server.run(["spec/env_spec.rb"]);
    assert_eq!(report["outcome"], "failed", "{report}");
    assert!(has_text(&report["hint"], "keep: [GITHUB_TOKEN]"), "{report}");
    let held_back = json!(["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"]);
    let names = |told: &Value| {
        let told = told["held_back"].as_array().cloned().unwrap_or_default();
        let ours = told
            .into_iter()
            .filter(|name| held_back.as_array().is_some_and(|ours| ours.contains(name)));
        Value::from(ours.collect::<Vec<_>>())
    };
    assert_eq!(names(&report), held_back, "{report}");
    assert_eq!(names(&scene.server.ask("rails_runtime_status", json!({}))), held_back);
    scene.end();
}

#[test]
fn where_nothing_is_refused_nothing_is_told() {
    let scene = Scene::new("sandbox: {mode: off}");
    scene.facts_of_refusals();
    assert_eq!(scene.refused(TEST, json!({})), Vec::<Value>::new());
    scene.end();
}
