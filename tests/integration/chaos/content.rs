//! What is run, and what must come of it when nobody interferes.

use std::fs;

use crate::support::App;

/// The verdict of an undisturbed run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    pub(super) outcome: &'static str,
    /// Examples and failures; `None` where the clock decides how far it comes.
    pub(super) counts: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Spec {
    /// One of the fixture.
    Known(&'static str, Expected),
    /// Ours, whose verdict depends on four files.
    Ours,
}

const fn known(path: &'static str, outcome: &'static str, examples: u64, failures: u64) -> Spec {
    let counts = Some((examples, failures));
    Spec::Known(path, Expected { outcome, counts })
}

const HANGS: Spec = Spec::Known(
    "spec/faults/hangs_spec.rb",
    Expected {
        outcome: "timed_out",
        counts: None,
    },
);

/// By how often they are run.
pub(super) const SPECS: &[(u64, Spec)] = &[
    (50, Spec::Ours),
    (10, known("spec/services/price_list_spec.rb", "passed", 3, 0)),
    (6, known("spec/faults/fails_spec.rb", "failed", 8, 7)),
    (4, known("spec/faults/double_forks_spec.rb", "passed", 2, 0)),
    (4, known("spec/faults/leaks_grandchild_spec.rb", "passed", 2, 0)),
    (
        4,
        known("spec/faults/leaks_fork_that_continues_spec.rb", "passed", 3, 0),
    ),
    (4, known("spec/faults/floods_stdout_spec.rb", "failed", 2, 1)),
    (3, known("spec/faults/fork_bomb_spec.rb", "passed", 2, 0)),
    (3, known("spec/faults/exits_bang_midway_spec.rb", "incomplete", 2, 0)),
    (3, known("spec/faults/kills_itself_term_spec.rb", "crashed", 2, 0)),
    (2, known("spec/faults/skips_spec.rb", "all_pending", 5, 0)),
    (2, known("spec/faults/syntax_error_spec.rb", "load_error", 0, 0)),
    (2, known("spec/faults/exit_in_at_exit_spec.rb", "failed_at_exit", 1, 0)),
    (2, HANGS),
];

impl Spec {
    pub(super) fn path(self) -> &'static str {
        match self {
            Spec::Known(path, _) => path,
            Spec::Ours => "spec/chaos_spec.rb",
        }
    }

    pub(super) fn hangs(self) -> bool {
        matches!(self, Spec::Known(_, Expected { counts: None, .. }))
    }
}

/// A file of the app that our spec reads a number from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    Model,
    Initializer,
    Helper,
    Spec,
}

const PARTS: [Part; 4] = [Part::Model, Part::Initializer, Part::Helper, Part::Spec];

/// Which of them are as our spec wants them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Content {
    right: [bool; 4],
    edits: u64,
}

impl Content {
    pub(super) fn write_all(app: &App) -> Content {
        let content = Content {
            right: [true; 4],
            edits: 0,
        };
        PARTS.iter().for_each(|part| content.write(app, *part));
        content
    }

    /// Writes one part anew.
    pub(super) fn edit(&mut self, app: &App, part: Part, right: bool) {
        self.edits += 1;
        self.right[part as usize] = right;
        self.write(app, part);
    }

    pub(super) fn of_ours(self) -> Expected {
        let wrong = self.right.iter().filter(|right| !**right).count() as u64;
        Expected {
            outcome: if wrong == 0 { "passed" } else { "failed" },
            counts: Some((6, wrong)),
        }
    }

    pub(super) fn expects(self, spec: Spec) -> Expected {
        match spec {
            Spec::Known(_, expected) => expected,
            Spec::Ours => self.of_ours(),
        }
    }

    /// As an editor does, so that nobody ever reads half a file.
    fn write(self, app: &App, part: Part) {
        let number = if self.right[part as usize] { 1 } else { 2 };
        let text = format!("{}\n# edit {}\n", part.text(number), self.edits);
        let draft = app.beside("draft");
        fs::write(&draft, text).expect("it can be written");
        fs::rename(draft, app.path(part.path())).expect("it can be moved");
    }
}

impl Part {
    fn path(self) -> &'static str {
        match self {
            Part::Model => "app/models/chaos.rb",
            Part::Initializer => "config/initializers/chaos.rb",
            Part::Helper => "spec/support/chaos.rb",
            Part::Spec => "spec/chaos_spec.rb",
        }
    }

    fn text(self, number: u64) -> String {
        match self {
            Part::Model => format!("class Chaos\n  def self.number = {number}\nend"),
            Part::Initializer => format!("Rails.configuration.x.chaos = {number}"),
            Part::Helper => format!("CHAOS = {number}"),
            Part::Spec => OURS.replace("NUMBER", &number.to_string()),
        }
    }
}

/// Leaves a trace of each time it is run, and takes long enough to be hit.
const OURS: &str = r#"require "rails_helper"

RSpec.describe "Chaos" do
  before(:context) { File.write("tmp/trace", "x", mode: "a") }

  it("has the model") { expect(Chaos.number).to eq(1) }
  it("has the initializer") { expect(Rails.configuration.x.chaos).to eq(1) }

  it "takes its time" do
    20.times { sleep 0.01 }
    expect(create(:widget)).to be_persisted
  end

  it("has the helper") { expect(CHAOS).to eq(1) }
  it("has itself") { expect(NUMBER).to eq(1) }
  it("has the database") { expect { create(:widget) }.to change(Widget, :count).by(1) }
end"#;
