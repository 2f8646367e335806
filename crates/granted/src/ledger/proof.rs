//! `granted proof`: what became of a grant, for somebody who has neither the ledger nor granted.

use granted_core::decision::GrantState;
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::checkpoint::Checkpoint;
use granted_core::ledger::note::Verifier;
use granted_core::ledger::tree::beside;
use granted_core::ledger::{Row, Subject};
use granted_core::proof::{Check, Failed, Invalid, MAX_PROOF, Proof, select, verify};
use granted_core::store::ReadError;

use super::checkpoint::{self, CheckpointError};
use super::rows::Rows;
use crate::book::Book;
use crate::decision::gather;

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// There is neither such a grant nor such an attempt.
    #[error("there is no grant and no attempt {0}")]
    Unknown(Id),
    /// The attempt was turned away.
    #[error("attempt {0} claimed no grant")]
    ClaimedNothing(Id),
    /// The grant was used too often.
    #[error("the proof would have over {MAX_PROOF} bytes")]
    TooLong,
    /// The rows do not prove anything.
    #[error("the ledger does not prove it: {0}")]
    Invalid(Invalid),
    /// The checkpoint or the ledger.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl From<ReadError> for ProofError {
    fn from(error: ReadError) -> ProofError {
        CheckpointError::from(error).into()
    }
}

/// The proof of a grant, or of the grant that an attempt claimed, as a file. If the newest checkpoint does
/// not cover its rows, one is made.
pub fn proof(book: &Book, id: Id) -> Result<String, ProofError> {
    let state = grant(book, id)?;
    let rows = rows(book, &state)?;
    let last = rows.last().map_or(0, |row| row.seq);
    let (checkpoint, note, key) = covering(book, last)?;
    let whole = |hashes| {
        // A row is JSON, which is UTF-8.
        let line = |row: &Row| (row.seq, String::from_utf8(row.line()).unwrap_or_default());
        let lines = rows.iter().map(line).collect();
        let text = Proof::new(state.grant.id, lines, hashes, note.clone(), &key).to_text();
        verify(text.as_bytes(), &[]).map(|_| text)
    };
    let folder = book.home().ledger_folder();
    let mut proven = whole(hashes(&rows, &checkpoint, Rows::open(&*book.ledger, &folder)?)?);
    if proven.as_ref().is_err_and(not_included) {
        // Perhaps what is kept of the tree is wrong, and not the rows.
        proven = whole(hashes(&rows, &checkpoint, Rows::anew(&*book.ledger, &folder)?)?);
    }
    proven.map_err(|failed| match failed {
        Failed::Unusable(_) => ProofError::TooLong,
        Failed::Invalid(invalid) => ProofError::Invalid(invalid),
    })
}

fn not_included(failed: &Failed) -> bool {
    matches!(failed, Failed::Invalid(Invalid { check: Check::Inclusion, .. }))
}

/// The grant of this id, or the one that the attempt of this id claimed.
fn grant(book: &Book, id: Id) -> Result<GrantState, ProofError> {
    if let Some(state) = gather::grant(book, id)? {
        return Ok(state);
    }
    let attempt = gather::attempt(book, id)?.ok_or(ProofError::Unknown(id))?;
    let claimed = attempt.grant.ok_or(ProofError::ClaimedNothing(id))?;
    gather::grant(book, claimed)?.ok_or(ProofError::Unknown(claimed))
}

fn rows(book: &Book, state: &GrantState) -> Result<Vec<Row>, ReadError> {
    let grant = book.ledger.rows(&Subject::grant(state.grant.id))?;
    let mut attempts = Vec::new();
    for claim in &state.claims {
        attempts.extend(book.ledger.rows(&Subject::discharge(claim.discharge))?);
    }
    Ok(select(&grant, &attempts, &book.ledger.rows(&Subject::trust())?))
}

/// A checkpoint that has this row: the newest, else a new one.
fn covering(book: &Book, last: u64) -> Result<(Checkpoint, String, Verifier), CheckpointError> {
    let key = match checkpoint::id(book)? {
        Some(id) => checkpoint::key(book, id)?,
        None => None,
    };
    if let Some(key) = key
        && let Some((newest, note)) = checkpoint::newest(book, &key)?
        && newest.size >= last
    {
        return Ok((*newest, note, key));
    }
    let made = checkpoint::make(book)?;
    Ok((made.checkpoint, made.note, made.key))
}

/// The hashes beside these rows; none where the ledger is shorter than the checkpoint.
fn hashes(
    rows: &[Row],
    checkpoint: &Checkpoint,
    mut tree: Rows<'_>,
) -> Result<Vec<Digest>, ReadError> {
    if tree.last().is_none_or(|last| last.seq < checkpoint.size) {
        return Ok(Vec::new());
    }
    let indices: Vec<u64> = rows.iter().map(|row| row.seq.saturating_sub(1)).collect();
    beside(&indices, checkpoint.size, &mut tree)
}
