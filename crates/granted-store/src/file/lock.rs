//! The lock: an advisory one on the ledger file itself, opened by its path.
//!
//! The kernel frees it when its holder dies, so none is ever stale.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::open::{self, Identity, OpenError};
use crate::wait;

/// The ledger file, locked until this is dropped.
pub(crate) struct Locked {
    pub file: Arc<File>,
    pub identity: Identity,
    /// The file's size when it was locked.
    pub size: u64,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Explicitly: a child between fork and exec holds the descriptor too, and closing this one
        // would leave the lock with it. Unlocking a valid handle does not fail.
        let _ = self.file.unlock();
    }
}

impl Locked {
    /// Locks the file that the path names; `kept` is the handle of the last time.
    ///
    /// An error says what is wrong and names the path. Nothing was written then, but an empty
    /// ledger may have been made.
    pub(crate) fn acquire(
        path: &Path,
        kept: &mut Option<Arc<File>>,
        limit: Duration,
    ) -> Result<Locked, String> {
        let shown = |e: io::Error| format!("`{}`: {e}", path.display());
        let locked = wait::until(limit, || {
            let file = match kept.take() {
                Some(file) => file,
                None => Arc::new(open_or_make(path).map_err(|e| e.to_string())?),
            };
            let locked = match file.try_lock() {
                Ok(()) => {
                    let (identity, size) = Identity::of(&*file).map_err(shown)?;
                    Some(Locked { file: Arc::clone(&file), identity, size })
                }
                Err(TryLockError::WouldBlock) => None,
                Err(TryLockError::Error(e)) => return Err(shown(e)),
            };
            // The path may name another file since this one was opened; then that one is meant.
            let identity = Identity::of(&*file).map_err(shown)?.0;
            if Identity::at(path).map_err(shown)? != Some(identity) {
                return Ok(None);
            }
            *kept = Some(file);
            Ok(locked)
        })?;
        locked.ok_or_else(|| {
            let holder = kept.as_ref().and_then(|file| holder(file));
            let pid = holder.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            let path = path.display();
            format!("`{path}` is locked by another process{pid}; waited {} s", limit.as_secs())
        })
    }
}

fn open_or_make(path: &Path) -> Result<File, OpenError> {
    match open::ensure(path) {
        Err(OpenError::Missing(_)) => {
            open::make_folder(path.parent().unwrap_or(Path::new("")))?;
            open::ensure(path)
        }
        opened => opened,
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
