//! Where rows and documents are kept: two small traits, and what every store of them promises.

use crate::custody::Breach;
use crate::decision::document::{Document, DocumentName};
use crate::digest::Digest;
use crate::ledger::event::Torn;
use crate::ledger::{Draft, Head, Line, Row, Subject};

/// An append-only, hash-chained ledger whose append is compare-and-swap.
///
/// What every ledger promises, and the contract suite of `granted-testkit` checks:
///
/// - An append is all or nothing, also across a crash: either every row of it is read afterwards,
///   or none.
/// - An append whose refs are not the last ones is [`AppendError::Conflict`]; of two appends that
///   saw the same last row of a subject at most one is written.
/// - A row that an append returned is durable: it is there after a crash.
/// - Rows are never changed, reordered or removed, but for the unfinished or damaged tail that is
///   moved aside and recorded.
/// - Reading takes no lock, creates nothing and repairs nothing.
pub trait Ledger: Send + Sync {
    /// The last row; `None` for a ledger that holds nothing or does not exist.
    fn head(&self) -> Result<Option<Head>, ReadError>;

    /// The rows that moved this subject, oldest first.
    fn rows(&self, subject: &Subject) -> Result<Vec<Row>, ReadError> {
        self.rows_after(subject, 0)
    }

    /// Those of [`Ledger::rows`] that come after this seq, which is 0 or that of one of them.
    fn rows_after(&self, subject: &Subject, seq: u64) -> Result<Vec<Row>, ReadError>;

    /// One row, by its number.
    fn row(&self, seq: u64) -> Result<Option<Row>, ReadError>;

    /// Shows every line from that row on, as it lies there, until `visit` says to stop.
    ///
    /// Lines are not checked: a damaged one is shown too. An unfinished last append is not shown
    /// but returned.
    fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(RawLine<'_>) -> std::ops::ControlFlow<()>,
    ) -> Result<Option<Unfinished>, ReadError>;

    /// Writes these rows, all or none, if nothing that they move has moved.
    ///
    /// On [`AppendError::Conflict`] and [`AppendError::NotWritten`] nothing was written; after
    /// [`AppendError::Unknown`] it may have been, and nothing may act on it.
    fn append(&self, drafts: &[Draft]) -> Result<Appended, AppendError>;

    /// What keeps rows that use authority from being appended, if anything does.
    fn condition(&self) -> Result<Condition, ReadError>;

    /// Clears [`Ledger::condition`], on a person's word: moves everything after the last good row
    /// aside and appends, in its place and under the same lock, the rows that `drafts` makes of
    /// what was moved.
    ///
    /// A crash in the middle leaves the ledger damaged as before or accepted, never cut without
    /// the row that says so.
    fn accept(
        &self,
        drafts: &mut dyn FnMut(&Moved<'_>) -> Result<Vec<Draft>, ReadError>,
    ) -> Result<Appended, AppendError>;

    /// Whether the rows of these appends lie in the ledger byte for byte, seen through one fresh
    /// open.
    fn holds(&self, appended: &[&Appended]) -> Result<bool, ReadError>;

    /// The digest of the line that begins at this place, which [`RawLine::offset`] gave, seen through
    /// a fresh open; `None` if no whole line begins there.
    ///
    /// It is asked before authority is used, so it reads that line and no more.
    fn digest_at(&self, offset: u64) -> Result<Option<Digest>, ReadError>;

    /// Upkeep that may take a while, such as merging an index. Nothing depends on it.
    fn tidy(&self) {}
}

/// What is wrong with a ledger as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The bytes after the last good row are neither rows nor an unfinished append.
    pub damage: Option<Damage>,
    /// The ledger is shorter than its index or differs from it: the rows that the index had seen.
    pub rollback: Option<u64>,
    /// Somebody else could have written the ledger.
    pub custody: Option<Breach>,
}

