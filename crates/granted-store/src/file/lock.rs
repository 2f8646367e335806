//! The lock: an advisory one on the ledger file itself, opened by its path.
//!
//! The kernel frees it when its holder dies, so none is ever stale.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use granted_core::custody::Breach;

use super::Site;
use crate::custody::{Dir, Kept};
use crate::open::{self, Identity, OpenError};
use crate::wait;

/// The ledger file, locked until this is dropped.
pub(crate) struct Locked {
    pub file: Arc<File>,
    pub identity: Identity,
    /// The file's size when it was locked.
    pub size: u64,
    /// The folder that it lies in.
    pub folder: Kept<Dir>,
    /// What keeps the file from being relied on.
    pub breach: Option<Breach>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Explicitly: a child between fork and exec holds the descriptor too, and closing this one
        // would leave the lock with it. Unlocking a valid handle does not fail.
        let _ = self.file.unlock();
    }
}

impl Locked {
    /// Locks the ledger's file as its path names it now; `kept` is the handle of the last time.
    ///
    /// An error says what is wrong and names the path. Nothing was written then, but an empty
    /// ledger may have been made.
    pub(crate) fn acquire(site: &Site, kept: &mut Option<Arc<File>>) -> Result<Locked, String> {
        let shown = |e: io::Error| site.shown(&e);
        let said = |e: OpenError| e.to_string();
        let locked = wait::until(site.patience, || {
            let folder = site.folder.make().map_err(said)?;
            let file = match kept.take() {
                Some(file) => file,
                None => Arc::new(folder.file(site.name(), open::ensure_at).map_err(said)?.handle),
            };
            let locked = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => false,
                Err(TryLockError::Error(e)) => return Err(shown(e)),
            };
            let stat = rustix::fs::fstat(&*file).map_err(|e| shown(e.into()))?;
            let (identity, size) = Identity::told(&stat);
            let breach = folder.judge(&stat, &site.path);
            let named = Identity::at(&folder.handle, site.name()).map_err(shown)?;
            let locked =
                locked.then(|| Locked { file: Arc::clone(&file), identity, size, folder, breach });
            // The path may name another file since this one was opened; then that one is meant.
            if named != Some(identity) {
                return Ok(None);
            }
            *kept = Some(file);
            Ok(locked)
        })?;
        locked.ok_or_else(|| {
            let holder = kept.as_ref().and_then(|file| holder(file));
            let pid = holder.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            let (path, waited) = (site.path.display(), site.patience.as_secs());
            format!("`{path}` is locked by another process{pid}; waited {waited} s")
        })
    }
}

/// Who holds the lock, as the kernel lists it.
fn holder(file: &File) -> Option<u32> {
    let (inode, major, minor) = Identity::of(file).ok()?.0.numbers();
    let lock = format!("{major:02x}:{minor:02x}:{inode}");
    let mut listed = String::new();
    open::read(Path::new("/proc/locks")).ok()?.read_to_string(&mut listed).ok()?;
    // 1: FLOCK  ADVISORY  WRITE 1234 fd:01:12345 0 EOF
    listed.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields.as_slice() {
            [_, "FLOCK", _, _, pid, at, ..] if *at == lock => pid.parse().ok(),
            _ => None,
        }
    })
}
