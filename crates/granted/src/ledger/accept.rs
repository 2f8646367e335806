//! The person's way out of a damaged tail, a rollback or a clock that was once far ahead.

use granted_core::decision::accept as rules;
use granted_core::decision::overview::Overview;
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
/// trusted a key, and told what comes of it; nobody else can write meanwhile.
pub fn accept<E: From<BookError>>(
    book: &Book,
    by: &Note,
    reason: &Note,
    mut sign: impl FnMut(&Trust, &Statement, &Accepted) -> Result<Signature, E>,
) -> Result<Accepted, E> {
    let id = checkpoint::id(book).map_err(BookError::from)?;
    let door = book.by(None);
    let mut open = Overview::new(false);
    let mut spends = Vec::new();
    let lost = witness::lost(book).map_err(BookError::from)?;
    if lost.is_some() || book.ledger.condition().map_err(BookError::from)?.rollback.is_some() {
        // A bad line ends it, and whatever lies behind one is moved aside.
        let _ = each_row(&*book.ledger, |row| {
            open.apply(row);
            if let Event::SpendGranted(granted) = &row.event {
                spends.push(Subject::spend_grant(&granted.grant.grant_id));
            }
        });
    }
    let open = open.into_grants().into_iter().map(|state| Subject::grant(state.grant.id));
    let open: Vec<Subject> = open.chain(spends).collect();
    let mut accepted = Accepted::default();
    let mut unsigned = None;
    let result = book.ledger.accept(&mut |moved| {
        let (by, reason) = (by.clone(), reason.clone());
        let mut drafts = rules::accept(moved, lost, &open, by, reason, book.now(), &door)?;
        accepted = summary(&drafts);
        // Only here, where nobody else can change it any more.
        let trust = gather::trust(book)?;
        let book = id.filter(|_| trust.has_begun());
        if let Some(statement) = book.and_then(|id| rules::statement(id, moved.head, &drafts)) {
            let signature = sign(&trust, &statement, &accepted).map_err(|e| {
                unsigned = Some(e);
                ReadError::Unreadable("it was not signed".into())
            })?;
            let verified = trust.verify(&statement, Some(&signature));
            verified.map_err(|e| ReadError::Unreadable(e.to_string()))?;
            drafts = rules::signed(drafts, &signature);
        }
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use granted_core::ledger::Door;
    use granted_core::store::Ledger as _;
    use granted_core::time::{Clock, Stamp};
    use granted_core::trust::{Change, SecretKey};
    use granted_testkit::{FixedClock, MemoryDocuments, MemoryLedger};

    use super::*;
    use crate::decision::trust::{TrustError, change};
    use crate::home::Home;

    type Event = Box<dyn FnOnce() + Send>;

    /// A clock at which something happens when it is looked at next.
    struct Eventful(Stamp, Mutex<Option<Event>>);

    impl Clock for Eventful {
        fn now(&self) -> Stamp {
            let event = self.1.lock().unwrap().take();
            event.into_iter().for_each(|event| event());
            self.0
        }
    }

    #[test]
    fn what_a_key_signs_that_was_untrusted_before_the_lock_is_not_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let ahead = Arc::new(FixedClock::default());
        let behind = Stamp::from_micros(ahead.now().micros() - 60_000_000);
        let clock = Arc::new(Eventful(behind, Mutex::default()));
        let ledger = Arc::new(MemoryLedger::new(ahead));
        let documents = Arc::new(MemoryDocuments::default());
        let home = Home::at(dir.path());
        let book = Book::with(home, Door::Library, ledger.clone(), documents, clock.clone());
        let key = SecretKey::new(&[7; 32]).unwrap();
        let first = Change::Trust(key.public().clone(), "ada".parse().unwrap());
        change::<TrustError>(&book, &first, |_, _| unreachable!()).unwrap();
        let (id, trust) = (book.id().unwrap(), gather::trust(&book).unwrap());
        let untrust = Change::Untrust(key.public().id(), None);
        let untrust = untrust.draft(id, &trust, None, &book.by(None)).unwrap();
        let rows = ledger.head().unwrap().unwrap().seq;
        let meanwhile = ledger.clone();
        *clock.1.lock().unwrap() = Some(Box::new(move || {
            meanwhile.append(&[untrust]).unwrap();
        }));
        let word: Note = "me".parse().unwrap();
        let accepted = accept::<BookError>(&book, &word, &word, |_, s, _| Ok(key.sign(s)));
        assert!(accepted.unwrap_err().to_string().contains("is not trusted"));
        assert_eq!(ledger.head().unwrap().unwrap().seq, rows + 1);
    }
}
