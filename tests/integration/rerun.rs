//! Whatever way an example fails, and wherever it comes from: its selector runs it, and nothing else.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server};

/// The same numbers each time, from a start.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// Shared by all groups of a file.
const BROKEN: &str = "RSpec.shared_examples('broken') { it('is shared') { raise 'shared' }; context('within') { it('is shared') { raise 'within' } } }\n";

/// Members of a group, some of them groups, many by the same name.
fn members(chance: &mut Chance, depth: u32) -> String {
    let mut text = String::new();
    for _ in 0..2 + chance.below(2) {
        let member = match chance.below(if depth == 0 { 6 } else { 9 }) {
            0 => "it('is one') { raise 'plain' }".to_owned(),
            1 => "it('is one') { expect(1).to eq(1) }".to_owned(),
            2 => "2.times { |n| it('is one') { raise \"generated #{n}\" } }".to_owned(),
            3 => "it { aggregate_failures { expect(1).to eq(2); expect(3).to eq(4) } }".to_owned(),
            4 => "it_behaves_like 'broken'".to_owned(),
            5 => "include_examples 'broken'".to_owned(),
            6 => format!(
                "context('is one') {{ before(:context) {{ raise 'before' }}\n{} }}",
                members(chance, depth - 1)
            ),
            7 => format!(
                "describe('is one') {{ before {{ raise 'each' }}\n{} }}",
                members(chance, depth - 1)
            ),
            _ => format!("context {{\n{} }}", members(chance, depth - 1)),
        };
        let _ = writeln!(text, "{member}");
    }
    text
}

fn specs(start: u64) -> String {
    let chance = &mut Chance(start);
    let groups = (0..2).map(|_| format!("RSpec.describe('a group') {{\n{} }}\n", members(chance, 1)));
    BROKEN.to_owned() + &groups.collect::<String>()
}

/// One of everything by which tests of Minitest come into being.
const TESTS: &str = r#"
require 'test_helper'
require 'minitest/spec'

module Broken
  def test_shared = flunk('shared')
end

class ParentTest < InOrder
  include Broken

  def test_plain = flunk('plain')
  def test_passes = assert(true)
  2.times { |n| define_method("test_generated_#{n}") { flunk('generated') } }
end

class HeirTest < ParentTest
  def test_own = flunk('own')
end

class RailsyTest < ActiveSupport::TestCase
  include Broken

  test('with words') { raise 'words' }
  test('with [1:2] :3 # marks') { raise 'marks' }
  %w[a b].each { |name| test("one line #{name}") { raise name } }
end

Outer = Module.new
class Outer::InnerTest < InOrder
  def test_plain = flunk('inner')
  def teardown = raise('torn')
end

2.times { Class.new(InOrder) { define_method(:test_nameless) { flunk('nameless') } } }

describe 'in words' do
  it('is one') { flunk }
  it('is one') { flunk }
  it { flunk }

  describe('is one') { it('is one') { flunk } }
  describe('is one') { 2.times { |n| it("is #{n}") { flunk } } }
end
"#;

/// The selectors of all that failed, those told together with another one included.
fn failed(report: &Value) -> BTreeSet<String> {
    let failures = report["failures"].as_array().cloned().unwrap_or_default();
    let ids = failures.iter().flat_map(|failure| {
        let also = failure["also"].as_array().cloned().unwrap_or_default();
        let also = also.into_iter().map(|one| one["id"].clone());
        std::iter::once(failure["rerun"].clone())
            .chain(also)
            .collect::<Vec<_>>()
    });
    ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
}

/// Adds those of this file to what is known to fail.
fn each_is_run_alone(server: &Server, path: &str, known: &mut BTreeSet<String>, wrong: &mut Deviations) {
    let report = server.run([path]);
    let all = failed(&report);
    wrong.equal(path, report["summary"]["failures"].as_u64(), Some(all.len() as u64));
    for id in &all {
        let again = server.run([id]);
        wrong.equal(id, failed(&again), BTreeSet::from([id.clone()]));
        wrong.equal(id, again["summary"]["examples"].as_u64(), Some(1));
    }
    let again = server.run_with(["@failed"], json!({}));
    // Each of them failed when it last ran.
    known.extend(all);
    wrong.equal(path, failed(&again), known.clone());
    wrong.equal(path, again["summary"]["examples"].as_u64(), Some(known.len() as u64));
}

#[test]
fn each_failure_of_rspec_is_run_alone_by_its_selector_wherever_it_comes_from() {
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    let mut known = BTreeSet::new();
    for start in 5..=6 {
        let path = format!("spec/made_{start}_spec.rb");
        app.write(&path, specs(start));
        each_is_run_alone(&server, &path, &mut known, &mut wrong);
    }
    wrong.check(known.len() > 20, || format!("only {} failed", known.len()));
    wrong.none();
    server.stop();
}

#[test]
fn each_failure_of_minitest_is_run_alone_by_its_selector_wherever_it_comes_from() {
    let app = App::copy();
    app.write("test/made_test.rb", TESTS);
    let server = app.server();
    let mut wrong = Deviations::default();
    let mut known = BTreeSet::new();
    each_is_run_alone(&server, "test/made_test.rb", &mut known, &mut wrong);
    wrong.check(known.len() == 23, || format!("{} failed", known.len()));
    wrong.none();
    server.stop();
}
