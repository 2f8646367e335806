//! Writing a run over rows that are durable.

use std::collections::HashSet;
use std::fs::File;
use std::io;

use granted_core::digest::Digest;
use granted_core::ledger::row::Moves;

use super::run::{self, Covers, Entry};
use super::{Index, NAME, UNCOVERED, first_line};
use crate::custody::Kept;
use crate::file::lines::{Lines, line_at};
use crate::open::Identity;

/// How much of the ledger one run covers at most when it is first written, so that its entries are
/// sorted in little memory.
const STRETCH: u64 = 64 << 20;

impl Index {
    /// Covers more of the ledger, if enough of it is uncovered. Everything before `synced` must be
    /// durable and end with an append.
    ///
    /// Only called when nothing hangs on it any more: an error leaves the index as it was.
    pub(crate) fn grow(&self, ledger: &File, synced: u64) {
        // Another thread that writes runs does this work too.
        let Ok(_writing) = self.writing.try_lock() else { return };
        let Ok((identity, _)) = Identity::of(ledger) else { return };
        let Ok(place) = self.ledger.open() else { return };
        let mut view = self.view(&place, ledger, identity, synced);
        let damaged: HashSet<String> = view.damaged().map(Covers::name).collect();
        if !damaged.is_empty() {
            self.remove(&damaged);
            self.forget();
            view = self.view(&place, ledger, identity, synced);
        }
        let from = view.good.length;
        // The runs of a ledger that was rolled back are evidence, and none is written over them.
        if view.rollback.is_some() || synced.saturating_sub(from) <= UNCOVERED {
            return;
        }
        if self.write_run(ledger, from, synced).is_ok() {
            self.forget();
            let view = self.view(&place, ledger, identity, synced);
            self.merge_runs(&view, super::merge::SMALL);
        }
    }

    fn write_run(&self, ledger: &File, from: u64, synced: u64) -> io::Result<()> {
        let nothing = || io::Error::new(io::ErrorKind::InvalidData, "no rows to cover");
        let book = first_line(ledger, synced).ok_or_else(nothing)?;
        let mut entries = Vec::new();
        // The end of the last whole append: its end, its last line's offset and seq, and how many
        // entries there were.
        let mut last = None;
        let mut lines = Lines::new(ledger, from, synced);
        while let Some((place, line)) = lines.next()? {
            let Ok(row) = Moves::parse(line) else { break };
            for (subject, _) in &row.refs {
                let key = run::key(subject);
                entries.push(Entry { key, seq: row.seq, offset: place.offset });
            }
            if row.of.is_none_or(|(i, n)| i == n) {
                last = Some((place.end, place.offset, row.seq, entries.len()));
                if place.end - from >= STRETCH {
                    break;
                }
            }
        }
        let (to, last_offset, seq, count) = last.ok_or_else(nothing)?;
        entries.truncate(count);
        entries.sort_unstable();
        let line = line_at(ledger, last_offset, to)?.ok_or_else(nothing)?;
        let covers = Covers { from, to, last_offset, seq, hash: Digest::of(&line), book };
        let folder =
            self.ledger.join(NAME).make().and_then(Kept::from_here).map_err(io::Error::other)?;
        folder.replace(covers.name(), |file| {
            let mut writer = run::Writer::new(file);
            entries.iter().try_for_each(|entry| writer.push(*entry))?;
            writer.finish(&covers)
        })
    }
}
