//! The arguments of a call: all that are needed, none that is unknown, each of its type.

use std::str::FromStr;

use granted_core::decision::Object;
use granted_core::spend::Sats;
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

    /// A text of any kind that must be there. What is wrong with it is for the tool to say.
    pub(super) fn text(&mut self, name: &str) -> Result<String, ErrorData> {
        match self.left.remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(invalid(format!("`{name}` must be a string"))),
            None => Err(invalid(format!("`{name}` is missing"))),
        }
    }

    /// An amount that must be there.
    pub(super) fn sats(&mut self, name: &str) -> Result<Sats, ErrorData> {
        let value = self.left.remove(name);
        let value = value.ok_or_else(|| invalid(format!("`{name}` is missing")))?;
        value.as_u64().and_then(Sats::new).ok_or_else(|| {
            let max = Sats::MAX.to_u64();
            invalid(format!("`{name}` must be an integer from 0 to {max}, in sat"))
        })
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
        let takes = match takes.is_empty() {
            true => "none".to_owned(),
            false => takes.join(", "),
        };
        Err(invalid(format!("unknown argument `{}`; it takes {takes}", Shown(&name))))
    }
}

fn invalid(why: String) -> ErrorData {
    ErrorData::invalid_params(why, None)
}
