//! The tick: windows that closed unused, acts that were cut off, deadlines that are near.

use std::collections::HashSet;

use granted_core::decision::document::DocumentName;
use granted_core::decision::notice::Notice;
use granted_core::decision::overview::{Overview, expiry};
use granted_core::decision::status::{Status, is_due};
use granted_core::decision::{GrantState, Object};
use granted_core::id::Id;
use granted_core::ledger::Event;
use granted_core::spend::settle::Signing;
use granted_core::store::AppendError;
use granted_core::time::Stamp;
use serde::Serialize;

use super::settle::settle;
use super::{gather, list};
use crate::book::{Book, BookError};

/// What a tick found and recorded.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ticked {
    /// Grants whose window closed without their being spent: recorded now.
    pub expired: Vec<Named>,
    /// Attempts that were cut off: recorded now.
    pub interrupted: Vec<Named>,
    /// Live grants in the last tenth of their window.
    pub due: Vec<Named>,
    /// Documents that no row speaks of.
    pub orphans: Vec<String>,
}

/// A grant, or an attempt on it.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// The grant.
    pub grant_id: Id,
    /// What it is about.
    pub object: Object,
    /// Its deadline.
    pub not_after: Stamp,
    /// The attempt that was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discharge_id: Option<Id>,
}

/// Records what only time brings about, and names what is near. Grants that another process moves
/// meanwhile are left to the next tick.
pub fn tick(book: &Book) -> Result<Ticked, BookError> {
    let mut ticked = Ticked::default();
    // What no `minted` row speaks of was left by a mint that died before its row. The files are
    // listed before the rows are read, so that few are named whose row is only on its way.
    let mut orphans = documents(book)?;
    // For the like reason: an act that is cut off behind the rows that are read keeps its file.
    let left = book.acts.left();
    let mut overview = Overview::new(false);
    let mut signing = Signing::default();
    list::each_row(&*book.ledger, |row| {
        overview.apply(row);
        signing.apply(row);
        if let Event::Minted(minted) = &row.event {
            let name = DocumentName::new(&minted.grant.object, minted.grant.id);
            orphans.remove(&name.to_string());
        }
    })?;
    let mut running: HashSet<Box<str>> = signing.into_acts().collect();
    for state in overview.into_grants() {
        let settled = settle(book, &state)?;
        ticked.interrupted.extend(settled.map(|attempt| named(&state, Some(attempt))));
        if settled.is_some() {
            continue;
        }
        running.extend(state.running().map(|claim| claim.intent.body.act.clone()));
        if let Some(draft) = expiry(&state, book.now(), &book.by(None)) {
            match book.append(&[draft]) {
                Ok(_) => {
                    book.news.note([Notice::expired(&state)]);
                    ticked.expired.push(named(&state, None));
                }
                Err(AppendError::Conflict) => {}
                Err(e) => return Err(e.into()),
            }
        } else if is_due(&state.grant, book.now()) {
            let candidate = gather::candidate(book, state);
            if candidate.status(book.now()) == Status::Live {
                book.news.note([Notice::due(&candidate.state.grant)]);
                ticked.due.push(named(&candidate.state, None));
            }
        }
    }
    ticked.orphans = orphans.into_iter().collect();
    ticked.orphans.sort();
    book.ledger.tidy();
    book.acts.sweep(&left, &mut |act| running.contains(act));
    Ok(ticked)
}

fn named(state: &GrantState, discharge_id: Option<Id>) -> Named {
    Named {
        grant_id: state.grant.id,
        object: state.grant.object.clone(),
        not_after: state.grant.not_after,
        discharge_id,
    }
}

/// The files in the documents' folder.
fn documents(book: &Book) -> Result<HashSet<String>, BookError> {
    let mut found = HashSet::new();
    let listed = book.documents.list(&mut |name| {
        found.insert(name.to_owned());
    });
    listed.map_err(BookError::Documents)?;
    Ok(found)
}
