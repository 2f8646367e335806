//! Public keys: Ed25519, in a file or on a security key, written as OpenSSH writes them.

use std::fmt;
use std::str::FromStr;

use base64ct::{Base64, Base64Unpadded, Encoding as _};
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePublicKey as _, EncodePublicKey as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::wire::{put, take};
use crate::digest::Digest;
use crate::json;
use crate::text::is_shown;

const ED25519: &str = "ssh-ed25519";
const SK_ED25519: &str = "sk-ssh-ed25519@openssh.com";

/// Why a text is no key that can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Of a kind that is not used here.
    #[error(
        "it is no public key of Ed25519: a line of ssh-ed25519 or sk-ssh-ed25519@openssh.com, or SPKI in PEM"
    )]
    Kind,
    /// Not what its kind looks like.
    #[error("the key is damaged")]
    Damaged,
    /// A key for which anybody can make signatures.
    #[error("the key is a weak one: anybody can sign for it")]
    Weak,
    /// An id that is none.
    #[error("the id of a key is 16 hexadecimal digits")]
    Id,
}

/// The id of a key: the first eight bytes of the SHA-256 of its form in SSH, in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 8]);

impl FromStr for KeyId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<KeyId, KeyError> {
        let id = u64::from_str_radix(text, 16).map(|id| KeyId(id.to_be_bytes()));
        id.ok().filter(|id| id.to_string() == text).ok_or(KeyError::Id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<KeyId, D::Error> {
        json::text(deserializer, str::parse)
    }
}

/// A person's public key.
///
/// It is shown, and stands in rows, as the first two words of OpenSSH's line.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
    /// On a security key: what the key was made for, such as `ssh:`.
    application: Option<Box<str>>,
}

