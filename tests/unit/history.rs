//! What `@last` and `@failed` stand for.

use std::fs;

use coatepec::project::Framework;
use coatepec::run::results::{ExampleResult, Results};
use coatepec::supervisor::call::RunArguments;
use coatepec::supervisor::history::{Ended, History};
use coatepec::worker::protocol::ExampleStatus;
use tempfile::TempDir;

const A: &str = "spec/a_spec.rb[1:1]";
const B: &str = "spec/b_spec.rb[1:2]";
const T: &str = "test/t_test.rb#T#test_x";

fn asked(paths: &[&str]) -> RunArguments {
    RunArguments {
        paths: paths.iter().map(ToString::to_string).collect(),
        ..RunArguments::default()
    }
}

fn ran(examples: &[(&str, Option<ExampleStatus>)]) -> Results {
    let example = |(id, status): &(&str, Option<ExampleStatus>)| ExampleResult {
        id: (*id).to_owned(),
        description: String::new(),
        status: *status,
        message: None,
    };
    Results {
        examples: examples.iter().map(example).collect(),
        whole: true,
        ..Results::default()
    }
}

fn ended<'a>(run: &'a str, arguments: &'a RunArguments, framework: Framework, results: &'a Results) -> Ended<'a> {
    Ended {
        run,
        framework,
        arguments,
        results,
    }
}

fn project() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in ["spec/a_spec.rb", "spec/b_spec.rb", "test/t_test.rb"] {
        fs::create_dir_all(dir.path().join(file).parent().unwrap()).unwrap();
        fs::write(dir.path().join(file), "").unwrap();
    }
    dir
}

fn expanded(history: &mut History, dir: &TempDir, paths: &[&str]) -> Result<Vec<String>, String> {
    let mut arguments = asked(paths);
    let stood_for = history
        .expand(dir.path(), &mut arguments)
        .map_err(|error| error.to_string())?;
    assert!(stood_for.selectors.iter().all(|path| arguments.paths.contains(path)));
    Ok(arguments.paths)
}

const FAILED: Option<ExampleStatus> = Some(ExampleStatus::Failed);
const PASSED: Option<ExampleStatus> = Some(ExampleStatus::Passed);

#[test]
fn nothing_came_before() {
    let (mut history, dir) = (History::default(), project());
    for path in ["@failed", "@last"] {
        let refused = expanded(&mut history, &dir, &[path]).unwrap_err();
        assert!(refused.contains(path), "{refused}");
    }
    assert_eq!(expanded(&mut history, &dir, &["spec"]), Ok(vec!["spec".to_owned()]));
}

#[test]
fn failures_stay_until_they_pass() {
    let (mut history, dir) = (History::default(), project());
    let red = ran(&[(A, FAILED), (B, None), ("spec/a_spec.rb[1:9]", PASSED)]);
    history.note(dir.path(), &ended("run-1", &asked(&["spec"]), Framework::Rspec, &red));
    let both = vec![A.to_owned(), B.to_owned()];
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(both));
    assert_eq!(expanded(&mut history, &dir, &["@last"]), Ok(vec!["spec".to_owned()]));
    history.note(
        dir.path(),
        &ended("run-1", &asked(&[A]), Framework::Rspec, &ran(&[(A, PASSED)])),
    );
    let one = vec!["spec/x".to_owned(), B.to_owned()];
    assert_eq!(expanded(&mut history, &dir, &["spec/x", "@failed"]), Ok(one));
    history.note(dir.path(), &ended("run-1", &asked(&[B]), Framework::Rspec, &ran(&[])));
    let refused = expanded(&mut history, &dir, &["@failed"]).unwrap_err();
    assert!(
        refused.contains("no example failed"),
        "what does not exist any more is forgotten: {refused}"
    );
}

/// An id is a place among the others: in a file that was edited, another example may have it.
#[test]
fn what_failed_in_a_file_that_was_edited_is_found_again_by_all_of_the_file() {
    let named = |examples: &[(&str, &str, Option<ExampleStatus>)]| Results {
        examples: examples
            .iter()
            .map(|(id, description, status)| ExampleResult {
                id: (*id).to_owned(),
                description: (*description).to_owned(),
                status: *status,
                message: None,
            })
            .collect(),
        whole: true,
        ..Results::default()
    };
    const MOVED: &str = "spec/a_spec.rb[1:2]";
    let (mut history, dir) = (History::default(), project());
    let red = named(&[(A, "is bad", FAILED), (B, "is bad, too", FAILED)]);
    history.note(dir.path(), &ended("run-1", &asked(&["spec"]), Framework::Rspec, &red));
    fs::write(dir.path().join("spec/a_spec.rb"), "# one more above").unwrap();
    let file = vec!["spec/a_spec.rb".to_owned(), B.to_owned()];
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(file.clone()));
    // Who runs the id runs another example.
    let other = named(&[(A, "is new", PASSED)]);
    history.note(dir.path(), &ended("run-2", &asked(&[A]), Framework::Rspec, &other));
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(file));
    let all = named(&[(A, "is new", PASSED), (MOVED, "is bad", FAILED)]);
    history.note(
        dir.path(),
        &ended("run-3", &asked(&["spec/a_spec.rb"]), Framework::Rspec, &all),
    );
    let both = vec![MOVED.to_owned(), B.to_owned()];
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(both));
    fs::write(dir.path().join("spec/a_spec.rb"), "# without it").unwrap();
    let all = named(&[(A, "is new", PASSED)]);
    history.note(
        dir.path(),
        &ended("run-4", &asked(&["spec/a_spec.rb"]), Framework::Rspec, &all),
    );
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(vec![B.to_owned()]));
}

