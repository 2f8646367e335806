//! Approving: the person has a waiting change set applied, in the person's own process.

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::store::{AppendError, ReadError};
use granted_core::text::Note;
use granted_core::write::brief::Brief;
use granted_core::write::decide::{
    self, Asker, Consent, Denied, Filing, NotNow, again, check_waiting,
};
use granted_core::write::event::Request;
use granted_core::write::{Refusal, RequestState, Side, Status};
use granted_exec::Stop;

use super::apply::apply;
use super::checked::checked;
use super::file::{kept, unchanged};
use super::gates::Contents;
use super::gather;
use super::project::{OpenProject, ProjectError};
use super::recover::take_up;
use crate::book::{Book, BookError};
use crate::ledger::witness;

/// Why the person's word on a change set has no effect.
#[derive(Debug, thiserror::Error)]
pub enum WordError {
    /// There is no such change set.
    #[error("there is no request {0}")]
    Unknown(Id),
    /// The rules.
    #[error(transparent)]
    Not(#[from] NotNow),
    /// Its project or brief.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A cut-off change set could not be seen to.
    #[error("request {0} was cut off: {1}")]
    CutOff(Id, String),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

impl From<ReadError> for WordError {
    fn from(error: ReadError) -> WordError {
        WordError::Book(error.into())
    }
}

/// Checks a waiting change set against the brief, the files and the gates as they are now, and applies
/// it. `digest` is that of what the person was shown. How it stands afterwards.
///
/// One that is unresolved is tried again, if the person's process claimed it.
pub fn approve(
    book: &Book,
    id: Id,
    digest: Digest,
    approver: &Note,
    stop: &Stop,
) -> Result<RequestState, WordError> {
    witness::check(book).map_err(BookError::from)?;
    let mut state = gather::request(book, id)?.ok_or(WordError::Unknown(id))?;
    if state.status == Status::Unresolved {
        return unresolved(book, &state, digest);
    }
    let request = check_waiting(&state, digest, book.now())?.clone();
    let project = OpenProject::named(&request.project)?;
    let read = project.brief()?;
    let denied = |denied| WordError::Not(NotNow::Denied(id, denied));
    let whose = asker(&read.brief, &request).map_err(denied)?;
    let filing = again(&request);
    let contents = contents(book, &filing).map_err(denied)?;
    let checked = checked(&project, &whose, &filing, &contents, stop).map_err(denied)?;
    kept(book, [&contents, &checked.before]).map_err(denied)?;
    let act = book.acts.begin().map_err(|e| BookError::from(unwritable(&e)))?;
    loop {
        unchanged(&project, &read).map_err(denied)?;
        let consent = Consent {
            approver: approver.clone(),
            digest,
            changes: checked.changes.clone(),
            folders: checked.folders.clone(),
            gates: checked.gates.clone(),
            act: &act,
        };
        let head = book.ledger.head()?;
        let permit = decide::approve(&state, consent, head, book.now(), &book.by(None))?;
        match permit.claim(&*book.ledger) {
            Ok(claim) => return Ok(apply(book, &project, claim)?),
            Err(AppendError::Conflict) => {
                state = gather::request(book, id)?.ok_or(WordError::Unknown(id))?;
            }
            Err(e) => {
                if let AppendError::Unknown(_) = e {
                    // If the row is there after all, it was cut off before its first file.
                    book.give_up(id);
                }
                return Err(BookError::from(e).into());
            }
        }
    }
}

fn unresolved(
    book: &Book,
    state: &RequestState,
    digest: Digest,
) -> Result<RequestState, WordError> {
    let id = state.id;
    if let Some(request) = state.request().filter(|request| request.digest != digest) {
        return Err(NotNow::Digest(id, request.digest).into());
    }
    let seen = take_up(book, state, Side::Person).map_err(|why| WordError::CutOff(id, why))?;
    seen.ok_or(WordError::Not(NotNow::Status(id, state.status)))
}

/// Whose change set it is, by the brief as it is now.
fn asker<'a>(brief: &'a Brief, request: &'a Request) -> Result<Asker<'a>, Denied> {
    match &request.agent {
        Some(agent) => Asker::agent(brief, agent),
        None => Ok(Asker::person(brief)),
    }
}

/// What the files of a change set are to hold, as it was kept.
pub fn contents(book: &Book, filing: &Filing) -> Result<Contents, Denied> {
    let mut contents = Contents::new();
    for (path, after) in filing.changes.iter().filter_map(|c| Some((&c.path, c.after?))) {
        let gone = |why| {
            let detail = format!("the content for `{path}`: {why}");
            Denied::new(Refusal::LedgerUnwritable, detail)
        };
        let bytes = book.blobs.get(after.sha256).map_err(|e| gone(e.to_string()))?;
        let bytes = bytes.ok_or_else(|| gone("it is not kept any more".into()))?;
        contents.insert(after.sha256, bytes);
    }
    Ok(contents)
}

fn unwritable(error: &std::io::Error) -> AppendError {
    crate::book::unwritable(ReadError::Unreadable(error.to_string()))
}
