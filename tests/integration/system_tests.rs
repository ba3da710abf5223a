//! System tests as Rails has them, with Capybara and without a browser: Rack is asked within the process.

use serde_json::json;

use crate::support::{App, Deviations};

/// What `rails new` writes, with the driver that needs no browser.
const CASE: &str = r#"
require "test_helper"

class ApplicationSystemTestCase < ActionDispatch::SystemTestCase
  driven_by :rack_test
end
"#;

const TEST: &str = r#"
require "application_system_test_case"

class WidgetsTest < ApplicationSystemTestCase
  test "the list shows what was made" do
    create(:widget, name: "Big Wheel")
    visit "/widgets"
    assert_text "Big Wheel"
  end

  test "what is not there is not found" do
    visit "/widgets"
    assert_text "Small Wheel"
  end
end
"#;

const SPEC: &str = r#"
require "rails_helper"

RSpec.describe "The list of widgets", type: :system do
  before { driven_by(:rack_test) }

  it "shows what was made" do
    create(:widget, name: "Big Wheel")
    visit "/widgets"
    expect(page).to have_text("Big Wheel")
  end

  it "does not show what was not made" do
    visit "/widgets"
    expect(page).to have_text("Small Wheel")
  end
end
"#;

#[test]
fn system_tests_of_both_frameworks_run_in_the_sandbox() {
    let app = App::copy();
    app.append("Gemfile", "gem 'capybara', require: false\n");
    app.write("test/application_system_test_case.rb", CASE);
    app.write("test/system/widgets_test.rb", TEST);
    app.write("spec/system/widgets_spec.rb", SPEC);
    let server = app.server();
    let mut wrong = Deviations::default();
    for path in ["test/system/widgets_test.rb", "spec/system/widgets_spec.rb"] {
        for fork in ["always", "never"] {
            let report = server.run_with([path], json!({"fork": fork}));
            let what = format!("{path}, {fork}: {report}");
            wrong.equal(&what, &report["outcome"], "failed");
            wrong.equal(&what, &report["summary"]["examples"], 2);
            wrong.equal(&what, &report["summary"]["failures"], 1);
            let message = report["failures"][0]["message"].as_str().unwrap_or_default();
            wrong.check(message.contains("\"Small Wheel\""), || what.clone());
            wrong.check(report["refused"].is_null(), || what.clone());
        }
    }
    wrong.none();
    server.stop();
}
