//! As much of JSON Schema as our tools use. An unknown keyword is a violation, so that nothing is passed over in silence.

use serde_json::{Map, Value};

const ANNOTATIONS: &[&str] = &["$schema", "$defs", "title", "description", "default", "examples"];

/// What in `value` is not as `schema` says; `root` is where `$ref` looks.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Validator {
        root: schema,
        found: &mut found,
    }
    .check(schema, value, "$");
    found
}

struct Validator<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl Validator<'_> {
    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        match schema {
            Value::Bool(true) => {}
            Value::Object(rules) => {
                for (keyword, rule) in rules {
                    self.rule(rules, (keyword, rule), value, at);
                }
            }
            _ => self.found.push(format!("{at}: nothing is allowed here")),
        }
    }

    fn rule(&mut self, rules: &Map<String, Value>, (keyword, rule): (&str, &Value), value: &Value, at: &str) {
        let right = match keyword {
            "$ref" => return self.check(&self.target(rule), value, at),
            "properties" => return self.properties(rule, value, at),
            "additionalProperties" => return self.additional(rules, rule, value, at),
            "items" => return self.items(rule, value, at),
            "allOf" => return list(rule).iter().for_each(|part| self.check(part, value, at)),
            "anyOf" => list(rule).iter().any(|part| self.fits(part, value)),
            "oneOf" => list(rule).iter().filter(|part| self.fits(part, value)).count() == 1,
            "type" => is_of(rule, value),
            "enum" => list(rule).contains(value),
            "const" => rule == value,
            "required" => list(rule)
                .iter()
                .all(|name| value.get(name.as_str().unwrap_or_default()).is_some()),
            "minimum" => value.as_f64() >= rule.as_f64(),
            "maximum" => value.as_f64() <= rule.as_f64(),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap_or(0)),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap_or(0)),
            annotation => ANNOTATIONS.contains(&annotation),
        };
        if !right {
            self.found.push(format!("{at}: {value} is against {keyword} {rule}"));
        }
    }

    fn target(&self, reference: &Value) -> Value {
        let pointer = reference
            .as_str()
            .and_then(|text| text.strip_prefix('#'))
            .unwrap_or("/nowhere");
        self.root.pointer(pointer).cloned().unwrap_or(Value::Bool(false))
    }

    fn properties(&mut self, rule: &Value, value: &Value, at: &str) {
        for (name, schema) in rule.as_object().into_iter().flatten() {
            if let Some(member) = value.get(name) {
                self.check(schema, member, &format!("{at}.{name}"));
            }
        }
    }

    fn additional(&mut self, rules: &Map<String, Value>, rule: &Value, value: &Value, at: &str) {
        let named = rules.get("properties").and_then(Value::as_object);
        for (name, member) in value.as_object().into_iter().flatten() {
            if named.is_none_or(|named| !named.contains_key(name)) {
                self.check(rule, member, &format!("{at}.{name}"));
            }
        }
    }

    fn items(&mut self, rule: &Value, value: &Value, at: &str) {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.check(rule, item, &format!("{at}[{index}]"));
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        Validator {
            root: self.root,
            found: &mut found,
        }
        .check(schema, value, "");
        found.is_empty()
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().map_or(&[], Vec::as_slice)
}

fn is_of(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => false,
    };
    if rule.is_array() {
        list(rule).iter().any(one)
    } else {
        one(rule)
    }
}

#[test]
fn the_validator_itself_can_tell_right_from_wrong() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"$ref": "#/$defs/word"}, "b": {"type": "array", "items": {"type": "integer"}}},
        "$defs": {"word": {"enum": ["x", "y"]}},
    });
    let wrong = |value| violations(&schema, &value).len();
    assert_eq!(wrong(serde_json::json!({"a": "x", "b": [1, 2]})), 0);
    assert_eq!(wrong(serde_json::json!({"b": []})), 1, "a required member is missing");
    assert_eq!(wrong(serde_json::json!({"a": "z", "b": [1, "2"], "c": 1})), 3);
    assert_eq!(
        violations(&serde_json::json!({"pattern": "x"}), &serde_json::json!("x")).len(),
        1,
        "an unknown keyword"
    );
}
