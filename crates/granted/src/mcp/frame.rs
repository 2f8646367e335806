//! A frame, checked before anything else sees it: what a JSON parser would guess at is refused.

use std::collections::HashSet;
use std::fmt;

use granted_core::text::{Shown, cut};
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess};
use serde::de::{Unexpected, Visitor};
use serde_json::value::RawValue;

/// How deep a frame may be nested.
const MAX_DEPTH: usize = 64;

/// What is to be done about a frame.
#[derive(Debug)]
pub(super) enum Checked {
    /// Nothing: it is blank, or an answer to a question that nobody asked.
    Nothing,
    /// It is answered with an error.
    Refused(Refusal),
    /// It is a message.
    Message(Box<ClientJsonRpcMessage>),
}

/// An error, and the request that it answers as far as that is known.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) id: Option<RequestId>,
    pub(super) error: ErrorData,
}

/// The refusal of a frame that has more than so many bytes, of which nothing was kept.
pub(super) fn too_long(max: usize) -> Refusal {
    let error = ErrorData::invalid_request(format!("a frame has over {max} bytes"), None);
    Refusal { id: None, error }
}

/// Checks a frame, which comes without its LF.
pub(super) fn check(line: &[u8]) -> Checked {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Checked::Nothing;
    }
    read(line).unwrap_or_else(|refusal| Checked::Refused(*refusal))
}

fn read(line: &[u8]) -> Result<Checked, Box<Refusal>> {
    let text = std::str::from_utf8(line)
        .map_err(|e| refuse(None, ErrorData::parse_error(format!("it is not UTF-8: {e}"), None)))?;
    let members = members(text)?;
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let method = member("method");
    if method.is_none() && (member("result").is_some() || member("error").is_some()) {
        return Ok(Checked::Nothing);
    }
    let id = member("id").map(request_id);
    // A known id is told in every answer from here on.
    let known = id.clone().flatten();
    let invalid = |why: String| refuse(known.clone(), ErrorData::invalid_request(why, None));
    if let Some(twice) = repeated(&members) {
        let ids = members.iter().filter(|(key, _)| key == "id").count();
        let known = known.clone().filter(|_| ids == 1);
        return Err(refuse(known, ErrorData::invalid_request(stands_twice(twice), None)));
    }
    if id == Some(None) {
        return Err(invalid("`id` must be a string or an integer of 64 bits".into()));
    }
    if member("jsonrpc").map(RawValue::get) != Some("\"2.0\"") {
        return Err(invalid("`jsonrpc` must be \"2.0\"".into()));
    }
    let method: Option<String> = method.and_then(|method| serde_json::from_str(method.get()).ok());
    let method = method.ok_or_else(|| invalid("`method` must be a string".into()))?;
    for (name, value) in &members {
        let mut found = Found::default();
        let walked = Walk { depth: 1, found: &mut found }
            .deserialize(&mut serde_json::Deserializer::from_str(value.get()));
        match (found, walked) {
            (Found { deep: true, .. }, _) => {
                return Err(invalid(format!("it is nested more than {MAX_DEPTH} deep")));
            }
            (_, Err(e)) => return Err(refuse(None, ErrorData::parse_error(e.to_string(), None))),
            (Found { twice: Some(key), .. }, _) if name == "params" && known.is_some() => {
                let error = ErrorData::invalid_params(stands_twice(&key), None);
                return Err(refuse(known.clone(), error));
            }
            (Found { twice: Some(key), .. }, _) => return Err(invalid(stands_twice(&key))),
            _ => {}
        }
    }
    if known.is_some()
        && let Some(why) = misfit(&method, member("params"))
    {
        return Err(refuse(known, ErrorData::invalid_params(why, None)));
    }
    match serde_json::from_str(text) {
        Ok(message) => Ok(Checked::Message(Box::new(message))),
        // A notification is never answered.
        Err(_) if known.is_none() => Ok(Checked::Nothing),
        Err(e) => Err(invalid(format!("it is no request: {e}"))),
    }
}

fn refuse(id: Option<RequestId>, error: ErrorData) -> Box<Refusal> {
    Box::new(Refusal { id, error })
}

fn stands_twice(key: &str) -> String {
    format!("the key `{}` stands twice", Shown(&cut(key, 64)))
}

/// The members of the one object that a frame is, in order, with the repeated ones.
fn members(text: &str) -> Result<Vec<(String, &RawValue)>, Box<Refusal>> {
    let unparseable =
        |e: serde_json::Error| refuse(None, ErrorData::parse_error(format!("no JSON: {e}"), None));
    if text.trim_start().starts_with('{') {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let members = deserializer.deserialize_map(Members).map_err(unparseable)?;
        deserializer.end().map_err(unparseable)?;
        return Ok(members);
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(unparseable)?;
    let what = if text.trim_start().starts_with('[') { "batches are" } else { "that is" };
    Err(refuse(None, ErrorData::invalid_request(format!("{what} not accepted"), None)))
}

/// The first key that a frame's object has twice.
fn repeated<'a>(members: &'a [(String, &RawValue)]) -> Option<&'a str> {
    let mut seen = HashSet::new();
    members.iter().map(|(key, _)| key.as_str()).find(|key| !seen.insert(*key))
}

/// The id, if it is one that a request may have.
fn request_id(value: &RawValue) -> Option<RequestId> {
    let text = value.get();
    match text.starts_with('"') {
        true => serde_json::from_str(text).ok().map(|id: String| RequestId::String(id.into())),
        false => text.parse().ok().map(RequestId::Number),
    }
}

/// Why a request's parameters do not have the shape that its method needs. What the SDK cannot
/// read it would take for a method that it does not know.
fn misfit(method: &str, params: Option<&RawValue>) -> Option<String> {
    let object = |value: &RawValue| value.get().starts_with('{');
    if params.is_some_and(|params| !object(params)) {
        return Some("`params` must be an object".into());
    }
    if method != "tools/call" {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(params.map_or("{}", RawValue::get));
    let members = deserializer.deserialize_map(Members).unwrap_or_default();
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    match member("name") {
        None => return Some("`name` is missing".into()),
        Some(name) if !name.get().starts_with('"') => {
            return Some("`name` must be a string".into());
        }
        Some(_) => {}
    }
    ["arguments", "_meta"]
        .into_iter()
        .find(|name| member(name).is_some_and(|value| !object(value)))
        .map(|name| format!("`{name}` must be an object"))
}

/// Reads an object's members without looking into them.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// What was found in a value.
#[derive(Default)]
struct Found {
    twice: Option<String>,
    deep: bool,
}

/// Walks through a value, and keeps nothing of it but the keys of the objects that it is in.
struct Walk<'a> {
    depth: usize,
    found: &'a mut Found,
}

impl Walk<'_> {
    fn deeper<E: serde::de::Error>(&mut self) -> Result<usize, E> {
        if self.depth >= MAX_DEPTH {
            self.found.deep = true;
            return Err(E::invalid_value(Unexpected::Other("a value too deep"), &"a flatter one"));
        }
        Ok(self.depth + 1)
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let depth = self.deeper()?;
        while seq.next_element_seed(Walk { depth, found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let depth = self.deeper()?;
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                self.found.twice.get_or_insert(key);
            } else {
                keys.insert(key);
            }
            map.next_value_seed(Walk { depth, found: &mut *self.found })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
