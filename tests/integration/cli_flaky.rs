//! `coatepec flaky`, `list` and `job` as a person sees them.

use serde_json::Value;

use crate::support::App;

#[test]
fn what_is_flaky_is_told_with_its_rate_and_its_cause() {
    let app = App::copy();
    let path = "test/faults/order_dependent_test.rb";
    let told = app.coatepec(&["flaky", path, "--rounds", "40", "--budget", "600", "--bisect"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    for part in [
        "fails now and then: ",
        " rounds, first in round ",
        "OrderDependentTest#test_is_the_victim",
        "fails after the others of these",
        "   test/faults/order_dependent_test.rb#OrderDependentTest#test_pollutes\n",
        "shows it: bin/rails test ",
        "flaky: ",
        "everything that failed has passed as well",
    ] {
        assert!(told.out.contains(part), "{part} is missing:\n{}", told.out);
    }
}

#[test]
fn the_exit_code_says_whether_anything_failed_or_nothing_was_tested() {
    let app = App::copy();
    let green = app.coatepec(&["flaky", "spec/models/tag_spec.rb", "--rounds", "2"]);
    assert_eq!(green.code, Some(0), "{green:?}");
    assert!(green.out.contains("never failed: 2 of 2 rounds"), "{green:?}");
    let red = app.coatepec(&["flaky", "spec/faults/fails_spec.rb[1:2]", "--rounds", "2", "--json"]);
    assert_eq!(red.code, Some(1), "{red:?}");
    let json: Value = serde_json::from_str(&red.out).unwrap();
    assert_eq!(json["outcome"], "consistently_failing", "{json}");
    let broken = app.coatepec(&["flaky", "spec/faults/syntax_error_spec.rb"]);
    assert_eq!(broken.code, Some(5), "{broken:?}");
    assert!(broken.out.contains("not run: "), "{broken:?}");
    let refused = app.coatepec(&["flaky", "spec/none_spec.rb"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn a_selection_is_listed_and_what_can_not_be_loaded_is_told() {
    let app = App::copy();
    let listed = app.coatepec(&["list", "test/lines/shapes_test.rb:11"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains("ShapesTest#test_by_method"), "{listed:?}");
    app.write(
        "spec/many_spec.rb",
        "RSpec.describe('m') { 700.times { |n| it(\"is #{n}\") { abort } } }\n",
    );
    let all: Value = serde_json::from_str(&app.coatepec(&["list", "--json", "spec/many_spec.rb"]).out).unwrap();
    assert_eq!(all["examples"].as_array().map(Vec::len), Some(700), "all pages in one");
    let broken = app.coatepec(&["list", "spec/faults/syntax_error_spec.rb"]);
    assert_eq!(broken.code, Some(5), "{broken:?}");
}

#[test]
fn jobs_mailers_and_channels_are_told() {
    let app = App::copy();
    let mailers: Value = serde_json::from_str(&app.coatepec(&["job", "--kind", "mailer", "--json"]).out).unwrap();
    let kinds = mailers["classes"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|class| class["kind"].clone()).collect();
    assert!(
        !kinds.is_empty() && kinds.iter().all(|kind| kind == "mailer"),
        "{mailers}"
    );
    let one = app.coatepec(&["job", "Ops::SweepJob"]);
    assert_eq!(one.code, Some(0), "{one:?}");
    assert!(one.out.contains("queue_name"), "{one:?}");
}
