//! The bodies of `key.*` and `trust.*` rows; each moves `trust:keys`.

use serde::{Deserialize, Serialize};

use super::key::{KeyId, PublicKey};
use super::signature::Signature;
use super::state::Mode;
use crate::text::{Name, Note};

/// Body of `key.trusted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyTrusted {
    /// The key.
    pub key: PublicKey,
    /// What the person calls it.
    pub name: Name,
    /// By a key that was trusted before; the book's first key has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// Body of `key.untrusted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyUntrusted {
    /// The key.
    pub key: KeyId,
    /// More, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

/// Body of `trust.mode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeSet {
    /// The mode from here on.
    pub mode: Mode,
    /// By a trusted key, where the mode is open from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
