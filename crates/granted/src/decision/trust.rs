//! Changing what a book trusts.

use granted_core::store::AppendError;
use granted_core::trust::{Change, Mode, Refusal, Signature, Statement, Trust};

use super::gather;
pub(crate) use super::gather::trust;
use crate::book::{Book, BookError};
use crate::ledger::witness;

/// Why a book's trust was not changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TrustError {
    /// The rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Makes a change. What widens has to be signed, for which `sign` is called; and again if what is trusted was
/// changed meanwhile, since a signature is good for one state only.
pub fn change<E: From<TrustError>>(
    book: &Book,
    change: &Change,
    mut sign: impl FnMut(&Trust, &Statement) -> Result<Signature, E>,
) -> Result<(), E> {
    if !matches!(change, Change::Untrust(..) | Change::Mode(Mode::Signed)) {
        witness::check(book).map_err(BookError::from).map_err(TrustError::from)?;
    }
    let by = book.by(None);
    loop {
        let id = book.id().map_err(TrustError::from)?;
        let trust = gather::trust(book).map_err(BookError::from).map_err(TrustError::from)?;
        change.possible(&trust).map_err(TrustError::from)?;
        let statement = change.statement(id, &trust);
        let signature = statement.map(|statement| sign(&trust, &statement)).transpose()?;
        let draft = change.clone().draft(id, &trust, signature, &by).map_err(TrustError::from)?;
        match book.append(&[draft]) {
            Ok(_) => return Ok(()),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(TrustError::from(BookError::from(e)).into()),
        }
    }
}
