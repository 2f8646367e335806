//! Witnesses: files elsewhere that hold the newest checkpoint, against a ledger that is put back.
//!
//! Before authority is used the ledger must go on from what each witness holds. That is seen by the
//! one row that the checkpoint ends with: it must lie where it lay, and the chain makes all before it
//! equal. After an append that spends a grant or takes one back, the new checkpoint goes there; but
//! never over one that the ledger does not go on from, which would be the end of the evidence.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use granted_core::id::Id;
use granted_core::ledger::checkpoint::{Checkpoint, Claimed, Verified};
use granted_core::store::ReadError;
use rustix::fs::Access;

use super::checkpoint::{self, CheckpointError, Signed, newest_path, read_note, write_note};
use crate::book::{Book, BookError};
use crate::config::{Config, ConfigError};

/// The witnesses of a book, from its config.
#[derive(Debug, Default)]
pub(crate) struct Witnesses {
    named: OnceLock<Named>,
    /// The last checkpoint that was handed out.
    told: Mutex<Option<Checkpoint>>,
}

/// What the config names.
#[derive(Clone, Debug, Default)]
struct Named {
    paths: Vec<PathBuf>,
    required: bool,
}

static NONE: Named = Named { paths: Vec::new(), required: false };

/// Why authority is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// A witness holds something that the ledger does not go on from.
    #[error("{0}")]
    RolledBack(String),
    /// A witness is of another book.
    #[error("the witness `{}` is of another book, {book}", .path.display())]
    Foreign {
        /// The witness.
        path: PathBuf,
        /// That book.
        book: Id,
    },
    /// A witness is required and cannot be used.
    #[error("{0}; the config requires every witness")]
    Required(String),
    /// It is not known which witnesses there are.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The ledger or the book's key cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

impl From<ReadError> for Doubt {
    fn from(error: ReadError) -> Doubt {
        Doubt::Unreadable(error.to_string())
    }
}

impl From<CheckpointError> for Doubt {
    fn from(error: CheckpointError) -> Doubt {
        Doubt::Unreadable(error.to_string())
    }
}

/// How the ledger stands to what a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It goes on from the checkpoint there.
    GoesOn(Verified),
    /// There is no such file.
    Missing,
    /// Nothing of use can be read there: why.
    Unusable(String),
    /// It does not go on from the checkpoint there, of so many rows: why.
    Against {
        /// How many.
        rows: u64,
        /// Why.
        why: String,
    },
    /// The checkpoint there is of this other book.
    Foreign(Id),
}

impl Witnesses {
    /// Remembers what the config names, so that it is read once.
    pub(crate) fn learn(&self, config: &Config) {
        let named = Named { paths: config.witness.clone(), required: config.witness_required };
        let _ = self.named.set(named);
    }

    /// What the config names. One that cannot be read may name a witness, but only where a checkpoint
    /// was ever made; else it keeps nobody from anything.
    fn named(&self, book: &Book) -> Result<&Named, ConfigError> {
        if let Some(named) = self.named.get() {
            return Ok(named);
        }
        match book.config() {
            // That was learnt from it.
            Ok(_) => Ok(self.named.get_or_init(Named::default)),
            Err(e) if std::fs::symlink_metadata(newest_path(book)).is_ok() => Err(e),
            Err(_) => Ok(&NONE),
        }
    }
}

/// The files that the config names.
pub(crate) fn paths(book: &Book) -> Result<Vec<PathBuf>, ConfigError> {
    Ok(book.witnesses.named(book)?.paths.clone())
}

/// Whether authority may be used. What is only worth a word is said.
pub(crate) fn check(book: &Book) -> Result<(), Doubt> {
    let named = book.witnesses.named(book)?;
    for path in &named.paths {
        let shown = path.display();
        let trouble = match standing(book, path)? {
            Standing::GoesOn(_) => match unwritable(path) {
                Some(why) if named.required => why,
                // Said when it is written to.
                _ => continue,
            },
            Standing::Missing if named.required => format!("the witness `{shown}` is missing"),
            Standing::Missing => {
                format!("the witness `{shown}` is missing; granted ledger checkpoint begins it")
            }
            Standing::Unusable(why) => format!("the witness {why}"),
            Standing::Against { why, .. } => return Err(Doubt::RolledBack(why)),
            Standing::Foreign(book) => {
                return Err(Doubt::Foreign { path: path.clone(), book });
            }
        };
        match named.required {
            true => return Err(Doubt::Required(trouble)),
            false => book.news.complain(trouble),
        }
    }
    Ok(())
}

