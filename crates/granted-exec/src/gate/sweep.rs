//! Folders of gates whose process was killed: nobody holds their lock any more.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, Mode, flock, fstat, lstat, openat, stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::bench::{FOLDER, open_up, remove};
use crate::boot;

/// What the names of such folders begin with.
pub(super) const PREFIX: &str = "granted-gate-";
/// How many letters and digits come after that.
pub(super) const RANDOM: usize = 16;

/// How long a sweep may take: a gate that went on may write to its folder for ever.
const SWEEP: Duration = Duration::from_millis(200);

/// Locks a folder that was just made, until the handle is dropped; `None` if it was swept meanwhile.
pub(super) fn hold(folder: &Path) -> io::Result<Option<OwnedFd>> {
    let handle = match openat(CWD, folder, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        other => other?,
    };
    match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(None),
        Err(e) => return Err(e.into()),
    }
    let own = fstat(&handle)?;
    let is_there = stat(folder).is_ok_and(|found| found.st_ino == own.st_ino);
    Ok(is_there.then_some(handle))
}

/// Removes the folders that nobody holds. What cannot be removed stays, for the next time.
pub(super) fn sweep(within: &Path) {
    let Ok(entries) = std::fs::read_dir(within) else { return };
    let until = boot::now() + SWEEP;
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_ours) {
            let _stays = sweep_one(&entry.path(), until);
        }
    }
}

/// Whether only a gate's folder has this name.
fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX);
    random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn sweep_one(folder: &Path, until: Duration) -> io::Result<()> {
    if lstat(folder)?.st_uid == geteuid().as_raw() {
        // A gate may have taken its folder's bits away.
        open_up(CWD, folder)?;
        let handle = openat(CWD, folder, FOLDER, Mode::empty())?;
        flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
        remove(folder, until)?;
    }
    Ok(())
}
