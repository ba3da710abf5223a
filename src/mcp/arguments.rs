//! Arguments of a call, held against the tool's own input schema: what is wrong is said in the words of JSON, with the
//! name of the argument, for all tools alike. What only a project can tell (which files there are) is checked later.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::config::nearest::nearest;
use crate::error::{Error, Kind, Result};

/// Problems told of one call; whoever mends these sees the rest.
const PROBLEMS: usize = 5;

/// Characters of a wrong value that are quoted.
const QUOTED: usize = 60;

/// What is wrong with one argument, and what may help.
struct Problem {
    what: String,
    hint: Option<String>,
}

/// Types, choices and ranges; not how many selectors there are, which has an error of its own.
///
/// # Errors
/// `InvalidArguments`, naming each argument that is unknown, missing or of the wrong kind.
pub(super) fn check(schema: &JsonObject, arguments: &JsonObject) -> Result<()> {
    let problems = problems(schema, arguments);
    if problems.is_empty() {
        return Ok(());
    }
    let shown = problems.iter().take(PROBLEMS).map(|problem| problem.what.as_str());
    let shown = shown.collect::<Vec<_>>().join("; ");
    let more = match problems.len().saturating_sub(PROBLEMS) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let error = Error::new(Kind::InvalidArguments, shown + &more);
    Err(match problems.into_iter().find_map(|problem| problem.hint) {
        Some(hint) => error.hint(hint),
        None => error,
    })
}

impl Problem {
    fn or_hint(self, hint: String) -> Problem {
        Problem {
            hint: self.hint.or(Some(hint)),
            ..self
        }
    }
}

/// What helps with a value that is not what it must be: the nearest one that is, or how to write it.
fn advice(name: &str, schema: &Value, value: &Value, required: &[&str]) -> String {
    let optional = !required.contains(&name);
    nearest_value(schema, value)
        .or_else(|| written(schema, value))
        .unwrap_or_else(|| match optional {
            true => format!("give {}, or leave `{name}` out: it has a default then", wanted(schema)),
            false => format!("give {}; `{name}` can't be left out", wanted(schema)),
        })
}

/// Of a choice that was mistyped, and of a number beyond its limits; of a list, for its first item that is wrong.
fn nearest_value(schema: &Value, value: &Value) -> Option<String> {
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        let wrong = items.iter().find(|item| !fits(schema, item))?;
        return nearest_value(schema, wrong);
    }
    if let (Some(text), Some(_)) = (value.as_str(), schema.get("enum")) {
        let near = nearest(text, strings(schema.get("enum")))?;
        return Some(format!("did you mean {}?", Value::from(near)));
    }
    let number = value.as_f64()?;
    let beyond = |bound: &str, wrong: fn(&f64, &f64) -> bool| {
        let bound = schema.get(bound)?;
        wrong(&number, &bound.as_f64()?).then_some(bound)
    };
    let bound = beyond("minimum", f64::lt).or_else(|| beyond("maximum", f64::gt))?;
    Some(format!("the nearest that is allowed is {bound}"))
}

/// What was meant, in the notation of JSON.
fn written(schema: &Value, value: &Value) -> Option<String> {
    let text = value.as_str()?;
    match schema["type"].as_str()? {
        "array" => Some(format!("of one it is `[{}]`", Value::from(excerpt(text)))),
        "integer" | "number" | "boolean" => {
            let meant: Value = serde_json::from_str(text).ok()?;
            fits(schema, &meant).then(|| format!("without quotes: {meant}"))
        }
        _ => None,
    }
}

fn problems(schema: &JsonObject, arguments: &JsonObject) -> Vec<Problem> {
    let empty = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = strings(schema.get("required")).collect();
    let given = arguments.iter().filter_map(|(name, value)| match known.get(name) {
        None => Some(unknown(name, known)),
        // As if it were left out, which many clients mean by it.
        Some(_) if value.is_null() && !required.contains(&name.as_str()) => None,
        Some(schema) => {
            mismatch(name, schema, value).map(|problem| problem.or_hint(advice(name, schema, value, &required)))
        }
    });
    let missing = required.iter().filter(|name| !arguments.contains_key(**name));
    let missing = missing.map(|name| Problem {
        what: format!("`{name}` is missing"),
        hint: known
            .get(*name)
            .map(|schema| format!("`{name}` must be {}", wanted(schema))),
    });
    given.chain(missing).collect()
}

fn unknown(name: &str, known: &JsonObject) -> Problem {
    let hint = match nearest(name, known.keys().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "this tool has no arguments".to_owned(),
        None => format!(
            "known here: {}",
            known.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
        ),
    };
    Problem {
        what: format!("there is no argument `{}`", excerpt(name)),
        hint: Some(hint),
    }
}

fn mismatch(name: &str, schema: &Value, value: &Value) -> Option<Problem> {
    if !fits(schema, value) {
        let what = format!(
            "`{name}` must be {}, and is {}",
            wanted(schema),
            excerpt(&value.to_string())
        );
        return Some(Problem { what, hint: None });
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    let item = schema.get("items")?;
    items
        .filter_map(|(at, value)| mismatch(&format!("{name}[{at}]"), item, value))
        .next()
}

/// The value itself; what a list holds is checked one by one.
fn fits(schema: &Value, value: &Value) -> bool {
    let kind = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    let choices = schema["enum"].as_array();
    kind && in_range(schema, value) && choices.is_none_or(|choices| choices.contains(value))
}

fn in_range(schema: &Value, value: &Value) -> bool {
    let beyond = |bound: &str, wrong: fn(&f64, &f64) -> bool| match (schema[bound].as_f64(), value.as_f64()) {
        (Some(bound), Some(value)) => wrong(&value, &bound),
        _ => false,
    };
    !beyond("minimum", f64::lt) && !beyond("maximum", f64::gt)
}

/// "an integer between 1 and 900"
fn wanted(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return match choices.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => choices.concat(),
        };
    }
    match schema["type"].as_str() {
        Some("string") => "a string".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => format!("an integer{}", range(schema)),
        Some("number") => format!("a number{}", range(schema)),
        Some("array") if schema["items"]["type"] == "string" => "a list of strings".to_owned(),
        Some("array") => "a list".to_owned(),
        Some("object") => "an object".to_owned(),
        _ => "as the tool's input schema says".to_owned(),
    }
}

