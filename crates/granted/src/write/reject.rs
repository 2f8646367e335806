//! Rejecting: the person ends a change set that waits, or one that is unresolved.

use granted_core::id::Id;
use granted_core::store::AppendError;
use granted_core::text::Note;
use granted_core::write::RequestState;
use granted_core::write::decide;

use super::approve::WordError;
use super::gather;
use crate::book::{Book, BookError};

/// Ends a change set without touching a file. How it stands afterwards.
pub fn reject(
    book: &Book,
    id: Id,
    approver: &Note,
    reason: Option<&Note>,
) -> Result<RequestState, WordError> {
    loop {
        let state = gather::request(book, id)?.ok_or(WordError::Unknown(id))?;
        let day = gather::day_last(book, &state)?;
        let by = book.by(None);
        let draft = decide::reject(&state, approver.clone(), reason.cloned(), day, &by)?;
        match book.append(&[draft]) {
            Ok(_) => return gather::request(book, id)?.ok_or(WordError::Unknown(id)),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(BookError::from(e).into()),
        }
    }
}
