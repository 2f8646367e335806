//! Checkpoints of this ledger: making them, and keeping the newest.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use granted_core::custody::Breach;
use granted_core::id::Id;
use granted_core::ledger::Event;
use granted_core::ledger::checkpoint::{BookKey, Checkpoint, Claimed, Verified};
use granted_core::ledger::note::{MAX_NOTE, Verifier};
use granted_core::ledger::tree::{consistency, root, verify_consistency};
use granted_core::store::ReadError;
use granted_store::custody::Kept;
use granted_store::entropy;
use granted_store::open::{self, OpenError};
use zeroize::Zeroizing;

use super::rows::Rows;
use crate::book::Book;
use crate::files;
use crate::home::Home;

/// The names of the book's key and of its newest checkpoint, beside the ledger.
pub(crate) const KEY: &str = "book.key";
const NEWEST: &str = "checkpoint";

/// The most bytes of a key's file.
const MAX_KEY: usize = 4_096;

/// A checkpoint, its note, and the key that signed it.
#[derive(Clone, Debug)]
pub struct Signed {
    /// What it says.
    pub checkpoint: Checkpoint,
    /// The note.
    pub note: String,
    /// The book's public key.
    pub key: Verifier,
}

/// Why there is no checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The ledger cannot be read, or is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The ledger holds no row.
    #[error("there is no row in `{0}`")]
    Empty(String),
    /// The ledger is shorter than it was, or another one: nothing is signed that contradicts what was.
    #[error("{0}")]
    RolledBack(String),
    /// Somebody else could have written the ledger: its rows are nothing to sign.
    #[error("{0}")]
    Custody(Breach),
    /// The key or the newest checkpoint cannot be read or written. Names the path.
    #[error("{0}")]
    File(String),
}

/// Makes a checkpoint of all rows and keeps it as the newest. The first one makes the book's key.
pub fn make(book: &Book) -> Result<Signed, CheckpointError> {
    let condition = book.ledger.condition()?;
    if let Some(damage) = condition.damage {
        let (line, offset, cause) = (damage.line, damage.offset, damage.cause);
        return Err(ReadError::Damaged { line, offset, cause }.into());
    }
    if let Some(breach) = condition.custody {
        return Err(CheckpointError::Custody(breach));
    }
    let path = book.home().ledger().display();
    if let Some(rows) = condition.rollback {
        return Err(CheckpointError::RolledBack(format!(
            "`{path}` is shorter than it was, or another: its index has seen row {rows}"
        )));
    }
    let id = id(book)?.ok_or_else(|| CheckpointError::Empty(path.to_string()))?;
    let key = ensure_key(book, id)?;
    let before = newest(book, &key.verifier())?.map(|(before, _)| before);
    let folder = book.home().ledger_folder();
    let mut made = sum(Rows::open(&*book.ledger, &folder)?, id, before)?;
    if made.is_none() {
        // Perhaps what is kept of the tree is wrong, and not the rows.
        made = sum(Rows::anew(&*book.ledger, &folder)?, id, before)?;
    }
    let checkpoint = made.ok_or_else(|| {
        let rows = before.map_or(0, |before| before.size);
        CheckpointError::RolledBack(format!(
            "`{path}` does not go on from its newest checkpoint, of {rows} rows"
        ))
    })?;
    keep(book, &key, checkpoint)
}

/// As [`make`], on a person's word also where the ledger does not go on from the newest one.
pub(crate) fn make_anew(book: &Book) -> Result<Signed, CheckpointError> {
    let empty = || CheckpointError::Empty(book.home().ledger().display().to_string());
    let id = id(book)?.ok_or_else(empty)?;
    let key = ensure_key(book, id)?;
    let rows = Rows::anew(&*book.ledger, &book.home().ledger_folder())?;
    let checkpoint = sum(rows, id, None)?.ok_or_else(empty)?;
    keep(book, &key, checkpoint)
}

/// The newest checkpoint of this book and its note, if one was made; whether the ledger goes on from it
/// is another question. One that the key did not sign is not there.
pub(crate) fn newest(
    book: &Book,
    key: &Verifier,
) -> Result<Option<(Verified, String)>, CheckpointError> {
    let note = read_note(book.home(), &newest_path(book)).map_err(CheckpointError::File)?;
    let note = note.unwrap_or_default();
    let verified = Claimed::parse(&note).and_then(|claimed| claimed.verify(key));
    Ok(verified.ok().map(|verified| (verified, note)))
}

