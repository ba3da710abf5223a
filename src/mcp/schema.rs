//! Schemas as strict clients like them, and as small as they can be, since every session pays for them: no formats that
//! only Rust knows, an optional field is absent and not null, choices are plain lists, and results are described once,
//! in the documentation.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Of arguments: with descriptions, since they are what the caller works from.
pub(super) fn of_input<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    object(
        settings.into_generator().into_root_schema_for::<T>().to_value(),
        &["$schema", "title"],
    )
}

/// Of a result, as it is declared to clients: the fields and their types. What is in them is described in the
/// documentation once, and not paid for in each session.
pub(super) fn of_output<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let whole = object(
        settings
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
        NOISE,
    );
    let fields = whole
        .get("properties")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut schema = of_fields(fields.into_iter().map(|(name, schema)| (name, outline(schema))));
    schema.extend(
        whole
            .get("required")
            .map(|required| ("required".to_owned(), required.clone())),
    );
    Arc::new(schema)
}

/// Of a run: a report, or as much as is known of a run that goes on.
pub(super) fn of_run<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = Arc::unwrap_or_clone(of_output::<T>());
    schema.insert("required".into(), json!(["run_id"]));
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.insert("outcome".into(), json!({ "type": "string" }));
        fields.insert("progress".into(), json!({ "type": "object" }));
    }
    Arc::new(schema)
}

/// Of a result whose fields are known by name and type.
pub(super) fn of_named_fields(fields: &[(&str, &str)]) -> Arc<JsonObject> {
    let fields = fields.iter();
    let typed = fields.map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })));
    Arc::new(of_fields(typed))
}

fn of_fields(fields: impl Iterator<Item = (String, Value)>) -> JsonObject {
    let fields: JsonObject = fields.collect();
    let mut schema = JsonObject::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), fields.into());
    schema
}

fn outline(schema: Value) -> Value {
    match schema {
        Value::Object(mut map) => {
            map.retain(|key, _| key == "type" || key == "enum");
            Value::Object(map)
        }
        other => other,
    }
}

/// Of a result, to its last field.
pub fn complete<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let whole = settings.into_generator().into_root_schema_for::<T>().to_value();
    Value::Object(Arc::unwrap_or_clone(object(whole, NOISE)))
}

/// As every session pays for it: names, types and choices. What is out of range is refused with the range, and the
/// fields of results are described in the documentation.
pub(super) fn listed(tool: &Tool) -> Tool {
    let mut listed = tool.clone();
    let mut input = Value::Object(Arc::unwrap_or_clone(tool.input_schema.clone()));
    without_bounds(&mut input);
    if let Value::Object(input) = input {
        listed.input_schema = Arc::new(input);
    }
    listed.output_schema = tool.output_schema.as_ref().map(|schema| {
        let kept = schema.iter().filter(|(key, _)| *key == "type" || *key == "required");
        Arc::new(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
    });
    listed.annotations = tool.annotations.as_ref().map(hints);
    listed
}

/// Those that differ from what the protocol takes for granted, and that clients decide by.
fn hints(all: &ToolAnnotations) -> ToolAnnotations {
    let hints = ToolAnnotations::new().open_world(false);
    match all.read_only_hint {
        Some(true) => hints.read_only(true),
        _ => hints.destructive(false),
    }
}

const BOUNDS: &[&str] = &[
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "additionalProperties",
];

/// Choices that are worth their bytes in the list; more of them are told by their description and by a refusal.
const CHOICES: usize = 12;

fn without_bounds(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let long = |value: &Value| value.as_array().is_some_and(|choices| choices.len() > CHOICES);
            map.retain(|key, value| {
                let bound = BOUNDS.contains(&key.as_str()) && !value.is_object();
                let long_enum = key == "enum" && long(value);
                !bound && !long_enum
            });
            // Paging is explained once, in the server's instructions.
            for name in ["limit", "offset", "cursor"] {
                if let Some(Value::Object(paging)) = map.get_mut(name) {
                    paging.remove("description");
                }
            }
            map.values_mut().for_each(without_bounds);
        }
        Value::Array(list) => list.iter_mut().for_each(without_bounds),
        _ => {}
    }
}

const NOISE: &[&str] = &["$schema", "title", "description"];

fn object(mut schema: Value, noise: &[&str]) -> Arc<JsonObject> {
    tidy(&mut schema, noise);
    match schema {
        Value::Object(mut map) => {
            // Of the whole: the tool's own description says it.
            map.remove("description");
            Arc::new(map)
        }
        _ => unreachable!("the schema of a struct is an object"),
    }
}

fn tidy(schema: &mut Value, noise: &[&str]) {
    match schema {
        Value::Object(map) => {
            without_null(map);
            plain_choices(map);
            let noisy = |key: &str, value: &Value| noise.contains(&key) && value.is_string();
            map.retain(|key, value| !noisy(key, value) && !rust_format(key, value));
            for (key, value) in map.iter_mut() {
                // Names of fields are no keywords: a field may be called `description`.
                match key.as_str() {
                    "properties" | "$defs" => fields(value, noise),
                    _ => tidy(value, noise),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| tidy(item, noise)),
        _ => {}
    }
}

fn fields(named: &mut Value, noise: &[&str]) {
    if let Value::Object(map) = named {
        map.values_mut().for_each(|schema| tidy(schema, noise));
    }
}

fn rust_format(key: &str, value: &Value) -> bool {
    let foreign = |format: &str| format.starts_with("uint") || format.starts_with("int") || format == "double";
    key == "format" && value.as_str().is_some_and(foreign)
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
    if let Some(Value::Array(choices)) = map.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
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

/// `oneOf: [{const: "a", description: …}, {enum: ["b"]}]` → `enum: ["a", "b"]`.
fn plain_choices(map: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = map.get("oneOf") else {
        return;
    };
    let names: Option<Vec<Vec<Value>>> = choices.iter().map(names).collect();
    if let Some(names) = names {
        map.remove("oneOf");
        map.insert("type".into(), json!("string"));
        map.insert("enum".into(), names.concat().into());
    }
}

fn names(choice: &Value) -> Option<Vec<Value>> {
    match (choice.get("const"), choice.get("enum")) {
        (Some(name), _) if name.is_string() => Some(vec![name.clone()]),
        (None, Some(Value::Array(names))) if names.iter().all(Value::is_string) => Some(names.clone()),
        _ => None,
    }
}
