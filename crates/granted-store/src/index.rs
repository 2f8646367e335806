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
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use granted_core::digest::Digest;
use granted_core::ledger::row::{Link, Moves};

use crate::file::check::Good;
use crate::file::lines::{line_at, to_u64};
use crate::open::Identity;
pub(crate) use run::Hit;
use run::Run;

/// How much of the ledger may be uncovered before an appender writes a run.
pub(crate) const UNCOVERED: u64 = 128 << 10;

/// The index of one ledger.
pub(crate) struct Index {
    folder: PathBuf,
    cached: Mutex<Option<Cached>>,
    /// Held while this process writes or merges runs.
    writing: Mutex<()>,
}

struct Cached {
    stamp: Stamp,
    view: Arc<View>,
}

/// What tells whether a view is still the newest: the folder as it was, and the ledger file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    folder: Option<(u64, u64, i64, i64)>,
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
    pub(crate) fn beside(ledger: &Path) -> Index {
        let folder = ledger.parent().unwrap_or(Path::new("")).join("index");
        Index { folder, cached: Mutex::new(None), writing: Mutex::new(()) }
    }

    /// The runs that fit this ledger.
    pub(crate) fn view(&self, ledger: &File, identity: Identity, size: u64) -> Arc<View> {
        let folder = std::fs::symlink_metadata(&self.folder)
            .ok()
            .map(|m| (m.dev(), m.ino(), m.mtime(), m.mtime_nsec()));
        let stamp = Stamp { folder, ledger: identity };
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.stamp == stamp) {
            let last = cached.view.runs.last();
            let fits = last.is_none_or(|run| run.fits(ledger, size).is_some());
            if fits && cached.view.rollback.is_none() {
                return Arc::clone(&cached.view);
            }
        }
        let view = match folder {
            Some(_) => Arc::new(self.load(ledger, size)),
            None => Arc::default(),
        };
        *cached = Some(Cached { stamp, view: Arc::clone(&view) });
        view
    }

    /// Forgets what was read of the folder: it was changed.
    fn forget(&self) {
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn load(&self, ledger: &File, size: u64) -> View {
        let mut view = View::default();
        // A ledger without a first line belongs to no book yet, and every run to another.
        let Some(book) = first_line(ledger, size) else { return view };
        let mut fitting = Vec::new();
        for run in self.runs().into_iter().filter(|run| run.book == book) {
            match run.fits(ledger, size) {
                Some(at) => fitting.push((Arc::new(run), at)),
                None => {
                    view.rollback = view.rollback.max(Some(run.seq));
                    view.unfit.push(run);
                }
            }
        }
        // Of the runs that begin where the last one ends, the widest.
        while let Some((run, at)) = fitting
            .iter()
            .filter(|(run, _)| run.from == view.good.length)
            .max_by_key(|(run, _)| run.to)
        {
            let head = granted_core::ledger::Head { seq: run.seq, at: *at, hash: run.hash };
            view.good = Good { length: run.to, head: Some(head) };
            view.runs.push(Arc::clone(run));
        }
        view
    }

    /// Every sound run in the folder.
    fn runs(&self) -> Vec<Run> {
        self.names().iter().filter_map(|name| Run::open(&self.folder.join(name)).ok()).collect()
    }

    /// The names that runs have.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".run")).collect()
    }

    /// Removes the runs that do not fit the ledger, so that they are evidence no longer.
    pub(crate) fn drop_unfit(&self, ledger: &File, size: u64) {
        let book = first_line(ledger, size);
        for name in self.names() {
            let path = self.folder.join(&name);
            let fits = Run::open(&path)
                .is_ok_and(|run| Some(run.book) == book && run.fits(ledger, size).is_some());
            if !fits {
                let _ = std::fs::remove_file(path);
            }
        }
        let _ = crate::open::sync_folder(&self.folder);
        self.forget();
    }

    /// Removes the runs of this set of names.
    fn remove(&self, names: &HashSet<String>) {
        for name in names {
            // Somebody else may have removed it first.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

/// What tells one book's ledger from another's: the digest of its first line.
fn first_line(ledger: &File, size: u64) -> Option<Digest> {
    line_at(ledger, 0, size).ok().flatten().map(|line| Digest::of(&line))
}
