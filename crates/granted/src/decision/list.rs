//! All grants, from one pass over the ledger. Reads only.

use std::ops::ControlFlow;

use granted_core::decision::GrantState;
use granted_core::decision::overview::Overview;
use granted_core::decision::status::{Candidate, Status};
use granted_core::ledger::{Row, RowError};
use granted_core::store::{Ledger, ReadError};

use super::gather;
use crate::book::Book;

/// The grants that are live or, if `all`, every grant; soonest deadline first.
pub fn list(book: &Book, all: bool) -> Result<Vec<(Candidate, Status)>, ReadError> {
    let (now, trust) = (book.now(), gather::trust(book)?);
    let entry = |state: GrantState| {
        let candidate = gather::signed_candidate(book, state, &trust);
        let status = candidate.status(now);
        (candidate, status)
    };
    let states = overview(&*book.ledger, all)?.into_grants();
    let entries = states.into_iter().map(entry);
    Ok(entries.filter(|(_, status)| all || *status == Status::Live).collect())
}

/// Folds the whole ledger; of finished grants only if they are wanted.
fn overview(ledger: &dyn Ledger, finished: bool) -> Result<Overview, ReadError> {
    let mut overview = Overview::new(finished);
    each_row(ledger, |row| overview.apply(row))?;
    Ok(overview)
}

/// Shows every row, the oldest first; a line that is none ends it with an error.
pub(crate) fn each_row(ledger: &dyn Ledger, show: impl FnMut(&Row)) -> Result<(), ReadError> {
    each_wanted(ledger, |_| true, show)
}

/// The same for those rows whose bytes are wanted; the others are not read.
pub(crate) fn each_wanted(
    ledger: &dyn Ledger,
    wanted: impl Fn(&[u8]) -> bool,
    mut show: impl FnMut(&Row),
) -> Result<(), ReadError> {
    let mut error = None;
    let mut scratch = Vec::new();
    ledger.scan(1, &mut |line| {
        if !wanted(line.bytes) {
            return ControlFlow::Continue(());
        }
        match Row::parse_with(line.bytes, &mut scratch) {
            Ok(row) => {
                show(&row);
                ControlFlow::Continue(())
            }
            Err(e) => {
                error = Some(read_error(e, line.seq, line.offset));
                ControlFlow::Break(())
            }
        }
    })?;
    error.map_or(Ok(()), Err)
}

/// Says of a line that it could not be read as a row.
pub(crate) fn read_error(error: RowError, line: u64, offset: u64) -> ReadError {
    match error {
        RowError::Newer(what) => ReadError::Newer { line, what },
        RowError::Malformed(cause) => ReadError::Damaged { line, offset, cause },
    }
}
