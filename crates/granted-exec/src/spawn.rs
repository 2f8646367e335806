//! Starting a program, and owning its process until it is reaped.

mod posix;

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::io::{Errno, Result, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process_group, pidfd_open, waitpid,
};

/// All that the kernel is told of a program.
pub(crate) struct Image<'a> {
    pub(crate) program: &'a CStr,
    pub(crate) argv: &'a [CString],
    pub(crate) env: &'a [&'a CStr],
    pub(crate) cwd: &'a CStr,
    /// What is executed in the place of `program`. The new process finds it as `/proc/self/fd/3`.
    pub(crate) sealed: Option<&'a OwnedFd>,
}

/// A process that runs, and our ends of what ties us to it.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) pidfd: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// The program's ends of its output. While they are open here too, its end is told by `pidfd`
    /// alone: closing two pipes as well would wake us three times instead of once.
    pub(crate) written: [OwnedFd; 2],
}

/// Why there is no process to watch.
pub(crate) enum SpawnError {
    /// The program did not begin.
    NotStarted(Errno),
    /// It began, could not be watched, and was killed.
    Unwatched(Errno),
}

impl From<Errno> for SpawnError {
    fn from(error: Errno) -> SpawnError {
        SpawnError::NotStarted(error)
    }
}

/// Starts a program as the leader of a new session.
pub(crate) fn start(image: &Image<'_>) -> std::result::Result<Started, SpawnError> {
    let (stdout, out) = pipe()?;
    let (stderr, err) = pipe()?;
    let (child, pidfd) = spawn(image, &out, &err)?;
    Ok(Started { child, pidfd, stdout, stderr, written: [out, err] })
}

/// As [`start`], with an output that goes nowhere.
pub(crate) fn start_silently(
    image: &Image<'_>,
) -> std::result::Result<(Child, OwnedFd), SpawnError> {
    let null = || open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    spawn(image, &not_standard(null()?)?, &not_standard(null()?)?)
}

fn spawn(
    image: &Image<'_>,
    out: &OwnedFd,
    err: &OwnedFd,
) -> std::result::Result<(Child, OwnedFd), SpawnError> {
    posix::keep_statuses();
    let room = fcntl_dupfd_cloexec(out, 3)?;
    let child = Child { pid: posix::spawn(image, out, err)?, reaped: false };
    // With this gone there is room for one more descriptor, unless another thread takes it.
    drop(room);
    // The pid is that of our child, since it is not reaped. Without a descriptor for it the act
    // could outlive its deadline unseen; dropping the child kills and reaps it.
    let pidfd = pidfd_open(child.pid, PidfdFlags::empty()).map_err(SpawnError::Unwatched)?;
    Ok((child, pidfd))
}

/// Whether this kernel lets a process be watched.
pub(crate) fn can_watch() -> Result<()> {
    pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).map(drop)
}

/// A pipe whose read end never blocks, also if the program opens it a second time and reads from
/// it. Neither end is a standard descriptor, which the new process would overwrite.
fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    Ok((reader, not_standard(writer)?))
}

/// The same file under a number that is none of the standard ones.
pub(crate) fn not_standard(file: OwnedFd) -> Result<OwnedFd> {
    if file.as_raw_fd() > 2 { Ok(file) } else { fcntl_dupfd_cloexec(&file, 3) }
}

/// A child process. Dropped before it is reaped, it is killed with its group, and then reaped.
///
/// It leads its session and its group, which it cannot leave, so both bear its pid; and until it
/// is reaped the pid belongs to nobody else, even if it has ended.
pub(crate) struct Child {
    pid: Pid,
    reaped: bool,
}

impl Child {
    /// The process, its group and its session.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal to the group. After the child is reaped nothing is sent.
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.reaped {
            // It fails only if every member runs as somebody else: there is no other means.
            let _refused = kill_process_group(self.pid, signal);
        }
    }

    /// Waits for the child's end and takes its status. There is none if somebody else in this
    /// process took it first.
    pub(crate) fn reap(&mut self) -> Option<WaitStatus> {
        loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Err(Errno::INTR) => {}
                other => {
                    self.reaped = true;
                    return other.ok().flatten().map(|(_, status)| status);
                }
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            self.reap();
        }
    }
}
