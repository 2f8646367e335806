//! `granted ledger prove`: that a row is in the ledger, for somebody who has only a checkpoint.

use granted_core::digest::Digest;
use granted_core::ledger::checkpoint::Verified;
use granted_core::ledger::tree::{inclusion, leaf, verify_inclusion};
use granted_core::store::ReadError;
use serde::Serialize;

use super::checkpoint::{self, CheckpointError};
use super::rows::Rows;
use crate::book::Book;

/// The form of a proof.
const KIND: &str = "granted-row-proof/1";

/// That a row stands in the ledger which a checkpoint is of.
#[derive(Clone, Debug, Serialize)]
pub struct RowProof {
    /// The checkpoint's note.
    pub checkpoint: String,
    /// The row's place among the leaves: its number less one.
    pub index: u64,
    /// The book's public key, which signed the checkpoint.
    pub key: String,
    /// The form of this proof.
    pub kind: &'static str,
    /// The hashes beside the way from the leaf to the root.
    pub proof: Vec<Digest>,
    /// The row's line.
    pub row: String,
}

/// Why a row is not proven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProveError {
    /// There is no checkpoint.
    #[error("there is no checkpoint yet")]
    NoCheckpoint,
    /// The row is not among those of the newest checkpoint.
    #[error("the newest checkpoint covers rows 1 to {0}")]
    NotCovered(u64),
    /// The checkpoint or the ledger.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl From<ReadError> for ProveError {
    fn from(error: ReadError) -> ProveError {
        CheckpointError::from(error).into()
    }
}

/// Proves a row, by its number, to the newest checkpoint.
pub fn prove(book: &Book, seq: u64) -> Result<RowProof, ProveError> {
    let id = checkpoint::id(book)?.ok_or(ProveError::NoCheckpoint)?;
    let key = checkpoint::key(book, id)?.ok_or(ProveError::NoCheckpoint)?;
    let (newest, note) = checkpoint::newest(book, &key)?.ok_or(ProveError::NoCheckpoint)?;
    let index = seq.checked_sub(1).filter(|index| *index < newest.size);
    let index = index.ok_or(ProveError::NotCovered(newest.size))?;
    let folder = book.home().ledger_folder();
    let mut found = proof(Rows::open(&*book.ledger, &folder)?, index, &newest)?;
    if found.is_none() {
        // Perhaps what is kept of the tree is wrong, and not the rows.
        found = proof(Rows::anew(&*book.ledger, &folder)?, index, &newest)?;
    }
    let Found { line, proof } = found.ok_or_else(|| {
        CheckpointError::RolledBack(format!(
            "`{}` does not go on from its newest checkpoint, of {} rows",
            book.home().ledger().display(),
            newest.size
        ))
    })?;
    // A row is JSON, which is UTF-8.
    let row = String::from_utf8(line).unwrap_or_default();
    Ok(RowProof { checkpoint: note, index, key: key.to_string(), kind: KIND, proof, row })
}

/// A row's line, and the hashes beside its way to the root.
struct Found {
    line: Vec<u8>,
    proof: Vec<Digest>,
}

/// What proves a row; `None` if it does not lead to the checkpoint's root.
fn proof(
    mut rows: Rows<'_>,
    index: u64,
    checkpoint: &Verified,
) -> Result<Option<Found>, ReadError> {
    if rows.last().is_none_or(|last| last.seq < checkpoint.size) {
        return Ok(None);
    }
    let line = rows.line(index)?;
    let proof = inclusion(index, checkpoint.size, &mut rows)?;
    let hash = leaf(&Digest::of(&line).0);
    let holds = verify_inclusion(hash, index, checkpoint.size, &proof, checkpoint.root);
    Ok(holds.then_some(Found { line, proof }))
}
