//! `rails_routes`: the routes of the fixture and of odder apps.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{App, Server, golden, texts};

fn routes(server: &Server, arguments: Value) -> Value {
    server.ask("rails_routes", arguments)
}

/// `VERB PATH` of each route that was told.
fn lines(answer: &Value) -> Vec<String> {
    let rows = answer["rows"].as_array().expect("there are rows");
    let line = |row: &Value| format!("{} {}", row[1].as_str().unwrap(), row[2].as_str().unwrap());
    rows.iter().map(line).collect()
}

/// What a row says in the column of that name.
fn cell<'a>(answer: &'a Value, row: &'a Value, column: &str) -> &'a Value {
    let at = texts(&answer["columns"]).iter().position(|name| *name == column);
    at.and_then(|at| row.get(at)).unwrap_or(&Value::Null)
}

fn row<'a>(answer: &'a Value, path: &str) -> &'a Value {
    let rows = answer["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row[2] == path);
    found.unwrap_or_else(|| panic!("no route with {path}: {answer}"))
}

#[test]
fn the_routes_of_the_fixture_are_told_and_what_is_withheld_is_counted() {
    let app = App::copy();
    let server = app.server();
    golden("routes", &routes(&server, json!({})));
    golden("routes_of_engines", &routes(&server, json!({"engines": "only"})));
    let all = routes(&server, json!({"engines": "include"}));
    assert_eq!(all["matched"], 42, "{all}");
    assert_eq!(
        (&all["engines_excluded"], &all["engines"]),
        (&json!(0), &json!("include"))
    );
    server.stop();
}

#[test]
fn a_query_looks_at_every_name_in_any_case() {
    let app = App::copy();
    let server = app.server();
    let table: &[(&str, &[&str])] = &[
        ("PUBLISH_widget", &["POST /widgets/:id/publish"]),
        ("patch", &["PATCH /widgets/:id"]),
        ("/INTERNAL", &["GET /internal/dashboard"]),
        ("sessions", &["DELETE /session", "POST /session"]),
        ("anyth", &[" /anything"]),
        ("widgets#search", &["GET /widgets/search"]),
        ("statusapp", &[" /status"]),
        ("NÄME", &["GET /uni/ü/:näme"]),
        ("redirect(301", &["GET /old", "GET /oldest"]),
        ("billing::engine", &[" /billing", " /partners/:partner_id/billing"]),
        ("(.:format)", &[]),
        (".*", &[]),
    ];
    for (query, expected) in table {
        let answer = routes(&server, json!({"query": query}));
        assert_eq!(lines(&answer), *expected, "{query}");
        assert_eq!(answer["matched"], expected.len(), "{query}");
    }
    let answer = routes(&server, json!({"query": "invoices#pay", "engines": "include"}));
    assert_eq!(lines(&answer).len(), 2, "{answer}");
    let answer = routes(&server, json!({"query": "invoices#pay"}));
    assert_eq!(
        (answer["matched"].clone(), answer["engines_excluded"].clone()),
        (json!(0), json!(2))
    );
    server.stop();
}

#[test]
fn controller_and_verb_narrow_it_down() {
    let app = App::copy();
    let server = app.server();
    for name in [
        "api/v1/widgets",
        "Api::V1::WidgetsController",
        "api/v1/widgets_controller",
    ] {
        let answer = routes(&server, json!({"controller": name}));
        assert_eq!(
            lines(&answer),
            ["GET /api/v1/widgets", "GET /api/v1/widgets/:id"],
            "{name}"
        );
    }
    let answer = routes(&server, json!({"controller": "pages", "verb": "post"}));
    assert_eq!(
        lines(&answer),
        [" /anything", "GET|POST /form"],
        "`via: :all` takes it, too"
    );
    let none = routes(&server, json!({"controller": "page"}));
    assert_eq!(
        (&none["matched"], &none["hint"]),
        (&json!(0), &json!("did you mean `pages`?"))
    );
    let none = routes(&server, json!({"controller": "billing/invoices"}));
    assert_eq!(none["hint"], "`engines: \"include\"` has 8 that match", "{none}");
    server.stop();
}

