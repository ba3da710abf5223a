//! The tests of the Ruby side, which are written in Ruby.
#![expect(clippy::disallowed_methods, reason = "a test starts Ruby itself")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs a file of this directory with the gems of the fixture. All of its tests must have run and passed.
fn passes(file: &str) {
    // As Ruby's own idea of the current directory: without links.
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
    let Output { status, stdout, stderr } = Command::new(tree.join("bin/with-ruby"))
        .args(["bundle", "exec", "ruby"])
        .arg(tree.join("tests/unit").join(file))
        .current_dir(tree.join("fixture_app"))
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let summary = stdout
        .lines()
        .rfind(|line| line.contains(" runs, "))
        .unwrap_or("no summary");
    let all = summary.ends_with(" 0 failures, 0 errors, 0 skips") && !summary.starts_with("0 runs");
    assert!(status.success() && all, "{status}, {summary}\n{stdout}\n{stderr}");
}

#[test]
fn the_ruby_side_says_what_is_in_the_transcripts() {
    passes("transcripts_test.rb");
}

#[test]
fn no_exception_text_or_descriptor_is_too_odd_for_the_ruby_side() {
    passes("worker_test.rb");
}

#[test]
fn where_time_goes_is_counted_once_and_no_value_of_a_query_is_told() {
    passes("profile_test.rb");
}

#[test]
fn each_line_of_a_statement_counts_as_the_one_that_ruby_counts() {
    passes("statements_test.rb");
}

#[test]
fn no_value_place_or_name_of_an_app_is_too_odd_to_be_told() {
    passes("reading_test.rb");
}

#[test]
fn models_tables_and_jobs_of_an_app_are_told_and_nothing_else_is_touched() {
    passes("reading_data_test.rb");
}

#[test]
fn classes_that_raise_in_the_place_of_ruby_are_told_and_harm_nobody() {
    passes("reading_hostile_test.rb");
}
