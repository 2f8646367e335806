//! Acts that were cut off: settled by a row, never acted on again.

use std::time::Duration;

use super::Reason;
use super::event::{About, Outcome};
use super::fold::{ClaimState, GrantState};
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Subject};
use crate::time::Stamp;

/// How long after its deadline an act of another host counts as cut off.
pub const ELSEWHERE_SLACK: Duration = Duration::from_secs(60);

/// What the process of an act does, seen by its lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActState {
    /// The file is there and held: it runs, whatever its deadline.
    Running,
    /// The file is there and free: its process died.
    Free,
    /// There is no such file here: another host's act.
    Absent,
}

/// Whether a claim without outcome was cut off.
pub fn is_interrupted(claim: &ClaimState, act: ActState, now: Stamp) -> bool {
    match act {
        ActState::Running => false,
        ActState::Free => true,
        ActState::Absent => now > claim.intent.body.deadline.plus(ELSEWHERE_SLACK),
    }
}

/// A claim without outcome, as the world shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The attempt.
    pub discharge: Id,
    /// The seq of the last row that moved it: the intent, or a result that the executor wrote.
    pub last: u64,
    /// What its process does.
    pub act: ActState,
}

/// The rows that settle every claim of these grants that was cut off.
pub fn interrupted<'a>(
    now: Stamp,
    by: &By,
    states: impl IntoIterator<Item = &'a GrantState>,
    pending: &[Pending],
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for state in states {
        for claim in state.claims.iter().filter(|claim| claim.outcome.is_none()) {
            let seen = pending.iter().find(|pending| pending.discharge == claim.discharge);
            if let Some(seen) = seen.filter(|seen| is_interrupted(claim, seen.act, now)) {
                drafts.push(draft(state, claim, seen.last, by));
            }
        }
    }
    drafts
}

/// The row that settles one claim, whose attempt was last moved by that row, as interrupted.
fn draft(state: &GrantState, claim: &ClaimState, attempt_last: u64, by: &By) -> Draft {
    let grant = &state.grant;
    let outcome = Outcome {
        about: About { grant: Some(grant.id), object: grant.object.clone() },
        detail: format!("the act that began at {:.0} was cut off", claim.intent.at).into(),
        outcome: Reason::Interrupted.class(),
        reason: Reason::Interrupted,
    };
    Draft::new(
        Event::Outcome(outcome),
        by.clone(),
        vec![
            (Subject::discharge(claim.discharge), attempt_last),
            (Subject::grant(grant.id), state.last),
        ],
    )
}
