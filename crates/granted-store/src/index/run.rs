//! A run: sorted entries in pages, a table of the pages, and a footer.
//!
//! ```text
//! pages    entries of 24 bytes (key, seq, offset), sorted; 2,730 a page
//! table    40 bytes a page: its first key, the SHA-256 of its bytes
//! footer   "granrun1", from, to, last offset, seq, entries, pages,
//!          hash of the last row, hash of the book's first row, SHA-256 of table and footer
//! ```
//!
//! Integers have 8 bytes, big-endian. The table and the footer are checked when a run is opened, a
//! page when it is read.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use granted_core::digest::Digest;
use granted_core::ledger::row::Link;
use granted_core::time::Stamp;
use sha2::{Digest as _, Sha256};

use crate::custody::{Dir, Kept};
use crate::file::lines::{line_at, read_some, to_u64};
use crate::open;

/// The form of a run: the first bytes of its footer.
pub const RUN_FORMAT: &str = "granrun1";
const ENTRY: usize = 24;
/// The bytes of a full page: as many entries as 64 KiB hold.
pub(super) const PAGE: usize = 2_730 * ENTRY;
/// How many entries are looked at at once.
const BLOCK: usize = 128;
const ROW: usize = 40;
/// The footer up to its own digest.
const FIXED: usize = 7 * 8 + 2 * 32;
const FOOTER: usize = FIXED + 32;

/// The first eight bytes of the SHA-256 of a subject's text.
pub(super) fn key(subject: &str) -> u64 {
    let Digest(bytes) = Digest::of(subject.as_bytes());
    bytes.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

/// One row that moves a subject with this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub key: u64,
    pub seq: u64,
    pub offset: u64,
}

/// Where a row lies that may move the subject that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub seq: u64,
    pub offset: u64,
}

/// What a run covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Covers {
    pub from: u64,
    pub to: u64,
    pub last_offset: u64,
    pub seq: u64,
    pub hash: Digest,
    pub book: Digest,
}

impl Covers {
    /// The file's name; the widest of two runs from the same offset has the greater one.
    pub(super) fn name(&self) -> String {
        format!("{:016x}-{:016x}.run", self.from, self.to)
    }
}

/// An open run.
pub(super) struct Run {
    file: File,
    covers: Covers,
    pub entries: u64,
    table: Vec<u8>,
    damaged: AtomicBool,
    /// Which pages this process has checked.
    verified: Vec<AtomicBool>,
}

