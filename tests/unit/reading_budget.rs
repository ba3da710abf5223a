//! A result of a reading fits its budget, and what is missing of it is counted.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use coatepec::reading::budget::within;

fn size(value: &Value) -> usize {
    serde_json::to_vec(value).unwrap().len()
}

/// Texts of one to three bytes a character, mostly short.
fn text() -> impl Strategy<Value = String> {
    let length = prop_oneof![8 => 0..12usize, 2 => 12..60usize, 1 => 60..2_000usize];
    (select(vec!["a", "é", "日", "\n", "\u{1}", "\"", "ab cd "]), length)
        .prop_map(|(piece, length)| piece.repeat(length / piece.len()))
}

fn any_value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    plain.prop_recursive(4, 200, 30, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..30).prop_map(Value::from),
            btree_map(text(), inner, 0..12).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_result() -> impl Strategy<Value = Value> {
    btree_map("[a-z_]{1,16}", any_value(), 0..12).prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// A page of a table, as `rails_routes` tells it.
fn any_page() -> impl Strategy<Value = (Value, u64)> {
    // A row is never too large for an answer: its texts are bounded where they are made.
    let cell = text().prop_map(|text| Value::from(text.chars().take(150).collect::<String>()));
    let row = vec(cell, 3).prop_map(Value::from);
    (vec(row, 1..120), 0..1_000_u64, 0..1_000_u64).prop_map(|(rows, offset, more)| {
        let end = offset + rows.len() as u64;
        let mut page = json!({"columns": ["a", "b", "c"], "matched": end + more, "rows": rows});
        if more > 0 {
            page["next_offset"] = end.into();
        }
        (page, offset)
    })
}

/// Whether `cut` is what is left of `whole`: beginnings of lists and texts, and of the keys of objects.
fn is_beginning(cut: &Value, whole: &Value) -> bool {
    match (cut, whole) {
        (Value::String(cut), Value::String(whole)) => {
            cut == whole || cut.strip_suffix('…').is_some_and(|cut| whole.starts_with(cut))
        }
        (Value::Array(cut), Value::Array(whole)) => {
            cut.len() <= whole.len() && cut.iter().zip(whole).all(|(cut, whole)| is_beginning(cut, whole))
        }
        (Value::Object(cut), Value::Object(whole)) => cut
            .iter()
            .all(|(key, cut)| whole.get(key).is_some_and(|whole| is_beginning(cut, whole))),
        _ => cut == whole,
    }
}

/// How much is missing of what is at each place, as `cut` should tell it.
fn missing(path: &str, cut: &Value, whole: &Value, found: &mut Map<String, Value>) {
    let mut note = |count: usize| {
        if count > 0 {
            found.insert(path.to_owned(), count.into());
        }
    };
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match (cut, whole) {
        (Value::String(cut), Value::String(whole)) if cut != whole => {
            note(whole.chars().count() + 1 - cut.chars().count());
        }
        (Value::Array(cut), Value::Array(whole)) => {
            note(whole.len() - cut.len());
            for (at, (cut, whole)) in cut.iter().zip(whole).enumerate() {
                missing(&below(&at.to_string()), cut, whole, found);
            }
        }
        (Value::Object(cut), Value::Object(whole)) => {
            note(whole.len() - cut.len());
            for (key, cut) in cut {
                missing(&below(key), cut, &whole[key], found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_result_fits_its_budget_and_is_a_beginning_of_the_whole(result in any_result(), limit in 256..6_000_usize) {
        let mut cut = within(result.clone(), limit);
        prop_assert!(size(&cut) <= limit, "{} of {limit}", size(&cut));
        cut.as_object_mut().unwrap().remove("cut");
        prop_assert!(is_beginning(&cut, &result));
    }

    #[test]
    fn a_result_that_fits_stays_as_it_is(result in any_result()) {
        prop_assert_eq!(within(result.clone(), size(&result)), result);
    }

    #[test]
    fn every_place_that_was_cut_is_told_with_its_count(result in any_result(), limit in 1_000..6_000_usize) {
        prop_assume!(size(&result) > limit);
        let mut cut = within(result.clone(), limit);
        let told = cut.as_object_mut().unwrap().remove("cut").expect("it was cut");
        let mut expected = Map::new();
        missing("", &cut, &result, &mut expected);
        let told = told.as_object().unwrap();
        let untold = told.get("more_places").and_then(Value::as_u64).unwrap_or(0);
        prop_assert_eq!(told.len() - usize::from(untold > 0) + usize::try_from(untold).unwrap(), expected.len());
        for (place, count) in told.iter().filter(|(place, _)| *place != "more_places") {
            prop_assert_eq!(Some(count), expected.get(place), "{}", place);
        }
    }

    #[test]
    fn the_next_page_begins_where_a_cut_page_ends((page, offset) in any_page(), limit in 4_096..30_000_usize) {
        let cut = within(page.clone(), limit);
        prop_assert!(size(&cut) <= limit);
        let rows = cut["rows"].as_array().unwrap();
        prop_assert!(!rows.is_empty());
        let all = page["rows"].as_array().unwrap();
        prop_assert_eq!(rows.as_slice(), &all[..rows.len()]);
        prop_assert_eq!(&cut["matched"], &page["matched"]);
        if rows.len() == all.len() {
            prop_assert_eq!(cut.get("next_offset"), page.get("next_offset"));
        } else {
            prop_assert_eq!(&cut["next_offset"], &json!(offset + rows.len() as u64));
        }
        prop_assert_eq!(cut.get("cut"), None);
    }
}

#[test]
fn small_values_stay_whole_beside_large_ones() {
    let result = json!({
        "name": "WidgetsController", "actions": ["index", "show"],
        "callbacks": vec!["x".repeat(50); 100], "concerns": vec!["y".repeat(50); 20],
    });
    let cut = within(result, 4_096);
    assert_eq!(
        (&cut["name"], &cut["actions"]),
        (&json!("WidgetsController"), &json!(["index", "show"]))
    );
    let left = |key: &str| cut[key].as_array().unwrap().len();
    assert_eq!(left("concerns"), 20);
    assert_eq!(cut["cut"], json!({"callbacks": 100 - left("callbacks")}));
    assert!(size(&cut) > 4_096 * 3 / 4, "most of the budget is used");
}

/// Models with as many columns each.
fn models(names: usize, columns: usize) -> Value {
    let column =
        |at: usize| json!({"name": format!("column_{at}"), "type": "string", "null": true, "default": "something"});
    let columns: Vec<Value> = (0..columns).map(column).collect();
    let model = |at: usize| json!({"name": format!("Model{at}"), "columns": columns, "callbacks": ["a", "b"]});
    json!({"models": (0..names).map(model).collect::<Vec<_>>()})
}

#[test]
fn of_many_wide_models_all_are_told_in_brief_before_one_is_in_full() {
    let cut = within(models(20, 40), 24_576);
    assert!(size(&cut) <= 24_576);
    let all = cut["models"].as_array().unwrap();
    assert_eq!(all.len(), 20);
    for (at, model) in all.iter().enumerate() {
        assert_eq!(model["name"], format!("Model{at}"));
        assert_eq!(model["columns"].as_array().unwrap().len(), 40);
    }
    let brief = all.iter().filter(|model| model["columns"][0].is_string()).count();
    assert_eq!(cut["brief"], json!({"columns": brief}));
    assert_eq!(all[0]["columns"][0]["type"], "string", "the first has what is left");
    assert!(brief < 20 && all[19]["columns"][0] == "column_0");
    assert!(cut["hint"].as_str().unwrap().contains("`names`"), "{}", cut["hint"]);
    assert_eq!(cut.get("cut"), None);
}

#[test]
fn each_of_many_models_has_the_same_share_if_even_the_names_are_too_many() {
    let cut = within(models(20, 400), 24_576);
    assert!(size(&cut) <= 24_576);
    let counts: Vec<usize> = cut["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["columns"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts.len(), 20);
    assert!(
        counts.iter().all(|count| count.abs_diff(counts[0]) <= 1 && *count > 20),
        "{counts:?}"
    );
    assert_eq!(cut["cut"]["models.0.columns"], 400 - counts[0]);
}

#[test]
fn one_wide_table_has_all_its_columns_by_name() {
    let columns = models(1, 500)["models"][0]["columns"].clone();
    let cut = within(
        json!({"matched": 1, "tables": [{"name": "wide", "columns": columns}]}),
        24_576,
    );
    assert_eq!(cut["tables"][0]["columns"].as_array().unwrap().len(), 500);
    assert_eq!((&cut["brief"], cut.get("hint")), (&json!({"columns": 1}), None));
}

#[test]
fn what_a_cursor_is_made_of_is_not_told_and_follows_the_end_of_the_page() {
    let page = |rows: usize, more: bool| {
        let keys: Vec<String> = (0..rows).map(|at| format!("{at:08x}")).collect();
        let mut page = json!({
            "rows": (0..rows).map(|at| json!([at, "x".repeat(50)])).collect::<Vec<_>>(),
            "matched": rows + usize::from(more), "page": {"list": "0123abcd", "revision": "abcdef01", "keys": keys, "since": "moved"},
        });
        if more {
            page["next_offset"] = rows.into();
        }
        within(page, 4_096)
    };
    let whole = page(5, true);
    assert_eq!(whole["next_cursor"], "5.0123abcd.abcdef01.00000004.00000003.00000002");
    assert!(
        whole["changed"].as_str().unwrap().starts_with("the list changed"),
        "{whole}"
    );
    assert_eq!((whole.get("page"), page(5, false).get("next_cursor")), (None, None));
    let cut = page(200, false);
    let kept = cut["rows"].as_array().unwrap().len();
    assert_eq!(cut["next_offset"], kept);
    let last = format!(
        "{kept}.0123abcd.abcdef01.{:08x}.{:08x}.{:08x}",
        kept - 1,
        kept - 2,
        kept - 3
    );
    assert_eq!(cut["next_cursor"], last);
}

#[test]
fn one_item_that_is_too_large_is_cut_inside() {
    let cut = within(
        json!({"models": [{"name": "Widget", "columns": vec!["x".repeat(20); 500]}]}),
        4_096,
    );
    assert_eq!(cut["models"][0]["name"], "Widget");
    let left = cut["models"][0]["columns"].as_array().unwrap().len();
    assert_eq!(cut["cut"], json!({"models.0.columns": 500 - left}));
}