#[test]
fn the_text_of_the_last_selection_comes_along() {
    let (mut history, dir) = (History::default(), project());
    let last = RunArguments {
        example: Some("is big".to_owned()),
        ..asked(&["spec"])
    };
    history.note(dir.path(), &ended("run-1", &last, Framework::Rspec, &ran(&[])));
    let mut arguments = asked(&["@last"]);
    history.expand(dir.path(), &mut arguments).unwrap();
    assert_eq!(arguments.example.as_deref(), Some("is big"));
}

#[test]
fn failures_are_those_of_the_framework_that_ran_last() {
    let (mut history, dir) = (History::default(), project());
    history.note(
        dir.path(),
        &ended("run-1", &asked(&["spec"]), Framework::Rspec, &ran(&[(A, FAILED)])),
    );
    history.note(
        dir.path(),
        &ended("run-1", &asked(&["test"]), Framework::Minitest, &ran(&[(T, FAILED)])),
    );
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(vec![T.to_owned()]));
    history.note(
        dir.path(),
        &ended("run-1", &asked(&["test"]), Framework::Minitest, &ran(&[(T, PASSED)])),
    );
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(vec![A.to_owned()]));
}

#[test]
fn failures_of_the_other_framework_are_left_out_with_a_word_for_them() {
    let (mut history, dir) = (History::default(), project());
    let left_out = |paths: &[&str], history: &mut History| {
        let stood_for = history.expand(dir.path(), &mut asked(paths)).unwrap();
        stood_for.also_failed
    };
    history.note(
        dir.path(),
        &ended("run-1", &asked(&["spec"]), Framework::Rspec, &ran(&[(A, FAILED)])),
    );
    assert_eq!(left_out(&["@failed"], &mut history), None);
    history.note(
        dir.path(),
        &ended("run-1", &asked(&["test"]), Framework::Minitest, &ran(&[(T, FAILED)])),
    );
    assert_eq!(left_out(&["@failed"], &mut history).as_deref(), Some("@failed:rspec"));
    assert_eq!(left_out(&["@failed:rspec"], &mut history), None);
    assert_eq!(expanded(&mut history, &dir, &["@failed:rspec"]), Ok(vec![A.to_owned()]));
    history.note(
        dir.path(),
        &ended("run-1", &asked(&[A]), Framework::Rspec, &ran(&[(A, FAILED)])),
    );
    assert_eq!(
        left_out(&["@failed"], &mut history).as_deref(),
        Some("@failed:minitest")
    );
}

#[test]
fn what_failed_in_a_file_that_is_gone_is_forgotten_and_told_where_nothing_else_failed() {
    let (mut history, dir) = (History::default(), project());
    let both = ran(&[(A, FAILED), (B, FAILED)]);
    history.note(dir.path(), &ended("run-1", &asked(&["spec"]), Framework::Rspec, &both));
    fs::remove_file(dir.path().join("spec/a_spec.rb")).unwrap();
    assert_eq!(expanded(&mut history, &dir, &["@failed"]), Ok(vec![B.to_owned()]));
    fs::remove_file(dir.path().join("spec/b_spec.rb")).unwrap();
    let refused = expanded(&mut history, &dir, &["@failed"]).unwrap_err();
    assert!(
        refused.contains("`spec/b_spec.rb`") && refused.contains("gone"),
        "{refused}"
    );
    let refused = expanded(&mut history, &dir, &["@failed"]).unwrap_err();
    assert!(refused.contains("no example failed"), "{refused}");
}

#[test]
fn the_last_selection_is_that_of_both_frameworks_where_one_run_continued_the_other() {
    let (mut history, dir) = (History::default(), project());
    let last = |paths: &[&str], history: &mut History| {
        let mut arguments = asked(paths);
        let stood_for = history.expand(dir.path(), &mut arguments).unwrap();
        (arguments.paths.join(" "), stood_for.also_last)
    };
    let continued = |run: &str, paths: &[&str]| RunArguments {
        continues: Some(run.to_owned()),
        ..asked(paths)
    };
    history.note(
        dir.path(),
        &ended("run-1", &asked(&["spec"]), Framework::Rspec, &ran(&[])),
    );
    history.note(
        dir.path(),
        &ended("run-2", &continued("run-1", &["test"]), Framework::Minitest, &ran(&[])),
    );
    let other = Some("@last:minitest".to_owned());
    assert_eq!(last(&["@last"], &mut history), ("spec".to_owned(), other));
    // Once its first part has run again, the other is still there.
    history.note(
        dir.path(),
        &ended("run-3", &asked(&["spec"]), Framework::Rspec, &ran(&[])),
    );
    assert_eq!(last(&["@last:minitest"], &mut history), ("test".to_owned(), None));
    assert_eq!(last(&["@last"], &mut history), ("spec".to_owned(), None));
    // A run of somebody else came between, or the first part came to nothing.
    history.note(
        dir.path(),
        &ended("run-5", &continued("run-4", &["test"]), Framework::Minitest, &ran(&[])),
    );
    assert_eq!(last(&["@last"], &mut history), ("test".to_owned(), None));
}
