//! The index: which rows of the ledger's older part move a subject.
//!
//! It lies in `index/` beside the ledger, as immutable sorted runs that together cover a prefix of
//! it. Whatever is wrong with a run, it is then not there, and more of the ledger is searched
//! instead: no error of the index is an error of anything else. A sound run of the same book that
//! has seen rows which the ledger does not hold is evidence of a rollback.

mod build;
mod merge;
mod run;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use granted_core::digest::Digest;
use granted_core::ledger::row::{Link, Moves};

use crate::custody::{Dir, Folder, Kept};
use crate::file::check::Good;
use crate::file::lines::{line_at, to_u64};
use crate::open::{self, Identity, OpenError};
pub(crate) use run::Hit;
pub use run::RUN_FORMAT;
use run::Run;

/// How much of the ledger may be uncovered before an appender writes a run.
pub(crate) const UNCOVERED: u64 = 128 << 10;

/// The folder's name, beside the ledger.
pub(crate) const NAME: &str = "index";

/// The index of one ledger.
pub(crate) struct Index {
    /// The folder of the ledger.
    ledger: Folder,
    cached: Mutex<Option<Cached>>,
    /// Held while this process writes or merges runs.
    writing: Mutex<()>,
}

struct Cached {
    stamp: Stamp,
    view: Arc<View>,
}

/// What there is of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexState {
    /// How many runs are used.
    pub runs: usize,
    /// How many bytes of the ledger they cover.
    pub covered: u64,
    /// How many bytes the ledger has.
    pub of: u64,
    /// The names of the files that are no runs, or damaged ones.
    pub damaged: Vec<String>,
}

/// What tells whether a view is still the newest: the folder as it was, and the ledger file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    folder: Option<(u64, u64, i64, u64)>,
    ledger: Identity,
}

/// The runs that cover a prefix of the ledger at one time.
#[derive(Default)]
pub(crate) struct View {
    /// Adjacent, from the ledger's first byte on.
    runs: Vec<Arc<Run>>,
    /// The end of what they cover.
    pub good: Good,
    /// How many rows the index has seen, if the ledger does not hold them.
    pub rollback: Option<u64>,
    /// The sound runs that tell of such rows.
    unfit: Vec<Run>,
}

impl View {
    /// The rows that may move the subject with this text, oldest first, and how much of the
    /// ledger they cover.
    pub(crate) fn hits(&self, subject: &str) -> (Vec<Hit>, u64) {
        let key = run::key(subject);
        let mut hits = Vec::new();
        for run in &self.runs {
            if run.find(key, &mut hits).is_err() {
                // From here on the ledger itself is searched, and the next appender removes it.
                run.set_damaged();
                hits.retain(|hit| hit.offset < run.from);
                return (hits, run.from);
            }
        }
        (hits, self.good.length)
    }

    /// The row of a hit, without its LF; an error in words if the ledger holds another one there than the
    /// index has seen.
    ///
    /// The part that runs cover is not followed line by line. So a row of it counts only as the index has
    /// it, and as the line behind it has its digest: a change there must not revive a grant.
    pub(crate) fn hit_line(
        ledger: &File,
        end: u64,
        subject: &str,
        hit: &Hit,
    ) -> io::Result<Result<Vec<u8>, String>> {
        let Some(line) = line_at(ledger, hit.offset, end)? else {
            return Ok(Err("the index has seen a row there".into()));
        };
        let Ok(row) = Moves::parse(&line) else {
            // Whoever parses the whole row says what is wrong with it.
            return Ok(Ok(line));
        };
        let key = run::key(subject);
        if row.seq != hit.seq || !row.refs.iter().any(|(moved, _)| run::key(moved) == key) {
            return Ok(Err("it is not the row that the index has seen there".into()));
        }
        let next = line_at(ledger, hit.offset + to_u64(line.len()) + 1, end)?;
        let next = next.and_then(|next| Link::parse(&next).ok());
        match next.is_some_and(|next| next.prev != Digest::of(&line)) {
            true => Ok(Err("the line behind it has another digest of it".into())),
            false => Ok(Ok(line)),
        }
    }

    /// Whether a row moved this subject that the ledger holds no more, as far as the index tells.
    /// What cannot be read counts as such a row.
    pub(crate) fn lost(&self, ledger: &File, size: u64, subject: &str) -> bool {
        let key = run::key(subject);
        let is_there = |hit: &Hit| {
            let line = line_at(ledger, hit.offset, size).ok().flatten().unwrap_or_default();
            Moves::parse(&line).is_ok_and(|row| {
                row.seq == hit.seq && row.refs.iter().any(|(moved, _)| **moved == *subject)
            })
        };
        self.unfit.iter().any(|run| {
            let mut hits = Vec::new();
            run.find(key, &mut hits).is_err() || !hits.iter().all(is_there)
        })
    }

    /// The runs that a lookup found damaged.
    fn damaged(&self) -> impl Iterator<Item = &run::Covers> {
        self.runs.iter().filter(|run| run.is_damaged()).map(|run| &***run)
    }
}

