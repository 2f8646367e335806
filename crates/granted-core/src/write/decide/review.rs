//! What becomes of a change set that was filed: approved, rejected, taken back, expired; and what came of
//! applying it.

use super::super::claim::{Claim, Permit};
use super::super::event::{
    After, Applied, Approved, Expired, FileChange, GateRun, Rejected, Request, Undone, Unresolved,
};
use super::super::path::ProjectPath;
use super::super::request::{Origin, RequestState, Status, content_digest};
use super::{Denied, Filing, Proposed};
use crate::decision::discharge::clock_behind;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::text::{Note, cut};
use crate::time::Stamp;

/// Why a request cannot be approved, rejected or taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// It does not wait.
    #[error("request {0} does not wait: it is {1}")]
    Status(Id, Status),
    /// It was not applied.
    #[error("request {0} cannot be taken back: it is {1}, and only one that is applied can")]
    NotApplied(Id, Status),
    /// Its time is over.
    #[error("request {0} expired at {1:.0}")]
    Expired(Id, Stamp),
    /// Something else was shown than what it is.
    #[error("request {0} has the digest {1}, not the one that was given")]
    Digest(Id, Digest),
    /// The checks say no, as things are now.
    #[error("request {0}: {1}")]
    Denied(Id, Denied),
    /// The clock is behind the ledger.
    #[error("{0}")]
    Clock(String),
}

/// The filing that a waiting request repeats when it is approved.
pub fn again(request: &Request) -> Filing {
    let proposed = |change: &FileChange| Proposed {
        path: change.path.clone(),
        base: change.before.map(|before| before.sha256),
        after: change.after,
    };
    Filing {
        // What may be asked for was decided when it was filed; the scopes count as they are now.
        tool: None,
        changes: request.changes.iter().map(proposed).collect(),
        rationale: request.rationale.clone(),
        gates: request.gates_asked.clone(),
        key: request.key.clone(),
        reverts: request.reverts,
    }
}

/// The filing that takes an applied request back: its files as they were before, based on what it made of
/// them.
pub fn revert(state: &RequestState, rationale: Note) -> Result<Filing, NotNow> {
    let claim = state.claim.as_ref().filter(|_| state.status == Status::Applied);
    let claim = claim.ok_or(NotNow::NotApplied(state.id, state.status))?;
    let proposed = |change: &FileChange| Proposed {
        path: change.path.clone(),
        base: change.after.map(|after| after.sha256),
        after: change.before.map(|before| After {
            bytes: before.bytes,
            mode: Some(before.mode),
            sha256: before.sha256,
        }),
    };
    Ok(Filing {
        tool: None,
        changes: claim.changes.iter().map(proposed).collect(),
        rationale,
        gates: Vec::new(),
        key: None,
        reverts: Some(state.id),
    })
}

/// Checks that a request waits, and that this digest is what it is.
pub fn check_waiting(state: &RequestState, digest: Digest, now: Stamp) -> Result<&Request, NotNow> {
    let (Status::Staged, Some(request), Some(expires)) =
        (state.status, state.request(), state.expires())
    else {
        return Err(NotNow::Status(state.id, state.status));
    };
    if now >= expires {
        return Err(NotNow::Expired(state.id, expires));
    }
    // Not what the row says that it is.
    let is = content_digest(&request.project, &request.changes);
    match is == digest {
        true => Ok(request),
        false => Err(NotNow::Digest(state.id, is)),
    }
}

/// An approval: whose, of what, as the files and gates are now.
#[derive(Clone, Debug)]
pub struct Consent<'a> {
    /// The hand.
    pub approver: Note,
    /// The digest that was shown.
    pub digest: Digest,
    /// The files, as [`super::check`] gave them.
    pub changes: Vec<FileChange>,
    /// The folders on the way to them that are missing.
    pub folders: Vec<ProjectPath>,
    /// The gates that passed now.
    pub gates: Vec<GateRun>,
    /// The lock file of the process that applies.
    pub act: &'a str,
}

/// The claim of a waiting request by the person's approval.
pub fn approve(
    state: &RequestState,
    approval: Consent<'_>,
    head: Option<Head>,
    now: Stamp,
    by: &By,
) -> Result<Permit, NotNow> {
    if let Some(behind) = clock_behind(now, head) {
        return Err(NotNow::Clock(behind));
    }
    check_waiting(state, approval.digest, now)?;
    let (id, changes, folders) = (state.id, approval.changes.clone(), approval.folders.clone());
    let event = Event::WriteApproved(Approved {
        act: approval.act.into(),
        by: approval.approver,
        changes: approval.changes,
        digest: approval.digest,
        folders: approval.folders,
        gates: approval.gates,
    });
    let draft = Draft::new(event, by.clone(), vec![state.moved()]);
    Ok(Permit { id, changes, folders, draft: Draft { until: state.expires(), ..draft } })
}

/// What a row that ends a waiting request moves: the request, and the day that it was filed on, which
/// counts those that wait.
fn ended(state: &RequestState, last: u64, day: u64) -> Vec<(Subject, u64)> {
    let day = day_of(state).map(|subject| (subject, day));
    [(Subject::write(state.id), last)].into_iter().chain(day).collect()
}

/// The day that a staged request of an agent was filed on.
pub fn day_of(state: &RequestState) -> Option<Subject> {
    match &state.origin {
        Origin::Staged(_) => state.day.clone(),
        _ => None,
    }
}

/// The row by which the person rejects a request: one that waits, or one that is unresolved, whose files
/// stay as they are. `day` is the seq of the last row of [`day_of`].
pub fn reject(
    state: &RequestState,
    approver: Note,
    reason: Option<Note>,
    day: u64,
    by: &By,
) -> Result<Draft, NotNow> {
    match state.status {
        Status::Staged | Status::Unresolved => {
            let event = Event::WriteRejected(Rejected { by: approver, reason });
            Ok(Draft::new(event, by.clone(), ended(state, state.last, day)))
        }
        other => Err(NotNow::Status(state.id, other)),
    }
}

/// The row that ends a request whose time is over; `None` if it is not.
pub fn expire(state: &RequestState, day: u64, now: Stamp, by: &By) -> Option<Draft> {
    let expired = state.expires().filter(|end| state.status == Status::Staged && now >= *end)?;
    let event = Event::WriteExpired(Expired { expired });
    Some(Draft::new(event, by.clone(), ended(state, state.last, day)))
}

/// What came of applying a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Every file was read again, and is as it was to be.
    Applied,
    /// Every file is as it was, for this reason.
    Undone(String),
    /// These are neither.
    Unresolved(Vec<ProjectPath>, String),
}

/// The row that says what came of a claim. `day` is the seq of the last row of [`day_of`].
pub fn conclude(state: &RequestState, claim: &Claim, came: Came, day: u64, by: &By) -> Draft {
    let (id, last) = (claim.id(), claim.last());
    let moved = vec![(Subject::write(id), last)];
    let (event, refs) = match came {
        Came::Applied => (
            Event::WriteApplied(Applied { recovered: claim.is_recovered() }),
            ended(state, last, day),
        ),
        Came::Undone(detail) => {
            (Event::WriteUndone(Undone { detail: cut(&detail, 1_000).into() }), moved)
        }
        Came::Unresolved(foreign, detail) => {
            let detail = cut(&detail, 1_000).into();
            (Event::WriteUnresolved(Unresolved { detail, foreign }), moved)
        }
    };
    Draft::new(event, by.clone(), refs)
}
