//! The audit of a whole ledger, line by line: what `granted ledger verify` holds rows against.
//!
//! It has two halves, so that a ledger of any size is checked in little memory:
//!
//! 1. [`Audit`] reads the lines in order. It checks what a line and its neighbours show (canonical
//!    form, number, chain, time, place in the append, the subjects that its kind moves) and emits
//!    one [`Move`] of fixed size for each subject that a row moves.
//! 2. [`check_subject_events`] folds moves, in the ledger's order, and checks what only a subject's
//!    whole story shows: that `refs` name the row that really moved it last, and that every
//!    transition is legal. Moves may be split by subject and folded part by part.
//!
//! ```
//! use granted_core::ledger::audit::{Audit, check_subject_events};
//! use granted_core::store::RawLine;
//!
//! let lines: [&[u8]; 1] = [b"{}"];
//! let (mut audit, mut moves) = (Audit::default(), Vec::new());
//! let mut offset = 0;
//! for (seq, bytes) in (1..).zip(lines) {
//!     let fault = audit.line(RawLine { seq, offset, bytes }, |m| moves.push(m)).unwrap_err();
//!     assert_eq!((fault.line, fault.offset), (1, 0));
//!     offset += bytes.len() as u64 + 1;
//! }
//! assert_eq!(check_subject_events(moves), Ok(()));
//! ```

use std::borrow::Cow;

use super::{Event, Head, Row};
use crate::digest::Digest;
use crate::id::Id;
use crate::store::RawLine;
use signatures::Signatures;

mod excerpt;
mod fold;
mod moves;
mod refs;
mod signatures;
pub mod spend;
pub mod write;

pub use excerpt::{check_history, check_signatures};
pub use fold::check_subject_events;
pub use moves::{MOVE_BYTES, Move, Step};

/// What is wrong with a ledger, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} (byte {offset}): {cause}")]
pub struct Fault {
    /// The number of the bad line, from 1.
    pub line: u64,
    /// The offset of its first byte.
    pub offset: u64,
    /// What is wrong with it: one lower-case line for people.
    pub cause: Cow<'static, str>,
}

/// A row that does what the rules do not allow. The fold does not know where its line lies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct Illegal {
    /// The row's number, which is its line's.
    pub line: u64,
    /// What is wrong with it: one lower-case line for people.
    pub cause: &'static str,
}

/// The state of an audit between two lines.
#[derive(Debug, Default)]
pub struct Audit {
    scratch: Vec<u8>,
    head: Option<Head>,
    book: Option<Id>,
    open_append: Option<(u64, u64)>,
    /// The digest of the row before the append that a row belongs to.
    before: Option<Digest>,
    end: u64,
    signatures: Signatures,
    terms: write::Terms,
}

impl Audit {
    /// Checks the next line and emits the moves of its row.
    ///
    /// After a fault there is no point in going on.
    pub fn line(&mut self, line: RawLine<'_>, mut emit: impl FnMut(Move)) -> Result<(), Fault> {
        let number = self.rows().saturating_add(1);
        let fault = |cause| Fault { line: number, offset: line.offset, cause };
        let row = Row::parse_with(line.bytes, &mut self.scratch)
            .map_err(|e| fault(Cow::Owned(e.to_string())))?;
        self.check_place(&row, number).map_err(|cause| fault(cause.into()))?;
        refs::check(&row, self.book, &mut emit).map_err(|cause| fault(cause.into()))?;
        let before = self.before.filter(|_| self.open_append.is_some()).unwrap_or(row.prev);
        if let Some(book) = self.book {
            let signed = self.signatures.check(book, &row, before, &mut emit);
            signed.map_err(|cause| fault(cause.into()))?;
        }
        self.terms.check(&row).map_err(|cause| fault(cause.into()))?;
        if let Event::Opened(opened) = &row.event {
            self.book = Some(opened.book);
        }
        self.before = Some(before);
        self.open_append = row.of.filter(|(i, n)| i < n);
        self.head = Some(Head { seq: row.seq, at: row.at, hash: Digest::of(line.bytes) });
        self.end = end_of(line);
        Ok(())
    }

    /// Checks, after the last line, that no append is left without its last rows. The lines of an
    /// unfinished append are not shown to an audit.
    pub fn finish(&self) -> Result<(), Fault> {
        match self.open_append {
            None => Ok(()),
            Some((i, n)) => Err(Fault {
                line: self.rows().saturating_add(1),
                offset: self.end,
                cause: format!("the append before it ends at its row {i} of {n}").into(),
            }),
        }
    }

    /// The last row that was found good.
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// How many rows were found good.
    pub fn rows(&self) -> u64 {
        self.head.map_or(0, |head| head.seq)
    }

    /// How many bytes they have, with their LFs.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Holds a row against the one before it.
    fn check_place(&self, row: &Row, number: u64) -> Result<(), &'static str> {
        if row.seq != number {
            return Err("its `seq` is not the number of the line");
        }
        if row.prev != self.head.map_or(Digest::ZERO, |head| head.hash) {
            return Err("its `prev` is not the digest of the line before");
        }
        match (self.open_append, row.of) {
            (None, None | Some((1, 2..))) => {}
            (Some((i, n)), Some((j, m))) if (i.saturating_add(1), n) == (j, m) => {}
            (None, Some(_)) => return Err("its `of` does not begin an append of several rows"),
            (Some(_), _) => return Err("its `of` does not go on with the append before it"),
        }
        match (&row.event, self.head) {
            (Event::Opened(_), Some(_)) => Err("it opens a book that is open already"),
            (Event::Opened(_), None) => Ok(()),
            (_, None) => Err("the first row is not `ledger.opened`"),
            (Event::Accepted(_), _) => Ok(()),
            (_, Some(head)) if row.at < head.at => Err("its `at` is earlier than the row before"),
            _ => Ok(()),
        }
    }
}

/// The offset of the byte behind the line's LF.
fn end_of(line: RawLine<'_>) -> u64 {
    let bytes = u64::try_from(line.bytes.len()).unwrap_or(u64::MAX);
    line.offset.saturating_add(bytes).saturating_add(1)
}
