//! JSON within the bounds of rows and documents: integers only, no duplicate keys, canonical order.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest integer that any row or document holds: 2^53 − 1, which every JSON reader keeps
/// exactly.
pub const MAX_INT: u64 = (1 << 53) - 1;

/// Free JSON, such as an executor's receipt.
///
/// Parsing refuses floats, integers beyond ±(2^53 − 1) and duplicate keys. Keys are held in the
/// order of RFC 8785 (by UTF-16 code units), so that writing it is canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of at most 53 bits.
    Int(i64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object, its keys unique and in canonical order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object of these members, put in canonical order; of equal keys the last wins.
    pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Json)>) -> Json {
        let mut object: Vec<(String, Json)> = Vec::new();
        for (key, value) in members {
            let key = key.into();
            match object.binary_search_by(|(k, _)| utf16_order(k, &key)) {
                Ok(at) => {
                    if let Some(member) = object.get_mut(at) {
                        member.1 = value;
                    }
                }
                Err(at) => object.insert(at, (key, value)),
            }
        }
        Json::Object(object)
    }

    /// The canonical text.
    pub fn to_text(&self) -> String {
        // Serialising to a String fails only where Serialize does, and this one never does.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The order of RFC 8785, section 3.2.3.
fn utf16_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Int(value) => serializer.serialize_i64(*value),
            Json::Text(value) => serializer.serialize_str(value),
            Json::List(values) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(value)?;
                }
                seq.end()
            }
            Json::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without fractions")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Json, E> {
        if value.unsigned_abs() > MAX_INT {
            return Err(E::custom("an integer is beyond 2^53-1"));
        }
        Ok(Json::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Json, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => Err(E::custom("an integer is beyond 2^53-1")),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Json, E> {
        Err(E::custom("a number is not an integer within 2^53-1"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members: Vec<(String, Json)> = Vec::new();
        while let Some(member) = map.next_entry::<String, Json>()? {
            members.push(member);
        }
        members.sort_by(|(a, _), (b, _)| utf16_order(a, b));
        let twice = members.windows(2).find_map(|pair| match pair {
            [(a, _), (b, _)] if a == b => Some(a),
            _ => None,
        });
        match twice {
            Some(key) => Err(A::Error::custom(format_args!("the key `{key}` stands twice"))),
            None => Ok(Json::Object(members)),
        }
    }
}

/// For a `u64` field of a row or document: refuses what is beyond [`MAX_INT`].
pub fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = u64::deserialize(deserializer)?;
    if value > MAX_INT {
        return Err(D::Error::custom("an integer is beyond 2^53-1"));
    }
    Ok(value)
}

/// Reads a string without copying it first, as serde's own `String` and `Cow` do.
pub(crate) fn text<'de, D, T, E>(
    deserializer: D,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    E: fmt::Display,
{
    deserializer.deserialize_str(TextVisitor(read))
}

struct TextVisitor<F>(F);

impl<T, E: fmt::Display, F: FnOnce(&str) -> Result<T, E>> Visitor<'_> for TextVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<X: serde::de::Error>(self, text: &str) -> Result<T, X> {
        (self.0)(text).map_err(X::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Json, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn writes_canonically() {
        let value =
            parse(r#"{"é":1,"€":2,"😀":3,"":4,"a":[null,true,-5,"\u0007\n\u007f"]}"#).unwrap();
        let canonical = serde_json_canonicalizer::to_string(&value).unwrap();
        assert_eq!(value.to_text(), canonical);
    }

    #[test]
    fn astral_keys_sort_by_utf16() {
        let value = parse("{\"\u{fb33}\":1,\"😀\":2}").unwrap();
        assert_eq!(value.to_text(), "{\"😀\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn refuses_what_cannot_be_kept() {
        for bad in [
            "1.0",
            "1e3",
            "9007199254740992",
            "-9007199254740992",
            "18446744073709551615",
            r#"{"a":1,"a":2}"#,
            r#"[{"a":{"b":1,"b":1}}]"#,
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(parse("9007199254740991").unwrap(), Json::Int(9_007_199_254_740_991));
    }

    #[test]
    fn depth_is_bounded() {
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
