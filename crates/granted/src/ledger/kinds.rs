//! The rows of one shape, found by their kind without reading the others.
//!
//! A row is canonical: its own kind is the last one in its line, and a text in it cannot look like one.

use std::ops::ControlFlow;

use granted_core::ledger::Row;
use granted_core::store::{Ledger, RawLine, ReadError};
use memchr::memmem::{Finder, FinderRev};

use crate::decision::list::read_error;

/// What comes before the kind and before the owner.
const KIND: &[u8] = b",\"kind\":\"";
const OWNER: &[u8] = b"\"refs\":[[\"";

/// A row that has not been read but for its kind and its owner.
pub(crate) struct Unread<'a> {
    line: RawLine<'a>,
    /// What the kind says after the shape.
    pub(crate) kind: &'a str,
    /// The subject that it moves first.
    pub(crate) owner: &'a str,
}

/// A row that is kept to be read later.
pub(crate) struct Kept {
    seq: u64,
    offset: u64,
    bytes: Vec<u8>,
}

impl Unread<'_> {
    /// Whether its line holds these bytes.
    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        memchr::memmem::find(self.line.bytes, bytes).is_some()
    }

    pub(crate) fn keep(&self) -> Kept {
        let RawLine { seq, offset, bytes } = self.line;
        Kept { seq, offset, bytes: bytes.to_vec() }
    }
}

impl Kept {
    /// The line's number.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Reads it.
    pub(crate) fn row(&self, scratch: &mut Vec<u8>) -> Result<Row, ReadError> {
        let row = Row::parse_with(&self.bytes, scratch);
        row.map_err(|e| read_error(e, self.seq, self.offset))
    }
}

/// Shows each row whose kind begins with one of these shapes, such as `write.`, the oldest first.
pub(crate) fn each_of(
    ledger: &dyn Ledger,
    shapes: &[&str],
    mut show: impl FnMut(&Unread<'_>),
) -> Result<(), ReadError> {
    let (kinds, owners) = (FinderRev::new(KIND), Finder::new(OWNER));
    ledger.scan(1, &mut |line| {
        let found = (|| {
            let (_, after) = line.bytes.split_at_checked(kinds.rfind(line.bytes)? + KIND.len())?;
            let shape = shapes.iter().find(|shape| after.starts_with(shape.as_bytes()))?;
            let (kind, after) = text(after.strip_prefix(shape.as_bytes())?)?;
            let (_, after) = after.split_at_checked(owners.find(after)? + OWNER.len())?;
            let (owner, _) = text(after)?;
            Some(Unread { line, kind, owner })
        })();
        if let Some(unread) = found {
            show(&unread);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// The text up to the next quote, and what follows.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (text, rest) = bytes.split_at_checked(memchr::memchr(b'"', bytes)?)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}
