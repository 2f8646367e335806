//! Minting a grant that is signed elsewhere.

use std::path::Path;

use granted_core::decision::Grant;
use granted_core::decision::mint::Terms;
use granted_core::trust::{Purpose, Statement};

use super::super::elsewhere;
use super::super::failure::Failure;
use super::super::out::Out;
use crate::book::Book;
use crate::decision::mint::decide;

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
    let (statement, shown) = (Statement::grant(grant), path.display());
    let then = format_args!("granted mint --from {shown} --signature {shown}.sig");
    elsewhere::write_unsigned((&statement, Purpose::Decision), path, "minted", then, out)
}

/// Reads a grant that [`write_unsigned`] wrote, with its signature.
pub(super) fn read_signed(path: &Path, signature: &Path) -> Result<Grant, Failure> {
    let (grant, signature) =
        elsewhere::read_signed(path, signature, Statement::read_grant, "mint")?;
    Ok(Grant { signatures: vec![signature], ..grant })
}
