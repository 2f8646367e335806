//! Signing elsewhere: what is to be signed is written into a file, signed with OpenSSH's own tools wherever the
//! key is, and read again with the signature.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use granted_core::digest::Digest;
use granted_core::trust::{Purpose, Signature, Statement, sshsig};
use granted_store::open::{self, OpenError};
use serde::Serialize;

use super::failure::{Failure, Kind};
use super::out::Out;

/// The most bytes of either file: a grant fits in a row.
const MAX: u64 = 64 << 10;

#[derive(Serialize)]
struct UnsignedJson<'a> {
    digest: Digest,
    namespace: &'a str,
    unsigned: &'a Path,
}

/// Writes what is to be signed into a new file. `yet` says what has not happened; `then` is the command that
/// comes after the signing.
pub(super) fn write_unsigned(
    (statement, purpose): (&Statement, Purpose),
    path: &Path,
    yet: &str,
    then: impl Display,
    out: &Out,
) -> Result<u8, Failure> {
    let mut file = open::create(path).map_err(|e| match &e {
        OpenError::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
            Failure::input(format!("`{}` is there already", path.display()))
        }
        _ => Failure::input(e),
    })?;
    file.write_all(&statement.bytes()).map_err(|e| Failure::at(path, &e))?;
    let (digest, namespace) = (statement.digest(), purpose.namespace());
    if out.is_json() {
        out.value(&UnsignedJson { digest, namespace, unsigned: path });
        return Ok(0);
    }
    let shown = path.display();
    out.line(&shown);
    out.remark(format_args!("nothing is {yet} yet; the digest of what is signed is {digest}"));
    out.remark(format_args!("to sign it: ssh-keygen -Y sign -f KEY -n {namespace} {shown}"));
    out.remark(format_args!("then: {then}"));
    Ok(0)
}

/// Reads what [`write_unsigned`] wrote, as `parse` takes it, with the signature that somebody made of it since.
/// `verb` is the one that writes it.
pub(super) fn read_signed<T>(
    path: &Path,
    signature: &Path,
    parse: impl FnOnce(&[u8]) -> Option<T>,
    verb: &str,
) -> Result<(T, Signature), Failure> {
    let wrong =
        |path: &Path, why: &str| Failure::new(Kind::Input, format!("`{}`: {why}", path.display()));
    let read = |path: &Path| match crate::files::read(path, MAX).map_err(Failure::input)? {
        Some(bytes) => Ok(bytes),
        None => Err(wrong(path, "there is no such file")),
    };
    let what = parse(&read(path)?).ok_or_else(|| {
        wrong(path, &format!("it is not what `granted {verb} --unsigned-out` writes"))
    })?;
    let text = String::from_utf8(read(signature)?).ok();
    let (signature, _) = text.and_then(|text| sshsig::parse(&text).ok()).ok_or_else(|| {
        wrong(signature, "it is no signature of ssh-keygen -Y sign by an Ed25519 key")
    })?;
    Ok((what, signature))
}
