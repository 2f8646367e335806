//! The connection to an Electrum server: what it answers comes in time, and has an end.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// What an answer may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// From the last byte of the question to the last of the answer, and for the connection before it.
    pub(super) time: Duration,
    /// Bytes.
    pub(super) size: usize,
}

/// A connection on which each answer has these limits, whatever else comes with it.
#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    limits: Limits,
    until: Instant,
    left: usize,
}

impl Wire {
    /// Connects to `HOST:PORT`, at whichever of its addresses somebody answers.
    pub(super) fn connect(place: &str, limits: Limits) -> io::Result<Wire> {
        let mut why = io::Error::other("there is no such address");
        for address in place.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, limits.time) {
                Ok(stream) => return Wire::new(stream, limits),
                Err(e) => why = e,
            }
        }
        Err(why)
    }

    fn new(stream: TcpStream, limits: Limits) -> io::Result<Wire> {
        stream.set_write_timeout(Some(limits.time))?;
        Ok(Wire { stream, limits, until: now() + limits.time, left: limits.size })
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until = now() + self.limits.time;
        self.left = self.limits.size;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        if self.left == 0 {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let most = buffer.len().min(self.left);
        let read = self.stream.read(buffer.get_mut(..most).unwrap_or_default());
        let read = read.map_err(|e| match e.kind() {
            ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
            _ => e,
        })?;
        self.left -= read;
        Ok(read)
    }
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is no fact of a decision")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the delay is the fault")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const LIMITS: Limits = Limits { time: Duration::from_millis(400), size: 100 };

    /// What comes of a question to a server that writes these pieces, with a pause before each, until it
    /// may not.
    fn asked(
        pieces: impl Iterator<Item = &'static [u8]> + Send,
        pause: Duration,
    ) -> io::Result<Vec<u8>> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut stream = listener.accept().unwrap().0;
                stream.read_exact(&mut [0]).unwrap();
                for piece in pieces {
                    std::thread::sleep(pause);
                    if stream.write_all(piece).is_err() {
                        break;
                    }
                }
            });
            let mut wire = Wire::connect(&place, LIMITS).unwrap();
            wire.write_all(b"?").unwrap();
            let mut answer = Vec::new();
            wire.read_to_end(&mut answer).map(|_| answer)
        })
    }

    #[test]
    fn an_answer_is_read_whole() {
        let answer = asked([b"one ".as_slice(), b"two"].into_iter(), Duration::ZERO);
        assert_eq!(answer.unwrap(), b"one two");
    }

    #[test]
    fn what_drips_is_not_waited_for() {
        let drops = std::iter::repeat_n(b".".as_slice(), 60);
        let error = asked(drops, Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn what_never_comes_is_not_waited_for() {
        let late = [b"late".as_slice()].into_iter();
        let error = asked(late, LIMITS.time * 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn what_has_no_end_is_not_kept() {
        let error = asked(std::iter::repeat([b'.'; 40].as_slice()), Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn each_question_has_the_limits_anew() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut stream = listener.accept().unwrap().0;
                while stream.read(&mut [0]).unwrap() == 1 {
                    stream.write_all(&[b'.'; 60]).unwrap();
                }
            });
            let mut wire = Wire::connect(&place, LIMITS).unwrap();
            for _ in 0..4 {
                wire.write_all(b"?").unwrap();
                wire.read_exact(&mut [0; 60]).unwrap();
            }
        });
    }
}
