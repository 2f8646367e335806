//! Settling an act that was cut off, by the same row whoever finds it.

use std::borrow::Cow;

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
    let mut state = Cow::Borrowed(state);
    loop {
        let Some(claim) = state.running() else { return Ok(None) };
        let pending = gather::pending(book, [&*state])?;
        let drafts = settle::interrupted(book.now(), &book.by(None), [&*state], &pending);
        if drafts.is_empty() {
            return Ok(None);
        }
        let attempt = claim.discharge;
        let written = match book.append(&drafts) {
            Ok(_) => true,
            // Somebody else moved it first.
            Err(AppendError::Conflict) => false,
            Err(e) => return Err(e.into()),
        };
        let Some(moved) = gather::grant(book, state.grant.id)? else { return Ok(None) };
        if written {
            catch_up_documents(book, &[gather::candidate(book, moved)]);
            return Ok(Some(attempt));
        }
        state = Cow::Owned(moved);
    }
}
