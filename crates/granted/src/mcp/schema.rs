//! What the schemas of tools are made of. They are written by hand: short, and with no format that a
//! client does not know.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// A schema as the SDK takes it.
pub(super) fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

pub(super) fn name(description: &str, examples: &[&str]) -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": 64,
        "description": description,
        "examples": examples,
    })
}

pub(super) fn words(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// This, or null. In branches of one type each, since not every client reads a list of types.
pub(super) fn or_null(description: &str, value: Value) -> Value {
    json!({ "anyOf": [value, { "type": "null" }], "description": description })
}

pub(super) fn text_or_null(description: &str) -> Value {
    or_null(description, json!({ "type": "string" }))
}
