//! Settling an act that was cut off, by the same row whoever finds it.

use granted_core::decision::GrantState;
use granted_core::decision::settle;
use granted_core::id::Id;
use granted_core::store::AppendError;

use super::discharge::catch_up_documents;
use super::gather;
use crate::book::{Book, BookError};

/// Records the act of this grant as interrupted, if it was cut off and no row says so yet. The
/// attempt, if it was recorded now.
pub(crate) fn settle(book: &Book, state: &GrantState) -> Result<Option<Id>, BookError> {
    let Some(claim) = state.running() else { return Ok(None) };
    let pending = gather::pending(book, [state])?;
    let drafts = settle::interrupted(book.now(), &book.by(None), [state], &pending);
    if drafts.is_empty() {
        return Ok(None);
    }
    match book.append(&drafts) {
        // Somebody else moved it first; it is looked at again with the next command.
        Err(AppendError::Conflict) => Ok(None),
        Err(e) => Err(e.into()),
        Ok(_) => {
            let settled = gather::grant(book, state.grant.id)?;
            let candidate = settled.map(|state| gather::candidate(book, state));
            catch_up_documents(book, candidate.as_slice());
            Ok(Some(claim.discharge))
        }
    }
}