impl std::ops::Deref for Run {
    type Target = Covers;
    fn deref(&self) -> &Covers {
        &self.covers
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the run is damaged")
}

/// Takes integers off the front of some bytes.
fn int(bytes: &mut &[u8]) -> io::Result<u64> {
    let (first, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    *bytes = rest;
    Ok(u64::from_be_bytes(*first))
}

fn digest(bytes: &mut &[u8]) -> io::Result<Digest> {
    let (first, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    *bytes = rest;
    Ok(Digest(*first))
}

fn read_exact(file: &File, length: usize, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    match read_some(file, &mut bytes, offset)? == length {
        true => Ok(bytes),
        false => Err(damaged()),
    }
}

impl Run {
    /// Opens a run and checks its table and footer.
    pub(super) fn open(folder: &Kept<Dir>, name: &str) -> io::Result<Run> {
        let opened = folder.file(name, open::read_at).and_then(Kept::sound);
        let opened = opened.map_err(io::Error::other)?;
        let (size, file) = (opened.size(), opened.handle);
        let footer_at = size.checked_sub(to_u64(FOOTER)).ok_or_else(damaged)?;
        let footer = read_exact(&file, FOOTER, footer_at)?;
        let (fixed, mut own) = footer.split_at_checked(FIXED).ok_or_else(damaged)?;
        let mut fields = fixed.strip_prefix(RUN_FORMAT.as_bytes()).ok_or_else(damaged)?;
        let (from, to) = (int(&mut fields)?, int(&mut fields)?);
        let (last_offset, seq) = (int(&mut fields)?, int(&mut fields)?);
        let (entries, pages) = (int(&mut fields)?, int(&mut fields)?);
        let (hash, book) = (digest(&mut fields)?, digest(&mut fields)?);
        // The sizes must add up before anything of that size is read.
        let body = entries.checked_mul(to_u64(ENTRY)).ok_or_else(damaged)?;
        let table_size = pages.checked_mul(to_u64(ROW)).ok_or_else(damaged)?;
        let fits = body.checked_add(table_size) == Some(footer_at)
            && pages == body.div_ceil(to_u64(PAGE))
            && from <= last_offset
            && last_offset < to;
        if !fits {
            return Err(damaged());
        }
        let table_size = usize::try_from(table_size).map_err(|_| damaged())?;
        let table = read_exact(&file, table_size, body)?;
        if checksum(&table, fixed) != digest(&mut own)? {
            return Err(damaged());
        }
        let covers = Covers { from, to, last_offset, seq, hash, book };
        let damaged = AtomicBool::new(false);
        let verified = (0..pages).map(|_| AtomicBool::new(false)).collect();
        Ok(Run { file, covers, entries, table, damaged, verified })
    }

    /// Notes that a page was found damaged.
    pub(super) fn set_damaged(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }

    /// Whether a page was found damaged.
    pub(super) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// The time of the run's last row, if that row lies in the ledger where the run saw it. Since
    /// rows are chained, everything before it is then as the run saw it too.
    pub(super) fn fits(&self, ledger: &File, size: u64) -> Option<Stamp> {
        if self.to > size {
            return None;
        }
        let line = line_at(ledger, self.last_offset, self.to).ok()??;
        let end = self.last_offset + to_u64(line.len()) + 1;
        if end != self.to || Digest::of(&line) != self.hash {
            return None;
        }
        Link::parse(&line).ok().map(|link| link.at)
    }

    pub(super) fn pages(&self) -> usize {
        self.table.len() / ROW
    }

    /// A page's first key and digest.
    fn row(&self, page: usize) -> io::Result<(u64, Digest)> {
        let mut row = self.table.get(page * ROW..(page + 1) * ROW).ok_or_else(damaged)?;
        Ok((int(&mut row)?, digest(&mut row)?))
    }

    /// Reads a page and checks it.
    pub(super) fn page(&self, page: usize) -> io::Result<Vec<u8>> {
        let (_, expected) = self.row(page)?;
        let offset = to_u64(page) * to_u64(PAGE);
        let left = self.entries * to_u64(ENTRY) - offset;
        let length = usize::try_from(left).unwrap_or(PAGE).min(PAGE);
        let bytes = read_exact(&self.file, length, offset)?;
        match Digest::of(&bytes) == expected {
            true => Ok(bytes),
            false => Err(damaged()),
        }
    }

    /// Checks a page, unless this process has done so already. Reading and hashing a whole page
    /// costs far more than looking into it.
    fn verify(&self, page: usize) -> io::Result<()> {
        let verified = self.verified.get(page).ok_or_else(damaged)?;
        if !verified.load(Ordering::Relaxed) {
            self.page(page)?;
            verified.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Up to [`BLOCK`] entries from this number on, before `end`.
    fn block(&self, from: u64, end: u64) -> io::Result<Vec<Entry>> {
        let count = usize::try_from(end - from).unwrap_or(BLOCK).min(BLOCK);
        let bytes = read_exact(&self.file, count * ENTRY, from * to_u64(ENTRY))?;
        Ok(entries(&bytes).collect())
    }

    /// The first of the entries `low..high` of a page that is not below the key, whose keys are from
    /// `keys.0` to `keys.1`.
    ///
    /// Keys are digests and so spread evenly: one mostly lies about where its value says.
    fn seek(&self, key: u64, entries: Range<u64>, keys: (u64, u64)) -> io::Result<u64> {
        let (Range { start: mut low, end: mut high }, (mut least, mut most)) = (entries, keys);
        while low < high {
            let part = u128::from(key.saturating_sub(least)) * u128::from(high - low);
            let guess = part.checked_div(u128::from(most.saturating_sub(least))).unwrap_or(0);
            let guess = low + u64::try_from(guess).unwrap_or(0).min(high - low);
            let last = high.saturating_sub(to_u64(BLOCK)).max(low);
            let from = guess.saturating_sub(to_u64(BLOCK / 2)).clamp(low, last);
            let block = self.block(from, high)?;
            let below = block.partition_point(|entry| entry.key < key);
            match (block.first(), block.last()) {
                (Some(first), _) if below == 0 && from > low => (high, most) = (from, first.key),
                (_, Some(last)) if below == block.len() => {
                    (low, least) = (from + to_u64(below), last.key);
                }
                _ => return Ok(from + to_u64(below)),
            }
        }
        Ok(low)
    }

    /// Puts the rows with this key behind `hits`, oldest first.
    pub(super) fn find(&self, key: u64, hits: &mut Vec<Hit>) -> io::Result<()> {
        // The first page that may hold the key is the last one that begins below it.
        let (mut low, mut high) = (0, self.pages());
        while low < high {
            let middle = low.midpoint(high);
            match self.row(middle)?.0 < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        for page in low.saturating_sub(1)..self.pages() {
            if self.row(page)?.0 > key {
                break;
            }
            self.verify(page)?;
            let first = to_u64(page) * to_u64(PAGE / ENTRY);
            let end = (first + to_u64(PAGE / ENTRY)).min(self.entries);
            let keys = (self.row(page)?.0, self.row(page + 1).map_or(u64::MAX, |row| row.0));
            let mut at = self.seek(key, first..end, keys)?;
            while at < end {
                let block = self.block(at, end)?;
                let same = block.iter().take_while(|entry| entry.key == key);
                let before = hits.len();
                hits.extend(same.map(|entry| Hit { seq: entry.seq, offset: entry.offset }));
                if hits.len() - before < block.len() {
                    break;
                }
                at += to_u64(block.len());
            }
        }
        Ok(())
    }
}

/// Reads an entry.
pub(super) fn entry(bytes: &[u8; ENTRY]) -> Entry {
    let mut bytes = bytes.as_slice();
    // There are exactly three integers.
    let mut next = || int(&mut bytes).unwrap_or(0);
    Entry { key: next(), seq: next(), offset: next() }
}

/// The entries of a page.
pub(super) fn entries(page: &[u8]) -> impl Iterator<Item = Entry> {
    page.as_chunks::<ENTRY>().0.iter().map(entry)
}

fn checksum(table: &[u8], fixed: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(table);
    hash.update(fixed);
    Digest(hash.finalize().into())
}

/// Writes a run, its entries in order, without holding more than one page and the table.
pub(super) struct Writer<W> {
    out: W,
    page: Vec<u8>,
    first: u64,
    table: Vec<u8>,
    entries: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Writer<W> {
        let page = Vec::with_capacity(PAGE);
        Writer { out, page, first: 0, table: Vec::new(), entries: 0 }
    }

    pub(super) fn push(&mut self, entry: Entry) -> io::Result<()> {
        if self.page.is_empty() {
            self.first = entry.key;
        }
        for field in [entry.key, entry.seq, entry.offset] {
            self.page.extend(field.to_be_bytes());
        }
        self.entries += 1;
        if self.page.len() >= PAGE { self.end_page() } else { Ok(()) }
    }

    fn end_page(&mut self) -> io::Result<()> {
        self.table.extend(self.first.to_be_bytes());
        self.table.extend(Digest::of(&self.page).0);
        self.out.write_all(&self.page)?;
        self.page.clear();
        Ok(())
    }

    pub(super) fn finish(mut self, covers: &Covers) -> io::Result<()> {
        if !self.page.is_empty() {
            self.end_page()?;
        }
        let pages = to_u64(self.table.len() / ROW);
        let mut footer = RUN_FORMAT.as_bytes().to_vec();
        let Covers { from, to, last_offset, seq, hash, book } = covers;
        for field in [*from, *to, *last_offset, *seq, self.entries, pages] {
            footer.extend(field.to_be_bytes());
        }
        footer.extend(hash.0);
        footer.extend(book.0);
        let own = checksum(&self.table, &footer);
        self.out.write_all(&self.table)?;
        self.out.write_all(&footer)?;
        self.out.write_all(&own.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::custody::Folder;

    /// Keys as digests are, and as nobody would have them: many of one, and all at the ends.
    fn keys() -> impl Strategy<Value = Vec<u64>> {
        let key = prop_oneof![any::<u64>(), Just(7), 0_u64..20, Just(u64::MAX), 1_u64 << 63..];
        let crowd = (key, 1_usize..700).prop_map(|(key, count)| vec![key; count]);
        let crowds = proptest::collection::vec(crowd, 0..8).prop_map(|crowds| crowds.concat());
        (crowds, proptest::collection::vec(any::<u64>(), 1..4_000))
            .prop_map(|(a, b)| [a, b].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn finds_what_a_scan_finds(keys in keys(), others in proptest::collection::vec(any::<u64>(), 50)) {
            let mut entries: Vec<Entry> = (1..)
                .zip(&keys)
                .map(|(seq, key)| Entry { key: *key, seq, offset: seq * 10 })
                .collect();
            entries.sort_unstable();
            let dir = tempfile::tempdir().unwrap();
            let folder = Folder::new(dir.path()).open().unwrap();
            let (hash, book) = (Digest([1; 32]), Digest([2; 32]));
            let covers = Covers { from: 0, to: 10, last_offset: 5, seq: 1, hash, book };
            folder.replace("a.run", |file| {
                let mut writer = Writer::new(file);
                entries.iter().try_for_each(|entry| writer.push(*entry))?;
                writer.finish(&covers)
            }).unwrap();
            let run = Run::open(&folder, "a.run").unwrap();
            let ends = [0, 1, 6, 8, u64::MAX - 1, u64::MAX];
            for key in keys.iter().step_by(37).chain(&others).chain(&ends) {
                let mut hits = Vec::new();
                run.find(*key, &mut hits).unwrap();
                let hits: Vec<(u64, u64)> = hits.iter().map(|hit| (hit.seq, hit.offset)).collect();
                let scan = entries.iter().filter(|entry| entry.key == *key);
                prop_assert_eq!(hits, scan.map(|entry| (entry.seq, entry.offset)).collect::<Vec<_>>());
            }
        }
    }
}
