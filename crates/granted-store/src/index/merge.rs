//! Merging runs, so that there are few however long the ledger is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::{Arc, PoisonError};

use super::run::{self, Covers, Entry, Run};
use super::{Index, View, names};
use crate::open::{self, Identity};

/// How many runs are worth a merge.
const ENOUGH: usize = 4;
/// An appender merges runs of at most so many entries in all; larger merges are left to `tick`.
pub(super) const SMALL: u64 = 1 << 18;

impl Index {
    /// Merges runs and removes what is of no use: runs within wider ones, runs with a damaged
    /// page, and what a crash left half written.
    pub(crate) fn merge(&self, ledger: &File) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.remove_leftovers();
        let Ok((identity, size)) = Identity::of(ledger) else { return };
        let Ok(place) = self.ledger.open() else { return };
        loop {
            self.forget();
            let view = self.view(&place, ledger, identity, size);
            if view.rollback.is_some() || !self.merge_runs(&view, u64::MAX) {
                break;
            }
        }
        self.forget();
        let view = self.view(&place, ledger, identity, size);
        self.remove_contained(&view);
    }

    /// Merges the newest runs as far back as each is no larger than all that follow it; so at
    /// most as many are left as the logarithm of their entries, and a few. Whether it did.
    pub(super) fn merge_runs(&self, view: &View, limit: u64) -> bool {
        let total = |runs: &[Arc<Run>]| runs.iter().map(|run| run.entries).sum::<u64>();
        let chosen = (0..view.runs.len()).filter_map(|from| view.runs.get(from..)).find(|runs| {
            let (first, rest) = (runs.first(), runs.get(1..).unwrap_or_default());
            runs.len() >= ENOUGH
                && total(runs) <= limit
                && first.is_some_and(|first| first.entries <= total(rest))
        });
        let Some(runs) = chosen else { return false };
        let merged = self.write_merged(runs);
        if merged {
            // The new run is durable under its name. Whoever lists the folder in between prefers
            // it, since it is wider.
            self.remove(&runs.iter().map(|run| run.name()).collect());
        }
        self.forget();
        merged
    }

    fn write_merged(&self, runs: &[Arc<Run>]) -> bool {
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return false };
        let covers = Covers { from: first.from, ..***last };
        let mut bad = HashSet::new();
        let Ok(folder) = self.open() else { return false };
        let written = folder.replace(covers.name(), |file| {
            let mut writer = run::Writer::new(file);
            let mut sources: Vec<Source<'_>> = runs.iter().map(|run| Source::new(run)).collect();
            let mut heap = BinaryHeap::new();
            for (index, source) in sources.iter_mut().enumerate() {
                heap.extend(source.next(&mut bad)?.map(|entry| Reverse((entry, index))));
            }
            while let Some(Reverse((entry, index))) = heap.pop() {
                writer.push(entry)?;
                if let Some(source) = sources.get_mut(index) {
                    heap.extend(source.next(&mut bad)?.map(|entry| Reverse((entry, index))));
                }
            }
            writer.finish(&covers)
        });
        // A run with a damaged page goes, and its stretch is covered afresh by an appender.
        self.remove(&bad);
        written.is_ok()
    }

    fn remove_contained(&self, view: &View) {
        let kept: HashSet<String> = view.runs.iter().map(|run| run.name()).collect();
        let Ok(folder) = self.open() else { return };
        let names = names(&folder).into_iter().filter(|name| !kept.contains(name));
        let contained = names.filter(|name| {
            Run::open(&folder, name).is_ok_and(|run| {
                view.runs
                    .iter()
                    .any(|wide| wide.book == run.book && wide.from <= run.from && run.to <= wide.to)
            })
        });
        let contained = contained.collect();
        self.remove(&contained);
    }

    /// Whoever writes a file here holds its lock until it has its name.
    fn remove_leftovers(&self) {
        let Ok(folder) = self.open() else { return };
        let names = open::names(&folder.handle).unwrap_or_default();
        for name in names.iter().filter(|name| name.ends_with(".tmp")) {
            let file = folder.file(name, open::read_at);
            if file.is_ok_and(|file| file.handle.try_lock().is_ok()) {
                open::remove_at(&folder.handle, OsStr::new(name));
            }
        }
    }
}

/// The entries of a run in order, a page at a time.
struct Source<'r> {
    run: &'r Run,
    page: usize,
    entries: std::vec::IntoIter<Entry>,
}

impl<'r> Source<'r> {
    fn new(run: &'r Run) -> Source<'r> {
        Source { run, page: 0, entries: Vec::new().into_iter() }
    }

    fn next(&mut self, bad: &mut HashSet<String>) -> io::Result<Option<Entry>> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Ok(Some(entry));
            }
            if self.page >= self.run.pages() {
                return Ok(None);
            }
            let page = self.run.page(self.page).inspect_err(|_| {
                bad.insert(self.run.name());
            })?;
            self.entries = run::entries(&page).collect::<Vec<_>>().into_iter();
            self.page += 1;
        }
    }
}
