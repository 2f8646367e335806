//! `posix_spawn`, the crate's one piece of unsafe code.
//!
//! No safe interface has a new session, a directory and descriptors at once without copying this
//! process first, which costs more the larger it is.
#![expect(unsafe_code, reason = "posix_spawn and sigaction have no safe interface")]

use std::ffi::{CStr, c_char, c_int, c_short};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use rustix::io::{Errno, Result};
use rustix::process::Pid;

use super::Image;

const NULL_DEVICE: &CStr = c"/dev/null";
/// Where the new process has a sealed copy: an interpreter opens it once more by its path.
const SEALED: c_int = 3;
const SEALED_PATH: &CStr = c"/proc/self/fd/3";

/// Starts the program in a session of its own, with no signal blocked and each at its default,
/// nothing to read, and these two descriptors to write to. On an error nothing runs. None of the
/// descriptors is a standard one.
pub(super) fn spawn(image: &Image<'_>, stdout: &OwnedFd, stderr: &OwnedFd) -> Result<Pid> {
    let mut attributes = MaybeUninit::uninit();
    let attributes = Attributes::new(&mut attributes)?;
    let mut actions = MaybeUninit::uninit();
    let actions = Actions::new(&mut actions)?;
    let (at, stdout, stderr) = (actions.0.as_mut_ptr(), stdout.as_raw_fd(), stderr.as_raw_fd());
    let sealed = image.sealed.map(OwnedFd::as_raw_fd);
    // SAFETY: `at` was initialised and lives on; both strings end in NUL and are copied; the
    // descriptors are open, being borrowed. `dup2` leaves the copies open in the new program, also of
    // one that has the number already. The sealed copy takes its place last, so that it takes no
    // other's.
    unsafe {
        check(libc::posix_spawn_file_actions_addopen(
            at,
            0,
            NULL_DEVICE.as_ptr(),
            libc::O_RDONLY,
            0,
        ))?;
        check(libc::posix_spawn_file_actions_adddup2(at, stdout, 1))?;
        check(libc::posix_spawn_file_actions_adddup2(at, stderr, 2))?;
        check(libc::posix_spawn_file_actions_addchdir_np(at, image.cwd.as_ptr()))?;
        if let Some(sealed) = sealed {
            check(libc::posix_spawn_file_actions_adddup2(at, sealed, SEALED))?;
        }
        // Ours close themselves, but what we were started with need not. Only glibc, from 2.34
        // on, has this.
        #[cfg(target_env = "gnu")]
        check(libc::posix_spawn_file_actions_addclosefrom_np(
            at,
            if sealed.is_some() { SEALED + 1 } else { 3 },
        ))?;
    }
    let argv = list(image.argv.iter().map(|text| text.as_ptr()));
    let env = list(image.env.iter().map(|text| text.as_ptr()));
    let program = if sealed.is_some() { SEALED_PATH } else { image.program };
    let mut pid = 0;
    // SAFETY: the program, every string of both lists and the lists themselves outlive the call,
    // and the lists end in a null pointer. The attributes and actions were initialised. The
    // kernel copies the strings; the C library declares them mutable but does not write to them.
    check(unsafe {
        libc::posix_spawn(
            &mut pid,
            program.as_ptr(),
            at,
            attributes.0.as_ptr(),
            argv.as_ptr(),
            env.as_ptr(),
        )
    })?;
    // A success always has a pid.
    Pid::from_raw(pid).ok_or(Errno::CHILD)
}

/// Makes the kernel keep the status of a child until it is reaped.
///
/// A process may have been started with SIGCHLD ignored, and then its children's statuses are
/// thrown away: a failure could not be told from a success.
pub(super) fn keep_statuses() {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the second pointer may be null, and the third is one to a sigaction, which a
    // success fills.
    let read = unsafe { libc::sigaction(libc::SIGCHLD, ptr::null(), action.as_mut_ptr()) };
    if read != 0 {
        return;
    }
    // SAFETY: it was filled.
    let mut action = unsafe { action.assume_init() };
    let ignored = action.sa_sigaction == libc::SIG_IGN;
    if ignored || action.sa_flags & libc::SA_NOCLDWAIT != 0 {
        if ignored {
            action.sa_sigaction = libc::SIG_DFL;
        }
        action.sa_flags &= !libc::SA_NOCLDWAIT;
        // SAFETY: the action is the one that was read, with the default in place of "ignored".
        unsafe { libc::sigaction(libc::SIGCHLD, &action, ptr::null_mut()) };
    }
}

fn check(error: c_int) -> Result<()> {
    if error == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(error)) }
}

fn list(texts: impl Iterator<Item = *const c_char>) -> Vec<*mut c_char> {
    texts.map(<*const c_char>::cast_mut).chain([ptr::null_mut()]).collect()
}

/// Initialised attributes, at a place that does not move.
struct Attributes<'a>(&'a mut MaybeUninit<libc::posix_spawnattr_t>);

impl<'a> Attributes<'a> {
    fn new(place: &'a mut MaybeUninit<libc::posix_spawnattr_t>) -> Result<Attributes<'a>> {
        let flags = libc::POSIX_SPAWN_SETSID as c_int
            | libc::POSIX_SPAWN_SETSIGDEF
            | libc::POSIX_SPAWN_SETSIGMASK;
        let mut signals = MaybeUninit::uninit();
        // SAFETY: `init` initialises the attributes, after which `this` may destroy them; the
        // functions on signal sets initialise the set before it is read, and it is copied.
        unsafe {
            check(libc::posix_spawnattr_init(place.as_mut_ptr()))?;
            let this = Attributes(place);
            let at = this.0.as_mut_ptr();
            check(libc::posix_spawnattr_setflags(at, flags as c_short))?;
            libc::sigemptyset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(at, signals.as_ptr()))?;
            libc::sigfillset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(at, signals.as_ptr()))?;
            Ok(this)
        }
    }
}

impl Drop for Attributes<'_> {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and is not used again.
        unsafe { libc::posix_spawnattr_destroy(self.0.as_mut_ptr()) };
    }
}

/// Initialised file actions, at a place that does not move.
struct Actions<'a>(&'a mut MaybeUninit<libc::posix_spawn_file_actions_t>);

impl<'a> Actions<'a> {
    fn new(place: &'a mut MaybeUninit<libc::posix_spawn_file_actions_t>) -> Result<Actions<'a>> {
        // SAFETY: the place is one for file actions.
        check(unsafe { libc::posix_spawn_file_actions_init(place.as_mut_ptr()) })?;
        Ok(Actions(place))
    }
}

impl Drop for Actions<'_> {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and is not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(self.0.as_mut_ptr()) };
    }
}
