//! Change sets, from one pass over the ledger. Reads only.

use std::collections::HashMap;

use granted_core::id::Id;
use granted_core::ledger::Row;
use granted_core::store::{Ledger, ReadError};
use granted_core::write::RequestState;

use crate::ledger::kinds::{Kept, Unread, each_of};

/// The rows of change sets, each under its own.
type Rows = HashMap<Id, Vec<Kept>>;

/// The change sets that wait, are being applied, or are unresolved; the oldest first.
pub fn open(ledger: &dyn Ledger) -> Result<Vec<RequestState>, ReadError> {
    let mut rows = Rows::new();
    each(ledger, |id, row| match row.kind {
        "staged" | "direct" => rows.entry(id).or_default().push(row.keep()),
        // Nothing more comes of it, so none of its rows needs to be read.
        "applied" | "rejected" | "expired" => _ = rows.remove(&id),
        _ => {
            if let Some(rows) = rows.get_mut(&id) {
                rows.push(row.keep());
            }
        }
    })?;
    let mut states = folded(rows)?;
    states.retain(|state| !state.status.is_final());
    Ok(states)
}

/// Every change set, the oldest first.
pub fn all(ledger: &dyn Ledger) -> Result<Vec<RequestState>, ReadError> {
    let mut rows = Rows::new();
    each(ledger, |id, row| rows.entry(id).or_default().push(row.keep()))?;
    folded(rows)
}

/// The ids of the change sets whose text begins like this, the oldest first.
pub fn beginning(ledger: &dyn Ledger, prefix: &str) -> Result<Vec<Id>, ReadError> {
    let mut ids = Vec::new();
    each(ledger, |id, row| {
        let files = matches!(row.kind, "staged" | "direct" | "refused");
        if files && id.to_string().starts_with(prefix) {
            ids.push(id);
        }
    })?;
    Ok(ids)
}

/// The one other kind that moves change sets: it closes those of which rows were lost.
const ACCEPTED: &str = "ledger.accepted";

/// Shows each row of a change set, with its id.
fn each(ledger: &dyn Ledger, mut show: impl FnMut(Id, &Unread<'_>)) -> Result<(), ReadError> {
    let (mut error, mut scratch) = (None, Vec::new());
    each_of(ledger, &["write.", ACCEPTED], |row| match row.kind {
        "" => match row.keep().row(&mut scratch) {
            Ok(whole) => {
                let closed = whole.refs.iter().filter_map(|(subject, _)| subject.write_id());
                closed.for_each(|id| show(id, row));
            }
            Err(e) => error = Some(e),
        },
        _ => {
            let id = row.owner.strip_prefix("write:").and_then(|id| id.parse().ok());
            id.into_iter().for_each(|id| show(id, row));
        }
    })?;
    error.map_or(Ok(()), Err)
}

fn folded(rows: Rows) -> Result<Vec<RequestState>, ReadError> {
    let mut states = Vec::with_capacity(rows.len());
    let mut scratch = Vec::new();
    for (id, kept) in rows {
        let rows: Result<Vec<Row>, ReadError> =
            kept.iter().map(|row| row.row(&mut scratch)).collect();
        let first = kept.first().map_or(0, Kept::seq);
        states.extend(RequestState::fold(id, &rows?).map(|state| (first, state)));
    }
    states.sort_unstable_by_key(|(first, _)| *first);
    Ok(states.into_iter().map(|(_, state)| state).collect())
}
