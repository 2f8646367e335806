//! The status of a grant and of an object.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::document::Standing;
use super::fold::{Attempt, GrantState};
use super::grant::{Pending, Receipt, ReceiptOutcome};
use super::{Grant, Reason, Use};
use crate::time::Stamp;

/// What an attempt would find, in the order in which it is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Spent, or claimed and running; or the document says so.
    Consumed,
    /// Taken back.
    Revoked,
    /// There is no grant, or its document is gone.
    None,
    /// Its document cannot be relied on.
    Unreadable,
    /// The window has closed.
    Expired,
    /// The window has not opened.
    NotYet,
    /// It can be discharged now.
    Live,
}

impl Status {
    /// The word in answers and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Consumed => "consumed",
            Status::Revoked => "revoked",
            Status::None => "none",
            Status::Unreadable => "unreadable",
            Status::Expired => "expired",
            Status::NotYet => "not_yet",
            Status::Live => "live",
        }
    }

    /// The reason for which an attempt ends that finds this; `None` when live.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Status::Consumed => Some(Reason::Consumed),
            Status::Revoked => Some(Reason::Revoked),
            Status::None => Some(Reason::None),
            Status::Unreadable => Some(Reason::Unreadable),
            Status::Expired => Some(Reason::Expired),
            Status::NotYet => Some(Reason::NotYet),
            Status::Live => None,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A grant with what its document says: all that its status depends on but the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The fold of its rows.
    pub state: GrantState,
    /// What its document says.
    pub standing: Standing,
}

impl Candidate {
    /// The grant's status: the first that holds, the fold before the document.
    pub fn status(&self, now: Stamp) -> Status {
        let state = &self.state;
        match &self.standing {
            _ if state.is_spent() => Status::Consumed,
            Standing::Spent => Status::Consumed,
            _ if state.revoked.is_some() => Status::Revoked,
            Standing::Missing => Status::None,
            Standing::Unreadable(_) => Status::Unreadable,
            Standing::Agrees if state.is_expired(now) => Status::Expired,
            Standing::Agrees if !state.grant.is_open(now) => Status::NotYet,
            Standing::Agrees => Status::Live,
        }
    }
}

/// The grant that speaks for an object: its live one with the soonest deadline, else the one that
/// was minted last.
pub fn current(candidates: &[Candidate], now: Stamp) -> Option<&Candidate> {
    let live = candidates.iter().filter(|c| c.status(now) == Status::Live);
    live.min_by_key(|c| (c.state.grant.not_after, c.state.minted))
        .or_else(|| candidates.iter().max_by_key(|c| c.state.minted))
}

/// The grant as the fold has it: `consumed`, `consumed_at` and `receipt` filled in.
///
/// `spending` is the fold of the attempt that spent the grant, for its result.
pub fn as_folded(state: &GrantState, spending: Option<&Attempt>) -> Grant {
    let mut grant = state.grant.unspent();
    grant.consumed = state.is_spent();
    if let Some(claim) = state.spending() {
        grant.consumed_at = Some(claim.intent.at);
        let ended = claim.outcome.as_ref();
        let result = spending.filter(|attempt| attempt.id == claim.discharge);
        grant.receipt = Some(Receipt {
            at: ended.map_or(claim.intent.at, |outcome| outcome.at),
            discharge_id: claim.discharge,
            outcome: match ended {
                Some(outcome) => ReceiptOutcome::Ended(outcome.body.outcome),
                None => ReceiptOutcome::Pending(Pending::Pending),
            },
            reason: ended.map(|outcome| outcome.body.reason),
            result: result.and_then(|a| a.result()).and_then(|r| r.body.evidence()),
        });
    }
    grant
}

/// Whether a grant is in the last tenth of its window.
pub fn is_due(grant: &Grant, now: Stamp) -> bool {
    let from = grant.not_before.unwrap_or(grant.minted_at);
    let window = grant.not_after.since(from);
    grant.is_open(now) && grant.not_after.since(now) <= window / 10
}

/// A word for how often a grant may be used.
pub fn use_in_words(decision: Use) -> &'static str {
    match decision {
        Use::Once => "once",
        Use::Session => "any number of times until one fails or is uncertain",
    }
}
