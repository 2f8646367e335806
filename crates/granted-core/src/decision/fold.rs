//! Folds: what a grant and an attempt are, from the rows that moved them.
//!
//! A fold takes any rows that the ledger may hold and never fails: what the rules do not allow is
//! found by `granted ledger verify`; here the narrower reading counts.

use super::{ActResult, Class, From, Grant, Intent, Outcome, Reason, Use, event};
use crate::id::Id;
use crate::ledger::{By, Event, Row, Subject};
use crate::time::Stamp;

/// Something that a row did: its number, its time and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted<T> {
    /// The row's number.
    pub seq: u64,
    /// The row's time.
    pub at: Stamp,
    /// The row's body.
    pub body: T,
}

/// A grant, folded from the rows of `grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantState {
    /// The grant as it was minted.
    pub grant: Grant,
    /// The seq of its `minted` row.
    pub minted: u64,
    /// The seq of the last row that moved it: the guard of the next.
    pub last: u64,
    /// Its claims, oldest first.
    pub claims: Vec<ClaimState>,
    /// The row by which the person took it back.
    pub revoked: Option<Noted<event::Revoked>>,
    /// The seq of the row that says that its window closed unused.
    pub expired: Option<u64>,
    /// The seq of the row that closed it when a damaged tail was accepted.
    pub closed: Option<u64>,
}

/// A claim of a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimState {
    /// The attempt.
    pub discharge: Id,
    /// The intent row.
    pub intent: Noted<Intent>,
    /// Who made it.
    pub by: By,
    /// How it ended; `None` while it runs or was cut off.
    pub outcome: Option<Noted<Outcome>>,
}

impl ClaimState {
    /// The claim's outcome spends a grant of this use, or may still.
    fn spends(&self, decision: Use) -> bool {
        match (&self.outcome, decision) {
            (None, Use::Once) => true,
            (None, Use::Session) => false,
            (Some(outcome), _) => spends(decision, outcome.body.outcome, outcome.body.reason),
        }
    }
}

/// Whether an outcome after a claim spends the grant: of an `APPROVE_ONCE` any but a decline, of an
/// `APPROVE_SESSION` any but a decline and `discharged`.
pub fn spends(decision: Use, class: Class, reason: Reason) -> bool {
    match decision {
        _ if reason == Reason::ExecutorDeclined => false,
        Use::Once => true,
        Use::Session => class != Class::Discharged,
    }
}

impl GrantState {
    /// Folds the rows of `grant:ID`, oldest first; `None` if none of them minted it.
    pub fn fold<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<GrantState> {
        let mut state: Option<GrantState> = None;
        for row in rows {
            match (&mut state, &row.event) {
                (None, Event::Minted(minted)) => {
                    state = Some(GrantState::minted(row, &minted.grant))
                }
                (None, _) => {}
                (Some(state), _) => state.apply(row),
            }
        }
        state
    }

    /// The state after the `minted` row.
    pub fn minted(row: &Row, grant: &Grant) -> GrantState {
        GrantState {
            grant: grant.clone(),
            minted: row.seq,
            last: row.seq,
            claims: Vec::new(),
            revoked: None,
            expired: None,
            closed: None,
        }
    }

    /// Moves on by a later row of this grant.
    pub fn apply(&mut self, row: &Row) {
        self.last = row.seq;
        match &row.event {
            Event::Intent(intent) => {
                if let Some(discharge) = discharge_of(row) {
                    self.claims.push(ClaimState {
                        discharge,
                        intent: noted(row, intent),
                        by: row.by.clone(),
                        outcome: None,
                    });
                }
            }
            Event::Outcome(outcome) => {
                let discharge = discharge_of(row);
                let claim = self.claims.iter_mut().find(|c| Some(c.discharge) == discharge);
                if let Some(claim) = claim {
                    // A second one is not to take back what the first one spent.
                    claim.outcome.get_or_insert_with(|| noted(row, outcome));
                }
            }
            Event::Revoked(revoked) => self.revoked = Some(noted(row, revoked)),
            Event::Expired(_) => self.expired = Some(row.seq),
            Event::Accepted(_) => self.closed = Some(row.seq),
            _ => {}
        }
    }

    /// The claim that has no outcome yet.
    pub fn running(&self) -> Option<&ClaimState> {
        self.claims.iter().find(|claim| claim.outcome.is_none())
    }

    /// The claim that spent the grant, or holds a single-use grant.
    pub fn spending(&self) -> Option<&ClaimState> {
        self.claims.iter().find(|claim| claim.spends(self.grant.decision))
    }

    /// Whether nothing can use the grant any more, whatever the time: spent or closed.
    pub fn is_spent(&self) -> bool {
        self.spending().is_some() || self.closed.is_some()
    }

