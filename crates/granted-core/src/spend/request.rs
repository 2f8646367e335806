//! Requests: their ids.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AgentName, IdempotencyKey};
use crate::digest::Digest;
use crate::json;

/// The id of a request: `r-` and 32 lower-case hexadecimal digits.
///
/// It follows from the grant instance, the agent and the agent's key, so that a filing which is tried
/// again has the same one, and no two grants share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId([u8; 16]);

/// The text is no request's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request id is `r-` and 32 hexadecimal digits")]
pub struct RequestIdError;

impl RequestId {
    /// The id of what this agent files with this key under the grant of this id.
    pub fn new(grant: &str, agent: &AgentName, key: &IdempotencyKey) -> RequestId {
        let parts = ["sats-request-v1", grant, agent.as_str(), key.as_str()];
        let Digest(digest) = Digest::of(parts.join("\0").as_bytes());
        let mut id = [0; 16];
        id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        RequestId(id)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digest = [0; 32];
        digest.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        let mut digits = [0; 64];
        let digits = Digest(digest).hex(&mut digits).get(..32).unwrap_or_default();
        f.pad(&format!("r-{digits}"))
    }
}

impl FromStr for RequestId {
    type Err = RequestIdError;

    fn from_str(text: &str) -> Result<RequestId, RequestIdError> {
        let digits = text.strip_prefix("r-").filter(|digits| digits.len() == 32);
        // The digest of the first half is not needed: only its form is read here.
        let digest = digits.and_then(|digits| Digest::parse(&format!("{digits}{digits}")));
        let Digest(bytes) = digest.ok_or(RequestIdError)?;
        let mut id = [0; 16];
        id.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        Ok(RequestId(id))
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RequestId, D::Error> {
        json::text(deserializer, str::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_vectors() {
        let key = IdempotencyKey::new("invoice-1").unwrap();
        for (grant, agent, id) in [
            ("g1", "alice", "r-d52d4883b78b7f137386c7e97e25bc9b"),
            ("g1", "bob", "r-df4264b0f4f72e8bc164051e62aca91e"),
            ("g2", "alice", "r-d1ab13e2c0fa21d1ef61244bc3d09ebb"),
        ] {
            let made = RequestId::new(grant, &agent.parse().unwrap(), &key);
            assert_eq!(made.to_string(), id);
            assert_eq!(id.parse(), Ok(made));
        }
    }

    #[test]
    fn reads_only_ids() {
        for bad in [
            "",
            "invoice-1",
            "r-",
            "d52d4883b78b7f137386c7e97e25bc9b",
            "r-D52D4883B78B7F137386C7E97E25BC9B",
            "r-d52d4883b78b7f137386c7e97e25bc9",
            "r-d52d4883b78b7f137386c7e97e25bc9b0",
            "r-d52d4883b78b7f137386c7e97e25bc9é",
        ] {
            assert_eq!(bad.parse::<RequestId>(), Err(RequestIdError), "{bad}");
        }
    }
}
