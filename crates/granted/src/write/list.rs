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
    each_of(ledger, "write.", |row| {
        let Some(id) = owner(row) else { return };
        match row.kind {
            "staged" | "direct" => rows.entry(id).or_default().push(row.keep()),
            // Nothing more comes of it, so none of its rows needs to be read.
            "applied" | "rejected" | "expired" => _ = rows.remove(&id),
            _ => {
                if let Some(rows) = rows.get_mut(&id) {
                    rows.push(row.keep());
                }
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
    each_of(ledger, "write.", |row| {
        if let Some(id) = owner(row) {
            rows.entry(id).or_default().push(row.keep());
        }
    })?;
    folded(rows)
}

/// The ids of the change sets whose text begins like this, the oldest first.
pub fn beginning(ledger: &dyn Ledger, prefix: &str) -> Result<Vec<Id>, ReadError> {
    let mut ids = Vec::new();
    each_of(ledger, "write.", |row| {
        if matches!(row.kind, "staged" | "direct" | "refused")
            && let Some(id) = owner(row).filter(|id| id.to_string().starts_with(prefix))
        {
            ids.push(id);
        }
    })?;
    Ok(ids)
}

fn owner(row: &Unread<'_>) -> Option<Id> {
    row.owner.strip_prefix("write:")?.parse().ok()
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
