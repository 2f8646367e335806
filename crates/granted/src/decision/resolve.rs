//! The person's word on an uncertain outcome, and the executor's own result.

use granted_core::decision::event::Resolved;
use granted_core::decision::resolve::{self as rules, Refusal};
use granted_core::decision::settle::ActState;
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::json::Json;
use granted_core::ledger::Draft;
use granted_core::store::AppendError;
use granted_core::trust::{Signature, Statement};

use super::gather;
use super::settle::settle;
use crate::book::{Book, BookError};
use crate::sign::{Sign, SignError};

/// Why an attempt was not moved.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ResolveError {
    /// The rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It was not signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Settles an uncertain attempt on the person's word; one that was cut off and that no row has
/// settled yet is recorded as interrupted first. The grant stays spent. `sign` is asked for a signature
/// once the book has trusted a key.
pub fn resolve(
    book: &Book,
    id: Id,
    resolved: &Resolved,
    sign: &mut Sign<'_>,
) -> Result<(), ResolveError> {
    settle_first(book, id)?;
    let mut signed: Option<(Statement, Option<Signature>)> = None;
    append(book, |book| {
        let attempt = gather::attempt(book, id).map_err(BookError::from)?;
        let trust = gather::trust(book).map_err(BookError::from)?;
        let book_id = book.opened().map_err(BookError::from)?;
        let mut resolved = resolved.clone();
        if trust.has_begun() {
            let attempt = rules::resolvable(id, attempt.as_ref())?;
            let statement = rules::statement(book_id, attempt, &resolved);
            resolved.signature = match signed.take().filter(|(earlier, _)| *earlier == statement) {
                Some((_, signature)) => signature,
                None => sign(std::slice::from_ref(&statement))?.pop(),
            };
            signed = Some((statement, resolved.signature.clone()));
        }
        Ok(rules::resolve(id, attempt.as_ref(), resolved, (book_id, &trust), &book.by(None))?)
    })
}

/// Writes an executor's own result while its act runs, on the token that it was given.
pub fn result(
    book: &Book,
    id: Id,
    token: &str,
    ok: bool,
    receipt: Option<&Json>,
) -> Result<(), ResolveError> {
    let token = Digest::of(token.as_bytes());
    append(book, |book| {
        let attempt = gather::attempt(book, id).map_err(BookError::from)?;
        let intent = attempt.as_ref().and_then(|attempt| attempt.intent.as_ref());
        let act = intent.map_or(ActState::Absent, |i| gather::act_state(book, &i.body.act));
        let by = book.by(None);
        Ok(rules::result(id, attempt.as_ref(), act, token, ok, receipt.cloned(), &by)?)
    })
}

fn append(
    book: &Book,
    mut decide: impl FnMut(&Book) -> Result<Draft, ResolveError>,
) -> Result<(), ResolveError> {
    loop {
        match book.append(&[decide(book)?]) {
            Ok(_) => return Ok(()),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(BookError::from(e).into()),
        }
    }
}

/// Records the attempt as interrupted if its act was cut off.
fn settle_first(book: &Book, id: Id) -> Result<(), BookError> {
    let grant = gather::attempt(book, id)?.and_then(|attempt| attempt.grant);
    if let Some(state) = grant.map(|grant| gather::grant(book, grant)).transpose()?.flatten() {
        settle(book, &state)?;
    }
    Ok(())
}
