//! Checking the ledger's end: where the last good append ends, and what lies behind it.

use std::fs::File;
use std::io;

use granted_core::digest::Digest;
use granted_core::ledger::row::Link;
use granted_core::ledger::{Head, Row};

use super::lines::{Lines, find_byte, read_some};

/// The end of a good append: everything before it is rows in a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Good {
    pub length: u64,
    pub head: Option<Head>,
}

/// What lies behind the last good append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// What a crash in the middle of an append leaves.
    Torn,
    /// Nothing that a crash explains: the first bad line, its offset, what is wrong.
    Damage {
        line: u64,
        offset: u64,
        cause: String,
    },
}

/// Follows the chain from a good end to the end of the file; shows each chained line.
pub(crate) fn check(
    file: &File,
    from: Good,
    size: u64,
    visit: &mut dyn FnMut(&[u8]),
) -> io::Result<(Good, Rest)> {
    let mut lines = Lines::new(file, from.length, size);
    let (mut good, mut head) = (from, from.head);
    // The end before the last append that was read, and where its last line begins.
    let mut before: Option<(Good, u64)> = None;
    // The place of the last line in an append of which more is to come.
    let mut open: Option<(u64, u64)> = None;
    let bad = loop {
        let Some((place, line)) = lines.next()? else {
            break None;
        };
        if !place.whole {
            break None;
        }
        match follows(head, open, line) {
            Ok((link, hash)) => {
                visit(line);
                head = Some(Head { seq: link.seq, at: link.at, hash });
                open = link.of.filter(|(i, n)| i < n);
                if open.is_none() {
                    before = Some((good, place.offset));
                    good = Good { length: place.end, head };
                }
            }
            Err(cause) => {
                // A row that was written with another digest of the row before shows that that one
                // was changed since. Of anything else it shows nothing.
                let next = head.map_or(1, |head| head.seq + 1);
                let is_next = Row::parse(line).is_ok_and(|row| row.seq == next);
                break match before.filter(|_| is_next && open.is_none()) {
                    Some((earlier, offset)) => {
                        good = earlier;
                        Some((
                            next - 1,
                            offset,
                            "the line behind it has another digest of it".into(),
                        ))
                    }
                    None => Some((next, place.offset, cause)),
                };
            }
        }
    };
    let rest = match bad {
        _ if good.length >= size => Rest::Nothing,
        None => Rest::Torn,
        Some(_) if has_hole(file, good.length, size)? => Rest::Torn,
        Some((line, offset, cause)) => Rest::Damage { line, offset, cause },
    };
    Ok((good, rest))
}

/// The least that a disk writes at once.
const SECTOR: u64 = 512;

/// Whether a crash explains that bytes are missing: of an append that was not synced, sectors land in
/// any order, and those that did not are all NUL. A NUL byte beside others in one sector was written.
fn has_hole(file: &File, from: u64, size: u64) -> io::Result<bool> {
    let mut hole = false;
    let mut start = from;
    while let Some(at) = find_byte(file, 0, start, size)? {
        let begin = (at - at % SECTOR).max(from);
        let end = (at - at % SECTOR + SECTOR).min(size);
        let mut sector = vec![0; usize::try_from(end - begin).unwrap_or_default()];
        let count = read_some(file, &mut sector, begin)?;
        if sector.iter().take(count).any(|byte| *byte != 0) {
            return Ok(false);
        }
        hole = true;
        start = end;
    }
    Ok(hole)
}

/// Whether a line is the next one of the chain and of its append.
fn follows(
    head: Option<Head>,
    open: Option<(u64, u64)>,
    line: &[u8],
) -> Result<(Link, Digest), String> {
    let link = Link::parse(line).map_err(|e| e.to_string())?;
    let (seq, prev) = head.map_or((1, Digest::ZERO), |head| (head.seq + 1, head.hash));
    if link.seq != seq {
        return Err(format!("its `seq` is {}, not {seq}", link.seq));
    }
    if link.prev != prev {
        return Err("its `prev` is not the digest of the line before".into());
    }
    let expected = match (open, link.of) {
        (None, None) => true,
        (None, Some((i, n))) => i == 1 && n > 1,
        (Some((before, count)), Some((i, n))) => i == before + 1 && n == count,
        (Some(_), None) => false,
    };
    match expected {
        true => Ok((link, Digest::of(line))),
        false => Err("its `of` does not follow from the line before".into()),
    }
}
