//! Reading: through a fresh open by path, without a lock, changing nothing.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use granted_core::custody::Breach;
use granted_core::digest::Digest;
use granted_core::ledger::row::Link;
use granted_core::ledger::{Head, Row, RowError, Subject};
use granted_core::store::{Appended, Condition, Damage, RawLine, ReadError, Unfinished};

use super::Site;
use super::check::{Good, Rest, check};
use super::lines::{Lines, count_lines, find_byte, line_at, line_before, read_some, to_u64};
use super::search::search;
use super::writer::put_lines;
use crate::custody::{Dir, Kept};
use crate::index::{IndexState, View};
use crate::open::{self, Identity, OpenError};

/// The ledger file as it was when it was opened.
pub(crate) struct Reader<'s> {
    site: &'s Site,
    folder: Kept<Dir>,
    file: File,
    identity: Identity,
    size: u64,
    view: Arc<View>,
    breach: Option<Breach>,
}

/// See [`granted_core::store::Ledger::digest_at`]. Without the index, which it has no use for.
pub(crate) fn digest_at(site: &Site, offset: u64) -> Result<Option<Digest>, ReadError> {
    let file = match site.folder.file(site.name(), open::read_at) {
        Ok(kept) => kept.handle,
        Err(OpenError::Missing(_)) => return Ok(None),
        Err(e) => return Err(ReadError::Unreadable(e.to_string())),
    };
    let line = line_at(&file, offset, u64::MAX);
    let line = line.map_err(|e| ReadError::Unreadable(site.shown(&e)))?;
    Ok(line.map(|line| Digest::of(&line)))
}

/// A row is looked for by halving the file until so much is left to count through.
const STEP: u64 = 128 << 10;

