//! The person's way out of a damaged tail, a rollback or a clock that was once far ahead.

use std::collections::BTreeSet;

use super::discharge::CLOCK_SLACK;
use super::fold::grant_of;
use crate::id::Id;
use crate::ledger::event::{Accepted, What};
use crate::ledger::{By, Draft, Event, Row, Subject};
use crate::store::{Moved, ReadError};
use crate::text::Note;
use crate::time::Stamp;

/// How many grants one row closes; more go into further rows of the same append.
const GRANTS_A_ROW: usize = 500;

/// The rows that accept what was moved aside; none if there is nothing to accept.
///
/// Every grant that a parseable claim or revocation among the moved bytes names is closed: so that
/// accepting never revives one.
pub fn accept(
    moved: &Moved<'_>,
    by: Note,
    reason: Note,
    now: Stamp,
    door: &By,
) -> Result<Vec<Draft>, ReadError> {
    let mut what = Vec::new();
    if let Some(torn) = &moved.torn {
        what.push(What::Damage(torn.clone()));
    }
    if let Some(rows) = moved.rollback {
        what.push(What::Rollback { rows });
    }
    if let Some(head) = moved.head.filter(|head| now.plus(CLOCK_SLACK) < head.at) {
        what.push(What::Clock { was: head.at });
    }
    if what.is_empty() {
        return Ok(Vec::new());
    }
    let closed: Vec<Id> = used_in(moved.bytes).into_iter().collect();
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
        let body = Accepted { by: by.clone(), reason: reason.clone(), what: what.clone() };
        drafts.push(Draft { event: Event::Accepted(body), by: door.clone(), refs, until: None });
    }
    Ok(drafts)
}

/// The grants that claims, outcomes and revocations among these bytes name, wherever a line that
/// can be parsed begins.
fn used_in(bytes: &[u8]) -> BTreeSet<Id> {
    let used = |line: &[u8]| {
        // Foreign bytes may stand before the row on its line.
        let starts = line.iter().enumerate().filter(|(_, byte)| **byte == b'{');
        let mut rows = starts.filter_map(|(at, _)| Row::parse(line.get(at..)?).ok());
        let row = rows.next()?;
        match row.event {
            Event::Minted(_) => None,
            _ => grant_of(&row),
        }
    };
    bytes.split(|byte| *byte == b'\n').filter_map(used).collect()
}