/// The note of a checkpoint in this file; `None` if there is no such file. Whoever could have written it
/// is no matter: it tells what the book's key signed, or nothing.
pub(crate) fn read_note(home: &Home, path: &Path) -> Result<Option<String>, String> {
    let max = u64::try_from(MAX_NOTE).unwrap_or(u64::MAX);
    let name = path.file_name().ok_or_else(|| no_file(path))?;
    let file = match home.folder_of(path).file(name, open::read_at) {
        Ok(kept) => kept.handle,
        Err(OpenError::Missing(_)) => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    let text = String::from_utf8(files::read_open(file, path, max)?);
    text.map(Some).map_err(|_| format!("`{}` is not UTF-8 text", path.display()))
}

/// The book's public key; `None` if no checkpoint was made yet.
pub(crate) fn key(book: &Book, id: Id) -> Result<Option<Verifier>, CheckpointError> {
    Ok(read_key(book, id)?.map(|key| key.verifier()))
}

/// The book's id; `None` if the ledger holds no row.
pub(crate) fn id(book: &Book) -> Result<Option<Id>, ReadError> {
    Ok(book.ledger.row(1)?.and_then(|row| match row.event {
        Event::Opened(opened) => Some(opened.book),
        _ => None,
    }))
}

/// The newest checkpoint's place.
pub(crate) fn newest_path(book: &Book) -> PathBuf {
    beside(book, NEWEST)
}

fn beside(book: &Book, name: &str) -> PathBuf {
    book.home().ledger().with_file_name(name)
}

/// The checkpoint over all rows; `None` if there are none, or they do not go on from an earlier one.
fn sum(
    mut rows: Rows<'_>,
    book: Id,
    before: Option<Verified>,
) -> Result<Option<Checkpoint>, ReadError> {
    let Some(last) = rows.last() else { return Ok(None) };
    let root = root(last.seq, &mut rows)?;
    let made = Checkpoint { book, size: last.seq, root, head: last.digest, offset: last.offset };
    let Some(before) = before else { return Ok(Some(made)) };
    if before.size > made.size {
        return Ok(None);
    }
    let proof = consistency(before.size, made.size, &mut rows)?;
    let goes_on = verify_consistency((before.size, before.root), (made.size, root), &proof);
    Ok(goes_on.then_some(made))
}

/// Signs a checkpoint and keeps it as the newest.
fn keep(book: &Book, key: &BookKey, checkpoint: Checkpoint) -> Result<Signed, CheckpointError> {
    let note = checkpoint.sign(key);
    write_note(book.home(), &newest_path(book), &note).map_err(CheckpointError::File)?;
    Ok(Signed { checkpoint, note, key: key.verifier() })
}

/// Puts a note in the place of what is in a file, whole or not at all.
pub(crate) fn write_note(home: &Home, path: &Path, note: &str) -> Result<(), String> {
    let name = path.file_name().ok_or_else(|| no_file(path))?;
    let folder = home.folder_of(path).open().map_err(|e| e.to_string())?;
    folder
        .replace(name, |file| file.write_all(note.as_bytes()))
        .map_err(|e| format!("`{}`: {}", path.display(), open::in_words(&e)))
}

fn no_file(path: &Path) -> String {
    format!("`{}`: it names no file", path.display())
}

fn read_key(book: &Book, id: Id) -> Result<Option<BookKey>, CheckpointError> {
    let path = beside(book, KEY);
    let folder = book.home().ledger_folder();
    let file = match folder.file(KEY, open::read_at).and_then(Kept::from_here) {
        Ok(kept) => kept.handle,
        Err(OpenError::Missing(_)) => return Ok(None),
        Err(e) => return Err(CheckpointError::File(e.to_string())),
    };
    let wrong =
        |e: &dyn std::fmt::Display| CheckpointError::File(format!("`{}`: {e}", path.display()));
    // With room for all, so that no part of it is left behind where it grew.
    let mut bytes = Zeroizing::new(Vec::with_capacity(2 * MAX_KEY));
    file.take(MAX_KEY as u64).read_to_end(&mut bytes).map_err(|e| wrong(&e))?;
    let pem = std::str::from_utf8(&bytes).unwrap_or_default();
    BookKey::from_pem(id, pem).map(Some).map_err(|e| wrong(&e))
}

/// The book's key, which is made if there is none. One that is there is never replaced.
fn ensure_key(book: &Book, id: Id) -> Result<BookKey, CheckpointError> {
    if let Some(key) = read_key(book, id)? {
        return Ok(key);
    }
    let path = beside(book, KEY);
    let failed =
        |e: &dyn std::fmt::Display| CheckpointError::File(format!("`{}`: {e}", path.display()));
    let seed = Zeroizing::new(entropy::random().map_err(|e| failed(&e))?);
    let key = BookKey::new(id, &seed).map_err(|e| failed(&e))?;
    let pem = key.to_pem();
    let folder = book.home().ledger_folder().open().map_err(|e| failed(&e))?;
    // Past the buffer, which nobody would wipe.
    match folder.place(KEY, |file| file.get_mut().write_all(pem.as_bytes())) {
        Ok(()) => Ok(key),
        // Another process was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            read_key(book, id)?.ok_or_else(|| failed(&e))
        }
        Err(e) => Err(failed(&e)),
    }
}