#[test]
fn pages_together_have_every_route_once() {
    let app = App::copy();
    let server = app.server();
    let whole = lines(&routes(&server, json!({"engines": "include"})));
    let (mut paged, mut offset) = (Vec::new(), Some(json!(0)));
    while let Some(at) = offset {
        let page = routes(&server, json!({"engines": "include", "limit": 5, "offset": at}));
        assert_eq!(page["matched"], whole.len());
        paged.extend(lines(&page));
        offset = page.get("next_offset").cloned();
    }
    assert_eq!(paged, whole);
    let beyond = routes(&server, json!({"offset": 1_000_000}));
    assert_eq!((lines(&beyond).len(), beyond.get("next_offset")), (0, None));
    server.stop();
}

#[test]
fn a_route_that_comes_or_goes_between_two_pages_costs_no_other_its_place() {
    let app = App::copy();
    let server = app.server();
    let first = routes(&server, json!({"limit": 5}));
    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        "get \"earlier\", to: \"pages#home\"\n  root \"pages#home\"",
    );
    let second = routes(&server, json!({"limit": 5, "cursor": first["next_cursor"]}));
    let told = second["changed"].as_str().expect("it is said");
    assert!(told.starts_with("the list changed since the page before: "), "{told}");
    // Without what the first page ended with.
    app.edit("config/routes.rb", "  collection { get :search }\n", "\n");
    app.edit("config/routes.rb", "resource :session, only: %i[create destroy]", "");
    let rest = routes(&server, json!({"limit": 200, "cursor": second["next_cursor"]}));
    let paged = [lines(&first), lines(&second), lines(&rest)].concat();
    let now = routes(&server, json!({"limit": 200}));
    let once: BTreeSet<&String> = paged.iter().collect();
    assert_eq!(once.len(), paged.len(), "none twice: {paged:?}");
    let lost: Vec<String> = lines(&now).into_iter().filter(|line| !paged.contains(line)).collect();
    assert_eq!(lost, ["GET /earlier"], "{paged:?}");
    // A page as before, where nothing changed.
    let again = routes(&server, json!({"limit": 5}));
    let same = routes(&server, json!({"limit": 5, "cursor": again["next_cursor"]}));
    assert_eq!(same.get("changed"), None, "{same}");
    let elsewhere = json!({"query": "billing", "cursor": again["next_cursor"]});
    let elsewhere = server.ask_in_vain("rails_routes", elsewhere);
    assert_eq!(elsewhere["code"], "invalid_arguments", "{elsewhere}");
    server.stop();
}

#[test]
fn rails_own_routes_are_counted_where_they_match() {
    let app = App::copy();
    let server = app.server();
    assert_eq!(routes(&server, json!({"query": "cable"}))["internal_excluded"], 1);
    assert_eq!(
        routes(&server, json!({"query": "widgets"})).get("internal_excluded"),
        None
    );
    server.stop();
}

#[test]
fn an_answer_that_is_too_large_goes_on_on_the_next_page() {
    let app = App::copy();
    app.setting("max_result_bytes: 4096");
    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        "root \"pages#home\"\n  300.times { |n| get \"many/of/them/#{n}\", to: \"pages#home\" }",
    );
    let server = app.server();
    let (mut seen, mut offset, mut pages) = (BTreeSet::new(), Some(json!(0)), 0);
    while let Some(at) = offset {
        let page = routes(&server, json!({"query": "many/of", "limit": 200, "offset": at}));
        assert!(page.to_string().len() <= 4096);
        for line in lines(&page) {
            assert!(seen.insert(line.clone()), "{line} twice");
        }
        assert!(page.get("cut").is_none(), "{page}");
        offset = page.get("next_offset").cloned();
        pages += 1;
    }
    assert_eq!(seen.len(), 300);
    assert!(pages > 2, "{pages}");
    server.stop();
}

