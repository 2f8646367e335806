//! Signed notes, as C2SP's `signed-note` has them: a text, and who signed it by Ed25519.
//!
//! A [`Note`] is only read. What it says counts once a [`Verifier`] has given its text back.
//!
//! ```
//! use granted_core::ledger::note::{Note, Signer};
//!
//! let signer = Signer::new("example.com/log".parse()?, &[7; 32]);
//! let signed = signer.sign("read me\n");
//! let note = Note::parse(&signed)?;
//! assert_eq!(note.verify(&signer.verifier())?, "read me\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

use base64ct::{Base64, Encoding as _};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, KeypairBytes};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The most bytes of a note: room for 16 signatures, also of kinds that are longer than ours.
pub const MAX_NOTE: usize = 128 * 1024;

/// The byte by which Ed25519 is told from other kinds of signatures.
const ED25519: u8 = 1;

/// What stands before a signature.
const DASH: &str = "\u{2014} ";

/// Why a text is no note, or not the one that it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// It has not the form of a signed note.
    #[error("it is no signed note: {0}")]
    Form(&'static str),
    /// The key did not sign it.
    #[error("it is not signed by {0}")]
    NotSigned(Box<Verifier>),
    /// It bears a signature of that key's which is wrong.
    #[error("the signature of {0} is wrong")]
    BadSignature(Box<Verifier>),
}

/// The name of a key: not empty, without spaces and plus signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(Box<str>);

impl FromStr for KeyName {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<KeyName, NoteError> {
        let bad = |c: char| c.is_whitespace() || c.is_control() || c == '+';
        match text.is_empty() || text.contains(bad) {
            true => Err(NoteError::Form("a key's name is empty, or has a space or a plus sign")),
            false => Ok(KeyName(text.into())),
        }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A private key with its name. It is wiped from memory when it goes.
pub struct Signer {
    name: KeyName,
    key: SigningKey,
}

impl Signer {
    /// The key that these 32 secret bytes make.
    pub fn new(name: KeyName, seed: &[u8; 32]) -> Signer {
        Signer { name, key: SigningKey::from_bytes(seed) }
    }

    /// Reads an unencrypted PKCS#8 key in PEM.
    pub fn from_pem(name: KeyName, pem: &str) -> Result<Signer, NoteError> {
        match SigningKey::from_pkcs8_pem(pem) {
            Ok(key) => Ok(Signer { name, key }),
            Err(_) => Err(NoteError::Form("the key is no Ed25519 key in PKCS#8 PEM")),
        }
    }

    /// The key as unencrypted PKCS#8 in PEM.
    ///
    /// Of version 1, without the public key: OpenSSL does not read version 2.
    pub fn to_pem(&self) -> Zeroizing<String> {
        let bytes = KeypairBytes { secret_key: self.key.to_bytes(), public_key: None };
        // So few bytes always fit.
        bytes.to_pkcs8_pem(LineEnding::LF).unwrap_or_default()
    }

    /// The public half.
    pub fn verifier(&self) -> Verifier {
        Verifier { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// The note of a text, which ends with an LF and has no control characters but that.
    pub fn sign(&self, text: &str) -> String {
        let mut signature = self.verifier().id().to_vec();
        signature.extend(self.key.sign(text.as_bytes()).to_bytes());
        format!("{text}\n{DASH}{} {}\n", self.name, Base64::encode_string(&signature))
    }
}

/// A public key with its name, shown as `NAME+ID+KEY`: what a verifier of notes is given.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    name: KeyName,
    key: VerifyingKey,
}

impl Verifier {
    /// The name.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// The four bytes by which a signature names its key.
    fn id(&self) -> [u8; 4] {
        let hash = Sha256::new().chain_update(self.name.0.as_bytes()).chain_update(b"\n");
        let hash: [u8; 32] = hash.chain_update(self.typed()).finalize().into();
        let [a, b, c, d, ..] = hash;
        [a, b, c, d]
    }