fn range(schema: &Value) -> String {
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Number(least), Value::Number(most)) => format!(" between {least} and {most}"),
        (Value::Number(least), _) => format!(" of at least {least}"),
        (_, Value::Number(most)) => format!(" of at most {most}"),
        _ => String::new(),
    }
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;
    use crate::mcp::tools;

    /// Message and hint of what is wrong with arguments of a run; empty when nothing is.
    fn wrong(arguments: &Value) -> (String, String) {
        let tool = tools::all()
            .into_iter()
            .find(|tool| tool.name == tools::SPEC_RUN)
            .unwrap();
        match check(&tool.input_schema, arguments.as_object().unwrap()) {
            Ok(()) => (String::new(), String::new()),
            Err(error) => (error.to_string(), error.hint.unwrap_or_default()),
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_the_name_of_the_argument_and_in_the_words_of_json() {
        let cases = [
            (json!({}), "`paths` is missing"),
            (
                json!({"paths": "spec"}),
                "`paths` must be a list of strings, and is \"spec\"",
            ),
            (json!({"paths": ["a", 1]}), "`paths[1]` must be a string, and is 1"),
            (
                json!({"paths": [], "seed": "random"}),
                "`seed` must be an integer between 0 and 4294967295, and is \"random\"",
            ),
            (
                json!({"paths": [], "seed": -1}),
                "`seed` must be an integer between 0 and 4294967295, and is -1",
            ),
            (
                json!({"paths": [], "seed": 4_294_967_296_u64}),
                "`seed` must be an integer between 0 and 4294967295, and is 4294967296",
            ),
            (
                json!({"paths": [], "timeout_seconds": 1.5}),
                "`timeout_seconds` must be an integer between 1 and 900, and is 1.5",
            ),
            (
                json!({"paths": [], "fail_fast": "yes"}),
                "`fail_fast` must be true or false, and is \"yes\"",
            ),
            (
                json!({"paths": [], "fork": "sometimes"}),
                "`fork` must be \"auto\", \"always\" or \"never\", and is \"sometimes\"",
            ),
            (json!({"paths": [], "path": "a"}), "there is no argument `path`"),
            (
                json!({"seed": [], "x": 0}),
                "`seed` must be an integer between 0 and 4294967295, and is []; there is no argument `x`; \
                 `paths` is missing",
            ),
        ];
        for (arguments, message) in cases {
            let (said, hint) = wrong(&arguments);
            assert_eq!(said, message, "{arguments}");
            assert!(!hint.is_empty(), "{arguments}");
        }
        assert_eq!(wrong(&json!({"paths": [], "path": "a"})).1, "did you mean `paths`?");
        assert_eq!(wrong(&json!({"paths": "spec"})).1, "of one it is `[\"spec\"]`");
        let items = wrong(&json!({"paths": ["a", 1]})).1;
        assert_eq!(items, "give a list of strings; `paths` can't be left out");
    }

    #[test]
    fn the_hint_names_the_nearest_value_that_is_right() {
        let cases = [
            (json!({"fork": "nevr"}), "did you mean \"never\"?"),
            (
                json!({"fork": "sometimes"}),
                "give \"auto\", \"always\" or \"never\", or leave `fork` out: it has a default then",
            ),
            (json!({"timeout_seconds": 901}), "the nearest that is allowed is 900"),
            (json!({"timeout_seconds": 0}), "the nearest that is allowed is 1"),
            (json!({"timeout_seconds": "30"}), "without quotes: 30"),
            (json!({"fail_fast": "true"}), "without quotes: true"),
            (json!({"coverage_files": "a.rb"}), "of one it is `[\"a.rb\"]`"),
            (
                json!({"seed": "x"}),
                "give an integer between 0 and 4294967295, or leave `seed` out: it has a default then",
            ),
        ];
        for (arguments, hint) in cases {
            let mut all = json!({"paths": []});
            all.as_object_mut()
                .unwrap()
                .extend(arguments.as_object().unwrap().clone());
            assert_eq!(wrong(&all).1, hint, "{arguments}");
        }
    }

    /// Of a list, the first item that is wrong.
    #[test]
    fn a_wrong_choice_in_a_list_has_its_nearest_one_too() {
        let check = tools::all()
            .into_iter()
            .find(|tool| tool.name == "rails_check")
            .unwrap();
        let given = json!({"only": ["table_missing", "route_without_acton"]});
        let error = super::check(&check.input_schema, given.as_object().unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("`only[1]` must be "), "{error}");
        assert_eq!(error.hint.as_deref(), Some("did you mean \"route_without_action\"?"));
    }

    #[test]
    fn what_is_right_and_what_is_null_pass() {
        let all = json!({
            "paths": ["a"], "seed": 0, "fail_fast": true, "timeout_seconds": 900, "include_passing": false,
            "include_stdout": "never", "fork": "auto", "example": "é"
        });
        assert_eq!(wrong(&all).0, "");
        assert_eq!(wrong(&json!({"paths": [], "seed": null, "fork": null})).0, "");
        assert_eq!(
            wrong(&json!({"paths": null})).0,
            "`paths` must be a list of strings, and is null"
        );
    }
}
