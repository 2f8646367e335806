//! Issuing dispatches.

use granted_core::store::AppendError;
use granted_core::write::Agent;
use granted_core::write::dispatch::{self, NotIssued, Terms};
use granted_core::write::event::Dispatched;
use granted_store::entropy;

use super::project::{OpenProject, ProjectError};
use crate::book::{Book, BookError};
use crate::ledger::witness;

/// Why no dispatch was issued.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The project or its brief.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The rules.
    #[error(transparent)]
    Refused(#[from] NotIssued),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Issues a dispatch: its nonce, which is kept nowhere, and what it is good for.
pub fn issue(
    book: &Book,
    project: &OpenProject,
    agent: &Agent,
    terms: Terms,
) -> Result<(String, Dispatched), DispatchError> {
    witness::check(book).map_err(BookError::from)?;
    let brief = project.brief()?.brief;
    // A draft that opens a book is decided on before there is a head.
    book.id()?;
    let head = book.ledger.head().map_err(BookError::from)?;
    let issued = dispatch::issue(agent, project.name(), &brief, terms, book.now(), head)?;
    loop {
        let random = |e: std::io::Error| BookError::NoRandomness(e.to_string());
        let nonce = entropy::hex::<16>().map_err(random)?;
        let Some(id) = dispatch::id(&nonce) else { continue };
        match book.append(&[dispatch::draft(id, issued.clone(), &book.by(None))]) {
            Ok(_) => return Ok((nonce, issued)),
            // Nobody else has the nonce, so nothing can have moved it.
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(BookError::from(e).into()),
        }
    }
}
