//! Turning drafts into rows: the guard, the chain and the bytes, the same for every store.

use super::{By, Event, Head, Row, Subject};
use crate::digest::Digest;
use crate::ledger::row::MAX_LINE;
use crate::time::Stamp;

/// A row to be: everything but what its place in the ledger gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What happened.
    pub event: Event,
    /// Through which door.
    pub by: By,
    /// The subjects that it moves, the owner first, each with the seq of the last row that moved
    /// it when the caller looked (0: none). A subject that an earlier draft of the same append
    /// moves needs no right number: it follows that draft.
    pub refs: Vec<(Subject, u64)>,
    /// The row must be written before this instant, else the append is a conflict.
    pub until: Option<Stamp>,
    /// Subjects that it does not move, and that have to be where the caller saw them, else the
    /// append is a conflict.
    pub still: Vec<(Subject, u64)>,
}

impl Draft {
    /// A draft that may be written at any time, if the subjects that it moves are where the caller
    /// saw them.
    pub fn new(event: Event, by: By, refs: Vec<(Subject, u64)>) -> Draft {
        Draft { event, by, refs, until: None, still: Vec::new() }
    }

    /// Whether the row spends a grant, ends the use of one, or takes one back: without it, the grant
    /// would allow more.
    pub fn narrows(&self) -> bool {
        !self.event.uses_authority() && self.refs.iter().any(|(subject, _)| subject.is_authority())
    }
}

/// A row's bytes, ready to be written or as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The row's number.
    pub seq: u64,
    /// The row's time.
    pub at: Stamp,
    /// The canonical line without its LF.
    pub bytes: Vec<u8>,
    /// The digest of those bytes.
    pub hash: Digest,
}

impl Line {
    /// The head that the ledger has when this is its last line.
    pub fn head(&self) -> Head {
        Head { seq: self.seq, at: self.at, hash: self.hash }
    }
}

/// Why drafts cannot be sealed.
#[derive(Debug, PartialEq, Eq)]
pub enum SealError<E> {
    /// A subject has moved since the caller looked, or the time is up.
    Conflict,
    /// A row would be longer than [`MAX_LINE`].
    TooLong,
    /// The last row of a subject could not be looked up.
    Lookup(E),
}

/// Makes the rows of one append.
///
/// `last` answers with the seq of the last row in the ledger that moved a subject, 0 if none.
/// `now` is the clock's reading under the lock; a row's `at` is the later of it and the previous
/// row's, and only `ledger.accepted` may go back. Nothing is written: on an error nothing happened.
pub fn seal<E>(
    head: Option<Head>,
    drafts: &[Draft],
    now: Stamp,
    mut last: impl FnMut(&Subject) -> Result<u64, E>,
) -> Result<Vec<Line>, SealError<E>> {
    let count = u64::try_from(drafts.len()).unwrap_or(u64::MAX);
    let mut lines: Vec<Line> = Vec::with_capacity(drafts.len());
    let mut moved: std::collections::HashMap<&Subject, u64> = std::collections::HashMap::new();
    let mut head = head;
    for (index, draft) in drafts.iter().enumerate() {
        // The first row, and only the first, opens the book.
        if head.is_none() != matches!(draft.event, Event::Opened(_)) {
            return Err(SealError::Conflict);
        }
        let seq = head.map_or(1, |h| h.seq + 1);
        let at = match (&draft.event, head) {
            (Event::Accepted(_), _) | (_, None) => now,
            (_, Some(head)) => now.max(head.at),
        };
        if draft.until.is_some_and(|until| at >= until) {
            return Err(SealError::Conflict);
        }
        for (subject, seen) in &draft.still {
            if last(subject).map_err(SealError::Lookup)? != *seen {
                return Err(SealError::Conflict);
            }
        }
        let mut refs = Vec::with_capacity(draft.refs.len());
        for (subject, seen) in &draft.refs {
            let before = match moved.get(subject) {
                Some(seq) => *seq,
                None => {
                    let before = last(subject).map_err(SealError::Lookup)?;
                    if before != *seen {
                        return Err(SealError::Conflict);
                    }
                    before
                }
            };
            refs.push((subject.clone(), before));
        }
        moved.extend(draft.refs.iter().map(|(subject, _)| (subject, seq)));
        let of = (count > 1)
            .then(|| (u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1), count));
        let row = Row {
            at,
            event: draft.event.clone(),
            by: draft.by.clone(),
            of,
            prev: head.map_or(Digest::ZERO, |h| h.hash),
            refs,
            seq,
        };
        let bytes = row.line();
        if bytes.len() > MAX_LINE {
            return Err(SealError::TooLong);
        }
        let line = Line { seq, at, hash: Digest::of(&bytes), bytes };
        head = Some(line.head());
        lines.push(line);
    }
    Ok(lines)
}
