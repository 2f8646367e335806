//! The word to stop, in a form that a signal handler may give and that `poll` hears.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};

/// A token that stops acts, once and for all. Its clones are the same token.
///
/// It is a pipe: whatever is written to it is the word to stop, and nothing is ever read from it.
#[derive(Clone, Debug)]
pub struct Stop(Arc<Pipe>);

#[derive(Debug)]
struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Stop {
    /// A token that has not been used.
    pub fn new() -> std::io::Result<Stop> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // A full pipe has said its word already, and a signal handler must not wait.
        fcntl_setfl(&writer, OFlags::NONBLOCK)?;
        Ok(Stop(Arc::new(Pipe { reader, writer })))
    }

    /// Stops every act that holds this token, and every later one before it starts. It is one
    /// `write`, so a signal handler may call it.
    pub fn stop(&self) {
        // It fails only on a full pipe, in which the word stands.
        let _full = rustix::io::write(&self.0.writer, &[1]);
    }

    /// Whether the word was given.
    pub fn is_stopped(&self) -> bool {
        let mut fds = [PollFd::new(&self.0.reader, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    /// A write end of its own, for `signal_hook::low_level::pipe::register`.
    pub fn writer(&self) -> std::io::Result<OwnedFd> {
        self.0.writer.try_clone()
    }
}

impl AsFd for Stop {
    /// The end to poll: readable once the word was given.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.reader.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clone_hears_it_and_a_full_pipe_does_not_hang() {
        let stop = Stop::new().unwrap();
        let other = stop.clone();
        assert!(!other.is_stopped());
        let written = rustix::io::write(stop.writer().unwrap(), b"x").unwrap();
        assert_eq!(written, 1);
        assert!(other.is_stopped());
        for _ in 0..100_000 {
            stop.stop();
        }
        assert!(stop.is_stopped());
    }
}
