//! Shows a program's output while it runs, without ever holding the program up.

use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

/// How many pieces wait to be shown, each of at most 64 KiB.
const WAITING: usize = 64;
/// As much as a pipe takes at once when it says that it is writable.
const PIECE: usize = 4096;
/// How long the end of an act waits for what is still to be shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Passes a program's output through to our stderr.
///
/// What stderr does not take in time is dropped, and the number of bytes that were is said at the
/// end. A stderr that is stuck or broken holds nothing up. Nothing is started before there is
/// output.
#[derive(Debug, Default)]
pub struct Echo {
    to: Option<OwnedFd>,
    writer: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    pieces: SyncSender<Box<[u8]>>,
    dropped: Arc<AtomicU64>,
    abandon: Arc<OwnedFd>,
    /// Closed when the thread ends.
    ended: Receiver<()>,
}

impl Echo {
    /// To our stderr.
    pub fn stderr() -> Echo {
        Echo::default()
    }

    /// To another descriptor.
    pub fn to(descriptor: OwnedFd) -> Echo {
        Echo { to: Some(descriptor), writer: None }
    }

    /// Hands a piece of output over, or drops it.
    pub(crate) fn show(&mut self, piece: &[u8]) {
        if self.writer.is_none() {
            // Without a thread or a descriptor to spare, this piece is not shown.
            self.writer = Writer::start(self.to.take()).ok();
        }
        if let Some(writer) = &self.writer
            && writer.pieces.try_send(piece.into()).is_err()
        {
            writer.dropped.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
    }

    /// Waits a moment for the rest to be shown, then lets go of it.
    pub(crate) fn finish(self) {
        let Some(Writer { pieces, abandon, ended, .. }) = self.writer else { return };
        drop(pieces);
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            // The thread hears it unless it is inside a write; then it ends with that.
            let _full = rustix::io::write(&*abandon, &1_u64.to_ne_bytes());
        }
    }
}

impl Writer {
    fn start(to: Option<OwnedFd>) -> std::io::Result<Writer> {
        let (pieces, waiting) = sync_channel::<Box<[u8]>>(WAITING);
        let (alive, ended) = sync_channel(0);
        let abandon = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let dropped = Arc::new(AtomicU64::new(0));
        let (abandoned, uncounted) = (Arc::clone(&abandon), Arc::clone(&dropped));
        thread::Builder::new().name("granted-echo".to_owned()).stack_size(64 << 10).spawn(
            move || {
                let _alive: SyncSender<()> = alive;
                let stderr = rustix::stdio::stderr();
                let to = to.as_ref().map_or(stderr, |to| to.as_fd());
                // An error is a broken or abandoned stderr: nobody is there to be told.
                let _unseen = show_all(to, &waiting, &uncounted, abandoned.as_fd());
            },
        )?;
        Ok(Writer { pieces, dropped, abandon, ended })
    }
}

fn show_all(
    to: BorrowedFd<'_>,
    waiting: &Receiver<Box<[u8]>>,
    dropped: &AtomicU64,
    abandoned: BorrowedFd<'_>,
) -> Result<(), Errno> {
    for piece in waiting {
        write_all(to, &piece, abandoned)?;
    }
    let dropped = dropped.load(Ordering::Relaxed);
    if dropped > 0 {
        let mut note = Vec::new();
        // Writing to a vector does not fail.
        let _never = writeln!(note, "\ngranted: {dropped} bytes of output were not shown");
        write_all(to, &note, abandoned)?;
    }
    Ok(())
}

fn write_all(to: BorrowedFd<'_>, mut piece: &[u8], abandoned: BorrowedFd<'_>) -> Result<(), Errno> {
    while !piece.is_empty() {
        let mut fds = [
            PollFd::from_borrowed_fd(abandoned, PollFlags::IN),
            PollFd::from_borrowed_fd(to, PollFlags::OUT),
        ];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let [stop, _] = &fds;
        if !stop.revents().is_empty() {
            return Err(Errno::CANCELED);
        }
        let some = piece.get(..PIECE).unwrap_or(piece);
        match rustix::io::write(to, some) {
            // Whoever shares a stderr that does not block was quicker.
            Err(Errno::INTR | Errno::AGAIN) => {}
            other => piece = piece.get(other?..).unwrap_or_default(),
        }
    }
    Ok(())
}
