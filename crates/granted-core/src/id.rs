//! Ids: ULIDs, made from an instant and random bits that the caller brings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::json;
use crate::time::Stamp;

/// The id of a book, a grant or a discharge: a ULID, 26 characters of Crockford's base 32.
///
/// Ids made later sort later, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Ulid);

impl Id {
    /// The id for this instant and these random bits, of which the lower 80 are used.
    pub fn new(now: Stamp, random: u128) -> Id {
        let millis = u64::try_from(now.micros() / 1_000).unwrap_or(0);
        Id(Ulid::from_parts(millis, random))
    }

    /// The id of these bits, for one that is derived from what it stands for.
    pub fn from_bits(bits: u128) -> Id {
        Id(Ulid(bits))
    }
}

/// The text is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is 26 characters such as 01JQ3M5Y8KX2Z0V4T6W8R9ABCD")]
pub struct IdError;

impl FromStr for Id {
    type Err = IdError;

    /// Reads the canonical form only: lower case and the look-alikes `I`, `L`, `O` are refused.
    fn from_str(text: &str) -> Result<Id, IdError> {
        let ulid = Ulid::from_string(text).map_err(|_| IdError)?;
        let mut buffer = [0; ulid::ULID_LEN];
        if ulid.array_to_str(&mut buffer) == text { Ok(Id(ulid)) } else { Err(IdError) }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        json::text(deserializer, str::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_both_ways_and_only_canonical() {
        let now = Stamp::parse("2026-09-30T08:00:00Z").unwrap();
        let id = Id::new(now, u128::MAX);
        let text = id.to_string();
        assert_eq!(text.len(), 26);
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(text.to_lowercase().parse::<Id>(), Err(IdError));
        assert_eq!("".parse::<Id>(), Err(IdError));
        assert!(Id::new(now.plus(std::time::Duration::from_millis(1)), 0) > id);
    }
}
