//! All grants at once, from one pass over the ledger: for `list` and `tick`.

use std::collections::HashMap;

use super::Reason;
use super::event::Expired;
use super::fold::GrantState;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Row, Subject};
use crate::time::Stamp;

/// The grants of a ledger, folded row by row.
#[derive(Debug, Default)]
pub struct Overview {
    grants: HashMap<Id, GrantState>,
    keep_finished: bool,
}

impl Overview {
    /// Of all grants, or only of those that something can still happen to: with many grants in the
    /// book the finished ones need not be held.
    pub fn new(keep_finished: bool) -> Overview {
        Overview { grants: HashMap::new(), keep_finished }
    }

    /// Takes the next row.
    pub fn apply(&mut self, row: &Row) {
        let ids = row.refs.iter().filter_map(|(subject, _)| {
            subject.as_str().strip_prefix("grant:").and_then(|id| id.parse::<Id>().ok())
        });
        for id in ids {
            match &row.event {
                Event::Minted(minted) => {
                    self.grants.insert(id, GrantState::minted(row, &minted.grant));
                }
                _ => {
                    if let Some(state) = self.grants.get_mut(&id) {
                        state.apply(row);
                        if !self.keep_finished && is_finished(state) {
                            self.grants.remove(&id);
                        }
                    }
                }
            }
        }
    }

    /// The grants, soonest deadline first.
    pub fn into_grants(self) -> Vec<GrantState> {
        let mut grants: Vec<GrantState> = self.grants.into_values().collect();
        grants.sort_by_key(|state| (state.grant.not_after, state.minted));
        grants
    }
}

/// Whether no row can move the grant any more.
fn is_finished(state: &GrantState) -> bool {
    let closed = state.is_spent() || state.revoked.is_some() || state.expired.is_some();
    closed && state.running().is_none()
}

/// The row that says that a grant's window closed without its being spent; `None` if it did not, or
/// if a row says so already.
pub fn expiry(state: &GrantState, now: Stamp, by: &By) -> Option<Draft> {
    let open = state.running().is_none()
        && !state.is_spent()
        && state.revoked.is_none()
        && state.expired.is_none();
    if !open || now < state.grant.not_after {
        return None;
    }
    let reason = Reason::Expired;
    Some(Draft::new(
        Event::Expired(Expired { outcome: reason.class(), reason, uses: state.uses() }),
        by.clone(),
        vec![(Subject::grant(state.grant.id), state.last)],
    ))
}
