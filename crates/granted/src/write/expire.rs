//! Change sets that nobody approved in time.

use granted_core::store::AppendError;
use granted_core::write::RequestState;
use granted_core::write::decide;

use super::{gather, list};
use crate::book::{Book, BookError};

/// Ends every waiting change set whose time is over; those that were ended now.
pub fn expire(book: &Book) -> Result<Vec<RequestState>, BookError> {
    let mut expired = Vec::new();
    for state in list::open(&*book.ledger)? {
        let day = gather::day_last(book, &state)?;
        let Some(draft) = decide::expire(&state, day, book.now(), &book.by(None)) else { continue };
        match book.append(&[draft]) {
            Ok(_) => expired.push(state),
            // Somebody else moved it, or filed on the same day: the next one to come sees to it.
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(expired)
}
