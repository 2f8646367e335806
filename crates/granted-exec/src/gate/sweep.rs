//! Folders of gates whose process was killed: nobody holds their lock any more.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, FlockOperation, Mode, flock, fstat, openat, stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::bench::{FOLDER, remove};

/// What the names of such folders begin with.
pub(super) const PREFIX: &str = "granted-gate-";

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
    for entry in entries.flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_one {
            let _stays = sweep_one(&entry.path());
        }
    }
}

fn sweep_one(folder: &Path) -> io::Result<()> {
    let handle = openat(CWD, folder, FOLDER, Mode::empty())?;
    if fstat(&handle)?.st_uid == geteuid().as_raw() {
        flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
        remove(folder)?;
    }
    Ok(())
}
