//! Signatures, as rows and grants hold them.

use base64ct::{Base64, Encoding as _};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::key::{KeyId, PublicKey};
use super::sshsig;
use super::statement::Statement;

/// The most bytes of a signature.
const MAX: usize = 2_048;

/// A signature that was read. Nobody has verified it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Which form `sig` has.
    pub form: Form,
    /// The id of the key.
    pub key: KeyId,
    /// The signature.
    sig: Sig,
}

/// The form of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// 64 bytes over the statement's bytes.
    Ed25519,
    /// OpenSSH's SSHSIG over the statement's bytes, in the namespace of its purpose.
    Sshsig,
}

/// Bytes, in base 64.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sig(Vec<u8>);

impl Serialize for Sig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Base64::encode_string(&self.0))
    }
}

impl<'de> Deserialize<'de> for Sig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sig, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = Base64::decode_vec(&text).ok().filter(|bytes| bytes.len() <= MAX);
        bytes.map(Sig).ok_or_else(|| D::Error::custom("a signature is base 64"))
    }
}

/// Why a signature does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The key did not sign this statement.
    #[error("it is not over this statement, or not by this key")]
    Wrong,
    /// It is not in its form.
    #[error("it is damaged")]
    Damaged,
    /// It was made for something else.
    #[error("it was made for another purpose")]
    Purpose,
    /// It was made by another key than the one that it names.
    #[error("it was made by another key")]
    Key,
    /// The security key did not ask for a touch.
    #[error("nobody touched the security key")]
    Untouched,
}

impl Signature {
    /// A plain signature: the 64 bytes that the key with this id made.
    pub fn ed25519(key: KeyId, bytes: &[u8; 64]) -> Signature {
        Signature { form: Form::Ed25519, key, sig: Sig(bytes.to_vec()) }
    }

    /// A signature in OpenSSH's form, as [`sshsig`] reads and writes it.
    pub(super) fn sshsig(key: KeyId, blob: Vec<u8>) -> Signature {
        Signature { form: Form::Sshsig, key, sig: Sig(blob) }
    }

    /// The signature's bytes in its form.
    pub fn bytes(&self) -> &[u8] {
        &self.sig.0
    }

    /// Verifies that this key signed this statement.
    pub fn verify(&self, key: &PublicKey, statement: &Statement) -> Result<(), Flaw> {
        if key.id() != self.key {
            return Err(Flaw::Key);
        }
        match (self.form, key.application()) {
            (Form::Sshsig, _) => sshsig::verify(&self.sig.0, key, statement),
            // A security key signs in the other form only.
            (Form::Ed25519, Some(_)) => Err(Flaw::Damaged),
            (Form::Ed25519, None) => check(key, &statement.bytes(), &self.sig.0),
        }
    }
}

/// Checks 64 bytes of Ed25519.
pub(super) fn check(key: &PublicKey, message: &[u8], signature: &[u8]) -> Result<(), Flaw> {
    let signature = ed25519_dalek::Signature::from_slice(signature).map_err(|_| Flaw::Damaged)?;
    key.verifying().verify_strict(message, &signature).map_err(|_| Flaw::Wrong)
}
