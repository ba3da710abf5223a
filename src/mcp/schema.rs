//! Schemas as strict clients like them: no formats that only Rust knows, and an optional field is absent, not null.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

pub(super) fn of_input<T: JsonSchema>() -> Arc<JsonObject> {
    object(
        SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

pub(super) fn of_output<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    object(settings.into_generator().into_root_schema_for::<T>().to_value())
}

fn object(mut schema: Value) -> Arc<JsonObject> {
    tidy(&mut schema);
    match schema {
        Value::Object(mut map) => {
            for noise in ["$schema", "title", "description"] {
                map.remove(noise);
            }
            Arc::new(map)
        }
        _ => unreachable!("the schema of a struct is an object"),
    }
}

fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            without_null(map);
            map.remove("default")
                .filter(|default| !default.is_null())
                .map(|default| map.insert("default".into(), default));
            if map
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| format.starts_with("uint") || format.starts_with("int") || format == "double")
            {
                map.remove("format");
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(list) => list.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// `["string", "null"]` → `"string"`; `anyOf: [X, null]` → `X`.
fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            map.insert("type".into(), one);
        }
    }
    let Some(Value::Array(choices)) = map.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(one)] = choices.as_slice() {
        let one = one.clone();
        map.remove("anyOf");
        for (key, value) in one {
            map.entry(key).or_insert(value);
        }
    }
}
