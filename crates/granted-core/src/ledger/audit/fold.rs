//! Every subject's story, told by moves: a small automaton for each kind of subject.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::{Illegal, Move, Step, spend, write};
use crate::decision::{Class, Reason};

/// Folds moves and finds the first that the rules do not allow.
///
/// The moves come in the order of the ledger. They may be those of some subjects only, if they are
/// all the moves of these subjects. Memory grows with the number of subjects, by about 100 bytes
/// each.
pub fn check_subject_events(moves: impl IntoIterator<Item = Move>) -> Result<(), Illegal> {
    // Fixed keys: the subjects are hashes already.
    let mut subjects: HashMap<u64, Subject, BuildHasherDefault<DefaultHasher>> = HashMap::default();
    for Move { subject, seq, before, step } in moves {
        let illegal = |cause| Illegal { line: seq, cause };
        let known = subjects.get(&subject).copied();
        let mentioned = matches!(step, Step::Spend(step) if step.is_mention());
        if !mentioned && known.map_or(0, |known| known.last) != before {
            return Err(illegal("its `refs` do not name the row that moved a subject before"));
        }
        let state = known.map(|known| known.state);
        let state = State::after(state, step).map_err(illegal)?;
        let last = if mentioned { known.map_or(0, |known| known.last) } else { seq };
        subjects.insert(subject, Subject { last, state });
    }
    Ok(())
}

/// A subject between two of its rows.
#[derive(Clone, Copy)]
struct Subject {
    last: u64,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    Object,
    Trust,
    Grant(Grant),
    /// A grant of which only an accepted row speaks: its own rows were damaged.
    Lost,
    Running(Running),
    Ended(Ended),
    Spend(spend::State),
    Write(write::State),
}

/// A grant that was minted.
#[derive(Clone, Copy)]
struct Grant {
    session: bool,
    opens: i64,
    closes: i64,
    object: u64,
    /// The keys that signed it.
    signed: u64,
    /// The attempt that holds it.
    holder: Option<u64>,
    uses: u64,
    spent: bool,
    revoked: bool,
    expired: bool,
    closed: bool,
}

/// An attempt that has claimed its grant.
#[derive(Clone, Copy)]
struct Running {
    grant: u64,
    object: u64,
    by_executor: bool,
    by_wrapper: bool,
    failed: bool,
    /// A result row says something else than that the executor declined.
    engaged: bool,
}

/// An attempt that has its outcome.
#[derive(Clone, Copy)]
struct Ended {
    claimed: bool,
    uncertain: bool,
    late: bool,
    resolved: bool,
}

type Next = Result<State, &'static str>;

impl State {
    fn after(state: Option<State>, step: Step) -> Next {
        match (state, step) {
            (None | Some(State::Object), Step::Object) => Ok(State::Object),
            (None | Some(State::Trust), Step::Trust) => Ok(State::Trust),
            (None, Step::Minted { session, opens, closes, object }) => {
                Ok(State::Grant(Grant::minted(session, opens, closes, object)))
            }
            (None | Some(State::Lost), Step::Closed) => Ok(State::Lost),
            (None, Step::Intent { grant, object }) => Ok(State::Running(Running {
                grant,
                object,
                by_executor: false,
                by_wrapper: false,
                failed: false,
                engaged: false,
            })),
            (None, Step::Turned { reason }) => turned(reason),
            (None, Step::Spend(step)) => spend::State::first(step).map(State::Spend),
            (Some(State::Spend(state)), Step::Closed) => state.closed().map(State::Spend),
            (Some(State::Spend(state)), Step::Spend(step)) => state.after(step).map(State::Spend),
            (Some(State::Spend(_)), _) => Err("it does to a spend what only decisions know"),
            (None, Step::Write(step)) => write::State::first(step).map(State::Write),
            (Some(State::Write(state)), Step::Closed) => state.closed().map(State::Write),
            (Some(State::Write(state)), Step::Write(step)) => state.after(step).map(State::Write),
            (Some(State::Write(_)), _) => Err("it does to a write what only decisions know"),
            (Some(State::Grant(grant)), step) => grant.after(step).map(State::Grant),
            (Some(State::Running(running)), step) => running.after(step),
            (Some(State::Ended(ended)), step) => ended.after(step).map(State::Ended),
            (Some(State::Lost), _) => Err("it moves a grant that an accepted row closed"),
            (Some(State::Trust), _) => Err("it does to what is trusted what only grants know"),
            (None, Step::Claimed { .. } | Step::Settled { .. } | Step::Expired { .. })
            | (None, Step::Revoked | Step::Signed { .. } | Step::Asked { .. }) => {
                Err("it moves a grant that was never minted")
            }
            (None, _) => Err("it moves a discharge that has no intent"),
            (Some(State::Object), _) => Err("it does to an object what only grants know"),
        }
    }
}

impl Grant {
    fn minted(session: bool, opens: i64, closes: i64, object: u64) -> Grant {
        Grant {
            session,
            opens,
            closes,
            object,
            signed: 0,
            holder: None,
            uses: 0,
            spent: false,
            revoked: false,
            expired: false,
            closed: false,
        }
    }

