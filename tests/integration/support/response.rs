//! An answer of the server, checked as far as every answer has to be.

use serde_json::Value;

use super::schema::violations;

/// A JSON-RPC response to `tools/call`.
#[derive(Debug, Clone)]
pub(crate) struct Response(pub(crate) Value);

impl Response {
    /// The structured half of a success. Both halves must say the same, and the structured one must be as declared.
    pub(crate) fn success(&self, schema: &Value) -> Value {
        let result = &self.0["result"];
        assert!(
            result.is_object() && result["isError"] != true,
            "expected a success: {}",
            self.0
        );
        let structured = result["structuredContent"].clone();
        let wrong = violations(schema, &structured);
        assert!(
            wrong.is_empty(),
            "not as the output schema says: {wrong:#?}\n{structured}"
        );
        assert_eq!(
            self.text(),
            structured.to_string(),
            "the text is not the compact form of the structured half"
        );
        structured
    }

    pub(crate) fn is_refusal(&self) -> bool {
        self.0["result"]["isError"] == true
    }

    /// The body of an answer that says what was wrong with the call.
    pub(crate) fn refusal(&self) -> Value {
        let result = &self.0["result"];
        assert_eq!(result["isError"], true, "expected a refusal: {}", self.0);
        assert!(
            result.get("structuredContent").is_none(),
            "it would have to fit the output schema: {}",
            self.0
        );
        let body: Value = serde_json::from_str(self.text()).expect("a refusal is JSON");
        for field in ["code", "message"] {
            assert!(
                body[field].as_str().is_some_and(|text| !text.is_empty()),
                "no {field}: {body}"
            );
        }
        body
    }

    /// The code of a JSON-RPC error.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.0["error"]["code"].as_i64()
    }

    fn text(&self) -> &str {
        let content = self.0["result"]["content"].as_array().map_or(&[][..], Vec::as_slice);
        let [one] = content else {
            panic!("expected one content block: {}", self.0)
        };
        one["text"].as_str().expect("the content is text")
    }
}

/// Every string of an array of strings.
pub(crate) fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Whether any text in a value, however deep, has `needle` in it.
pub(crate) fn has_text(value: &Value, needle: &str) -> bool {
    match value {
        Value::String(text) => text.contains(needle),
        Value::Array(items) => items.iter().any(|item| has_text(item, needle)),
        Value::Object(members) => members.values().any(|member| has_text(member, needle)),
        _ => false,
    }
}
