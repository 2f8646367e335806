//! Signatures in OpenSSH's form (its `PROTOCOL.sshsig`): what `ssh-keygen -Y sign` makes.
//!
//! ```text
//! "SSHSIG"  uint32 1  string public key  string namespace  string ""  string hash  string signature
//! ```
//!
//! What the key signs is `"SSHSIG"`, and as strings the namespace, `""`, the name of the hash, and the hash of the
//! message. A security key signs the hash of its application, its flags, its counter and the hash of that.

use base64ct::{Base64, Encoding as _};
use sha2::{Digest as _, Sha256, Sha512};

use super::key::{KeyError, PublicKey};
use super::signature::{Flaw, Signature, check};
use super::statement::Statement;
use super::wire::{put, take, take_u32};

const MAGIC: &[u8; 6] = b"SSHSIG";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
/// The flag of a security key by which it says that somebody touched it.
const TOUCHED: u8 = 1;

fn to_sign(namespace: &[u8], name: &[u8], hash: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for part in [namespace, b"", name, hash] {
        put(&mut bytes, part);
    }
    bytes
}

/// Reads an armored signature, as in `FILE.sig`; with the key that it says made it.
pub fn parse(text: &str) -> Result<(Signature, PublicKey), KeyError> {
    let body = text.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    let body: String = body.ok_or(KeyError::Damaged)?.split_whitespace().collect();
    let blob = Base64::decode_vec(&body).map_err(|_| KeyError::Damaged)?;
    let parts = Parts::read(&blob).ok_or(KeyError::Damaged)?;
    let key = PublicKey::from_wire(parts.key)?;
    Ok((Signature::sshsig(key.id(), blob), key))
}

/// The armored form, which `ssh-keygen -Y verify` reads. Empty for a signature of another form.
pub fn armored(signature: &Signature) -> String {
    if Parts::read(signature.bytes()).is_none() {
        return String::new();
    }
    let body = Base64::encode_string(signature.bytes());
    let lines =
        body.as_bytes().chunks(70).map(|line| std::str::from_utf8(line).unwrap_or_default());
    let lines: Vec<&str> = lines.collect();
    format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"))
}

/// The fields of a signature.
struct Parts<'b> {
    key: &'b [u8],
    namespace: &'b [u8],
    hash: &'b [u8],
    signature: &'b [u8],
}

impl<'b> Parts<'b> {
    fn read(blob: &'b [u8]) -> Option<Parts<'b>> {
        let mut rest = blob.strip_prefix(MAGIC)?;
        if take_u32(&mut rest)? != 1 {
            return None;
        }
        let (key, namespace) = (take(&mut rest)?, take(&mut rest)?);
        let (reserved, hash) = (take(&mut rest)?, take(&mut rest)?);
        let signature = take(&mut rest)?;
        let whole = rest.is_empty() && reserved.is_empty();
        whole.then_some(Parts { key, namespace, hash, signature })
    }
}

/// Verifies a signature in this form.
pub(super) fn verify(blob: &[u8], key: &PublicKey, statement: &Statement) -> Result<(), Flaw> {
    let parts = Parts::read(blob).ok_or(Flaw::Damaged)?;
    if parts.key != key.to_wire() {
        return Err(Flaw::Key);
    }
    if parts.namespace != statement.purpose().namespace().as_bytes() {
        return Err(Flaw::Purpose);
    }
    let message = statement.bytes();
    let hash = match parts.hash {
        b"sha512" => Sha512::digest(&message).to_vec(),
        b"sha256" => Sha256::digest(&message).to_vec(),
        _ => return Err(Flaw::Damaged),
    };
    let signed = to_sign(parts.namespace, parts.hash, &hash);
    let mut rest = parts.signature;
    if take(&mut rest) != Some(key.kind().as_bytes()) {
        return Err(Flaw::Damaged);
    }
    let signature = take(&mut rest).ok_or(Flaw::Damaged)?;
    let Some(application) = key.application() else {
        return if rest.is_empty() { check(key, &signed, signature) } else { Err(Flaw::Damaged) };
    };
    let [flags, counter @ ..] = rest else { return Err(Flaw::Damaged) };
    if counter.len() != 4 {
        return Err(Flaw::Damaged);
    }
    let mut message = Sha256::digest(application.as_bytes()).to_vec();
    message.extend(rest);
    message.extend(Sha256::digest(&signed));
    check(key, &message, signature)?;
    match flags & TOUCHED {
        0 => Err(Flaw::Untouched),
        _ => Ok(()),
    }
}
