//! `rails_controller`: the controllers of the fixture, and names that are none.

use serde_json::{Value, json};

use crate::support::{App, Server, golden, texts};

fn controller(server: &Server, name: &str) -> Value {
    server.ask("rails_controller", json!({"name": name}))
}

fn names(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().expect("a list").iter();
    items.map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_controllers_of_the_fixture_are_told() {
    let app = App::copy();
    let server = app.server();
    golden("controller", &controller(&server, "WidgetsController"));
    golden("controller_of_an_api", &controller(&server, "api/v1/widgets"));
    golden(
        "controller_of_an_engine",
        &controller(&server, "Billing::InvoicesController"),
    );
    let pages = controller(&server, "pages");
    assert_eq!(pages["layout"], json!({"name": "bare", "only": ["home"]}));
    let makers = controller(&server, "makers");
    assert_eq!(makers["layout"], json!({"name": "none"}));
    server.stop();
}

const ODD: &str = r#"
class OddController < ApplicationController
  before_action :who, only: %i[index nowhere]
  before_action :missing_method
  skip_before_action :who, only: :index
  before_action(except: []) { head :ok }
  after_action Class.new { def self.after(_) = nil }
  around_action ShyApp.new, if: -> { true }
  rescue_from("ArgumentError", with: :who)
  layout -> { "bare" }

  def index; end
  define_method(:made) { head :ok }

  private

  def who; end
end
"#;

#[test]
fn callbacks_of_every_kind_templates_without_methods_and_open_routes_are_told() {
    let app = App::copy();
    app.write("app/controllers/odd_controller.rb", ODD);
    app.write("app/views/odd/silent.html.erb", "quiet\n");
    app.write("app/views/odd/_part.html.erb", "part\n");
    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        "root \"pages#home\"\n  get \"odd/silent\", to: \"odd#silent\"\n  get \"odd/gone\", to: \"odd#gone\"",
    );
    let server = app.server();
    let odd = controller(&server, "OddController");
    assert_eq!(names(&odd["actions"], "name"), ["index", "made", "silent"]);
    assert_eq!(odd["actions"][2]["templates"], json!(["app/views/odd/silent.html.erb"]));
    assert_eq!(names(&odd["routes_without_action"], "action"), ["gone"]);
    assert_eq!(texts(&odd["unroutable_actions"]), ["index", "made"]);
    let own: Vec<&Value> = odd["callbacks"].as_array().unwrap().iter().collect();
    let of = |filter: &str| *own.iter().find(|callback| callback["filter"] == filter).expect(filter);
    assert_eq!(of("who")["only"], json!(["index", "nowhere"]));
    assert_eq!(of("who")["except"], json!(["index"]));
    assert_eq!(of("missing_method").get("at"), None);
    assert_eq!(
        (&of("block")["except"], &of("block")["at"]),
        (&json!([]), &json!("app/controllers/odd_controller.rb:6"))
    );
    assert_eq!(of("anonymous subclass of Object")["kind"], "after");
    assert_eq!(
        of("ShyApp")["if"],
        json!(["block at app/controllers/odd_controller.rb:8"])
    );
    assert_eq!(odd["rescue_from"][0]["error"], "ArgumentError");
    assert_eq!(odd["layout"]["name"], "block at app/controllers/odd_controller.rb:10");
    assert!(!odd.to_string().contains("0x"), "no address: {odd}");
    assert!(
        !odd.to_string().contains(app.root().to_str().unwrap()),
        "no absolute path: {odd}"
    );
    server.stop();
}

#[test]
fn a_controller_that_is_not_there_is_answered_with_those_that_are_alike() {
    let app = App::copy();
    let server = app.server();
    let table = [
        ("WidgetController", "did you mean `WidgetsController`"),
        (
            "V2::WidgetsController",
            "did you mean `Api::V1::WidgetsController`, `WidgetsController`",
        ),
        ("dashboards", "did you mean `Admin::DashboardsController`"),
    ];
    for (name, hint) in table {
        let refusal = server.ask_in_vain("rails_controller", json!({"name": name}));
        assert_eq!(refusal["code"], "controller_not_found", "{refusal}");
        assert!(refusal["hint"].as_str().unwrap().starts_with(hint), "{refusal}");
    }
    server.stop();
}

/// Writes down every method of the app that is called and every query that is made while questions are answered.
const WITNESS: &str = r##"
Object.autoload(:Tripwire, Rails.root.join("lib/tripwire.rb").to_s)
root = Rails.root.to_s
witnessed = lambda do |what|
  next unless File.read("/proc/self/cmdline").start_with?("coatepec reader")
  File.write(File.join(root, "tmp/witnessed.txt"), "#{what}\n", mode: "a")
end
TracePoint.new(:call) { |at| witnessed.call("#{at.path}:#{at.method_id}") if at.path.start_with?(root) }.enable
ActiveSupport::Notifications.subscribe("sql.active_record") { |*, payload| witnessed.call(payload[:sql]) }

module Snare
  def self.const_missing(name) = Object.const_get(:Tripwire)
  def self.method_missing(*) = true
  def self.respond_to_missing?(*) = true
  def self.<(_other) = true
  def self.<=(_other) = true
end
"##;

#[test]
fn a_name_that_is_no_controller_resolves_nothing_and_runs_nothing() {
    let app = App::copy();
    app.write("config/initializers/witness.rb", WITNESS);
    app.write(
        "lib/tripwire.rb",
        "File.write(Rails.root.join(\"tmp/tripped.txt\"), \"\")\nTripwire = 1\n",
    );
    let server = app.server();
    let unknown = [
        "Kernel",
        "Object",
        "Class",
        "File",
        "ENV",
        "ARGV",
        "Tripwire",
        "Snare",
        "Snare::Tripwire",
        "Snare::WidgetsController",
        "Widget",
        "Rails",
        "Rails::Application",
        "ActionController::Base",
        "ActionController::Metal",
        "Process",
        "WidgetsController::File",
        "Object::WidgetsController",
        "WidgetsController::WidgetsController",
        "RUBY_VERSION",
    ];
    for name in unknown {
        let refusal = server.ask_in_vain("rails_controller", json!({"name": name}));
        assert_eq!(refusal["code"], "controller_not_found", "{name}: {refusal}");
    }
    let long = "C".repeat(10_000);
    let malformed = [
        "::WidgetsController",
        "A::B; system(\"id\")",
        "Widget\u{0}",
        "Ünit",
        "`id`",
        "WidgetsController.new",
        "",
        &long,
        "../widgets",
        "widgets\nadmin",
        "-e",
    ];
    for name in malformed {
        let refusal = server.ask_in_vain("rails_controller", json!({"name": name}));
        assert_eq!(refusal["code"], "invalid_arguments", "{refusal}");
        assert!(refusal.to_string().len() < 600, "{refusal}");
    }
    let exists = |path: &str| app.path(path).exists();
    assert!(
        !exists("tmp/tripped.txt") && !exists("tmp/witnessed.txt"),
        "something of the app ran"
    );
    // The witness itself is awake: a class that wants to be asked is.
    app.write(
        "app/controllers/asked_controller.rb",
        "class AskedController < ApplicationController\n  def self.action_methods = super\nend\n",
    );
    controller(&server, "AskedController");
    assert!(
        app.read("tmp/witnessed.txt")
            .contains("asked_controller.rb:action_methods")
    );
    server.stop();
}
