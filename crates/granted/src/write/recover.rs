//! Change sets whose process died in the middle: each is seen to by the side that claimed it.

use granted_core::decision::settle::ActState;
use granted_core::id::Id;
use granted_core::store::ReadError;
use granted_core::write::{Claim, Project, RequestState, Side, Status};

use super::apply::apply;
use super::project::OpenProject;
use super::{gather, list};
use crate::book::{Book, BookError};

/// A change set that was cut off, seen to.
#[derive(Debug)]
pub struct Seen {
    /// The change set.
    pub id: Id,
    /// How it stands now, or why nothing could be done about it.
    pub state: Result<RequestState, String>,
}

/// Sees to every change set of this side that was cut off, in this project or in all: rolled forward if
/// each of its files is as it was or as it was to be.
pub fn recover(book: &Book, side: Side, project: Option<&Project>) -> Result<Vec<Seen>, ReadError> {
    let mut seen = Vec::new();
    for state in list::open(&*book.ledger)? {
        let here = project.is_none_or(|project| state.project() == project);
        if state.status == Status::Applying && here {
            let id = state.id;
            match take_up(book, &state, side) {
                Ok(None) => {}
                Ok(Some(state)) => seen.push(Seen { id, state: Ok(state) }),
                Err(e) => seen.push(Seen { id, state: Err(e) }),
            }
        }
    }
    Ok(seen)
}

/// Sees to a change set that was cut off or is unresolved, if it is this side's and nobody else does.
pub fn take_up(
    book: &Book,
    state: &RequestState,
    side: Side,
) -> Result<Option<RequestState>, String> {
    let Some(act) = state.claim.as_ref().map(|claim| claim.act.clone()) else { return Ok(None) };
    let own = book.gave_up(state.id);
    let is_gone =
        |state: &RequestState, act: ActState| Claim::cut_off(state, side, act, book.now());
    let found = gather::act_state(book, state.id, &act);
    if is_gone(state, found).is_none() {
        return Ok(None);
    }
    let project = OpenProject::named(state.project()).map_err(|e| e.to_string())?;
    // Held until all is recorded. This process's own file is held already.
    let _taken = match own {
        true => None,
        false => match book.acts.take(&act).map_err(|e| e.to_string())? {
            None => return Ok(None),
            taken => taken,
        },
    };
    let words = |e: ReadError| BookError::from(e).to_string();
    let Some(state) = gather::request(book, state.id).map_err(words)? else { return Ok(None) };
    match is_gone(&state, found) {
        Some(claim) => apply(book, &project, claim).map(Some).map_err(|e| e.to_string()),
        None => Ok(None),
    }
}
