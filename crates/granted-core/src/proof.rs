//! Proofs: what became of a grant, as one file that anybody can check who has neither the ledger nor
//! granted.
//!
//! A proof holds the rows that moved the grant, those of the attempts that claimed it, and those of what
//! the book trusted meanwhile; the hashes that lead from them to the root of a checkpoint; and the
//! checkpoint. [`Proof`] is one that was made or read. What it shows is [`Proven`], which only [`verify`]
//! gives.

use base64ct::{Base64, Encoding as _};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::id::Id;
use crate::json;
use crate::ledger::Row;
use crate::ledger::note::Verifier;

mod verify;

pub use verify::{Check, Failed, Invalid, Proven, verify};

/// The most bytes of a proof.
pub const MAX_PROOF: usize = 8 * 1024 * 1024;

/// A proof. Nobody has checked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The checkpoint's note.
    checkpoint: String,
    /// What became of which grant.
    grant: Id,
    /// The hashes beside the rows, from left to right.
    hashes: Vec<Hash>,
    /// The book's public key.
    key: String,
    kind: Kind,
    /// The rows' lines, each behind its number.
    rows: Vec<(u64, String)>,
}

/// The form of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "granted-proof/1")]
    V1,
}

/// A hash of the tree, in base 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash(Digest);

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Base64::encode_string(&self.0.0))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let bytes = json::text(deserializer, Base64::decode_vec)?;
        let bytes = bytes.try_into().map_err(|_| D::Error::custom("a hash has 32 bytes"))?;
        Ok(Hash(Digest(bytes)))
    }
}

/// The rows of a proof in their order, from those of the grant, of the attempts that claimed it, and of
/// what the book trusts, which count up to the last of the others.
pub fn select(grant: &[Row], attempts: &[Row], trust: &[Row]) -> Vec<Row> {
    let mut rows: Vec<Row> = grant.iter().chain(attempts).cloned().collect();
    let last = rows.iter().map(|row| row.seq).max();
    rows.extend(trust.iter().filter(|row| Some(row.seq) < last).cloned());
    rows.sort_by_key(|row| row.seq);
    rows.dedup_by_key(|row| row.seq);
    rows
}

impl Proof {
    /// Puts a proof together: the rows' lines in their order, each behind its number, the hashes
    /// [beside](crate::ledger::tree::beside) them, a checkpoint's note and the key that signed it.
    pub fn new(
        grant: Id,
        rows: Vec<(u64, String)>,
        hashes: Vec<Digest>,
        checkpoint: String,
        key: &Verifier,
    ) -> Proof {
        let hashes = hashes.into_iter().map(Hash).collect();
        Proof { checkpoint, grant, hashes, key: key.to_string(), kind: Kind::V1, rows }
    }

    /// The file: canonical JSON and an LF.
    pub fn to_text(&self) -> String {
        // Plain data serialises.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}
