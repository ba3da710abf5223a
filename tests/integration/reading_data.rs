//! Models, tables, jobs, mailers and channels, as a client is told of them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{App, Deviations, Server, has_text, texts};

/// Set to anything, it writes the results down instead of comparing them.
const WRITE: &str = "COATEPEC_WRITE_GOLDEN";

fn ask(server: &Server, tool: &str, arguments: Value) -> Value {
    let schema = &server.tool(tool)["outputSchema"];
    server.call(tool, arguments).wait().success(schema)
}

fn refused(server: &Server, tool: &str, arguments: Value) -> Value {
    server.call(tool, arguments).wait().refusal()
}

/// What was once told of the fixture app, and looked at by a person. The same on each Rails that it is tested with.
#[test]
fn the_fixture_app_is_told_as_it_was() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/golden/data.json");
    let mut cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(&golden).unwrap()).unwrap();
    let app = App::copy();
    let server = app.server();
    let mut wrong = Deviations::default();
    for case in &mut cases {
        let told = ask(&server, case["tool"].as_str().unwrap(), case["arguments"].clone());
        if std::env::var_os(WRITE).is_some() {
            case["result"] = told;
        } else {
            let asked = format!("{} {}", case["tool"], case["arguments"]);
            wrong.equal(&asked, &told, &case["result"]);
        }
    }
    if std::env::var_os(WRITE).is_some() {
        fs::write(&golden, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
    }
    wrong.none();
    server.stop();
}

#[test]
fn a_model_is_told_as_it_was_just_saved() {
    let app = App::copy();
    let server = app.server();
    let scopes = || {
        let told = ask(&server, "rails_model", json!({ "name": "Event", "fields": ["scopes"] }));
        told["models"][0]["scopes"].clone()
    };
    assert_eq!(scopes(), json!([{ "name": "since", "at": "app/models/event.rb:4" }]));
    app.edit(
        "app/models/event.rb",
        "scope :since",
        "scope :latest, -> { order(:id) }\n  scope :since",
    );
    let expected = json!([
        { "name": "latest", "at": "app/models/event.rb:4" },
        { "name": "since", "at": "app/models/event.rb:5" },
    ]);
    assert_eq!(scopes(), expected);
    app.write("app/models/late.rb", "class Late < ApplicationRecord\nend\n");
    let late = ask(&server, "rails_model", json!({ "name": "Late" }));
    assert_eq!(late["models"][0]["errors"][0]["code"], "table_not_found", "{late}");
    app.remove("app/models/late.rb");
    assert_eq!(
        refused(&server, "rails_model", json!({ "name": "Late" }))["code"],
        "model_not_found"
    );
    server.stop();
}

/// Whatever is asked for, an answer names what it may be, and nothing is left behind.
#[test]
fn a_name_that_is_none_is_refused() {
    let app = App::copy();
    let server = app.server();
    let long = "A".repeat(10_000);
    let malformed = [
        "",
        "widget shop",
        "widget.new",
        "widgets/",
        "::Widget",
        "Widget\0",
        "Object::",
        "Widget::",
        "Widget; exit",
        "Wïdget",
        "Widget\n",
        "💎",
        long.as_str(),
    ];
    let mut wrong = Deviations::default();
    for tool in ["rails_model", "rails_job"] {
        for name in malformed {
            let told = refused(&server, tool, json!({ "name": name }));
            wrong.equal(&format!("{tool} {name:.20}"), &told["code"], "invalid_arguments");
            wrong.check(told.to_string().len() < 1000, || {
                format!("{tool} {name:.20}: a long answer")
            });
        }
    }
    for name in [
        "Kernel",
        "Object::Kernel",
        "Widget::Kernel",
        "kernel",
        "File",
        "ActiveRecord::Base",
        "QuoteRequest",
        "Widgetry::Application",
        "Object::Widget",
    ] {
        let told = refused(&server, "rails_model", json!({ "name": name }));
        wrong.equal(name, &told["code"], "model_not_found");
        let told = refused(&server, "rails_job", json!({ "name": name }));
        wrong.equal(name, &told["code"], "job_not_found");
    }
    let near = refused(&server, "rails_model", json!({ "name": "Wigdet" }));
    wrong.equal("a near name", &near["hint"], "did you mean `Widget`?");
    for (tool, name, hint) in [
        ("rails_model", "widgets", "did you mean `Widget`?"),
        ("rails_job", "reprice_widgets", "did you mean `RepriceWidgetsJob`?"),
    ] {
        let told = refused(&server, tool, json!({ "name": name }));
        wrong.equal(
            name,
            (&told["code"], &told["hint"]),
            (&json!(tool.replace("rails_", "") + "_not_found"), &json!(hint)),
        );
    }
    let table = refused(&server, "rails_schema", json!({ "table": "widgits" }));
    wrong.equal("a table", &table["code"], "table_not_found");
    wrong.equal("a near table", &table["hint"], "did you mean `widgets`?");
    wrong.none();
    server.stop();
}