impl Index {
    pub(crate) fn beside(ledger: &Folder) -> Index {
        Index { ledger: ledger.clone(), cached: Mutex::new(None), writing: Mutex::new(()) }
    }

    /// The folder, if it is there and nobody else could have written it.
    fn open(&self) -> Result<Kept<Dir>, OpenError> {
        self.ledger.open()?.folder(NAME)?.from_here()
    }

    /// The runs that fit this ledger, which was opened in this folder.
    pub(crate) fn view(
        &self,
        place: &Kept<Dir>,
        ledger: &File,
        identity: Identity,
        size: u64,
    ) -> Arc<View> {
        // To ask by name costs less than to open; what is opened is asked again.
        let stat = place.ask(NAME);
        let stamp = stat.map(|stat| (stat.st_dev, stat.st_ino, stat.st_mtime, stat.st_mtime_nsec));
        let stamp = Stamp { folder: stamp, ledger: identity };
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.stamp == stamp) {
            let last = cached.view.runs.last();
            let fits = last.is_none_or(|run| run.fits(ledger, size).is_some());
            if fits && cached.view.rollback.is_none() {
                return Arc::clone(&cached.view);
            }
        }
        let folder = stamp.folder.and_then(|_| place.folder(NAME).and_then(Kept::from_here).ok());
        let view = match folder {
            Some(folder) => Arc::new(load(&folder, ledger, size)),
            None => Arc::default(),
        };
        *cached = Some(Cached { stamp, view: Arc::clone(&view) });
        view
    }

    /// What there is of the index, every page of it read.
    pub(crate) fn state(
        &self,
        place: &Kept<Dir>,
        ledger: &File,
        identity: Identity,
        size: u64,
    ) -> IndexState {
        let view = self.view(place, ledger, identity, size);
        let folder = place.folder(NAME).and_then(Kept::from_here).ok();
        let names =
            folder.iter().flat_map(|folder| names(folder).into_iter().map(move |n| (folder, n)));
        let is_damaged = |(folder, name): &(&Kept<Dir>, String)| {
            let Ok(run) = Run::open(folder, name) else { return true };
            (0..run.pages()).any(|page| run.page(page).is_err())
        };
        IndexState {
            runs: view.runs.len(),
            covered: view.good.length,
            of: size,
            damaged: names.filter(is_damaged).map(|(_, name)| name).collect(),
        }
    }

    /// Forgets what was read of the folder: it was changed.
    fn forget(&self) {
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Removes the runs that do not fit the ledger, so that they are evidence no longer.
    pub(crate) fn drop_unfit(&self, ledger: &File, size: u64) {
        let Ok(folder) = self.open() else { return };
        let book = first_line(ledger, size);
        for name in names(&folder) {
            let fits = Run::open(&folder, &name)
                .is_ok_and(|run| Some(run.book) == book && run.fits(ledger, size).is_some());
            if !fits {
                open::remove_at(&folder.handle, OsStr::new(&name));
            }
        }
        let _ = rustix::fs::fsync(&folder.handle);
        self.forget();
    }

    /// Removes the runs of this set of names.
    fn remove(&self, names: &HashSet<String>) {
        let Ok(folder) = self.open() else { return };
        for name in names {
            open::remove_at(&folder.handle, OsStr::new(name));
        }
    }
}

/// The runs of a folder that fit this ledger.
fn load(folder: &Kept<Dir>, ledger: &File, size: u64) -> View {
    let mut view = View::default();
    // A ledger without a first line belongs to no book yet, and every run to another.
    let Some(book) = first_line(ledger, size) else { return view };
    let mut fitting = Vec::new();
    for run in runs(folder).into_iter().filter(|run| run.book == book) {
        match run.fits(ledger, size) {
            Some(at) => fitting.push((Arc::new(run), at)),
            None => {
                view.rollback = view.rollback.max(Some(run.seq));
                view.unfit.push(run);
            }
        }
    }
    // Of the runs that begin where the last one ends, the widest.
    while let Some((run, at)) =
        fitting.iter().filter(|(run, _)| run.from == view.good.length).max_by_key(|(run, _)| run.to)
    {
        let head = granted_core::ledger::Head { seq: run.seq, at: *at, hash: run.hash };
        view.good = Good { length: run.to, head: Some(head) };
        view.runs.push(Arc::clone(run));
    }
    view
}

/// Every sound run in the folder.
fn runs(folder: &Kept<Dir>) -> Vec<Run> {
    names(folder).iter().filter_map(|name| Run::open(folder, name).ok()).collect()
}

/// The names that runs have.
fn names(folder: &Kept<Dir>) -> Vec<String> {
    let names = open::names(&folder.handle).unwrap_or_default();
    names.into_iter().filter(|name| name.ends_with(".run")).collect()
}

/// What tells one book's ledger from another's: the digest of its first line.
fn first_line(ledger: &File, size: u64) -> Option<Digest> {
    line_at(ledger, 0, size).ok().flatten().map(|line| Digest::of(&line))
}

#[cfg(test)]
mod tests;