    fn after(mut self, step: Step) -> Result<Grant, &'static str> {
        match step {
            Step::Claimed { discharge, at, object } => {
                self.check_claim(at, object)?;
                self.holder = Some(discharge);
            }
            Step::Settled { discharge, reason } => {
                if self.holder != Some(discharge) {
                    return Err("its attempt does not hold the grant that it moves");
                }
                self.holder = None;
                let discharged = reason.class() == Class::Discharged;
                self.uses = self.uses.saturating_add(discharged.into());
                self.spent = reason != Reason::ExecutorDeclined && !(self.session && discharged);
            }
            Step::Revoked if self.revoked => return Err("it revokes a grant that is revoked"),
            Step::Revoked if self.spent => return Err("it revokes a grant that is spent"),
            Step::Revoked => self.revoked = true,
            Step::Expired { at, uses } => {
                self.check_expiry(at, uses)?;
                self.expired = true;
            }
            Step::Closed => self.closed = true,
            Step::Signed { keys } => self.signed = keys,
            Step::Asked { keys } if self.signed & keys == 0 => {
                return Err("no key that is trusted signed the grant that it claims");
            }
            Step::Asked { .. } => {}
            Step::Minted { .. } => return Err("it mints a grant that was minted before"),
            _ => return Err("it does to a grant what only discharges and objects know"),
        }
        Ok(self)
    }

    fn check_claim(&self, at: i64, object: u64) -> Result<(), &'static str> {
        self.check_unused()?;
        if self.object != object {
            return Err("it claims a grant of another object");
        }
        if at < self.opens {
            return Err("it claims a grant whose window has not opened");
        }
        if at >= self.closes {
            return Err("it claims a grant whose window has closed");
        }
        Ok(())
    }

    fn check_expiry(&self, at: i64, uses: u64) -> Result<(), &'static str> {
        self.check_unused()?;
        if at < self.closes {
            return Err("it says expired of a grant whose window has not closed");
        }
        if self.uses != uses {
            return Err("its `uses` is not how often the grant was discharged");
        }
        Ok(())
    }

    /// Whether the grant may still be claimed, or expire, but for its window.
    fn check_unused(&self) -> Result<(), &'static str> {
        match self {
            Grant { holder: Some(_), .. } => Err("another attempt still holds the grant"),
            Grant { spent: true, .. } => Err("the grant is spent"),
            Grant { revoked: true, .. } => Err("the grant is revoked"),
            Grant { closed: true, .. } => Err("the grant was closed by an accepted row"),
            Grant { expired: true, .. } => Err("the grant has expired"),
            _ => Ok(()),
        }
    }
}

/// An attempt that is refused before it claims anything.
fn turned(reason: Reason) -> Next {
    match reason.class() == Class::Uncertain || follows_act(reason) {
        true => Err("its reason is one that only follows a claim"),
        false => Ok(State::Ended(Ended {
            claimed: false,
            uncertain: false,
            late: false,
            resolved: false,
        })),
    }
}

/// Whether the reason is the word of an executor that ran.
fn follows_act(reason: Reason) -> bool {
    use Reason::{Confirmed, ExecutorDeclined, ExecutorFailed, ResultFailed};
    matches!(reason, Confirmed | ExecutorDeclined | ExecutorFailed | ResultFailed)
}

impl Running {
    fn after(mut self, step: Step) -> Next {
        match step {
            Step::Result { executor: true, ok, .. } => {
                if self.by_executor || self.by_wrapper {
                    return Err("a result of the discharge stands before it");
                }
                self.by_executor = true;
                self.engaged = true;
                self.failed |= !ok;
            }
            Step::Result { executor: false, ok, declines } => {
                if self.by_wrapper {
                    return Err("a result of the discharge stands before it");
                }
                self.by_wrapper = true;
                self.engaged |= !declines;
                self.failed |= !ok;
            }
            Step::Outcome { grant, object, reason } => {
                self.check_outcome(grant, object, reason)?;
                return Ok(State::Ended(Ended {
                    claimed: true,
                    uncertain: reason.class() == Class::Uncertain,
                    late: false,
                    resolved: false,
                }));
            }
            Step::Turned { .. } => return Err("it does not move the grant that its attempt holds"),
            Step::Intent { .. } => return Err("its attempt has claimed a grant already"),
            Step::Late | Step::Resolved => return Err("its attempt has no outcome yet"),
            _ => return Err("it does to a discharge what only grants and objects know"),
        }
        Ok(State::Running(self))
    }

    fn check_outcome(&self, grant: u64, object: u64, reason: Reason) -> Result<(), &'static str> {
        if self.grant != grant {
            return Err("it moves another grant than the one that its attempt holds");
        }
        if self.object != object {
            return Err("it is about another object than its attempt");
        }
        // A program that could not be started has no word of its own.
        let known = reason.class() == Class::Uncertain
            || follows_act(reason)
            || reason == Reason::UnknownExecutor;
        if !known {
            return Err("its reason is one that only precedes a claim");
        }
        if reason == Reason::Confirmed && (self.failed || !(self.by_executor || self.by_wrapper)) {
            return Err("it is confirmed by no result row that says so");
        }
        if reason == Reason::ExecutorDeclined && self.engaged {
            return Err("it says declined of an act whose result row says otherwise");
        }
        Ok(())
    }
}

impl Ended {
    fn after(mut self, step: Step) -> Result<Ended, &'static str> {
        match step {
            Step::Late if !self.claimed => return Err("its attempt claimed nothing"),
            Step::Late if self.late => {
                return Err("a late result of the discharge stands before it");
            }
            Step::Late => self.late = true,
            Step::Resolved if !self.uncertain => return Err("it resolves what was not uncertain"),
            Step::Resolved if self.resolved => return Err("it resolves what is resolved"),
            Step::Resolved => self.resolved = true,
            _ => return Err("its attempt has its outcome already"),
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