impl<'s> Reader<'s> {
    /// Opens the ledger; `None` if there is none.
    pub(crate) fn open(site: &'s Site) -> Result<Option<Reader<'s>>, ReadError> {
        let opened = site.folder.open().and_then(|folder| {
            let file = folder.file(site.name(), open::read_at)?;
            Ok((folder, file))
        });
        let (folder, kept) = match opened {
            Ok(opened) => opened,
            Err(OpenError::Missing(_)) => return Ok(None),
            Err(e) => return Err(ReadError::Unreadable(e.to_string())),
        };
        // What somebody else could have written is still shown; only nothing is decided by it.
        let (file, breach) = (kept.handle, kept.breach);
        let (identity, size) = Identity::told(&kept.stat);
        let view = site.index.view(&folder, &file, identity, size);
        Ok(Some(Reader { site, folder, file, identity, size, view, breach }))
    }

    fn unreadable(&self, error: &io::Error) -> ReadError {
        ReadError::Unreadable(self.site.shown(error))
    }

    /// Reads the file, with the path in the error.
    fn io<T>(&self, result: io::Result<T>) -> Result<T, ReadError> {
        result.map_err(|e| self.unreadable(&e))
    }

    /// Follows the chain from what the index covers: the whole truth about the ledger's end.
    fn check(&self) -> Result<(Good, Rest), ReadError> {
        self.io(check(&self.file, self.view.good, self.size, &mut |_| {}))
    }

    /// The offset behind the last good append, and that append's last line if it was read.
    ///
    /// Mostly the last line tells: it is whole, and the last of its append.
    fn end(&self) -> Result<(u64, Option<Vec<u8>>), ReadError> {
        if self.size == 0 {
            return Ok((0, None));
        }
        if let Some((_, line)) = self.io(line_before(&self.file, self.size))?
            && Link::parse(&line).is_ok_and(|link| link.of.is_none_or(|(i, n)| i == n))
        {
            return Ok((self.size, Some(line)));
        }
        Ok((self.check()?.0.length, None))
    }

    /// See [`granted_core::store::Ledger::head`].
    pub(crate) fn head(&self) -> Result<Option<Head>, ReadError> {
        let (end, line) = self.end()?;
        let line = match line {
            Some(line) => Some(line),
            None if end == 0 => return Ok(None),
            None => self.io(line_before(&self.file, end))?.map(|(_, line)| line),
        };
        let line = line.unwrap_or_default();
        let link = Link::parse(&line)
            .map_err(|e| self.bad_row(end.saturating_sub(to_u64(line.len()) + 1), e))?;
        Ok(Some(Head { seq: link.seq, at: link.at, hash: Digest::of(&line) }))
    }

    /// See [`granted_core::store::Ledger::rows_after`].
    pub(crate) fn rows_after(&self, subject: &Subject, seq: u64) -> Result<Vec<Row>, ReadError> {
        let (end, _) = self.end()?;
        let (hits, covered) = self.view.hits(subject.as_str());
        let mut lines: Vec<(u64, Vec<u8>)> = Vec::new();
        for hit in hits.iter().filter(|hit| hit.offset < end && hit.seq > seq) {
            let line = self.io(View::hit_line(&self.file, end, subject.as_str(), hit))?;
            let (seq, offset) = (hit.seq, hit.offset);
            let damaged = |cause| ReadError::Damaged { line: seq, offset, cause };
            lines.push((offset, line.map_err(damaged)?));
        }
        let mut found = |offset, line: &[u8]| {
            // What cannot be read is told below.
            if seq == 0 || Link::parse(line).map_or(true, |link| link.seq > seq) {
                lines.push((offset, line.to_vec()));
            }
        };
        let hole = self.io(search(&self.file, covered, end, &subject.needle(), &mut found))?;
        let mut rows = Vec::with_capacity(lines.len());
        let (mut last, mut linked) = (seq, true);
        let mut scratch = Vec::new();
        for (offset, line) in &lines {
            let row = self.parse(*offset, line, &mut scratch)?;
            if let Some(before) = row.moves(subject) {
                linked &= before == last;
                last = row.seq;
                rows.push((*offset, row));
            }
        }
        if hole || !linked {
            // Behind a hole nothing was ever durable, and a row that does not name the one before
            // may lie behind damage. Only what is in the chain counts.
            let end = self.check()?.0.length;
            rows.retain(|(offset, _)| *offset < end);
        }
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn parse(&self, offset: u64, line: &[u8], scratch: &mut Vec<u8>) -> Result<Row, ReadError> {
        Row::parse_with(line, scratch).map_err(|e| self.bad_row(offset, e))
    }

    /// An error with the line's number, which is only counted now.
    fn bad_row(&self, offset: u64, error: RowError) -> ReadError {
        let line = match count_lines(&self.file, 0, offset) {
            Ok(before) => before + 1,
            Err(e) => return self.unreadable(&e),
        };
        match error {
            RowError::Newer(what) => ReadError::Newer { line, what },
            RowError::Malformed(cause) => ReadError::Damaged { line, offset, cause },
        }
    }

    /// See [`granted_core::store::Ledger::row`].
    pub(crate) fn row(&self, seq: u64) -> Result<Option<Row>, ReadError> {
        let (end, _) = self.end()?;
        let Some(offset) = self.io(self.seek(seq, end))?.filter(|_| seq > 0) else {
            return Ok(None);
        };
        let line = self.io(line_at(&self.file, offset, end))?;
        self.parse(offset, line.as_deref().unwrap_or_default(), &mut Vec::new()).map(Some)
    }

    /// The offset of a line, by its number; `None` if there are fewer.
    fn seek(&self, wanted: u64, end: u64) -> io::Result<Option<u64>> {
        let (mut low, mut number, mut high) = (0, 1, end);
        while wanted > 1 && high.saturating_sub(low) > STEP {
            let Some(lf) = find_byte(&self.file, b'\n', low.midpoint(high), high)? else { break };
            let line = line_at(&self.file, lf + 1, high)?;
            // Where a line says nothing of its number, the rest is counted.
            let Some(link) = line.and_then(|line| Link::parse(&line).ok()) else { break };
            match link.seq <= wanted {
                true => (low, number) = (lf + 1, link.seq),
                false => high = lf + 1,
            }
        }
        let mut lines = Lines::new(&self.file, low, end);
        while let Some((place, _)) = lines.next()? {
            if number >= wanted {
                return Ok(Some(place.offset));
            }
            number += 1;
        }
        Ok(None)
    }

    /// See [`granted_core::store::Ledger::scan`].
    pub(crate) fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Unfinished>, ReadError> {
        let (mut end, mut unfinished) = (self.size, None);
        let mut whole = self.end()?.0 == self.size;
        if !whole {
            (end, unfinished) = self.unfinished()?;
        }
        let from = from.max(1);
        let Some(start) = self.io(self.seek(from, end))? else { return Ok(unfinished) };
        let mut lines = Lines::new(&self.file, start, end);
        let mut seq = from;
        loop {
            if lines.nul && whole {
                // Maybe there is a hole, behind which nothing was ever durable.
                (end, unfinished) = self.unfinished()?;
                whole = false;
            }
            let Some((place, bytes)) = self.io(lines.next())? else { break };
            if place.offset >= end || visit(RawLine { seq, offset: place.offset, bytes }).is_break()
            {
                break;
            }
            seq += 1;
        }
        Ok(unfinished)
    }

    /// How far lines are shown, and what of an append lies behind that.
    fn unfinished(&self) -> Result<(u64, Option<Unfinished>), ReadError> {
        Ok(match self.check()? {
            (good, Rest::Torn) => {
                let bytes = self.size.saturating_sub(good.length);
                (good.length, Some(Unfinished { offset: good.length, bytes }))
            }
            _ => (self.size, None),
        })
    }

    /// See [`granted_core::store::Ledger::condition`].
    pub(crate) fn condition(&self) -> Result<Condition, ReadError> {
        let damage = match self.check()?.1 {
            Rest::Damage { line, offset, cause } => {
                Some(Damage { line, offset, bytes: self.size.saturating_sub(offset), cause })
            }
            Rest::Nothing | Rest::Torn => None,
        };
        Ok(Condition { damage, rollback: self.view.rollback, custody: self.breach.clone() })
    }

    /// See [`super::FileLedger::index`].
    pub(crate) fn index(&self) -> IndexState {
        self.site.index.state(&self.folder, &self.file, self.identity, self.size)
    }

    /// See [`granted_core::store::Ledger::holds`].
    pub(crate) fn holds(&self, appended: &[&Appended]) -> Result<bool, ReadError> {
        let (mut expected, mut bytes) = (Vec::new(), Vec::new());
        for appended in appended {
            expected.clear();
            put_lines(&mut expected, &appended.lines);
            bytes.resize(expected.len(), 0);
            let count = self.io(read_some(&self.file, &mut bytes, appended.position))?;
            if count != expected.len() || bytes != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
