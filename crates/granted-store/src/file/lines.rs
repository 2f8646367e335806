//! Reading the ledger file: line by line, a line at an offset, the last line.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use granted_core::ledger::row::MAX_LINE;
use memchr::{memchr, memrchr};

/// How much is read at once at most.
pub(crate) const CHUNK: usize = 1 << 20;
/// How much of a run of lines is read at once, unless a line is longer.
const PIECE: usize = 1 << 15;

/// Where a line lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub offset: u64,
    /// The offset behind the line and its LF.
    pub end: u64,
    /// Whether there is an LF.
    pub whole: bool,
}

/// The lines of a stretch of the file, in order, in bounded memory.
pub(crate) struct Lines<'f> {
    file: &'f File,
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    /// The file's offset of `buffer[start]`.
    offset: u64,
    end: u64,
    /// Whether any byte read so far is NUL.
    pub nul: bool,
}

impl<'f> Lines<'f> {
    pub(crate) fn new(file: &'f File, from: u64, end: u64) -> Lines<'f> {
        let room = usize::try_from(end.saturating_sub(from)).unwrap_or(PIECE).min(PIECE);
        Lines { file, buffer: vec![0; room], start: 0, filled: 0, offset: from, end, nul: false }
    }

    /// The next line without its LF. One that is longer than [`CHUNK`] is shown cut, still far
    /// beyond what a row may have.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Place, &[u8])>> {
        let mut searched = 0;
        loop {
            let seen = self.buffer.get(self.start..self.filled).unwrap_or_default();
            if let Some(at) = memchr(b'\n', seen.get(searched..).unwrap_or_default()) {
                return Ok(Some(self.take(searched + at, 1)));
            }
            searched = seen.len();
            let position = self.offset + to_u64(searched);
            if position >= self.end {
                return Ok((searched > 0).then(|| self.take(searched, 0)));
            }
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.filled, 0);
                self.filled -= self.start;
                self.start = 0;
            }
            if self.filled == self.buffer.len() {
                if self.filled >= CHUNK {
                    return self.take_overlong(position).map(Some);
                }
                self.buffer.resize((self.filled * 8).clamp(PIECE, CHUNK), 0);
            }
            let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let wanted = usize::try_from(self.end - position).unwrap_or(room.len()).min(room.len());
            let room = room.get_mut(..wanted).unwrap_or_default();
            let count = read_some(self.file, room, position)?;
            self.nul |= memchr(0, room.get(..count).unwrap_or_default()).is_some();
            self.filled += count;
            if count == 0 {
                // The file has become shorter meanwhile; what is gone is not there.
                self.end = position;
            }
        }
    }

    fn take(&mut self, length: usize, lf: usize) -> (Place, &[u8]) {
        let place =
            Place { offset: self.offset, end: self.offset + to_u64(length + lf), whole: lf == 1 };
        let start = self.start;
        self.start += length + lf;
        self.offset = place.end;
        (place, self.buffer.get(start..start + length).unwrap_or_default())
    }

    /// Looks for the end of a line that fills the whole buffer.
    fn take_overlong(&mut self, from: u64) -> io::Result<(Place, &[u8])> {
        let lf = find_byte(self.file, b'\n', from, self.end)?;
        let place = Place {
            offset: self.offset,
            end: lf.map_or(self.end, |at| at + 1),
            whole: lf.is_some(),
        };
        self.nul |= find_byte(self.file, 0, from, place.end)?.is_some();
        self.offset = place.end;
        let length = self.filled;
        (self.start, self.filled) = (0, 0);
        Ok((place, self.buffer.get(..length).unwrap_or_default()))
    }
}

/// Reads until the buffer is full or the file ends; answers with how much was read.
pub(crate) fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut count = 0;
    while let Some(room) = buffer.get_mut(count..).filter(|room| !room.is_empty()) {
        match file.read_at(room, offset + to_u64(count)) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(count)
}

/// The offset of the first such byte.
pub(crate) fn find_byte(file: &File, byte: u8, from: u64, end: u64) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; 1 << 16];
    let mut offset = from;
    while offset < end {
        let room = usize::try_from(end - offset).unwrap_or(buffer.len()).min(buffer.len());
        let count = read_some(file, buffer.get_mut(..room).unwrap_or_default(), offset)?;
        let read = buffer.get(..count).unwrap_or_default();
        match memchr(byte, read) {
            Some(at) => return Ok(Some(offset + to_u64(at))),
            None if count == 0 => break,
            None => offset += to_u64(count),
        }
    }
    Ok(None)
}

/// How many lines end before this offset.
pub(crate) fn count_lines(file: &File, from: u64, end: u64) -> io::Result<u64> {
    let mut buffer = vec![0; CHUNK];
    let (mut offset, mut lines) = (from, 0);
    while offset < end {
        let room = usize::try_from(end - offset).unwrap_or(CHUNK).min(CHUNK);
        let count = read_some(file, buffer.get_mut(..room).unwrap_or_default(), offset)?;
        if count == 0 {
            break;
        }
        let read = buffer.get(..count).unwrap_or_default();
        lines += to_u64(memchr::memchr_iter(b'\n', read).count());
        offset += to_u64(count);
    }
    Ok(lines)
}

/// The line that begins at this offset, without its LF; `None` if none ends before `end` or
/// within the length that a row may have.
pub(crate) fn line_at(file: &File, offset: u64, end: u64) -> io::Result<Option<Vec<u8>>> {
    let limit = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX).min(MAX_LINE + 1);
    let mut line = Vec::new();
    let mut size = 2_048.min(limit);
    while line.len() < limit {
        let have = line.len();
        line.resize(size, 0);
        let room = line.get_mut(have..).unwrap_or_default();
        let count = read_some(file, room, offset + to_u64(have))?;
        line.truncate(have + count);
        if let Some(at) = memchr(b'\n', line.get(have..).unwrap_or_default()) {
            line.truncate(have + at);
            return Ok(Some(line));
        }
        if have + count < size {
            break;
        }
        size = (size * 8).min(limit);
    }
    Ok(None)
}

/// The last line that ends at `end` with an LF, and its offset; `None` if it is too long to be a
/// row or the file does not end with an LF there.
pub(crate) fn line_before(file: &File, end: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let limit = to_u64(MAX_LINE) + 2;
    let mut size = 2_048;
    loop {
        let from = end.saturating_sub(size);
        let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(0)];
        let count = read_some(file, &mut bytes, from)?;
        if count < bytes.len() || bytes.pop() != Some(b'\n') {
            return Ok(None);
        }
        match memrchr(b'\n', &bytes) {
            Some(at) => return Ok(Some((from + to_u64(at) + 1, bytes.split_off(at + 1)))),
            None if from == 0 => return Ok(Some((0, bytes))),
            None if size >= limit => return Ok(None),
            None => size = (size * 8).min(limit),
        }
    }
}

/// A length as an offset.
pub(crate) fn to_u64(length: usize) -> u64 {
    // usize has at most 64 bits wherever this runs.
    u64::try_from(length).unwrap_or(u64::MAX)
}