#[test]
fn pages_of_a_list_follow_one_another() {
    let app = App::copy();
    let server = app.server();
    for (tool, list) in [
        ("rails_model", "models"),
        ("rails_job", "classes"),
        ("rails_schema", "tables"),
    ] {
        let all = ask(&server, tool, json!({}));
        let mut found = Vec::new();
        let mut offset = json!(0);
        while !offset.is_null() {
            let page = ask(&server, tool, json!({ "limit": 4, "offset": offset }));
            found.extend(page[list].as_array().unwrap().clone());
            offset = page["next_offset"].clone();
        }
        assert_eq!(Value::Array(found), all[list], "{tool}");
    }
    let names = ask(
        &server,
        "rails_schema",
        json!({ "detail": "names", "query": "WIDGET_ID" }),
    );
    assert_eq!(
        texts(&names["tables"]),
        ["catalog_placements", "line_items", "parts", "tags_widgets"]
    );
    server.stop();
}

/// Also if the next page comes from the schema file.
#[test]
fn a_list_that_changes_between_two_pages_loses_nothing_and_tells_nothing_twice() {
    let app = App::copy();
    let server = app.server();
    for (tool, list, field) in [("rails_model", "models", "name"), ("rails_job", "classes", "name")] {
        let first = ask(&server, tool, json!({ "limit": 4 }));
        app.write("app/models/aardvark.rb", "class Aardvark < ApplicationRecord\nend\n");
        app.write("app/jobs/aardvark_job.rb", "class AardvarkJob < ApplicationJob\nend\n");
        let rest = ask(&server, tool, json!({ "limit": 200, "cursor": first["next_cursor"] }));
        assert!(has_text(&rest["changed"], "the list changed"), "{rest}");
        let names = |page: &Value| -> Vec<String> {
            let rows = page[list].as_array().unwrap().iter();
            rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
        };
        let now = names(&ask(&server, tool, json!({ "limit": 200 })));
        let expected: Vec<String> = now.into_iter().filter(|name| !name.starts_with("Aardvark")).collect();
        assert_eq!([names(&first), names(&rest)].concat(), expected, "{tool}");
        app.remove("app/models/aardvark.rb");
        app.remove("app/jobs/aardvark_job.rb");
    }
    let first = ask(&server, "rails_schema", json!({ "limit": 4, "detail": "names" }));
    app.write("config/initializers/broken.rb", "raise \"no boot\"\n");
    app.edit(
        "db/schema.rb",
        "create_table \"comments\"",
        "create_table \"aardvarks\" do |t|\n  end\n\n  create_table \"comments\"",
    );
    let rest = ask(
        &server,
        "rails_schema",
        json!({ "detail": "names", "cursor": first["next_cursor"] }),
    );
    assert_eq!(rest["source"], "schema_file", "{rest}");
    assert!(has_text(&rest["changed"], "the list changed"), "{rest}");
    let now = ask(&server, "rails_schema", json!({ "detail": "names" }));
    let mut paged = texts(&first["tables"]);
    paged.extend(texts(&rest["tables"]));
    paged.insert(0, "aardvarks");
    assert_eq!(paged, texts(&now["tables"]));
    server.stop();
}

/// As in a fresh clone. Looking makes no database.
#[test]
fn without_a_database_the_schema_file_is_told() {
    let app = App::bare();
    let server = app.server();
    let told = ask(&server, "rails_schema", json!({ "table": "widgets" }));
    assert_eq!(told["source"], "schema_file", "{told}");
    assert!(has_text(&told["instead"], "no file storage/test.sqlite3"), "{told}");
    assert_eq!(told["tables"][0]["columns"].as_array().unwrap().len(), 12);
    let widget = ask(
        &server,
        "rails_model",
        json!({ "name": "Widget", "fields": ["enums", "columns"] }),
    );
    let widget = &widget["models"][0];
    assert_eq!(widget["errors"][0]["code"], "database_unavailable", "{widget}");
    assert_eq!(widget["enums"].as_array().unwrap().len(), 2);
    assert_eq!(fs::read_dir(app.path("storage")).unwrap().count(), 0);
    server.stop();
}
