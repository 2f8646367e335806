//! The lines of a stream, in bounded memory however long they are.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// All of it, without its LF.
    Whole(&'a [u8]),
    /// It has more than so many bytes, and they are gone.
    TooLong(usize),
}

/// Splits a stream into lines.
pub(super) struct Lines<R> {
    stream: BufReader<R>,
    line: Vec<u8>,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Of a stream whose lines have at most so many bytes.
    pub(super) fn new(stream: R, max: usize) -> Lines<R> {
        Lines { stream: BufReader::with_capacity(64 * 1024, stream), line: Vec::new(), max }
    }

    /// The next line; `None` at the end of the stream. A last line needs no LF.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.line.capacity() > 64 * 1024 {
            // One large frame is no reason to keep the room for it.
            self.line = Vec::new();
        }
        self.line.clear();
        let (mut begun, mut too_long) = (false, false);
        loop {
            let bytes = self.stream.fill_buf().await?;
            if bytes.is_empty() && !begun {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            too_long |= self.line.len() + part.len() > self.max;
            if !too_long {
                self.line.extend_from_slice(part);
            }
            let (last, used) = (end.is_some() || bytes.is_empty(), part.len());
            self.stream.consume(used + usize::from(end.is_some()));
            begun = true;
            if last {
                return Ok(Some(if too_long {
                    Line::TooLong(self.max)
                } else {
                    Line::Whole(&self.line)
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1024 * 1024;

    async fn lines(stream: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(stream, MAX);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong(_) => None,
            });
        }
        found
    }

    #[tokio::test]
    async fn splits_and_bounds() {
        assert_eq!(lines(b"").await, []);
        let whole = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(lines(b"a\n\nb\r\nc").await, ["a", "", "b\r", "c"].map(whole));
        let (fits, over) = ("x".repeat(MAX), "x".repeat(MAX + 1));
        let stream = format!("{fits}\n{over}\nafter\n{over}");
        assert_eq!(
            lines(stream.as_bytes()).await,
            [Some(fits.into_bytes()), None, whole("after"), None]
        );
    }

    #[tokio::test]
    async fn a_long_line_is_not_kept() {
        let stream = vec![b'x'; 8 * MAX];
        let mut lines = Lines::new(stream.as_slice(), MAX);
        assert_eq!(lines.next().await.unwrap(), Some(Line::TooLong(MAX)));
        assert!(lines.line.capacity() <= 2 * MAX);
        assert_eq!(lines.next().await.unwrap(), None);
        assert!(lines.line.capacity() <= 64 * 1024);
    }
}