/// Where a damaged tail begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The number of the first bad line.
    pub line: u64,
    /// The offset of its first byte.
    pub offset: u64,
    /// How many bytes lie from there to the end.
    pub bytes: u64,
    /// What is wrong with it.
    pub cause: String,
}

/// What [`Ledger::accept`] is about to put aside.
pub struct Moved<'a> {
    /// The file that holds the damaged tail from now on; `None` where nothing was damaged.
    pub torn: Option<Torn>,
    /// The bytes of that tail.
    pub bytes: &'a [u8],
    /// The rows that the index had seen, if the ledger was rolled back.
    pub rollback: Option<u64>,
    /// The last row that stays.
    pub head: Option<Head>,
    /// The seq of the last row that stays and moves a subject (0: none): what a draft's refs need.
    pub last: &'a dyn Fn(&Subject) -> Result<u64, ReadError>,
    /// Whether a row moved a subject that a rolled back ledger holds no more, as far as anything
    /// still tells.
    pub lost: &'a dyn Fn(&Subject) -> bool,
}

/// The rows of an append that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The rows, in order.
    pub lines: Vec<Line>,
    /// Where the first of them lies; what the number means is the store's affair.
    pub position: u64,
}

/// A line as it lies in the ledger.
#[derive(Clone, Copy, Debug)]
pub struct RawLine<'a> {
    /// Its number, from 1.
    pub seq: u64,
    /// The offset of its first byte.
    pub offset: u64,
    /// Its bytes, without the LF.
    pub bytes: &'a [u8],
}

/// An append at the end of the ledger of which only a part is there. It counts as not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes of it there are.
    pub bytes: u64,
}

/// Why rows could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The ledger cannot be opened or read. Names the path.
    #[error("{0}")]
    Unreadable(String),
    /// A line is damaged.
    #[error("line {line} (byte {offset}) is damaged: {cause}")]
    Damaged {
        /// The line's number.
        line: u64,
        /// The offset of its first byte.
        offset: u64,
        /// What is wrong with it.
        cause: String,
    },
    /// A row that this program does not understand.
    #[error("line {line} was written by a newer granted: {what}")]
    Newer {
        /// The line's number.
        line: u64,
        /// Its kind or version.
        what: String,
    },
}

/// Why rows were not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Something that the rows move has moved since the caller looked. Nothing was written: load,
    /// fold and decide again.
    #[error("something else was written first")]
    Conflict,
    /// Certainly not written.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// It may have been written or not. Nothing may act on it.
    #[error("it is not known whether the row was written: {0}")]
    Unknown(String),
}

/// Why an append was certainly not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// The ledger cannot be written, or may not be because it is damaged. Names the path.
    #[error("{0}")]
    Unwritable(String),
    /// The ledger is shorter than it was, or another; only rows that narrow are written.
    #[error("{0}")]
    RolledBack(String),
    /// Somebody else could have written the ledger; only rows that narrow are written.
    #[error("{0}")]
    Custody(Breach),
    /// A row would have over 64 KiB.
    #[error("a row would have more than 65536 bytes")]
    TooLong,
}

/// The grant documents: one file a grant that a person can read, move or delete.
pub trait Documents: Send + Sync {
    /// Reads a document, afresh.
    fn read(&self, name: &DocumentName) -> Document;

    /// Makes these documents, durably, none of which may be there yet. On an error none is left.
    fn create(&self, documents: &[(DocumentName, Vec<u8>)]) -> Result<(), String>;

    /// Writes a spent grant's document in place, best effort: one write, unsynced, only onto a
    /// regular file that has no second name. The new text is never shorter than the old.
    fn refresh(&self, name: &DocumentName, text: &[u8]) -> Result<(), String>;

    /// Takes away documents whose rows were not written, best effort.
    fn remove(&self, names: &[DocumentName]);

    /// The file names in the documents' folder of each object type, as `TYPE/FILE`.
    fn list(&self, visit: &mut dyn FnMut(&str)) -> Result<(), String>;

    /// Where a document lies, for people and executors.
    fn path(&self, name: &DocumentName) -> String;
}
