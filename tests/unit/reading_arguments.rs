//! What a caller may ask of an app, and what is refused before Ruby hears of it.

use serde_json::{Value, json};

use coatepec::config::Config;
use coatepec::error::Kind;
use coatepec::reading::check::Check;
use coatepec::reading::controller::Controller;
use coatepec::reading::job::Job;
use coatepec::reading::model::Model;
use coatepec::reading::page;
use coatepec::reading::routes::Routes;
use coatepec::reading::schema::Schema;
use coatepec::reading::{Arguments, Question};

/// What of the arguments reaches Ruby.
fn asked<T: Arguments>(arguments: Value, config: &Config) -> (&'static str, Value) {
    let arguments: T = serde_json::from_value(arguments).unwrap();
    let question = Question::new(&arguments).unwrap();
    (question.what, question.arguments(config))
}

fn accepted<T: Arguments>(arguments: Value) -> (&'static str, Value) {
    asked::<T>(arguments, &Config::default())
}

#[track_caller]
fn refused<T: Arguments>(arguments: Value, argument: &str) {
    let shown = arguments.to_string();
    let arguments: T = serde_json::from_value(arguments).unwrap();
    let error = Question::new(&arguments).expect_err(&shown);
    assert_eq!(error.kind, Kind::InvalidArguments, "{shown}");
    assert!(
        error.message.starts_with(&format!("`{argument}` ")),
        "{}",
        error.message
    );
    assert!(error.message.len() < 300 && error.hint.is_some(), "{}", error.message);
}

#[test]
fn what_is_left_out_has_its_default() {
    let expected = json!({
        "query": null, "controller": null, "verb": null, "limit": 100, "offset": 0, "cursor": null, "engines": "exclude",
    });
    assert_eq!(accepted::<Routes>(json!({})), ("routes", expected));
    let expected = json!({"only": null, "limit": 50, "offset": 0, "cursor": null});
    assert_eq!(accepted::<Check>(json!({})), ("check", expected));
}

#[test]
fn what_the_project_wants_is_asked_unless_the_call_says_otherwise() {
    let config = Config::parse("{defaults: {routes: {engines: only}}, check: {ignore: [job_missing]}}").unwrap();
    let engines = |arguments| asked::<Routes>(arguments, &config).1["engines"].clone();
    assert_eq!(engines(json!({})), "only");
    assert_eq!(engines(json!({"engines": "include"})), "include");
    assert_eq!(asked::<Check>(json!({}), &config).1["ignore"], json!(["job_missing"]));
}

#[test]
fn numbers_are_in_range_and_texts_are_not_too_long() {
    for limit in [0, 201] {
        refused::<Routes>(json!({"limit": limit}), "limit");
        refused::<Check>(json!({"limit": limit}), "limit");
    }
    let beyond = json!({"offset": 1_000_001});
    refused::<Routes>(beyond.clone(), "offset");
    refused::<Check>(beyond.clone(), "offset");
    refused::<Model>(beyond.clone(), "offset");
    refused::<Schema>(beyond.clone(), "offset");
    refused::<Job>(beyond, "offset");
    for text in [String::new(), "x".repeat(201), "a\0b".to_owned()] {
        refused::<Routes>(json!({"query": text}), "query");
        refused::<Routes>(json!({"controller": text}), "controller");
        refused::<Routes>(json!({"verb": text}), "verb");
    }
    accepted::<Routes>(json!({"query": "ü".repeat(100), "limit": 200, "offset": 1_000_000}));
}

/// As the page before gave it.
fn cursor(tool: &str, arguments: &Value) -> String {
    format!("100.{}.0123abcd.89abcdef", page::list(tool, arguments))
}

