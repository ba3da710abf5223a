//! What was refused is told, with the example that was running, whether or not that minded.

use serde_json::{Value, json};

use super::{Scene, is_mighty};
use crate::support::Deviations;

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
        let report = self.server.run_with([path], arguments);
        assert_eq!(report["outcome"], "passed", "{report}");
        let _ = std::fs::remove_file(self.app.path("tmp/away"));
        report["refused"].as_array().cloned().unwrap_or_default()
    }
}

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
        let told = scene.refused(SPEC, json!({"fork": fork, "seed": 1}));
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

#[test]
fn where_nothing_is_refused_nothing_is_told() {
    let scene = Scene::new("sandbox: {mode: off}");
    scene.facts_of_refusals();
    assert_eq!(scene.refused(TEST, json!({})), Vec::<Value>::new());
    scene.end();
}
