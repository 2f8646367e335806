//! The person's way out of a damaged tail, a rollback or a clock that was once far ahead.

use std::collections::BTreeSet;

use super::discharge::CLOCK_SLACK;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::event::{Accepted, What};
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::store::{Moved, ReadError};
use crate::text::Note;
use crate::time::Stamp;
use crate::trust::{Signature, Statement};

/// How many grants one row closes; more go into further rows of the same append.
const GRANTS_A_ROW: usize = 500;

/// How many bytes an id has.
const ID_LENGTH: usize = 26;

/// The rows that accept what was moved aside; none if there is nothing to accept.
///
/// Accepting never revives a grant. So every grant is closed whose id still stands in the moved bytes
/// as one that a row moves, since a claim or a revocation of it may have been there; and of `open`,
/// the grants that may still be used, those of which rows are known to be lost. `witnessed` is how many
/// rows the ledger had by a checkpoint that it does not go on from. That tells nothing of what is lost,
/// so every grant of `open` is closed then. The rows are not signed yet.
pub fn accept(
    moved: &Moved<'_>,
    witnessed: Option<u64>,
    open: &[Id],
    by: Note,
    reason: Note,
    now: Stamp,
    door: &By,
) -> Result<Vec<Draft>, ReadError> {
    let mut what = Vec::new();
    if let Some(torn) = &moved.torn {
        what.push(What::Damage(torn.clone()));
    }
    if let Some(rows) = moved.rollback.max(witnessed) {
        what.push(What::Rollback { rows });
    }
    if let Some(head) = moved.head.filter(|head| now.plus(CLOCK_SLACK) < head.at) {
        what.push(What::Clock { was: head.at });
    }
    if what.is_empty() {
        return Ok(Vec::new());
    }
    let mut closed = moved_in(moved.bytes);
    let lost = |grant: &&Id| witnessed.is_some() || (moved.lost)(&Subject::grant(**grant));
    closed.extend(open.iter().filter(lost));
    let closed: Vec<Id> = closed.into_iter().collect();
    let first: &[Id] = &[];
    let parts = if closed.is_empty() { vec![first] } else { closed.chunks(GRANTS_A_ROW).collect() };
    let mut drafts = Vec::new();
    for part in parts {
        let mut refs = Vec::new();
        for grant in part {
            let subject = Subject::grant(*grant);
            let last = (moved.last)(&subject)?;
            refs.push((subject, last));
        }
        let (by, reason, what) = (by.clone(), reason.clone(), what.clone());
        let body = Accepted { by, reason, signature: None, what };
        drafts.push(Draft::new(Event::Accepted(body), door.clone(), refs));
    }
    Ok(drafts)
}

/// What is to be signed for the rows of an accept after this one; `None` if there are none.
pub fn statement(book: Id, head: Option<Head>, drafts: &[Draft]) -> Option<Statement> {
    let prev = head.map_or(Digest::ZERO, |head| head.hash);
    drafts.iter().find_map(|draft| match &draft.event {
        Event::Accepted(Accepted { by, reason, what, .. }) => {
            Some(Statement::accept(book, prev, by, reason, what))
        }
        _ => None,
    })
}

/// The rows with their signature.
pub fn signed(mut drafts: Vec<Draft>, signature: &Signature) -> Vec<Draft> {
    for draft in &mut drafts {
        if let Event::Accepted(body) = &mut draft.event {
            body.signature = Some(signature.clone());
        }
    }
    drafts
}

/// The grants that these bytes move, as far as their ids can still be read: the rest of a row need
/// not be whole, since a damaged claim is a claim all the same.
fn moved_in(bytes: &[u8]) -> BTreeSet<Id> {
    const SUBJECT: &[u8] = b"grant:";
    let id = |at: usize| {
        let text = bytes.get(at..)?.strip_prefix(SUBJECT)?.get(..ID_LENGTH)?;
        std::str::from_utf8(text).ok()?.parse().ok()
    };
    let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'g');
    starts.filter_map(|(at, _)| id(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_claim_still_names_its_grant() {
        let id: Id = "01M3RN7R72000KRVQKEBZ99Y1A".parse().unwrap();
        for bytes in [
            format!("{{\"kind\":\"decision.int\0\0\0\"refs\":[[\"grant:{id}\",3]]"),
            format!("ggrant:{id}"),
            format!("\n\n{{grant:grant:{id}"),
        ] {
            assert_eq!(moved_in(bytes.as_bytes()), BTreeSet::from([id]), "{bytes}");
        }
        for bytes in [
            "grant:01M3RN7R72000KRVQKEBZ99Y1",
            "grant:",
            "g",
            "",
            "\"grant\":\"01M3RN7R72000KRVQKEBZ99Y1A\"",
        ] {
            assert!(moved_in(bytes.as_bytes()).is_empty(), "{bytes}");
        }
    }
}
