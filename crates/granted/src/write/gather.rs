//! Facts: what the ledger says of change sets.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use granted_core::decision::settle::ActState;
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::Subject;
use granted_core::store::ReadError;
use granted_core::time::Stamp;
use granted_core::write::decide::day_of;
use granted_core::write::dispatch::{self, DispatchState};
use granted_core::write::request::Day;
use granted_core::write::{Agent, Project, RequestState};

use crate::book::Book;

/// A change set; `None` if there is none of this id.
pub(crate) fn request(book: &Book, id: Id) -> Result<Option<RequestState>, ReadError> {
    Ok(RequestState::fold(id, &book.ledger.rows(&Subject::write(id))?))
}

/// The days that a process has folded, so that a server reads each row of a day once.
#[derive(Debug, Default)]
pub(crate) struct Days(Mutex<HashMap<Subject, Day>>);

/// More days than the agents of one server need. What is forgotten is folded anew.
const MOST_DAYS: usize = 64;

impl Days {
    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, Day>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets them: a day may not be as it was remembered.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }
}

/// What an agent filed in a project on the day of this instant.
pub(crate) fn day(
    book: &Book,
    project: &Project,
    agent: &Agent,
    at: Stamp,
) -> Result<Day, ReadError> {
    let subject = project.day(agent, at);
    let mut days = book.days.lock();
    if days.len() >= MOST_DAYS {
        days.clear();
    }
    let day = days.entry(subject.clone()).or_default();
    day.go_on(&book.ledger.rows_after(&subject, day.last)?);
    Ok(day.clone())
}

/// The seq of the last row of the day that a change set was filed on; 0 if it has none.
pub(crate) fn day_last(book: &Book, state: &RequestState) -> Result<u64, ReadError> {
    let Some(day) = day_of(state) else { return Ok(0) };
    Ok(book.ledger.rows(&day)?.last().map_or(0, |row| row.seq))
}

/// The dispatch of this nonce; `None` if it is malformed or was never issued.
pub(crate) fn dispatch(book: &Book, nonce: &str) -> Result<Option<DispatchState>, ReadError> {
    let Some(id): Option<Digest> = dispatch::id(nonce) else { return Ok(None) };
    Ok(DispatchState::fold(id, &book.ledger.rows(&Subject::dispatch(id))?))
}

/// What the process does that applies a change set. One that cannot be looked at counts as running:
/// nothing is taken up again on a doubt.
pub(crate) fn act_state(book: &Book, id: Id, act: &str) -> ActState {
    match book.gave_up(id) {
        true => ActState::Free,
        false => book.acts.state(act).unwrap_or(ActState::Running),
    }
}