/// How the ledger stands to the checkpoint in this file, by one row.
pub(crate) fn standing(book: &Book, path: &Path) -> Result<Standing, Doubt> {
    let note = match read_note(book.home(), path) {
        Ok(Some(note)) => note,
        Ok(None) => return Ok(Standing::Missing),
        Err(why) => return Ok(Standing::Unusable(why)),
    };
    let shown = path.display();
    let claimed = match Claimed::parse(&note) {
        Ok(claimed) => claimed,
        Err(e) => return Ok(Standing::Unusable(format!("`{shown}`: {e}"))),
    };
    let rows = claimed.size();
    let against = |what: String| {
        let why = format!("`{shown}` has a checkpoint of {rows} rows; {what}");
        Ok(Standing::Against { rows, why })
    };
    let Some(id) = checkpoint::id(book)? else {
        return against("the ledger holds none".into());
    };
    if claimed.book() != id {
        return Ok(Standing::Foreign(claimed.book()));
    }
    let Some(key) = checkpoint::key(book, id)? else {
        return against("the key that signed it, `book.key`, is gone".into());
    };
    let verified = match claimed.verify(&key) {
        Ok(verified) => verified,
        Err(e) => return against(e.to_string()),
    };
    match book.ledger.digest_at(verified.offset)? {
        Some(digest) if digest == verified.head => Ok(Standing::GoesOn(verified)),
        _ => {
            let has = book.ledger.head()?.map_or(0, |head| head.seq);
            against(match has < rows {
                true => format!("the ledger has {has}"),
                false => "the ledger has others".into(),
            })
        }
    }
}

/// Why the place of a witness cannot be written to.
pub(crate) fn unwritable(path: &Path) -> Option<String> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let error = rustix::fs::access(folder, Access::WRITE_OK).err()?;
    Some(format!("the witness `{}` cannot be written: {error}", path.display()))
}

/// Has every witness hold a checkpoint of at least this many rows. What goes wrong is only said: the
/// rows are durable.
pub(crate) fn tell(book: &Book, rows: u64) {
    let named = match book.witnesses.named(book) {
        Ok(named) if named.paths.is_empty() => return,
        Ok(named) => named,
        Err(e) => return book.news.complain(format!("no witness was told: {e}")),
    };
    // One at a time; those that waited find that it was done for them.
    let mut told = book.witnesses.told.lock().unwrap_or_else(PoisonError::into_inner);
    // The ledger may have been accepted with fewer rows meanwhile.
    let is_told = |told: &Checkpoint| {
        let digest = book.ledger.digest_at(told.offset);
        told.size >= rows && digest.is_ok_and(|digest| digest == Some(told.head))
    };
    if told.as_ref().is_some_and(is_told) {
        return;
    }
    match checkpoint::make(book) {
        Ok(signed) => {
            hand_out(book, &named.paths, &signed, false).iter().for_each(|trouble| {
                book.news.complain(trouble.clone());
            });
            *told = Some(signed.checkpoint);
        }
        Err(e) => book.news.complain(format!("no witness was told: {e}")),
    }
}

/// Puts a checkpoint where the ledger goes on from what is there, and with `begin` also where nothing
/// is; what was wrong elsewhere.
pub(crate) fn hand_out(
    book: &Book,
    paths: &[PathBuf],
    signed: &Signed,
    begin: bool,
) -> Vec<String> {
    let one = |path: &PathBuf| -> Result<(), String> {
        let shown = path.display();
        match standing(book, path).map_err(|e| e.to_string())? {
            Standing::GoesOn(held) if held.size >= signed.checkpoint.size => Ok(()),
            Standing::GoesOn(_) => write_note(book.home(), path, &signed.note),
            Standing::Missing if begin => write_note(book.home(), path, &signed.note),
            Standing::Missing => Err(format!("`{shown}` is missing")),
            Standing::Unusable(why) | Standing::Against { why, .. } => Err(why),
            Standing::Foreign(id) => Err(format!("`{shown}` is of another book, {id}")),
        }
    };
    let told = paths.iter().filter_map(|path| one(path).err());
    told.map(|why| format!("a witness was not told: {why}")).collect()
}

/// Makes a checkpoint and has every witness hold it, also where none is yet; what was wrong with some
/// of them. A book is opened by it if need be.
pub fn make_and_hand_out(book: &Book) -> Result<(Signed, Vec<String>), BookError> {
    let paths = paths(book).map_err(Doubt::from)?;
    for path in &paths {
        match standing(book, path)? {
            Standing::Against { why, .. } => return Err(Doubt::RolledBack(why).into()),
            Standing::Foreign(book) => {
                return Err(Doubt::Foreign { path: path.clone(), book }.into());
            }
            Standing::GoesOn(_) | Standing::Missing | Standing::Unusable(_) => {}
        }
    }
    book.id()?;
    let signed = checkpoint::make(book)?;
    let troubles = hand_out(book, &paths, &signed, true);
    Ok((signed, troubles))
}

/// How many rows the checkpoints had that the ledger does not go on from, at most: those of the
/// witnesses, and the newest beside the ledger. Of another book's nothing is said.
pub(crate) fn lost(book: &Book) -> Result<Option<u64>, Doubt> {
    let mut lost = None;
    for path in paths(book)?.iter().chain([&newest_path(book)]) {
        if let Standing::Against { rows, .. } = standing(book, path)? {
            lost = lost.max(Some(rows));
        }
    }
    Ok(lost)
}

/// Begins anew from what the person accepted: the newest checkpoint, and each witness of this book
/// that is there.
pub(crate) fn begin_anew(book: &Book) -> Result<(), Doubt> {
    let signed = checkpoint::make_anew(book)?;
    for path in paths(book)? {
        if let Standing::Against { .. } | Standing::GoesOn(_) = standing(book, &path)?
            && let Err(why) = write_note(book.home(), &path, &signed.note)
        {
            book.news.complain(format!("a witness was not told: {why}"));
        }
    }
    Ok(())
}
