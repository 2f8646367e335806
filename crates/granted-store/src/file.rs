//! The ledger in one file.

mod accept;
mod aside;
pub(crate) mod check;
pub mod disk;
pub(crate) mod lines;
mod lock;
mod queue;
mod reader;
mod search;
mod writer;

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::{By, Draft, Head, Row, Subject};
use granted_core::store::{
    AppendError, Appended, Condition, Ledger, Moved, RawLine, ReadError, Unfinished,
};
use granted_core::time::Clock;

use crate::custody::Folder;
use crate::index::{Index, IndexState};
use crate::open::{self, in_words};
use disk::{Disk, RealDisk};
use queue::Queue;
use reader::Reader;
use writer::Writer;

/// How long an append waits for the lock.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A ledger in one file, one row a line.
///
/// Whatever belongs to it lies beside it: `index/`, and `ledger.torn-TIME` for what was moved
/// aside. Nothing is made before the first append. Any number of threads may share one value, and
/// any number of processes one file.
pub struct FileLedger {
    site: Site,
    queue: Queue,
    writer: Mutex<Writer>,
}

/// Where the ledger is and what it is written with.
struct Site {
    path: PathBuf,
    folder: Folder,
    index: Index,
    clock: Arc<dyn Clock>,
    by: By,
    disk: Arc<dyn Disk>,
    patience: Duration,
}

impl Site {
    /// The ledger's name in its folder.
    fn name(&self) -> &OsStr {
        // A path without a name leads to a folder, which is said when it is opened.
        self.path.file_name().unwrap_or(OsStr::new("."))
    }

    /// An error with the ledger's path.
    fn shown(&self, error: &std::io::Error) -> String {
        format!("`{}`: {}", self.path.display(), in_words(error))
    }
}

impl FileLedger {
    /// The ledger at this path. `clock` gives rows their time; `by` stands in the rows with which
    /// the store itself records a repair.
    pub fn new(path: impl Into<PathBuf>, clock: Arc<dyn Clock>, by: By) -> FileLedger {
        FileLedger::with_disk(path, clock, by, Arc::new(RealDisk))
    }

    /// As [`FileLedger::new`], with other calls to change the file.
    pub fn with_disk(
        path: impl Into<PathBuf>,
        clock: Arc<dyn Clock>,
        by: By,
        disk: Arc<dyn Disk>,
    ) -> FileLedger {
        let path = path.into();
        let folder = Folder::new(path.parent().unwrap_or(Path::new("")));
        let index = Index::beside(&folder);
        let site = Site { path, folder, index, clock, by, disk, patience: PATIENCE };
        FileLedger { site, queue: Queue::default(), writer: Mutex::default() }
    }

    /// In this home, if the ledger lies in it: then custody begins there, and not at the folder that
    /// holds the ledger.
    pub fn within(mut self, home: &Folder) -> FileLedger {
        self.site.folder = home.within(self.site.folder.path());
        self.site.index = Index::beside(&self.site.folder);
        self
    }

    /// Waits for the lock for so long instead of [`PATIENCE`].
    pub fn with_patience(mut self, patience: Duration) -> FileLedger {
        self.site.patience = patience;
        self
    }

    /// The ledger file.
    pub fn path(&self) -> &Path {
        &self.site.path
    }

    /// What there is of its index. Reads all of it.
    pub fn index(&self) -> Result<IndexState, ReadError> {
        Ok(self.reader()?.map(|reader| reader.index()).unwrap_or_default())
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic leaves the writer knowing nothing, which is always right.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reader(&self) -> Result<Option<Reader<'_>>, ReadError> {
        Reader::open(&self.site)
    }
}

impl Ledger for FileLedger {
    fn head(&self) -> Result<Option<Head>, ReadError> {
        self.reader()?.map_or(Ok(None), |reader| reader.head())
    }

    fn rows_after(&self, subject: &Subject, seq: u64) -> Result<Vec<Row>, ReadError> {
        self.reader()?.map_or(Ok(Vec::new()), |reader| reader.rows_after(subject, seq))
    }

    fn row(&self, seq: u64) -> Result<Option<Row>, ReadError> {
        self.reader()?.map_or(Ok(None), |reader| reader.row(seq))
    }

    fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Unfinished>, ReadError> {
        self.reader()?.map_or(Ok(None), |reader| reader.scan(from, visit))
    }

    fn append(&self, drafts: &[Draft]) -> Result<Appended, AppendError> {
        self.queue.append(
            drafts,
            |batch| self.writer().batch(&self.site, batch),
            // The answers are out and the lock is free: what the index does now hinders nobody.
            |synced| {
                if let Some((file, length)) = synced {
                    self.site.index.grow(&file, length);
                }
            },
        )
    }

    fn condition(&self) -> Result<Condition, ReadError> {
        self.reader()?.map_or(Ok(Condition::default()), |reader| reader.condition())
    }

    fn accept(
        &self,
        drafts: &mut dyn FnMut(&Moved<'_>) -> Result<Vec<Draft>, ReadError>,
    ) -> Result<Appended, AppendError> {
        self.writer().accept(&self.site, drafts)
    }

    fn holds(&self, appended: &[&Appended]) -> Result<bool, ReadError> {
        self.reader()?.map_or(Ok(false), |reader| reader.holds(appended))
    }

    fn digest_at(&self, offset: u64) -> Result<Option<Digest>, ReadError> {
        reader::digest_at(&self.site, offset)
    }

    /// Merges index runs and removes those of no use.
    fn tidy(&self) {
        if let Ok(file) = self.site.folder.file(self.site.name(), open::read_at) {
            self.site.index.merge(&file.handle);
        }
    }
}
