//! Taking a grant back: never refused for the clock or the ledger's past, since it only narrows.

use super::event::Revoked;
use super::fold::GrantState;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Subject};
use crate::text::Note;
use crate::time::Stamp;

/// Why there is nothing to take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It was taken back before.
    #[error("grant {0} is revoked already")]
    Revoked(Id),
    /// It is spent, and no act of it runs.
    #[error("grant {0} is spent already")]
    Spent(Id),
    /// Its window has closed.
    #[error("grant {0} has expired")]
    Expired(Id),
}

/// Decides whether a grant can be taken back; the row.
///
/// A grant that is claimed and whose act runs can be: the act goes on, and nothing after it.
pub fn revoke(
    state: &GrantState,
    by: Option<Note>,
    note: Option<Note>,
    now: Stamp,
    door: &By,
) -> Result<Draft, Refusal> {
    let id = state.grant.id;
    if state.revoked.is_some() {
        return Err(Refusal::Revoked(id));
    }
    if state.is_spent() && (state.running().is_none() || state.closed.is_some()) {
        return Err(Refusal::Spent(id));
    }
    if state.is_expired(now) && state.running().is_none() {
        return Err(Refusal::Expired(id));
    }
    Ok(Draft::new(
        Event::Revoked(Revoked { by, note }),
        door.clone(),
        vec![(Subject::grant(id), state.last)],
    ))
}