/// Engines in engines, apps that answer nothing sensible, constraints that are objects.
const ODD: &str = r#"
  mount Outer::Engine, at: "/outer"
  scope("(:locale)") { mount Inner::Engine, at: "/inner", as: :localized }
  mount CoyApp.new, at: "/coy"
  mount CoyApp.itself, at: "/coy_class"
  get "guarded", to: "pages#home", constraints: CoyApp.new
  get "rules", to: "pages#home", constraints: { format: /json/i, port: [80, 443] }, defaults: { locale: :nl }
  get "far", to: redirect(host: "example.org", path: "/x/%{id}", status: 303)
  get "own", to: redirect(CoyApp.new)
  get "direct", to: PagesController.action(:home)
  get ":controller/:action/legacy", controller: /pages/
"#;

const COY_APP: &str = r#"
class CoyApp < BasicObject
  def self.respond_to?(name, *) = %i[call].include?(name)
  def self.call(_env) = [204, {}, []]
  def self.itself = self
  def self.inspect = 7
  def respond_to?(name, *) = %i[call matches?].include?(name)
  def is_a?(kind) = kind == ::Object && false
  def nil? = false
  def call(*) = [204, {}, []]
  def matches?(_request) = true
  def inspect = ::Kernel.raise("not shown")
  def class = ::Kernel.raise("no class")
  def to_s = ::Kernel.raise("no text")
end

module Outer; class Engine < ::Rails::Engine; end; end

module Inner
  class Engine < ::Rails::Engine
    isolate_namespace Inner
    routes.draw do
      get "leaf", to: "leaves#show"
      mount Outer::Engine, at: "/again"
    end
  end
end

module Outer
  class Engine < ::Rails::Engine
    isolate_namespace Outer
    routes.draw { mount Inner::Engine, at: "/nested" }
  end
end
"#;

#[test]
fn nested_engines_and_apps_that_do_not_show_themselves_are_told() {
    let app = App::copy();
    app.write(
        "lib/coy_app.rb",
        COY_APP.replace(
            "module Inner",
            "module Outer; class Engine < ::Rails::Engine; end; end\n\nmodule Inner",
        ),
    );
    app.edit(
        "config/routes.rb",
        "require \"shy_app\"",
        "require \"shy_app\"\nrequire \"coy_app\"",
    );
    app.edit(
        "config/routes.rb",
        "root \"pages#home\"",
        &format!("root \"pages#home\"\n{ODD}"),
    );
    let server = app.server();
    let answer = routes(&server, json!({"engines": "include", "limit": 200}));
    let leaves: Vec<String> = lines(&answer)
        .into_iter()
        .filter(|line| line.contains("leaf"))
        .collect();
    assert_eq!(leaves, ["GET (/:locale)/inner/leaf", "GET /outer/nested/leaf"]);
    let told = |path: &str, column: &str| cell(&answer, row(&answer, path), column).clone();
    assert_eq!(told("/outer/nested/leaf", "engine"), "Inner::Engine");
    assert_eq!(told("/coy", "to"), "CoyApp");
    assert_eq!(told("/coy_class", "to"), "CoyApp");
    assert_eq!(told("/guarded", "constraints"), json!({"matches": ["CoyApp"]}));
    assert_eq!(
        told("/rules", "constraints"),
        json!({"format": "/json/i", "port": [80, 443]})
    );
    assert_eq!(told("/rules", "defaults"), json!({"locale": "nl"}));
    assert_eq!(told("/far", "to"), "redirect(303, host: example.org, path: /x/%{id})");
    assert_eq!(told("/own", "to"), "redirect(301, CoyApp)");
    assert_eq!(told("/direct", "to"), "proc of gem actionpack");
    assert_eq!(told("/direct", "at"), "config/routes.rb:16");
    assert_eq!(told("/:controller/:action/legacy", "controller"), ":controller");
    for path in ["/coy", "/coy_class", "/far", "/own"] {
        assert_eq!(told(path, "controller"), Value::Null, "{path}");
    }
    assert!(
        !answer.to_string().contains(app.root().to_str().unwrap()),
        "no absolute path"
    );
    server.stop();
}
