//! The person's way out of a damaged tail, a rollback or a clock that was once far ahead.

use granted_core::decision::accept as rules;
use granted_core::decision::overview::Overview;
use granted_core::id::Id;
use granted_core::ledger::Event;
use granted_core::ledger::event::What;
use granted_core::ledger::{Draft, Subject};
use granted_core::store::{AppendError, ReadError};
use granted_core::text::Note;
use granted_core::trust::{Signature, Statement, Trust};

use crate::book::{Book, BookError};
use crate::decision::gather;
use crate::decision::list::each_row;
use crate::ledger::{checkpoint, witness};

/// What was accepted.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// What; empty if there was nothing to accept, and then no row was written.
    pub what: Vec<What>,
    /// The grants that it closed, as subjects.
    pub closed: Vec<Subject>,
}

/// Accepts whatever keeps the ledger from being used. `sign` is asked for a signature once the book has
/// trusted a key; nobody else can write meanwhile.
pub fn accept<E: From<BookError>>(
    book: &Book,
    by: &Note,
    reason: &Note,
    mut sign: impl FnMut(&Trust, &Statement) -> Result<Signature, E>,
) -> Result<Accepted, E> {
    let (trust, id) = (
        gather::trust(book).map_err(BookError::from)?,
        checkpoint::id(book).map_err(BookError::from)?,
    );
    let door = book.by(None);
    let mut open = Overview::new(false);
    let lost = witness::lost(book).map_err(BookError::from)?;
    if lost.is_some() || book.ledger.condition().map_err(BookError::from)?.rollback.is_some() {
        // A bad line ends it, and whatever lies behind one is moved aside.
        let _ = each_row(&*book.ledger, |row| open.apply(row));
    }
    let open: Vec<Id> = open.into_grants().into_iter().map(|state| state.grant.id).collect();
    let mut accepted = Accepted::default();
    let mut unsigned = None;
    let result = book.ledger.accept(&mut |moved| {
        let (by, reason) = (by.clone(), reason.clone());
        let mut drafts = rules::accept(moved, lost, &open, by, reason, book.now(), &door)?;
        let book = id.filter(|_| trust.has_begun());
        if let Some(statement) = book.and_then(|id| rules::statement(id, moved.head, &drafts)) {
            let signature = sign(&trust, &statement).map_err(|e| {
                unsigned = Some(e);
                ReadError::Unreadable("it was not signed".into())
            })?;
            let verified = trust.verify(&statement, Some(&signature));
            verified.map_err(|e| ReadError::Unreadable(e.to_string()))?;
            drafts = rules::signed(drafts, &signature);
        }
        accepted = summary(&drafts);
        Ok(drafts)
    });
    if let Some(error) = unsigned {
        return Err(error);
    }
    let appended = match result {
        Ok(appended) => appended,
        Err(AppendError::Conflict) => return Ok(Accepted::default()),
        Err(e) => return Err(BookError::from(e).into()),
    };
    if let Some(last) = appended.lines.last() {
        // What was moved aside may have been part of a checkpoint too.
        match witness::lost(book).map_err(BookError::from)? {
            Some(_) => witness::begin_anew(book).map_err(BookError::from)?,
            None => witness::tell(book, last.seq),
        }
    }
    Ok(accepted)
}

fn summary(drafts: &[Draft]) -> Accepted {
    let what = drafts.iter().find_map(|draft| match &draft.event {
        Event::Accepted(body) => Some(body.what.clone()),
        _ => None,
    });
    let closed =
        drafts.iter().flat_map(|draft| draft.refs.iter().map(|(subject, _)| subject.clone()));
    Accepted { what: what.unwrap_or_default(), closed: closed.collect() }
}