    /// The kind of the key, and the key.
    fn typed(&self) -> [u8; 33] {
        let mut typed = [ED25519; 33];
        typed.iter_mut().skip(1).zip(self.key.to_bytes()).for_each(|(to, from)| *to = from);
        typed
    }
}

impl FromStr for Verifier {
    type Err = NoteError;

    /// Reads `NAME+ID+KEY`; the id must be that of the key.
    fn from_str(text: &str) -> Result<Verifier, NoteError> {
        let form = NoteError::Form("a key is NAME+ID+KEY, of Ed25519");
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(form);
        };
        let mut typed = [0; 33];
        let [ED25519, key @ ..] = (match Base64::decode(key, &mut typed) {
            Ok([_, ..]) => typed,
            _ => return Err(form),
        }) else {
            return Err(form);
        };
        let key = VerifyingKey::from_bytes(&key).map_err(|_| form.clone())?;
        let verifier = Verifier { name: name.parse()?, key };
        match verifier.to_string() == text && !id.is_empty() {
            true => Ok(verifier),
            false => Err(form),
        }
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = u32::from_be_bytes(self.id());
        write!(f, "{}+{id:08x}+{}", self.name, Base64::encode_string(&self.typed()))
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A note as it was read. Nobody has looked at its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<'t> {
    text: &'t str,
    signatures: Vec<(&'t str, Vec<u8>)>,
}

impl<'t> Note<'t> {
    /// Reads a note of at most [`MAX_NOTE`] bytes, to the letter.
    pub fn parse(note: &'t str) -> Result<Note<'t>, NoteError> {
        if note.len() > MAX_NOTE {
            return Err(NoteError::Form("it is too long"));
        }
        if note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(NoteError::Form("it has a control character"));
        }
        // The last empty line stands before the signatures.
        let Some((text, lines)) = note.rfind("\n\n").and_then(|at| note.split_at_checked(at + 1))
        else {
            return Err(NoteError::Form("it has no empty line before its signatures"));
        };
        let lines = lines.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n'));
        let Some(lines) = lines else {
            return Err(NoteError::Form("it does not end with a line of a signature"));
        };
        let signatures = lines.split('\n').map(signature).collect::<Result<_, _>>()?;
        Ok(Note { text, signatures })
    }

    /// The text, which this key signed.
    ///
    /// Signatures of other keys are ignored; one of this key that is wrong spoils the note.
    pub fn verify(&self, verifier: &Verifier) -> Result<&'t str, NoteError> {
        let id = verifier.id();
        let ours = self.signatures.iter().filter_map(|(name, bytes)| {
            let signature = bytes.strip_prefix(&id)?;
            (**name == *verifier.name.0).then_some(signature)
        });
        let mut signed = false;
        for signature in ours {
            signed = Signature::from_slice(signature)
                .and_then(|s| verifier.key.verify_strict(self.text.as_bytes(), &s))
                .is_ok();
            if !signed {
                return Err(NoteError::BadSignature(Box::new(verifier.clone())));
            }
        }
        match signed {
            true => Ok(self.text),
            false => Err(NoteError::NotSigned(Box::new(verifier.clone()))),
        }
    }

    /// The text, whoever signed it.
    pub(super) fn unverified_text(&self) -> &'t str {
        self.text
    }
}

/// Reads a line of a signature: the key's name, and what is in base 64.
fn signature(line: &str) -> Result<(&str, Vec<u8>), NoteError> {
    let form = NoteError::Form("a line of a signature is no such line");
    let parts = line.strip_prefix(DASH).and_then(|rest| rest.split_once(' '));
    let (name, signature) = parts.ok_or(form.clone())?;
    let _: KeyName = name.parse()?;
    match Base64::decode_vec(signature) {
        Ok(bytes) if bytes.len() > 4 => Ok((name, bytes)),
        _ => Err(form),
    }
}

#[cfg(test)]
mod tests;
