//! Searching the part of the ledger that no run covers.

use std::cell::RefCell;
use std::fs::File;
use std::io;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use super::lines::{CHUNK, read_some, to_u64};

thread_local! {
    /// Kept between searches: touching fresh memory costs as much as searching it.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Shows each whole line between two offsets that holds these bytes, with its offset. Answers
/// whether there is a NUL byte before one of them.
pub(crate) fn search(
    file: &File,
    from: u64,
    to: u64,
    needle: &[u8],
    found: &mut dyn FnMut(u64, &[u8]),
) -> io::Result<bool> {
    let finder = Finder::new(needle);
    let mut nul = false;
    BUFFER.with_borrow_mut(|buffer| {
        let mut offset = from;
        while offset < to {
            let room = usize::try_from(to - offset).unwrap_or(CHUNK).min(CHUNK);
            if buffer.len() < room {
                buffer.resize(room, 0);
            }
            let count = read_some(file, buffer.get_mut(..room).unwrap_or_default(), offset)?;
            if count == 0 {
                break;
            }
            // A line that the chunk cuts is read again with the next; one longer than a chunk is
            // no row.
            let read = buffer.get(..count).unwrap_or_default();
            let whole = memrchr(b'\n', read).map_or(count, |lf| lf + 1);
            let lines = read.get(..whole).unwrap_or_default();
            nul |= search_lines(lines, &finder, &mut |at, line| found(offset + to_u64(at), line));
            offset += to_u64(whole);
        }
        Ok(nul)
    })
}

fn search_lines(lines: &[u8], finder: &Finder<'_>, found: &mut dyn FnMut(usize, &[u8])) -> bool {
    let mut after = 0;
    while let Some(at) = finder.find(lines.get(after..).unwrap_or_default()) {
        let hit = after + at;
        let before = lines.get(..hit).unwrap_or_default();
        let start = memrchr(b'\n', before).map_or(0, |lf| lf + 1);
        let rest = lines.get(hit..).unwrap_or_default();
        let end = hit + memchr(b'\n', rest).unwrap_or(rest.len());
        found(start, lines.get(start..end).unwrap_or_default());
        after = (end + 1).min(lines.len());
    }
    memchr(0, lines.get(..after).unwrap_or_default()).is_some()
}
