//! The stages of applying, in types: a [`Permit`] is decided, a [`Claim`] is durable.
//!
//! Files are changed only for a claim, which is taken by value, and only appending its row, or finding
//! that row cut off, makes one.
//!
//! ```compile_fail
//! let claim = granted_core::write::Claim { };
//! ```
//!
//! ```compile_fail
//! fn copy(claim: &granted_core::write::Claim) -> granted_core::write::Claim {
//!     claim.clone()
//! }
//! ```
//!
//! ```compile_fail
//! fn twice(permit: granted_core::write::Permit, ledger: &dyn granted_core::store::Ledger) {
//!     let first = permit.claim(ledger);
//!     let second = permit.claim(ledger);
//! }
//! ```

use std::time::Duration;

use super::event::FileChange;
use super::path::ProjectPath;
use super::request::{RequestState, Status};
use crate::decision::settle::ActState;
use crate::id::Id;
use crate::ledger::Draft;
use crate::store::{AppendError, Ledger};
use crate::time::Stamp;

/// How long after its claim a process whose lock file is missing counts as gone.
const ABSENT: Duration = Duration::from_secs(600);

/// Who applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The agent's server, under a direct grant.
    Agent,
    /// The person, who approved.
    Person,
}

/// The decision that a change set may be applied. It has no effect until it is claimed.
#[must_use = "a permit that is not claimed changes nothing"]
#[derive(Debug)]
pub struct Permit {
    pub(super) id: Id,
    pub(super) changes: Vec<FileChange>,
    pub(super) folders: Vec<ProjectPath>,
    pub(super) draft: Draft,
}

impl Permit {
    /// The change set.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Appends the row that claims it: of two racing claims one gets [`AppendError::Conflict`].
    pub fn claim(self, ledger: &dyn Ledger) -> Result<Claim, AppendError> {
        let appended = ledger.append(std::slice::from_ref(&self.draft))?;
        let last = appended.lines.last().map_or(0, |line| line.seq);
        let Permit { id, changes, folders, .. } = self;
        Ok(Claim { id, changes, folders, last, recovered: false })
    }
}

/// A durable claim: these files may be brought from what they were to what they are to be, once.
#[must_use = "a claim that is dropped leaves its change set cut off"]
#[derive(Debug)]
pub struct Claim {
    id: Id,
    changes: Vec<FileChange>,
    folders: Vec<ProjectPath>,
    last: u64,
    recovered: bool,
}

impl Claim {
    /// The claim of a change set that was cut off, or left unresolved: its process is gone. Only the side
    /// that claimed it takes it up again.
    ///
    /// Rolling forward is the same act, for the same files and bytes, so it is no second one.
    pub fn cut_off(state: &RequestState, side: Side, act: ActState, now: Stamp) -> Option<Claim> {
        let claim = state.claim.as_ref().filter(|_| is_cut_off(state, side, act, now))?;
        Some(Claim {
            id: state.id,
            changes: claim.changes.clone(),
            folders: claim.folders.clone(),
            last: state.last,
            recovered: true,
        })
    }

    /// The change set.
    pub fn id(&self) -> Id {
        self.id
    }

    /// The files.
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// The folders that were missing when it was claimed.
    pub fn folders(&self) -> &[ProjectPath] {
        &self.folders
    }

    /// The seq of the last row that moved it.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether it was cut off before.
    pub fn is_recovered(&self) -> bool {
        self.recovered
    }
}

/// Whether this side claimed the change set, its files may be neither old nor new, and its process is gone.
pub fn is_cut_off(state: &RequestState, side: Side, act: ActState, now: Stamp) -> bool {
    let Some(claim) = state.claim.as_ref().filter(|claim| claim.side() == side) else {
        return false;
    };
    let gone = match act {
        ActState::Running => false,
        ActState::Free => true,
        ActState::Absent => now > claim.at.plus(ABSENT),
    };
    gone && !state.lost && matches!(state.status, Status::Applying | Status::Unresolved)
}
