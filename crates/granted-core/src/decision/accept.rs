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
    open: &[Subject],
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
    let lost = |grant: &&Subject| witnessed.is_some() || (moved.lost)(grant);
    closed.extend(open.iter().filter(lost).cloned());
    let closed: Vec<Subject> = closed.into_iter().collect();
    let first: &[Subject] = &[];
    let parts = if closed.is_empty() { vec![first] } else { closed.chunks(GRANTS_A_ROW).collect() };
    let mut drafts = Vec::new();
    for part in parts {
        let mut refs = Vec::new();
        for grant in part {
            let last = (moved.last)(grant)?;
            refs.push((grant.clone(), last));
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
fn moved_in(bytes: &[u8]) -> BTreeSet<Subject> {
    let starts = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'g' | b's'));
    starts.filter_map(|(at, _)| grant_at(bytes.get(at..)?)).collect()
}

/// The grant whose subject these bytes begin with.
fn grant_at(bytes: &[u8]) -> Option<Subject> {
    let id = |subject: &[u8], length: usize| {
        std::str::from_utf8(bytes.strip_prefix(subject)?.get(..length)?).ok()
    };
    let decision = || Some(Subject::grant(id(b"grant:", 26)?.parse().ok()?));
    let spend = || Some(Subject::spend_grant(&id(b"spend-grant:", 32)?.parse().ok()?));
    decision().or_else(spend)
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
            assert_eq!(moved_in(bytes.as_bytes()), BTreeSet::from([Subject::grant(id)]), "{bytes}");
        }
        let id = "0f".repeat(16);
        let spend = Subject::spend_grant(&id.parse().unwrap());
        let bytes = format!("\0\0ss\"spend-grant:{id}\",7]");
        assert_eq!(moved_in(bytes.as_bytes()), BTreeSet::from([spend]));
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
