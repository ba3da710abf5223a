//! What the app is made of, in the shell.

use serde_json::Value;

use crate::support::App;

#[test]
fn the_status_of_nothing_is_told_without_a_boot() {
    let app = App::bare();
    let told = app.coatepec(&["status"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.out.contains("absent"), "{told:?}");
    let json: Value = serde_json::from_str(&app.coatepec(&["status", "--json"]).out).unwrap();
    assert_eq!(json["state"], "absent");
}

#[test]
fn routes_are_a_table_with_all_pages_in_one() {
    let app = App::copy();
    let told = app.coatepec(&["routes", "widgets"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.out
            .lines()
            .any(|line| line.contains("GET") && line.contains("/widgets")),
        "{told:?}"
    );
    let json: Value = serde_json::from_str(&app.coatepec(&["routes", "--json"]).out).unwrap();
    assert_eq!(
        json["matched"].as_u64(),
        json["rows"].as_array().map(|rows| rows.len() as u64)
    );
}

#[test]
fn models_controllers_and_tables_are_told_by_name() {
    let app = App::copy();
    let model = app.coatepec(&["model", "Widget"]);
    assert_eq!(model.code, Some(0), "{model:?}");
    assert!(model.out.contains("columns"), "{model:?}");
    let controller = app.coatepec(&["controller", "WidgetsController"]);
    assert_eq!(controller.code, Some(0), "{controller:?}");
    assert!(controller.out.contains("actions"), "{controller:?}");
    let schema = app.coatepec(&["schema", "widgets"]);
    assert_eq!(schema.code, Some(0), "{schema:?}");
    assert!(
        schema.out.contains("title") || schema.out.contains("name"),
        "{schema:?}"
    );
}

#[test]
fn a_name_that_is_none_is_an_error_with_its_code() {
    let app = App::copy();
    let wrong = app.coatepec(&["model", "Widgget"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("[model_not_found]"), "{wrong:?}");
    let wrong = app.coatepec(&["routes", "--engines", "some"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("[invalid_arguments]"), "{wrong:?}");
    for (arguments, hint) in [
        (&["job", "sweepjob"][..], "did you mean `Ops::SweepJob`?"),
        (&["job", "Nothing"], "`coatepec job` lists all"),
        (
            &["controller", "Nothing"],
            "`coatepec routes` names those that are routed to",
        ),
        (&["schema", "nothing"], "`coatepec schema` lists all"),
    ] {
        let wrong = app.coatepec(arguments);
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
        assert!(wrong.err.contains(&format!("hint: {hint}\n")), "{wrong:?}");
    }
    let some = app.coatepec(&["model", "Widget", "Nothing"]);
    assert_eq!(some.code, Some(2), "{some:?}");
    assert!(some.out.contains("Widget"), "the others are told: {some:?}");
}

#[test]
fn examples_of_both_frameworks_are_listed_one_after_the_other_and_all_where_nothing_is_named() {
    let app = App::copy();
    app.remove_tests();
    app.write("spec/spec_helper.rb", "");
    app.write("spec/a_spec.rb", "RSpec.describe('A') { it('passes') {} }\n");
    app.write(
        "test/b_test.rb",
        "require 'minitest'\nclass BTest < Minitest::Test\ndef test_passes = pass\nend\n",
    );
    let selections: [&[&str]; 2] = [&[], &["test/b_test.rb", "spec"]];
    for named in selections {
        let told = app.coatepec(&[&["list", "--json"], named].concat());
        assert_eq!(told.code, Some(0), "{told:?}");
        let lists: Vec<Value> = told
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ids: Vec<&Value> = lists.iter().map(|list| &list["examples"][0]["id"]).collect();
        assert_eq!(ids, ["spec/a_spec.rb[1:1]", "test/b_test.rb#BTest#test_passes"]);
    }
}

#[test]
fn what_can_not_be_listed_is_told_as_of_a_run() {
    let app = App::copy();
    app.write("spec/broken_spec.rb", "RSpec.describe(\"A\") do\n");
    let told = app.coatepec(&["list", "spec/broken_spec.rb"]);
    assert_eq!(told.code, Some(5), "{told:?}");
    assert!(told.out.contains("spec/broken_spec.rb:1"), "{told:?}");
    assert!(
        told.out
            .contains("\nload error: 0 examples, 1 error outside of examples"),
        "{told:?}"
    );
    assert!(
        !told.out.contains("run_id") && !told.out.contains("`errors_outside`"),
        "{told:?}"
    );
}

#[test]
fn findings_of_the_check_make_its_status_1() {
    let app = App::copy();
    let told = app.coatepec(&["check", "--json"]);
    let json: Value = serde_json::from_str(&told.out).unwrap();
    let any = json["matched"].as_u64().unwrap() > 0;
    assert_eq!(told.code, Some(i32::from(any)), "{told:?}");
}
