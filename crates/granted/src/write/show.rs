//! A change set as the person looks at it: what each file holds and is to hold. Reads only.

use granted_core::digest::Digest;
use granted_core::write::{FileChange, RequestState};
use granted_exec::tree::Found;
use granted_store::blobs::MAX_BLOB;

use super::project::OpenProject;
use crate::book::Book;

/// One file of a change set.
#[derive(Debug)]
pub struct FileView {
    /// What the change set says of it.
    pub change: FileChange,
    /// Whether the file in the project is what the change is based on. Asked only while it waits.
    pub stale: bool,
    /// What was there: as it is in the project now while it waits, else as it was when it was claimed.
    pub before: Side,
    /// What it is to be.
    pub after: Side,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// No file.
    Absent,
    /// Text that can be compared line by line.
    Text(String),
    /// Bytes that are no text, and how many.
    Binary(usize),
    /// It cannot be told.
    Unknown(String),
}

/// The files of a change set. While it waits they are compared with the project as it is now.
pub fn files(book: &Book, state: &RequestState) -> Vec<FileView> {
    let changes = match &state.claim {
        Some(claim) => claim.changes.as_slice(),
        None => state.request().map_or(&[][..], |request| &request.changes),
    };
    // Before its claim nothing of what is there was kept.
    let waits = state.claim.is_none();
    let project = OpenProject::named(state.project());
    let view = |change: &FileChange| {
        let based_on = change.before.map(|before| before.sha256);
        let (found, before) = match (waits, &project) {
            (true, Ok(project)) => now(project, change),
            (true, Err(e)) => (None, Side::Unknown(e.to_string())),
            (false, _) => (Some(based_on), kept(book, based_on)),
        };
        FileView {
            stale: found.is_some_and(|found| found != based_on),
            before,
            after: kept(book, change.after.map(|after| after.sha256)),
            change: change.clone(),
        }
    };
    changes.iter().map(view).collect()
}

/// What is in the project now: its digest if that can be told, and the content.
fn now(project: &OpenProject, change: &FileChange) -> (Option<Option<Digest>>, Side) {
    match project.tree().read(&change.path, MAX_BLOB) {
        Ok(Found::Absent) => (Some(None), Side::Absent),
        Ok(Found::File(content)) => (Some(Some(content.digest)), side(content.bytes)),
        Err(e) => (None, Side::Unknown(e.to_string())),
    }
}

fn kept(book: &Book, digest: Option<Digest>) -> Side {
    match digest.map(|digest| book.blobs.get(digest)) {
        None => Side::Absent,
        Some(Ok(Some(bytes))) => side(bytes),
        Some(Ok(None)) => Side::Unknown("its content is not kept any more".into()),
        Some(Err(e)) => Side::Unknown(e.to_string()),
    }
}

fn side(bytes: Vec<u8>) -> Side {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Side::Text(text),
        Ok(text) => Side::Binary(text.len()),
        Err(e) => Side::Binary(e.as_bytes().len()),
    }
}
