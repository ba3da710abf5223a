//! `rails_check`: what does not fit in the fixture, in apps that are made not to fit, and what is no finding.

use serde_json::{Value, json};

use crate::support::{App, Server, golden};

fn check(server: &Server, arguments: Value) -> Value {
    server.ask("rails_check", arguments)
}

/// `code subject at` of each finding.
fn lines(answer: &Value) -> Vec<String> {
    let findings = answer["findings"].as_array().expect("there are findings").iter();
    let text = |finding: &Value, field: &str| finding[field].as_str().unwrap_or("-").to_owned();
    let line = |finding| ["code", "subject", "at"].map(|field| text(finding, field)).join(" ");
    findings.map(line).collect()
}

#[test]
fn what_does_not_fit_in_the_fixture_is_found() {
    let app = App::copy();
    let server = app.server();
    golden("check", &check(&server, json!({})));
    server.stop();
}

#[test]
fn a_project_silences_codes_and_a_call_asks_for_some() {
    let app = App::copy();
    app.setting("check: {ignore: [action_without_route, table_missing, job_missing]}");
    let server = app.server();
    let answer = check(&server, json!({}));
    assert_eq!(
        answer["ignored"],
        json!({"table_missing": 1, "action_without_route": 1})
    );
    assert!(answer["by_code"].get("table_missing").is_none(), "{answer}");
    let asked = check(&server, json!({"only": ["table_missing"]}));
    assert_eq!(lines(&asked), ["table_missing Extra app/models/extra.rb:2"]);
    let all = lines(&answer);
    let first = check(&server, json!({"limit": 2}));
    let rest = check(&server, json!({"offset": first["next_offset"]}));
    assert_eq!((lines(&first).len(), [lines(&first), lines(&rest)].concat()), (2, all));
    let refusal = server.ask_in_vain("rails_check", json!({"only": ["table_mising"]}));
    assert_eq!(refusal["code"], "invalid_arguments", "{refusal}");
    app.setting("checks: {}");
    assert_eq!(server.ask_in_vain("rails_check", json!({}))["code"], "invalid_config");
    server.stop();
}

const MODELS: &[(&str, &str)] = &[
    (
        "app/models/crate.rb",
        r#"class Crate < ApplicationRecord
  self.table_name = "makers"
  enum :colour, { red: 0 }
  enum :mood, { good: 0 }
  attribute :mood, :integer
  attr_accessor :terms
  validates :terms, acceptance: true
  validates :widgets_count, presence: true
  validates :widgets_count, uniqueness: { scope: :name }
  validates :created_at, uniqueness: { conditions: -> { where(name: "x") } }
  has_many :widgets, -> { order(:id) }, foreign_key: :maker_id
  has_many :labels, through: :stickers
  has_many :boxes, class_name: "Extra", foreign_key: :maker_id
  has_many :owned, class_name: "Widget", foreign_key: :maker_id, inverse_of: :crate
  has_and_belongs_to_many :orders
end
"#,
    ),
    (
        "app/models/wheel.rb",
        "class Wheel < ApplicationRecord\n  self.table_name = \"comments\"\n  belongs_to :owner, polymorphic: true\nend\n",
    ),
    ("app/models/big_crate.rb", "class BigCrate < Crate\nend\n"),
];

#[test]
fn each_way_in_which_a_model_does_not_fit_its_tables_is_found_once() {
    let app = App::copy();
    for (path, text) in MODELS {
        app.write(path, text);
    }
    let server = app.server();
    let found = check(&server, json!({"limit": 200}));
    let of = |subject: &str| -> Vec<String> {
        let all = lines(&found).into_iter();
        all.filter(|line| line.split(' ').nth(1).unwrap().starts_with(subject))
            .collect()
    };
    assert_eq!(
        of("Crate"),
        [
            "association_invalid Crate.labels app/models/crate.rb:12",
            "association_table_missing Crate.boxes app/models/crate.rb:13",
            "association_table_missing Crate.orders app/models/crate.rb:15",
            "enum_column_missing Crate.colour app/models/crate.rb:3",
            "inverse_missing Crate.widgets app/models/crate.rb:11",
            "inverse_missing Crate.owned app/models/crate.rb:14",
            "uniqueness_not_indexed Crate.created_at app/models/crate.rb:10",
        ]
    );
    assert_eq!(
        of("Wheel"),
        ["association_column_missing Wheel.owner app/models/wheel.rb:3"]
    );
    assert_eq!(of("BigCrate"), [""; 0], "what is inherited is told once");
    assert!(found.get("unchecked").is_none(), "{found}");
    server.stop();
}

const CALLS: &str = r#"class Calls
  # GoneJob.perform_later in a comment, and in a text:
  TEXT = "LostJob.perform_later"

  class InnerJob < ApplicationJob; end

  def call
    AnnounceWidgetJob.perform_later
    InnerJob.set(wait: 1).perform_later
    Ops::SweepJob.perform_later
    MissingJob.perform_later(1)
    Ops::GoneJob
      .set(wait: 5)
      .perform_later
    WidgetMailer.with(a: 1).went_live
    ::VanishedMailer.hello.deliver_later
    NotAJob.new
  end
end
"#;

#[test]
fn jobs_mailers_and_controllers_that_are_only_named_are_found() {
    let app = App::copy();
    app.write("app/services/calls.rb", CALLS);
    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        "root \"pages#home\"\n  get \"lost\", to: \"lost#index\"\n  get \"seen\", to: \"books#seen\"\n  get \"bare\", to: \"books#bare\"",
    );
    app.write("app/views/books/seen.html.erb", "a template is enough\n");
    let server = app.server();
    let only = json!({"only": ["job_missing", "mailer_missing", "route_without_controller", "route_without_action"]});
    assert_eq!(
        lines(&check(&server, only)),
        [
            "route_without_controller LostController config/routes.rb:6",
            "route_without_action books#bare config/routes.rb:8",
            "route_without_action widgets#ghost config/routes.rb:46",
            "job_missing MissingJob app/services/calls.rb:11",
            "job_missing Ops::GoneJob app/services/calls.rb:12",
            "mailer_missing VanishedMailer app/services/calls.rb:16",
        ]
    );
    server.stop();
}

#[test]
fn without_a_database_the_rest_is_still_checked() {
    let app = App::bare();
    let server = app.server();
    let found = check(&server, json!({}));
    assert_eq!(found["by_code"]["route_without_action"], 1, "{found}");
    assert!(
        found["unchecked"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("NoDatabaseError"),
        "{found}"
    );
    assert!(!app.path("storage/test.sqlite3").exists(), "looking makes no database");
    server.stop();
}
