//! Signing a grant elsewhere: it is decided here, signed with OpenSSH's own tools wherever the key is, and
//! minted here with the signature.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use granted_core::decision::Grant;
use granted_core::decision::mint::Terms;
use granted_core::digest::Digest;
use granted_core::trust::{Purpose, Statement, sshsig};
use granted_store::open::{self, OpenError};
use serde::Serialize;

use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use crate::book::Book;
use crate::decision::mint::decide;

/// The most bytes of either file: a grant fits in a row.
const MAX: u64 = 64 << 10;

#[derive(Serialize)]
struct UnsignedJson<'a> {
    digest: Digest,
    namespace: &'a str,
    unsigned: &'a Path,
}

/// Writes what is to be signed for a grant into a new file. Nothing is minted.
pub(super) fn write_unsigned(
    book: &Book,
    terms: &[Terms],
    path: &Path,
    out: &Out,
) -> Result<u8, Failure> {
    let grants = decide(book, terms)?;
    let [grant] = grants.as_slice() else {
        return Err(Failure::usage("--unsigned-out is for one grant"));
    };
    let statement = Statement::grant(grant);
    let mut file = open::create(path).map_err(|e| match &e {
        OpenError::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
            Failure::input(format!("`{}` is there already", path.display()))
        }
        _ => Failure::input(e),
    })?;
    file.write_all(&statement.bytes()).map_err(|e| Failure::at(path, &e))?;
    let (digest, namespace) = (statement.digest(), Purpose::Decision.namespace());
    if out.is_json() {
        out.value(&UnsignedJson { digest, namespace, unsigned: path });
        return Ok(0);
    }
    let shown = path.display();
    out.line(&shown);
    out.remark(format_args!("nothing is minted yet; the digest of what is signed is {digest}"));
    out.remark(format_args!("to sign it: ssh-keygen -Y sign -f KEY -n {namespace} {shown}"));
    out.remark(format_args!("then: granted mint --from {shown} --signature {shown}.sig"));
    Ok(0)
}

/// Reads a grant that [`write_unsigned`] wrote, with the signature that somebody made of it since.
pub(super) fn read_signed(path: &Path, signature: &Path) -> Result<Grant, Failure> {
    let wrong =
        |path: &Path, why: &str| Failure::new(Kind::Input, format!("`{}`: {why}", path.display()));
    let read = |path: &Path| match crate::files::read(path, MAX).map_err(Failure::input)? {
        Some(bytes) => Ok(bytes),
        None => Err(wrong(path, "there is no such file")),
    };
    let bytes = read(path)?;
    let grant = Statement::read_grant(&bytes)
        .ok_or_else(|| wrong(path, "it is not what `granted mint --unsigned-out` writes"))?;
    let text = String::from_utf8(read(signature)?).ok();
    let (signature, _) = text.and_then(|text| sshsig::parse(&text).ok()).ok_or_else(|| {
        wrong(signature, "it is no signature of ssh-keygen -Y sign by an Ed25519 key")
    })?;
    Ok(Grant { signatures: vec![signature], ..grant })
}
