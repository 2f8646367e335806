//! Attempts that wait for the person's word.

use std::collections::HashMap;

use granted_core::decision::Reason;
use granted_core::decision::settle::{ActState, ELSEWHERE_SLACK};
use granted_core::id::Id;
use granted_core::ledger::Event;
use granted_core::store::ReadError;

use super::{Shape, Waiting, What};
use crate::book::Book;
use crate::decision::gather::act_state;
use crate::ledger::kinds::{Kept, each_of};

/// Those that ended uncertain and were not resolved, and those that were cut off.
pub(super) fn waiting(book: &Book) -> Result<Vec<Waiting>, ReadError> {
    let mut rows: HashMap<Id, Kept> = HashMap::new();
    each_of(&*book.ledger, &["decision."], |row| {
        let Some(id) = row.owner.strip_prefix("discharge:").and_then(|id| id.parse().ok()) else {
            return;
        };
        match row.kind {
            "intent" => _ = rows.insert(id, row.keep()),
            "outcome" if row.holds(b"\"outcome\":\"uncertain\"") => {
                _ = rows.insert(id, row.keep());
            }
            "outcome" | "resolved" => _ = rows.remove(&id),
            _ => {}
        }
    })?;
    let (mut waiting, mut scratch) = (Vec::new(), Vec::new());
    for (id, kept) in rows {
        let row = kept.row(&mut scratch)?;
        let (object, reason) = match &row.event {
            Event::Outcome(outcome) => (&outcome.about.object, outcome.reason),
            Event::Intent(intent) => {
                let is_cut_off = match act_state(book, &intent.act) {
                    ActState::Running => false,
                    ActState::Free => true,
                    ActState::Absent => book.now() > intent.deadline.plus(ELSEWHERE_SLACK),
                };
                if !is_cut_off {
                    continue;
                }
                (&intent.object, Reason::Interrupted)
            }
            _ => continue,
        };
        let who = row.by.agent.as_ref().map(|agent| format!("{agent}: ")).unwrap_or_default();
        waiting.push(Waiting {
            about: format!("{who}{object}: {reason}"),
            command: format!("granted resolve {id} --happened --by WHO"),
            ends: None,
            id: id.to_string(),
            shape: Shape::Decision,
            since: row.at,
            what: What::Uncertain,
        });
    }
    Ok(waiting)
}
