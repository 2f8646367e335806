//! Facts: what the ledger, the documents, the act locks and the bound files say.

use std::path::Path;

use granted_core::decision::document::{DocumentName, Standing, standing};
use granted_core::decision::settle::{ActState, Pending};
use granted_core::decision::status::Candidate;
use granted_core::decision::{Attempt, Bind, Grant, GrantState, Object};
use granted_core::id::Id;
use granted_core::ledger::{Event, Subject};
use granted_core::store::ReadError;
use granted_core::trust::Trust;

use crate::book::Book;
use crate::ledger::checkpoint;

/// The grants of an object, oldest first, and the seq of the last row that moved the object.
pub(crate) fn grants_of(book: &Book, object: &Object) -> Result<(Vec<GrantState>, u64), ReadError> {
    let mints = book.ledger.rows(&Subject::object(object))?;
    let last = mints.last().map_or(0, |row| row.seq);
    let mut states = Vec::with_capacity(mints.len());
    for row in &mints {
        if let Event::Minted(minted) = &row.event {
            states.extend(grant(book, minted.grant.id)?);
        }
    }
    // A row may say that it moves an object, and mint a grant of another.
    states.retain(|state| state.grant.object == *object);
    Ok((states, last))
}

/// What the book trusts.
pub(crate) fn trust(book: &Book) -> Result<Trust, ReadError> {
    let rows = book.ledger.rows(&Subject::trust())?;
    // Only rows need the book's id.
    let id = if rows.is_empty() { None } else { checkpoint::id(book)? };
    Ok(id.map_or_else(Trust::default, |id| Trust::fold(id, &rows)))
}

/// The seq of the last row that moved the object.
pub(crate) fn object_last(book: &Book, object: &Object) -> Result<u64, ReadError> {
    let mints = book.ledger.rows(&Subject::object(object))?;
    Ok(mints.last().map_or(0, |row| row.seq))
}

/// One grant, by its id. A row may say that it moves a grant, and mint another.
pub(crate) fn grant(book: &Book, id: Id) -> Result<Option<GrantState>, ReadError> {
    let state = GrantState::fold(&book.ledger.rows(&Subject::grant(id))?);
    Ok(state.filter(|state| state.grant.id == id))
}

/// One attempt, by its id.
pub(crate) fn attempt(book: &Book, id: Id) -> Result<Option<Attempt>, ReadError> {
    Ok(Attempt::fold(id, &book.ledger.rows(&Subject::discharge(id))?))
}

/// A grant together with what its document says now.
pub(crate) fn candidate(book: &Book, state: GrantState) -> Candidate {
    let standing = document_standing(book, &state.grant);
    // A document is rewritten after the rows that spend its grant. Where it is ahead of the fold, such
    // rows may have come since these were read, and they say more: of which attempt, and how it ended.
    let newer = match standing {
        Standing::Spent if !state.is_spent() => grant(book, state.grant.id).ok().flatten(),
        _ => None,
    };
    Candidate { standing, state: newer.unwrap_or(state) }
}

/// As [`candidate`], for showing: a grant that is not signed as it has to be is no more live than one
/// whose document cannot be read.
pub(crate) fn signed_candidate(book: &Book, state: GrantState, trust: &Trust) -> Candidate {
    let mut candidate = candidate(book, state);
    if candidate.standing == Standing::Agrees
        && let Err((_, why)) = trust.signers(&candidate.state.grant)
    {
        candidate.standing = Standing::Unreadable(why.to_string());
    }
    candidate
}

/// What a grant's document says now, through a fresh open by path.
pub(crate) fn document_standing(book: &Book, minted: &Grant) -> Standing {
    let name = DocumentName::new(&minted.object, minted.id);
    standing(&book.documents.read(&name), minted)
}

/// The claims of these grants that have no outcome, and what their processes do.
pub(crate) fn pending<'a>(
    book: &Book,
    states: impl IntoIterator<Item = &'a GrantState>,
) -> Result<Vec<Pending>, ReadError> {
    let mut pending = Vec::new();
    for claim in states.into_iter().filter_map(GrantState::running) {
        // The lock is looked at before the rows: an act that ends in between has its outcome there.
        let act = match book.gave_up(claim.discharge) {
            true => ActState::Free,
            false => act_state(book, &claim.intent.body.act),
        };
        let attempt = attempt(book, claim.discharge)?;
        if attempt.as_ref().is_none_or(|attempt| attempt.outcome.is_none()) {
            let last = attempt.map_or(claim.intent.seq, |attempt| attempt.last);
            pending.push(Pending { discharge: claim.discharge, last, act });
        }
    }
    Ok(pending)
}

/// What the process of an act does, by its lock. One that cannot be looked at counts as running:
/// nothing is settled on a doubt.
pub(crate) fn act_state(book: &Book, act: &str) -> ActState {
    book.acts.state(act).unwrap_or(ActState::Running)
}

/// The first file that a grant is bound to and that is not what it was at mint.
pub(crate) fn drift(binds: &[Bind]) -> Option<String> {
    binds.iter().find_map(|bind| {
        let path = Path::new(bind.path.as_str());
        match crate::files::digest(path) {
            Ok(digest) if digest == bind.sha256 => None,
            Ok(_) => Some(format!("{} has changed since the grant was minted", bind.path)),
            Err(e) => Some(format!("a file that the grant is bound to: {e}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use granted_core::decision::mint::Terms;
    use granted_core::ledger::Door;
    use granted_core::time::Clock as _;
    use granted_testkit::{FixedClock, MemoryDocuments, MemoryLedger};

    use super::*;
    use crate::decision::mint::mint;
    use crate::decision::stage::terms;
    use crate::home::Home;
    use crate::{Request, Verdict, discharge};

    #[test]
    fn a_document_that_is_ahead_of_the_fold_has_the_rows_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::default());
        let ledger = Arc::new(MemoryLedger::new(clock.clone()));
        let documents = Arc::new(MemoryDocuments::default());
        let book =
            Book::with(Home::at(dir.path()), Door::Library, ledger, documents, clock.clone());
        let terms = Terms { not_after: clock.now().plus(Duration::from_secs(90)), ..terms(&clock) };
        let request =
            Request { object: terms.object.clone(), ..Request::new("t", "x", "a").unwrap() };
        mint(&book, &[terms]).unwrap();
        let before = grants_of(&book, &request.object).unwrap().0.remove(0);
        let report = discharge(&book, &request, |_, act| {
            act.result(true, None);
            Verdict::Done
        });
        assert_eq!(report.reason.as_str(), "confirmed", "{report}");
        let found = candidate(&book, before.clone());
        assert_eq!(found.standing, Standing::Spent);
        assert!(!before.is_spent() && found.state.is_spent());
    }
}
