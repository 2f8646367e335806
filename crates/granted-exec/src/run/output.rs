//! What is kept of a stream: its end, and how long it was.

use std::os::fd::{AsFd, OwnedFd};

use granted_core::decision::Tail;
use rustix::io::Errno;

/// How much of a stream's end is kept.
const KEPT: usize = 4096;

/// Our end of a stream.
pub(super) struct Output {
    pipe: Option<OwnedFd>,
    bytes: u64,
    /// The last bytes, more than are kept in the end.
    last: Vec<u8>,
}

impl Output {
    pub(super) fn new(pipe: OwnedFd) -> Output {
        Output { pipe: Some(pipe), bytes: 0, last: Vec::new() }
    }

    /// Of a stream that goes nowhere.
    pub(super) fn none() -> Output {
        Output { pipe: None, bytes: 0, last: Vec::new() }
    }

    /// The pipe, if the other side may still write to it.
    pub(super) fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// There is nothing more to read.
    pub(super) fn close(&mut self) {
        self.pipe = None;
    }

    /// Reads a piece of what is there.
    pub(super) fn read<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let Some(pipe) = &self.pipe else { return &[] };
        match rustix::io::read(pipe.as_fd(), &mut *buffer) {
            Ok(0) => self.pipe = None,
            Ok(read) => {
                let piece = buffer.get(..read).unwrap_or_default();
                self.keep(piece);
                return piece;
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            // A pipe has no other error; one that had would not get better.
            Err(_) => self.pipe = None,
        }
        &[]
    }

    fn keep(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        if piece.len() >= KEPT {
            self.last.clear();
        } else if self.last.len() >= 4 * KEPT {
            self.last.drain(..self.last.len() - KEPT);
        }
        self.last.extend_from_slice(end(piece));
    }

    /// The end of it, in characters. One that was cut in the middle is left out.
    pub(super) fn tail(&self) -> Tail {
        let mut kept = end(&self.last);
        if self.bytes > kept.len() as u64 {
            let inside = |byte: &u8| *byte & 0b1100_0000 == 0b1000_0000;
            let cut = kept.iter().take(3).take_while(|byte| inside(byte)).count();
            kept = kept.get(cut..).unwrap_or_default();
        }
        Tail { bytes: self.bytes, tail: String::from_utf8_lossy(kept).into() }
    }
}

fn end(bytes: &[u8]) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(pieces: &[&[u8]]) -> Tail {
        let mut output = Output::none();
        for piece in pieces {
            output.keep(piece);
        }
        output.tail()
    }

    #[test]
    fn keeps_the_end_whatever_the_pieces() {
        let all: Vec<u8> = (0..40_000_u32).map(|n| b'a' + (n % 23) as u8).collect();
        for size in [1, 7, 4095, 4096, 4097, 30_000] {
            let tail = tail_of(&all.chunks(size).collect::<Vec<_>>());
            assert_eq!(tail.bytes, 40_000);
            assert_eq!(tail.tail.as_bytes(), &all[40_000 - 4096..], "{size}");
        }
        assert_eq!(tail_of(&[]), Tail { bytes: 0, tail: "".into() });
    }

    #[test]
    fn begins_with_a_whole_character_and_stays_bounded() {
        for before in 0..4 {
            let text = format!("{}{}", "x".repeat(before), "😀".repeat(2000));
            let tail = tail_of(&[text.as_bytes(), b"!"]);
            assert!(tail.tail.trim_end_matches('!').chars().all(|c| c == '😀'), "{before}");
            assert!(tail.tail.len() > 4090);
        }
        assert_eq!(&*tail_of(&[b"a\xff\xfeb"]).tail, "a\u{fffd}\u{fffd}b");
        assert_eq!(&*tail_of(&[b"\x80\x80"]).tail, "\u{fffd}\u{fffd}");
        assert_eq!(tail_of(&[&[0xff; 9000]]).tail.len(), 3 * 4096);
    }
}
