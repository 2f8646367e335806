//! Taking back: a new change set that brings the files of an applied one to what they were before.

use granted_core::id::Id;
use granted_core::store::{AppendError, ReadError};
use granted_core::text::Note;
use granted_core::write::RequestState;
use granted_core::write::decide::{self, Asker, Facts, NotNow, check_caps};
use granted_core::write::request::Day;
use granted_exec::Stop;

use super::approve::{WordError, contents};
use super::checked::checked;
use super::file::unchanged;
use super::gather;
use super::project::OpenProject;
use crate::book::{Book, BookError};
use crate::ledger::witness;

/// Stages the change set that takes an applied one back. It waits for the person's approval as any other,
/// and is refused where a file is no more what the applied one made of it.
pub fn revert(
    book: &Book,
    id: Id,
    rationale: &Note,
    stop: &Stop,
) -> Result<RequestState, WordError> {
    witness::check(book).map_err(BookError::from)?;
    let applied = gather::request(book, id)?.ok_or(WordError::Unknown(id))?;
    let filing = decide::revert(&applied, rationale.clone())?;
    let project = OpenProject::named(applied.project())?;
    let read = project.brief()?;
    let whose = Asker::person(&read.brief);
    let denied = |denied| WordError::Not(NotNow::Denied(id, denied));
    let head = book.ledger.head()?;
    let facts = Facts {
        project: project.name(),
        brief_sha256: read.sha256,
        today: &Day::default(),
        waiting_since_yesterday: 0,
        dispatch: None,
        head,
        now: book.now(),
    };
    // What the files held was kept when they were changed.
    let contents = contents(book, &filing).map_err(denied)?;
    let checked = checked(&project, &whose, &filing, &contents, stop).map_err(denied)?;
    unchanged(&project, &read).map_err(denied)?;
    check_caps(&whose, &checked.changes, true, &facts).map_err(denied)?;
    let request = decide::request(&whose, &filing, checked.changes, checked.gates, &facts);
    let new = book.new_id().map_err(|e| BookError::NoRandomness(e.to_string()))?;
    match book.append(&[decide::stage(new, request, None, &facts, &book.by(None))]) {
        Ok(_) => gather::request(book, new)?.ok_or(WordError::Unknown(new)),
        // Nothing but the new change set is moved.
        Err(AppendError::Conflict) => Err(unread(new).into()),
        Err(e) => Err(BookError::from(e).into()),
    }
}

fn unread(id: Id) -> ReadError {
    ReadError::Unreadable(format!("request {id} is there already"))
}