/// It would be taken for one of a list that has changed.
#[test]
fn a_cursor_is_good_for_its_own_list_only() {
    let of_query = cursor("routes", &json!({"query": "widgets", "limit": 7}));
    accepted::<Routes>(json!({"query": "widgets", "cursor": of_query, "limit": 5}));
    refused::<Routes>(json!({"cursor": of_query}), "cursor");
    refused::<Routes>(json!({"query": "makers", "cursor": of_query}), "cursor");
    refused::<Routes>(
        json!({"query": "widgets", "engines": "only", "cursor": of_query}),
        "cursor",
    );
    refused::<Model>(json!({"query": "widgets", "cursor": of_query}), "cursor");
    refused::<Check>(json!({"cursor": cursor("routes", &json!({}))}), "cursor");
}

#[test]
fn a_verb_is_one_of_http() {
    for verb in ["GET", "delete", "Patch", "PROPFIND"] {
        accepted::<Routes>(json!({"verb": verb}));
    }
    for verb in ["FETCH", "", "GET ", "GET|POST", "*"] {
        refused::<Routes>(json!({"verb": verb}), "verb");
    }
}

#[test]
fn a_cursor_is_as_a_page_gave_it_and_stands_alone() {
    let good = cursor("routes", &json!({}));
    accepted::<Routes>(json!({"cursor": good, "limit": 5}));
    let odd = [
        "",
        "1",
        "1.",
        "x.0123abcd",
        "-1.0123abcd",
        "1.0123abc",
        "1.0123abcg",
        "1.0123abcd",
        "1.0123abcd.",
        "1000001.0123abcd",
        "1.0123abcd.1.2.3.4",
        "1.0123abcd.89abcdef.89abcdef.89abcdef.89abcdef.89abcdef",
    ];
    for cursor in odd.map(str::to_owned).into_iter().chain(["9".repeat(10_000)]) {
        refused::<Routes>(json!({"cursor": cursor}), "cursor");
        refused::<Check>(json!({"cursor": cursor}), "cursor");
        refused::<Schema>(json!({"cursor": cursor}), "cursor");
    }
    refused::<Model>(json!({"cursor": good, "offset": 0}), "cursor");
    refused::<Job>(json!({"cursor": good, "offset": 100}), "cursor");
}

#[test]
fn looking_for_nothing_is_not_taken_for_finding_nothing() {
    refused::<Check>(json!({"only": []}), "only");
}

#[test]
fn a_controller_has_the_name_of_a_class_or_that_which_routes_give_it() {
    for name in [
        "WidgetsController",
        "Admin::V1::WidgetsController",
        "A",
        "widgets",
        "admin/widgets_2",
        "api/v1/x",
    ] {
        accepted::<Controller>(json!({"name": name}));
    }
}

#[test]
fn what_is_no_name_of_a_class_is_refused() {
    let long = [
        "C".repeat(201),
        "C".repeat(10_000),
        "c".repeat(201),
        "日".repeat(10_000),
    ];
    let odd = [
        "",
        ":",
        "::",
        "::Widget",
        "Widget::",
        "Widget::::A",
        "A::b",
        "Ünit",
        "Widget\n",
        "Widget\0",
        " Widget",
        "A::B; system",
        "Widget.new",
        "Widget#x",
        "$0",
        "@a",
        "__FILE__",
        "`id`",
        "#{exit}",
        "../../etc/passwd",
        "/etc/passwd",
        "a//b",
        "a/",
        "a::b",
        "a.b",
        "a b",
        "admin/Widgets",
        "Kernel.exit",
        "(Widget)",
        "A:B",
        "A:::B",
        "7",
        "-",
        "_A",
    ];
    for name in long.iter().map(String::as_str).chain(odd) {
        refused::<Controller>(json!({"name": name}), "name");
    }
}

#[test]
fn no_other_argument_can_be_smuggled_in() {
    for arguments in [
        json!({"limit": 1, "root": "/"}),
        json!({"ignore": []}),
        json!({"only": ["everything"]}),
    ] {
        assert!(
            serde_json::from_value::<Check>(arguments.clone()).is_err(),
            "{arguments}"
        );
    }
    assert!(serde_json::from_value::<Routes>(json!({"eval": "1"})).is_err());
    assert!(serde_json::from_value::<Controller>(json!({})).is_err());
}
