//! Taking grants back.

use granted_core::decision::revoke::{Refusal, revoke as decide};
use granted_core::decision::{GrantState, Object};
use granted_core::id::Id;
use granted_core::store::AppendError;
use granted_core::text::Note;
use serde::Serialize;

use super::gather;
use super::settle::settle;
use crate::book::{Book, BookError};

/// What is to be taken back.
#[derive(Clone, Debug)]
pub enum Target {
    /// One grant.
    Grant(Id),
    /// Every grant of an object that may still be used.
    Object(Object),
}

/// A grant that was taken back.
#[derive(Clone, Debug, Serialize)]
pub struct Revoked {
    /// The grant.
    pub grant_id: Id,
    /// Its object.
    pub object: Object,
    /// The attempt whose act runs, and goes on.
    pub running: Option<Id>,
}

/// Why nothing was taken back.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RevokeError {
    /// There is no such grant.
    #[error("there is no grant {0}")]
    Unknown(Id),
    /// The object has no grant that may still be used.
    #[error("{0} has no grant that could be revoked")]
    Nothing(Object),
    /// The grant is past taking back.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Takes back a grant, or all of an object's that may still be used. Effective on the next call.
pub fn revoke(
    book: &Book,
    target: &Target,
    by: Option<&Note>,
    note: Option<&Note>,
) -> Result<Vec<Revoked>, RevokeError> {
    let by_door = book.by(None);
    'decide: loop {
        let now = book.now();
        let row = |state: &GrantState| decide(state, by.cloned(), note.cloned(), now, &by_door);
        let (states, drafts): (Vec<GrantState>, Vec<_>) = match target {
            Target::Grant(id) => {
                let state = gather::grant(book, *id).map_err(BookError::from)?;
                let state = state.ok_or(RevokeError::Unknown(*id))?;
                if settle(book, &state)?.is_some() {
                    continue;
                }
                let draft = row(&state)?;
                (vec![state], vec![draft])
            }
            Target::Object(object) => {
                let (states, _) = gather::grants_of(book, object).map_err(BookError::from)?;
                for state in &states {
                    if settle(book, state)?.is_some() {
                        continue 'decide;
                    }
                }
                states.into_iter().filter_map(|s| row(&s).ok().map(|draft| (s, draft))).unzip()
            }
        };
        if let (Target::Object(object), true) = (target, drafts.is_empty()) {
            return Err(RevokeError::Nothing(object.clone()));
        }
        match book.append(&drafts) {
            Ok(_) => return Ok(states.iter().map(revoked).collect()),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(BookError::from(e).into()),
        }
    }
}

fn revoked(state: &GrantState) -> Revoked {
    Revoked {
        grant_id: state.grant.id,
        object: state.grant.object.clone(),
        running: state.running().map(|claim| claim.discharge),
    }
}
