//! Applying: a claim is carried out, and the ledger says what came of it.

use std::io;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::store::{AppendError, ReadError};
use granted_core::write::decide::{Came, conclude};
use granted_core::write::{Claim, ProjectPath, RequestState};
use granted_exec::apply::{self, Applied, Order, Recovered, Source};
use granted_store::Blobs;

use super::gather;
use super::project::OpenProject;
use crate::book::{Book, BookError};

/// Brings the files of a claim to what they are to be, or leaves them as they were, and records which. What
/// the files hold and are to hold lies among the blobs already.
///
/// After an error the change set stays cut off: whoever comes next sees to it.
pub fn apply(book: &Book, project: &OpenProject, claim: Claim) -> Result<RequestState, BookError> {
    let came = match Order::new(&claim) {
        Err(why) => Ok(Came::Undone(why.to_string())),
        Ok(order) => carried_out(&order, project, &Contents(&book.blobs), claim.is_recovered()),
    };
    match came {
        Ok(came) => recorded(book, &claim, came),
        Err(e) => {
            let why = format!("request {} could not be seen to: {e}", claim.id());
            given_up(book, claim.id(), ReadError::Unreadable(why).into())
        }
    }
}

/// Brings the files to what they are to be, or back to what they were; an error leaves that open.
fn carried_out(
    order: &Order,
    project: &OpenProject,
    contents: &Contents<'_>,
    was_cut_off: bool,
) -> io::Result<Came> {
    let why = match was_cut_off {
        true => "it was cut off".to_owned(),
        false => match apply::apply(order, project.tree(), contents) {
            Applied::Done => return Ok(Came::Applied),
            Applied::NotDone { why, changed } => return Ok(Came::Undone(named(why, &changed))),
            Applied::Unknown { why, .. } => why,
        },
    };
    Ok(match apply::recover(order, project.tree(), contents)? {
        Recovered::Old => Came::Undone(format!("{why}; no file was changed")),
        Recovered::New => Came::Applied,
        Recovered::Unresolved { files } => {
            Came::Unresolved(files, format!("{why}; some files hold something else"))
        }
    })
}

/// A reason, with the files that it is about.
fn named(why: String, files: &[ProjectPath]) -> String {
    let files: Vec<String> = files.iter().map(|path| format!("`{path}`")).collect();
    match files.is_empty() {
        true => why,
        false => format!("{why}: {}", files.join(", ")),
    }
}

/// Appends what came of the claim, unless somebody else has said so already; how it stands then.
fn recorded(book: &Book, claim: &Claim, came: Came) -> Result<RequestState, BookError> {
    let id = claim.id();
    let gone = || ReadError::Unreadable(format!("the rows of request {id} are gone"));
    loop {
        let state = gather::request(book, id)?.ok_or_else(gone)?;
        if state.last != claim.last() {
            return Ok(state);
        }
        let day = gather::day_last(book, &state)?;
        match book.append(&[conclude(&state, claim, came.clone(), day, &book.by(None))]) {
            Ok(_) => return Ok(gather::request(book, id)?.ok_or_else(gone)?),
            Err(AppendError::Conflict) => {}
            Err(e) => return given_up(book, id, e.into()),
        }
    }
}

/// The files may be changed, and no row says what came of it: the next one to come settles it.
fn given_up(book: &Book, id: Id, error: BookError) -> Result<RequestState, BookError> {
    book.give_up(id);
    Err(error)
}

/// The contents that rows name.
struct Contents<'a>(&'a Blobs);

impl Source for Contents<'_> {
    fn content(&self, digest: Digest) -> io::Result<Vec<u8>> {
        let content = self.0.get(digest).map_err(io::Error::other)?;
        content.ok_or_else(|| io::Error::other(format!("the content {digest} is not kept")))
    }
}
