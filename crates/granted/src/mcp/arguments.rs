//! The arguments of a call: all that are needed, none that is unknown, each of its type.

use std::fmt::Display;
use std::str::FromStr;

use granted_core::decision::Object;
use granted_core::text::{ObjectId, Shown, TextError, cut};
use rmcp::model::{ErrorData, JsonObject};
use serde_json::Value;

/// What a call brought, and has not been taken yet.
pub(super) struct Arguments {
    left: JsonObject,
    takes: &'static [&'static str],
}

impl Arguments {
    /// The arguments of a tool that takes these.
    pub(super) fn new(left: JsonObject, takes: &'static [&'static str]) -> Arguments {
        Arguments { left, takes }
    }

    /// A text that must be there.
    pub(super) fn required<T: FromStr<Err = TextError>>(
        &mut self,
        name: &str,
    ) -> Result<T, ErrorData> {
        self.optional(name)?.ok_or_else(|| invalid(format!("`{name}` is missing")))
    }

    /// A text that may be there.
    pub(super) fn optional<T: FromStr<Err = TextError>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, ErrorData> {
        match self.left.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => match text.parse() {
                Ok(value) => Ok(Some(value)),
                Err(e) => Err(invalid(format!("`{name}`: {e}"))),
            },
            Some(_) => Err(invalid(format!("`{name}` must be a string"))),
        }
    }

    /// Any string that must be there.
    pub(super) fn string(&mut self, name: &str) -> Result<String, ErrorData> {
        self.optional_string(name)?.ok_or_else(|| invalid(format!("`{name}` is missing")))
    }

    /// Any string that may be there.
    pub(super) fn optional_string(&mut self, name: &str) -> Result<Option<String>, ErrorData> {
        match self.left.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid(format!("`{name}` must be a string"))),
        }
    }

    /// Any string, or null; it must be there.
    pub(super) fn string_or_null(&mut self, name: &str) -> Result<Option<String>, ErrorData> {
        match self.left.get(name) {
            Some(Value::Null) => {
                self.left.remove(name);
                Ok(None)
            }
            _ => self.string(name).map(Some),
        }
    }

    /// A text that must be there, of a kind whose errors are its own.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<T, ErrorData> {
        self.string(name)?.parse().map_err(|e| invalid(format!("`{name}`: {e}")))
    }

    /// A list that must be there, of at most so many.
    pub(super) fn array(&mut self, name: &str, max: usize) -> Result<Vec<Value>, ErrorData> {
        match self.left.remove(name) {
            None => Err(invalid(format!("`{name}` is missing"))),
            Some(Value::Array(values)) if values.len() <= max => Ok(values),
            Some(_) => Err(invalid(format!("`{name}` must be a list of at most {max}"))),
        }
    }

    /// Texts, at most so many; none if it is not there.
    pub(super) fn list<T: FromStr<Err = TextError>>(
        &mut self,
        name: &str,
        max: usize,
    ) -> Result<Vec<T>, ErrorData> {
        if !self.left.contains_key(name) {
            return Ok(Vec::new());
        }
        let text = |value: Value| match value.as_str().map(str::parse) {
            Some(Ok(text)) => Ok(text),
            Some(Err(e)) => Err(invalid(format!("`{name}`: {e}"))),
            None => Err(invalid(format!("each of `{name}` must be a string"))),
        };
        self.array(name, max)?.into_iter().map(text).collect()
    }

    /// An integer from 1 to `max`.
    pub(super) fn count(&mut self, name: &str, max: u64) -> Result<Option<u64>, ErrorData> {
        match self.left.remove(name) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|count| (1..=max).contains(count)) {
                Some(count) => Ok(Some(count)),
                None => Err(invalid(format!("`{name}` must be an integer from 1 to {max}"))),
            },
        }
    }

    /// `type` and `id`.
    pub(super) fn object(&mut self) -> Result<Object, ErrorData> {
        Ok(Object { r#type: self.required("type")?, id: self.required("id")? })
    }

    /// `object_id`.
    pub(super) fn object_id(&mut self) -> Result<Option<String>, ErrorData> {
        Ok(self.optional::<ObjectId>("object_id")?.map(|id| id.as_str().to_owned()))
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Result<(), ErrorData> {
        let Some(name) = self.left.keys().next() else { return Ok(()) };
        let takes: Vec<String> = self.takes.iter().map(|name| format!("`{name}`")).collect();
        let name = cut(name, 64);
        let takes = takes.join(", ");
        Err(invalid(format!("unknown argument `{}`; it takes {takes}", Shown(&name))))
    }
}

pub(super) fn invalid(why: String) -> ErrorData {
    ErrorData::invalid_params(why, None)
}
