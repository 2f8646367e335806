//! The person's word on an uncertain outcome, and the executor's own result.

use granted_core::decision::event::Resolved;
use granted_core::decision::resolve::{self as rules, Refusal};
use granted_core::decision::settle::ActState;
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::json::Json;
use granted_core::ledger::Draft;
use granted_core::store::{AppendError, ReadError};
use granted_core::trust::{Signature, Statement, Trust};

use super::gather;
use super::settle::settle;
use crate::book::{Book, BookError};

/// Why an attempt was not moved.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ResolveError {
    /// The rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Settles an uncertain attempt on the person's word; one that was cut off and that no row has
/// settled yet is recorded as interrupted first. The grant stays spent. `sign` is asked for a signature
/// once the book has trusted a key.
pub fn resolve<E: From<ResolveError>>(
    book: &Book,
    id: Id,
    resolved: &Resolved,
    mut sign: impl FnMut(&Trust, &Statement) -> Result<Signature, E>,
) -> Result<(), E> {
    settle_first(book, id).map_err(ResolveError::from)?;
    let mut signed: Option<(Statement, Signature)> = None;
    append(book, |book| {
        let attempt = gather::attempt(book, id).map_err(ResolveError::from)?;
        let trust = gather::trust(book).map_err(ResolveError::from)?;
        let mut resolved = resolved.clone();
        let own = rules::resolvable(id, attempt.as_ref()).map_err(ResolveError::from)?;
        let statement = rules::statement(book.id().map_err(ResolveError::from)?, own, &resolved);
        if trust.has_begun() {
            let signature = match signed.take().filter(|(earlier, _)| *earlier == statement) {
                Some((_, signature)) => signature,
                None => sign(&trust, &statement)?,
            };
            resolved.signature = Some(signature.clone());
            signed = Some((statement.clone(), signature));
        }
        let draft = rules::resolve(own, resolved, &statement, &trust, &book.by(None));
        Ok(draft.map_err(ResolveError::from)?)
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
        let attempt = gather::attempt(book, id)?;
        let intent = attempt.as_ref().and_then(|attempt| attempt.intent.as_ref());
        let act = intent.map_or(ActState::Absent, |i| gather::act_state(book, &i.body.act));
        let by = book.by(None);
        Ok(rules::result(id, attempt.as_ref(), act, token, ok, receipt.cloned(), &by)?)
    })
}

fn append<E: From<ResolveError>>(
    book: &Book,
    mut decide: impl FnMut(&Book) -> Result<Draft, E>,
) -> Result<(), E> {
    loop {
        match book.append(&[decide(book)?]) {
            Ok(_) => return Ok(()),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(ResolveError::from(BookError::from(e)).into()),
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

impl From<ReadError> for ResolveError {
    fn from(error: ReadError) -> ResolveError {
        ResolveError::Book(error.into())
    }
}
