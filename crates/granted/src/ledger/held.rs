//! What `granted ledger verify` holds the ledger against: the checkpoints that lie somewhere.

use std::path::{Path, PathBuf};

use granted_core::ledger::checkpoint::{Claimed, Verified};

use super::checkpoint::{self, newest_path, read_note};
use super::verify::Tally;
use super::witness;
use crate::book::{Book, BookError};

/// A checkpoint that lies in a file.
#[derive(Clone, Debug)]
pub struct Held {
    /// The file.
    pub path: PathBuf,
    /// Whether it lies elsewhere than the ledger, and so tells of a ledger that was put back.
    pub elsewhere: bool,
    /// The checkpoint.
    pub checkpoint: Verified,
}

/// The checkpoints that there are of a book.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// Those that the book's key signed.
    pub held: Vec<Held>,
    /// Files that hold something else, which the ledger cannot go on from; also the named one, if it is
    /// missing or cannot be read.
    pub wrong: Vec<(PathBuf, String)>,
    /// Witnesses that are missing or cannot be read.
    pub unusable: Vec<String>,
}

/// Collects the newest checkpoint beside the ledger, those of the witnesses, and this one, which the
/// person names.
pub fn collect(book: &Book, named: Option<&Path>) -> Result<Collected, BookError> {
    let mut collected = Collected::default();
    let id = checkpoint::id(book)?;
    let key = match id {
        Some(id) => checkpoint::key(book, id).map_err(witness::Doubt::from)?,
        None => None,
    };
    let witnesses = witness::paths(book).map_err(witness::Doubt::from)?;
    let newest = newest_path(book);
    let files = named.map(|path| (path, true)).into_iter();
    let files = files.chain(
        witnesses
            .iter()
            .filter(|path| Some(path.as_path()) != named)
            .map(|path| (path.as_path(), true)),
    );
    for (path, elsewhere) in files.chain([(newest.as_path(), false)]) {
        let shown = path.display();
        let note = match read_note(book.home(), path) {
            Ok(Some(note)) => note,
            Ok(None) if Some(path) == named => {
                let why = "there is no such file".to_owned();
                collected.wrong.push((path.to_owned(), why));
                continue;
            }
            Ok(None) if !elsewhere => continue,
            Ok(None) => {
                collected.unusable.push(format!("the witness `{shown}` is missing"));
                continue;
            }
            Err(why) if Some(path) == named => {
                collected.wrong.push((path.to_owned(), why));
                continue;
            }
            Err(why) => {
                collected.unusable.push(why);
                continue;
            }
        };
        let verified = match (Claimed::parse(&note), &key) {
            (Err(e), _) => Err(e.to_string()),
            (Ok(claimed), _) if id.is_some_and(|id| id != claimed.book()) => {
                Err(format!("it is of another book, {}", claimed.book()))
            }
            (Ok(_), None) => Err("the key that signed it, `book.key`, is gone".to_owned()),
            (Ok(claimed), Some(key)) => claimed.verify(key).map_err(|e| e.to_string()),
        };
        match verified {
            Ok(checkpoint) => {
                collected.held.push(Held { path: path.to_owned(), elsewhere, checkpoint });
            }
            Err(why) => collected.wrong.push((path.to_owned(), why)),
        }
    }
    Ok(collected)
}

/// Why the rows do not go on from a checkpoint, if they do not: there are so many, and they came to
/// what the tally has.
pub fn differs(checkpoint: &Verified, rows: u64, tally: &Tally) -> Option<String> {
    let size = checkpoint.size;
    match tally.sum(size) {
        Some(sum) if (sum.root, sum.head) == (checkpoint.root, checkpoint.head) => None,
        Some(_) => Some(format!(
            "at least one of the rows 1 to {size} is another; a checkpoint cannot tell which"
        )),
        None => Some(format!(
            "it is of {size} rows and there are {rows}; whether these are the same cannot be told"
        )),
    }
}
