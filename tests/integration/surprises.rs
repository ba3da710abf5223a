//! What an app or a spec may do that looks harmless and is not.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::App;

const SPEC: &str = "spec/models/tag_spec.rb";
const TWO: &str = "RSpec.describe(\"two\") do\n  it(\"one\") { }\n  it(\"other\") { }\nend\n";

fn examples(report: &Value) -> &Value {
    assert_eq!(report["outcome"], "passed", "{report}");
    &report["summary"]["examples"]
}

#[test]
fn a_linked_directory_of_code_costs_no_more_than_any_other() {
    let app = App::copy();
    let shared = app.beside("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::write(shared.join("linked_thing.rb"), "class Shared::LinkedThing; end\n").unwrap();
    symlink(&shared, app.path("app/models/shared")).unwrap();
    let server = app.server();
    examples(&server.run([SPEC]));
    app.append("app/models/widget.rb", "# changed\n");
    let report = server.run([SPEC]);
    examples(&report);
    assert_eq!(report["trigger"], "reloaded: app/models/widget.rb was modified");
    let warm = server.run([SPEC]);
    examples(&warm);
    assert!(warm["trigger"].is_null(), "{warm}");
    server.stop();
}

#[test]
fn nothing_runs_but_what_was_named_whatever_the_project_configures() {
    let app = App::copy();
    app.write(
        ".rspec",
        "--require spec_helper\n--pattern \"spec/{models,jobs}/**/*_spec.rb\"\n",
    );
    app.write("spec/two_spec.rb", TWO);
    app.write("spec/cleared_spec.rb", format!("RSpec.clear_examples\n{TWO}"));
    let server = app.server();
    for (selector, count) in [
        ("spec/two_spec.rb", 2),
        ("spec/two_spec.rb:3", 1),
        ("spec/two_spec.rb[1:1]", 1),
        ("spec/cleared_spec.rb", 2),
    ] {
        assert_eq!(examples(&server.run([selector])), count, "{selector}");
    }
    app.write(".rspec", "--require spec_helper\n--example one\n");
    let hidden = server.run(["spec/two_spec.rb"]);
    assert_eq!(examples(&hidden), 1);
    let warnings = hidden["warnings"].to_string();
    assert!(warnings.contains("1 example was hidden"), "{warnings}");
    app.write(".rspec", "--require spec_helper\n");
    let fresh = server.run_with(["spec/two_spec.rb"], json!({ "fork": "never" }));
    assert_eq!(examples(&fresh), 2);
    let both = json!({ "paths": ["spec/two_spec.rb:3"], "example": "other" });
    let refusal = server.call("rails_spec_run", both).wait().refusal();
    assert_eq!(refusal["code"], "invalid_arguments", "{refusal}");
    server.stop();
}

/// As factory_bot_rails does.
#[test]
fn factories_that_the_boot_has_loaded_are_seen_when_they_change() {
    let app = App::copy();
    app.write(
        "config/initializers/factories.rb",
        "require \"factory_bot\"\nRails.application.config.after_initialize { FactoryBot.find_definitions }\n",
    );
    app.edit("spec/support/factory_bot.rb", "FactoryBot.find_definitions", "");
    app.write(
        "spec/factories/notes.rb",
        "Note = Struct.new(:text)\nFactoryBot.define { factory(:note, class: \"Note\") { text { \"old\" } } }\n",
    );
    app.write(
        "spec/note_spec.rb",
        "require \"rails_helper\"\nRSpec.describe(\"a note\") { it(\"tells\") { puts build(:note).text } }\n",
    );
    let server = app.server();
    let tell = || server.run_with(["spec/note_spec.rb"], json!({ "include_stdout": "always" }));
    let old = tell();
    assert_eq!(old["stdout"]["text"], "old\n", "{old}");
    app.edit("spec/factories/notes.rb", "\"old\"", "\"new\"");
    let new = tell();
    assert_eq!(new["stdout"]["text"], "new\n", "{new}");
    server.stop();
}

#[test]
fn code_in_a_new_directory_of_the_app_is_found() {
    let app = App::copy();
    let server = app.server();
    examples(&server.run([SPEC]));
    app.write("app/finders/finder.rb", "class Finder; def self.found = 1; end\n");
    app.write(
        "spec/finder_spec.rb",
        "require \"rails_helper\"\nRSpec.describe(Finder) { it(\"finds\") { expect(Finder.found).to eq(1) } }\n",
    );
    let report = server.run(["spec/finder_spec.rb"]);
    examples(&report);
    // The directory and what is in it are new; either tells why.
    let trigger = report["trigger"].as_str().unwrap_or_default();
    assert!(trigger.starts_with("rebooted: app/finders"), "{report}");
    server.stop();
}

/// As code that makes a daemon does. The next file that is opened gets the number of our pipe.
#[test]
fn a_run_that_closes_every_descriptor_gets_nothing_of_ours_into_its_files() {
    let app = App::copy();
    app.write(
        "spec/closes_spec.rb",
        r#"
RSpec.describe "A spec that closes" do
  it "closes and opens" do
    (3..255).each { |fd| IO.for_fd(fd).close rescue nil }
    FILES = Array.new(60) { |n| File.open("tmp/victim#{n}", "w") }
  end

  it("goes on") { expect(1).to eq(1) }
end
"#,
    );
    let server = app.server();
    let report = server.run(["spec/closes_spec.rb"]);
    assert_ne!(report["outcome"], "passed", "{report}");
    for n in 0..60 {
        let path = app.path(&format!("tmp/victim{n}"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(text, "", "victim{n}");
    }
    examples(&server.run([SPEC]));
    server.stop();
}
