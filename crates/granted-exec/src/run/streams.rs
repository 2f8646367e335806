//! Waits for everything that can happen during an act, and drains its output meanwhile.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, Result};

use super::output::Output;
use crate::boot::Timer;
use crate::echo::Echo;

/// How much is read at once: what a pipe holds.
const PIECE: usize = 64 << 10;

/// The output of an act, and the timer of what it is doing.
pub(super) struct Streams {
    pub(super) timer: Timer,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    pub(super) echo: Option<Echo>,
    pub(super) buffer: Vec<u8>,
}

/// What happened while we waited.
pub(super) struct Woken {
    pub(super) ended: bool,
    pub(super) stopped: bool,
    pub(super) over: bool,
}

impl Streams {
    /// Of a program whose output goes nowhere.
    pub(super) fn none(timer: Timer) -> Streams {
        let (stdout, stderr) = (Output::none(), Output::none());
        Streams { timer, stdout, stderr, echo: None, buffer: Vec::new() }
    }

    /// Reads what is left of the output, and what others still write, but not for long.
    pub(super) fn linger(&mut self, linger: Duration) -> Result<()> {
        if !self.open().is_empty() {
            self.timer.set(linger)?;
            while !self.open().is_empty() && !self.wait(None, None)?.over {}
        }
        Ok(())
    }

    /// The pipes that are open.
    pub(super) fn open(&self) -> Vec<&OwnedFd> {
        [self.stdout.pipe(), self.stderr.pipe()].into_iter().flatten().collect()
    }

    /// Waits for anything to happen, and reads a piece of the output if that is it.
    pub(super) fn wait(
        &mut self,
        pidfd: Option<BorrowedFd<'_>>,
        word: Option<BorrowedFd<'_>>,
    ) -> Result<Woken> {
        let timer = self.timer.as_fd();
        let watch = |fd| watched(fd, timer);
        let mut fds = [
            watch(pidfd),
            watch(word),
            watch(Some(timer)),
            watch(self.stdout.pipe().map(AsFd::as_fd)),
            watch(self.stderr.pipe().map(AsFd::as_fd)),
        ];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => return Ok(Woken { ended: false, stopped: false, over: false }),
            other => other?,
        };
        let [ended, stopped, over, stdout, stderr] = fds.map(|fd| fd.revents());
        self.read(stdout, stderr);
        Ok(Woken { ended: !ended.is_empty(), stopped: !stopped.is_empty(), over: !over.is_empty() })
    }

    fn read(&mut self, stdout: PollFlags, stderr: PollFlags) {
        for (output, found) in [(&mut self.stdout, stdout), (&mut self.stderr, stderr)] {
            if found.contains(PollFlags::IN) {
                // The first output makes the room for it.
                self.buffer.resize(PIECE, 0);
                let piece = output.read(&mut self.buffer);
                if let Some(echo) = &mut self.echo
                    && !piece.is_empty()
                {
                    echo.show(piece);
                }
            } else if !found.is_empty() {
                // Hung up, and empty.
                output.close();
            }
        }
    }
}

/// A place in the poll. With nothing to watch it asks the timer for nothing, which it never answers.
fn watched<'a>(fd: Option<BorrowedFd<'a>>, nothing: BorrowedFd<'a>) -> PollFd<'a> {
    match fd {
        Some(fd) => PollFd::from_borrowed_fd(fd, PollFlags::IN),
        None => PollFd::from_borrowed_fd(nothing, PollFlags::empty()),
    }
}