impl PublicKey {
    /// The key with these 32 bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, KeyError> {
        PublicKey::of(VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Damaged)?, None)
    }

    /// Reads SPKI in PEM, as `openssl pkey -pubout` writes it.
    pub fn from_pem(pem: &str) -> Result<PublicKey, KeyError> {
        let key = VerifyingKey::from_public_key_pem(pem.trim()).map_err(|_| KeyError::Kind)?;
        PublicKey::of(key, None)
    }

    /// Reads a public key file: a line of OpenSSH's, whose comment is left out, or SPKI in PEM.
    pub fn from_file(text: &str) -> Result<PublicKey, KeyError> {
        let text = text.trim();
        if text.starts_with("-----") {
            return PublicKey::from_pem(text);
        }
        let mut words = text.split(' ');
        match (words.next(), words.next(), text.contains(['\n', '\r'])) {
            (Some(kind), Some(blob), false) => format!("{kind} {blob}").parse(),
            _ => Err(KeyError::Kind),
        }
    }

    /// Reads a key in the form that SSH sends.
    pub fn from_wire(mut blob: &[u8]) -> Result<PublicKey, KeyError> {
        let kind = take(&mut blob).ok_or(KeyError::Damaged)?;
        let bytes = take(&mut blob).and_then(|bytes| bytes.try_into().ok());
        let key = bytes.and_then(|bytes| VerifyingKey::from_bytes(bytes).ok());
        let application = match std::str::from_utf8(kind) {
            Ok(ED25519) => None,
            Ok(SK_ED25519) => {
                let application = take(&mut blob).and_then(|name| std::str::from_utf8(name).ok());
                let shown = |name: &&str| name.len() <= 256 && name.chars().all(is_shown);
                Some(application.filter(shown).ok_or(KeyError::Damaged)?.into())
            }
            _ => return Err(KeyError::Kind),
        };
        match (key, blob) {
            (Some(key), []) => PublicKey::of(key, application),
            _ => Err(KeyError::Damaged),
        }
    }

    fn of(key: VerifyingKey, application: Option<Box<str>>) -> Result<PublicKey, KeyError> {
        match key.is_weak() {
            true => Err(KeyError::Weak),
            false => Ok(PublicKey { key, application }),
        }
    }

    /// The key in the form that SSH sends.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut blob = Vec::new();
        put(&mut blob, self.kind().as_bytes());
        put(&mut blob, self.key.as_bytes());
        if let Some(application) = &self.application {
            put(&mut blob, application.as_bytes());
        }
        blob
    }

    /// SPKI in PEM, as OpenSSL reads it; `None` for a security key's, which has no such form.
    pub fn to_pem(&self) -> Option<String> {
        let plain = Some(&self.key).filter(|_| self.application.is_none())?;
        plain.to_public_key_pem(LineEnding::LF).ok()
    }

    /// The kind, as OpenSSH names it.
    pub fn kind(&self) -> &'static str {
        match self.application {
            None => ED25519,
            Some(_) => SK_ED25519,
        }
    }

    /// What a security key's key was made for; `None` for one in a file.
    pub fn application(&self) -> Option<&str> {
        self.application.as_deref()
    }

    /// The id.
    pub fn id(&self) -> KeyId {
        let Digest([a, b, c, d, e, f, g, h, ..]) = Digest::of(&self.to_wire());
        KeyId([a, b, c, d, e, f, g, h])
    }

    /// The fingerprint, as `ssh-keygen -l` shows it.
    pub fn fingerprint(&self) -> String {
        let digest: [u8; 32] = Sha256::digest(self.to_wire()).into();
        format!("SHA256:{}", Base64Unpadded::encode_string(&digest))
    }

    pub(super) fn verifying(&self) -> &VerifyingKey {
        &self.key
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    /// Reads the two words that stand in rows, and nothing else.
    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        let (kind, blob) = text.split_once(' ').ok_or(KeyError::Kind)?;
        if ![ED25519, SK_ED25519].contains(&kind) {
            return Err(KeyError::Kind);
        }
        let blob = Base64::decode_vec(blob).map_err(|_| KeyError::Damaged)?;
        let key = PublicKey::from_wire(&blob)?;
        match key.kind() == kind {
            true => Ok(key),
            false => Err(KeyError::Damaged),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), Base64::encode_string(&self.to_wire()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PublicKey, D::Error> {
        json::text(deserializer, str::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of RFC 8032, section 7.1, test 1.
    const RFC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n\
        -----END PUBLIC KEY-----\n";

    #[test]
    fn one_key_in_each_of_its_forms() {
        let key = PublicKey::from_file(RFC).unwrap();
        let line = key.to_string();
        assert_eq!(
            line,
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"
        );
        assert_eq!(PublicKey::from_file(&format!("{line} me@box\n")), Ok(key.clone()));
        assert_eq!(line.parse(), Ok(key.clone()));
        assert_eq!(PublicKey::from_wire(&key.to_wire()), Ok(key.clone()));
        assert_eq!(key.to_pem().as_deref(), Some(RFC));
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        assert!(key.fingerprint().starts_with("SHA256:"), "{}", key.fingerprint());
    }

    #[test]
    fn what_is_no_key_is_none() {
        let line = PublicKey::from_file(RFC).unwrap().to_string();
        for text in
            ["", " ", "ssh-rsa AAAA", "ssh-ed25519", &line[..40], &format!("{line}\n{line}")]
        {
            assert!(PublicKey::from_file(text).is_err(), "{text}");
        }
        for text in [format!("{line} "), format!(" {line}"), format!("sk-{line}@openssh.com")] {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
        // The neutral element: every signature of it verifies, somewhere.
        let mut one = [0; 32];
        one[0] = 1;
        assert_eq!(PublicKey::from_bytes(&one), Err(KeyError::Weak));
        for id in [
            "",
            "0",
            "00000000000000000",
            "000000000000000G",
            "ABCDEF0123456789",
            "+00000000000000",
        ] {
            assert_eq!(id.parse::<KeyId>(), Err(KeyError::Id), "{id}");
        }
    }

    #[test]
    fn a_security_key_has_its_application() {
        let mut blob = Vec::new();
        put(&mut blob, SK_ED25519.as_bytes());
        put(&mut blob, PublicKey::from_file(RFC).unwrap().key.as_bytes());
        put(&mut blob, b"ssh:");
        let key = PublicKey::from_wire(&blob).unwrap();
        assert_eq!((key.kind(), key.application()), (SK_ED25519, Some("ssh:")));
        assert_eq!(key.to_string().parse(), Ok(key.clone()));
        assert_ne!(key.id(), PublicKey::from_file(RFC).unwrap().id());
        assert_eq!(key.to_pem(), None);
        for cut in 0..blob.len() {
            assert!(PublicKey::from_wire(&blob[..cut]).is_err());
        }
        blob.push(0);
        assert_eq!(PublicKey::from_wire(&blob), Err(KeyError::Damaged));
    }
}
