//! Moves put aside by subject: in memory while they are few, else in one temporary file.
//!
//! Each part has a buffer of one chunk. A full chunk goes to the end of the file, which has no
//! name, and the part remembers where. A ledger of a few thousand rows fills no chunk and touches
//! no file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use granted_core::ledger::audit::{MOVE_BYTES, Move};

/// Into how many parts moves are split. 256 keep the fold of a part within a few MiB up to some
/// tens of millions of rows, and their buffers within 1 MiB.
pub const PARTS: usize = 256;

/// A chunk of moves: 4 KiB, but for a rest that no move fits into.
const CHUNK: usize = 4 * 1024 / MOVE_BYTES * MOVE_BYTES;

/// Moves in the order in which they were pushed, part by part.
pub struct Spill {
    parts: Vec<Part>,
    file: Option<File>,
    chunks: u32,
}

#[derive(Clone, Default)]
struct Part {
    buffer: Vec<u8>,
    /// The chunks in the file, by number.
    chunks: Vec<u32>,
}

impl Default for Spill {
    fn default() -> Spill {
        Spill { parts: vec![Part::default(); PARTS], file: None, chunks: 0 }
    }
}

impl Spill {
    /// Puts a move aside.
    pub fn push(&mut self, moved: Move) -> io::Result<()> {
        // The hash's low bits; the fold's map uses others. PARTS is a power of two.
        let index = usize::try_from(moved.subject).unwrap_or(0) & (PARTS - 1);
        let Some(part) = self.parts.get_mut(index) else { return Ok(()) };
        part.buffer.extend_from_slice(&moved.to_bytes());
        if part.buffer.len() < CHUNK {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all_at(&part.buffer, place(self.chunks))?;
        part.chunks.push(self.chunks);
        part.buffer.clear();
        self.chunks = self.chunks.checked_add(1).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(())
    }

    /// The moves of a part, and its memory free again.
    pub fn part(&mut self, index: usize) -> Moves<'_> {
        let part = self.parts.get_mut(index).map(std::mem::take).unwrap_or_default();
        Moves {
            file: self.file.as_ref(),
            chunks: part.chunks.into_iter(),
            rest: part.buffer,
            chunk: Vec::new(),
            next: 0,
        }
    }
}

fn place(chunk: u32) -> u64 {
    // A chunk has 4 KiB and there are under 2^32 of them.
    u64::from(chunk).saturating_mul(u64::try_from(CHUNK).unwrap_or(u64::MAX))
}

/// Reads the moves of a part back, a chunk at a time.
pub struct Moves<'a> {
    file: Option<&'a File>,
    chunks: std::vec::IntoIter<u32>,
    rest: Vec<u8>,
    chunk: Vec<u8>,
    next: usize,
}

impl Moves<'_> {
    /// Reads the next chunk, the one in memory last; false if there is none.
    fn refill(&mut self) -> io::Result<bool> {
        self.next = 0;
        let Some(number) = self.chunks.next() else {
            self.chunk = std::mem::take(&mut self.rest);
            return Ok(!self.chunk.is_empty());
        };
        self.chunk.resize(CHUNK, 0);
        match self.file {
            Some(file) => file.read_exact_at(&mut self.chunk, place(number)).map(|()| true),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn try_next(&mut self) -> io::Result<Option<Move>> {
        if self.next >= self.chunk.len() && !self.refill()? {
            return Ok(None);
        }
        let rest = self.chunk.get(self.next..).unwrap_or_default();
        let bytes = rest.first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.next += MOVE_BYTES;
        // The file is ours alone; bytes that are no move are a disk that failed.
        Move::from_bytes(bytes).ok_or(io::ErrorKind::InvalidData.into()).map(Some)
    }
}

impl Iterator for Moves<'_> {
    type Item = io::Result<Move>;

    fn next(&mut self) -> Option<io::Result<Move>> {
        self.try_next().transpose()
    }
}

#[cfg(test)]
mod tests {
    use granted_core::ledger::audit::Step;

    use super::*;

    fn moved(subject: u64, seq: u64) -> Move {
        Move {
            subject,
            seq,
            before: seq / 2,
            step: Step::Claimed { discharge: seq, at: 1, object: 2 },
        }
    }

    #[test]
    fn each_part_comes_back_in_order() {
        for count in [0_u64, 1, 300, 60_000] {
            let mut spill = Spill::default();
            let subject = |seq: u64| seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
            for seq in 0..count {
                spill.push(moved(subject(seq), seq)).unwrap();
            }
            assert_eq!(spill.file.is_some(), count == 60_000);
            let mut seen = 0;
            for part in 0..PARTS {
                let mut last = None;
                for read in spill.part(part) {
                    let read = read.unwrap();
                    assert!(Some(read.seq) > last, "in order");
                    assert_eq!(read, moved(subject(read.seq), read.seq));
                    assert_eq!(read.subject as usize % PARTS, part);
                    last = Some(read.seq);
                    seen += 1;
                }
            }
            assert_eq!(seen, count);
        }
    }

    #[test]
    fn a_single_subject_fills_one_part() {
        let mut spill = Spill::default();
        for seq in 0..1_000 {
            spill.push(moved(5, seq)).unwrap();
        }
        assert_eq!(spill.part(5).map(Result::unwrap).count(), 1_000);
        assert_eq!(spill.part(5).count(), 0);
    }
}
