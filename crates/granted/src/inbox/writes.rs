//! Change sets that wait for the person.

use granted_core::store::ReadError;
use granted_core::text::cut;
use granted_core::write::claim::is_cut_off;
use granted_core::write::{RequestState, Side, Status};

use super::{Shape, Waiting, What};
use crate::book::Book;
use crate::write::{gather, list};

/// Those that can be approved, that were cut off, and that are unresolved.
pub(super) fn waiting(book: &Book) -> Result<Vec<Waiting>, ReadError> {
    let states = list::open(&*book.ledger)?;
    Ok(states.iter().filter_map(|state| one(book, state)).collect())
}

fn one(book: &Book, state: &RequestState) -> Option<Waiting> {
    let (id, now) = (state.id, book.now());
    let (what, ends, command) = match state.status {
        Status::Staged if state.is_waiting(now) => {
            (What::Staged, state.expires(), format!("granted writes approve {id}"))
        }
        Status::Applying => {
            // The agent's server sees to its own.
            let act = state.claim.as_ref().map(|claim| gather::act_state(book, id, &claim.act))?;
            if !is_cut_off(state, Side::Person, act, now) {
                return None;
            }
            (What::CutOff, None, format!("granted writes approve {id}"))
        }
        Status::Unresolved => (What::Unresolved, None, format!("granted writes show {id}")),
        _ => return None,
    };
    let request = state.request()?;
    let who = state.agent().map_or_else(|| "you".to_owned(), ToString::to_string);
    let files = request.changes.len();
    let files = format!("{files} {}", if files == 1 { "file" } else { "files" });
    let about =
        format!("{who}: {files} in {}: {}", state.project(), cut(request.rationale.as_str(), 80));
    let id = id.to_string();
    Some(Waiting { about, command, ends, id, shape: Shape::Write, since: state.since, what })
}