    /// How often it was discharged.
    pub fn uses(&self) -> u64 {
        let discharged = |claim: &&ClaimState| {
            claim.outcome.as_ref().is_some_and(|o| o.body.outcome == Class::Discharged)
        };
        u64::try_from(self.claims.iter().filter(discharged).count()).unwrap_or(u64::MAX)
    }

    /// Whether the window closed: by the clock, or by a row that says so.
    pub fn is_expired(&self, now: Stamp) -> bool {
        self.expired.is_some() || now >= self.grant.not_after
    }
}

/// An attempt, folded from the rows of `discharge:ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The attempt.
    pub id: Id,
    /// The seq of the last row that moved it.
    pub last: u64,
    /// The claim, if it got that far: the intent row.
    pub intent: Option<Noted<Intent>>,
    /// The grant that it claimed.
    pub grant: Option<Id>,
    /// What the executor itself wrote.
    pub executor_result: Option<Noted<ActResult>>,
    /// What the process that ran it wrote.
    pub wrapper_result: Option<Noted<ActResult>>,
    /// How it ended.
    pub outcome: Option<Noted<Outcome>>,
    /// What came back after it was settled.
    pub late: Option<Noted<ActResult>>,
    /// How the person settled it.
    pub resolved: Option<Noted<event::Resolved>>,
}

impl Attempt {
    /// Folds the rows of `discharge:ID`, oldest first; `None` if there are none.
    pub fn fold<'a>(id: Id, rows: impl IntoIterator<Item = &'a Row>) -> Option<Attempt> {
        let mut attempt: Option<Attempt> = None;
        for row in rows {
            attempt.get_or_insert_with(|| Attempt::unmoved(id)).apply(row);
        }
        attempt
    }

    /// The attempt before any row of it.
    fn unmoved(id: Id) -> Attempt {
        Attempt {
            id,
            last: 0,
            intent: None,
            grant: None,
            executor_result: None,
            wrapper_result: None,
            outcome: None,
            late: None,
            resolved: None,
        }
    }

    /// Moves on by a later row of this attempt.
    fn apply(&mut self, row: &Row) {
        self.last = row.seq;
        match &row.event {
            Event::Intent(intent) => {
                self.intent = Some(noted(row, intent));
                self.grant = grant_of(row);
            }
            Event::Result(result) if result.from == From::Executor => {
                self.executor_result = Some(noted(row, result));
            }
            Event::Result(result) => self.wrapper_result = Some(noted(row, result)),
            Event::Outcome(outcome) => {
                self.outcome.get_or_insert_with(|| noted(row, outcome));
            }
            Event::LateResult(result) => self.late = Some(noted(row, result)),
            Event::Resolved(resolved) => self.resolved = Some(noted(row, resolved)),
            _ => {}
        }
    }

    /// The result row that counts: the executor's own, else the wrapper's.
    pub fn result(&self) -> Option<&Noted<ActResult>> {
        self.executor_result.as_ref().or(self.wrapper_result.as_ref())
    }
}

/// A grant and the attempt that claimed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The grant.
    pub grant: GrantState,
    /// The attempt.
    pub attempt: Attempt,
}

impl Held {
    /// Both, if their rows say that the attempt claimed the grant.
    pub fn new(grant: GrantState, attempt: Attempt) -> Option<Held> {
        let claimed = grant.claims.iter().any(|claim| claim.discharge == attempt.id);
        (claimed && attempt.intent.is_some()).then_some(Held { grant, attempt })
    }

    /// What the intent row makes of a grant.
    pub(super) fn claimed(grant: GrantState, discharge: Id, intent: &Row) -> Held {
        let mut held = Held { grant, attempt: Attempt::unmoved(discharge) };
        held.apply(intent);
        held
    }

    /// Moves on by a later row, as far as it moves either.
    pub fn apply(&mut self, row: &Row) {
        if discharge_of(row) == Some(self.attempt.id) {
            self.attempt.apply(row);
        }
        if grant_of(row) == Some(self.grant.grant.id) {
            self.grant.apply(row);
        }
    }
}

fn noted<T: Clone>(row: &Row, body: &T) -> Noted<T> {
    Noted { seq: row.seq, at: row.at, body: body.clone() }
}

/// The attempt that a row moves.
pub fn discharge_of(row: &Row) -> Option<Id> {
    moved(&row.refs, "discharge:")
}

/// The grant that a row moves.
pub fn grant_of(row: &Row) -> Option<Id> {
    moved(&row.refs, "grant:")
}

/// The first subject of this kind among those that a row moves.
pub(super) fn moved(refs: &[(Subject, u64)], kind: &str) -> Option<Id> {
    let id = |(subject, _): &(Subject, u64)| subject.as_str().strip_prefix(kind)?.parse().ok();
    refs.iter().find_map(id)
}
