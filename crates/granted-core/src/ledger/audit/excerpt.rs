//! All rows of some subjects, without the ledger that they come from: what a proof has.

use super::moves::{Move, hash};
use super::signatures::Signatures;
use super::{Illegal, check_subject_events, refs};
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{Event, Row, Subject};

/// Checks that these rows are a legal story of these subjects, from their first row on: each moves one of
/// them at least, its `refs` name the row that moved it before, and its transition is legal.
pub fn check_history(book: Id, rows: &[Row], subjects: &[Subject]) -> Result<(), Illegal> {
    let mut moves = Vec::new();
    for row in rows {
        let illegal = |cause| Illegal { line: row.seq, cause };
        let before = moves.len();
        refs::check(row, Some(book), &mut only(subjects, &mut moves)).map_err(illegal)?;
        if moves.len() == before {
            return Err(illegal("it moves nothing that is proven"));
        }
    }
    check_subject_events(moves)
}

/// Checks, of rows that are a legal story, what is signed in them by the keys that are trusted at each.
///
/// But for what `ledger.accepted` says: it may be one of several rows that were signed together, and it
/// only takes away.
pub fn check_signatures(book: Id, rows: &[Row], subjects: &[Subject]) -> Result<(), Illegal> {
    let (mut signatures, mut moves) = (Signatures::default(), Vec::new());
    for row in rows {
        let illegal = |cause| Illegal { line: row.seq, cause };
        let mut emit = only(subjects, &mut moves);
        refs::check(row, Some(book), &mut emit).map_err(illegal)?;
        if !matches!(row.event, Event::Accepted(_)) {
            // Only what an accepted row says is signed after a row.
            signatures.check(book, row, Digest::ZERO, &mut emit).map_err(illegal)?;
        }
    }
    check_subject_events(moves)
}

/// Keeps the moves of these subjects.
fn only<'m>(subjects: &[Subject], moves: &'m mut Vec<Move>) -> impl FnMut(Move) + use<'m> {
    let wanted: Vec<u64> = subjects.iter().map(hash).collect();
    move |m| {
        if wanted.contains(&m.subject) {
            moves.push(m);
        }
    }
}
