//! The digest of a file's bytes.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use granted_core::digest::Digest;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::Why;

/// How many files' digests are remembered at most.
const REMEMBERED: usize = 1024;
/// A file that changed this lately may change again without looking different.
const SETTLED: Duration = Duration::from_secs(2);

/// What a file is told by: the same in all of these, it is taken to hold the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

static SEEN: LazyLock<Mutex<HashMap<Look, Digest>>> = LazyLock::new(Mutex::default);

/// The digest of a file's bytes, read once as long as it looks the same.
pub(super) fn remembered(path: &Path) -> Result<Digest, Why> {
    let (file, found) = open(path)?;
    let look = Look::of(&found);
    // A panic while it was locked can only have lost an entry.
    let seen = || SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = seen().get(&look) {
        return Ok(*digest);
    }
    let digest = of_bytes(&file).map_err(Why::of)?;
    let after = fstat(&file).map_err(Why::of)?;
    if Look::of(&after) == look && is_settled(&after) {
        let mut seen = seen();
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(look, digest);
    }
    Ok(digest)
}

/// The digest of a file's bytes as they are now.
pub(super) fn fresh(path: &Path) -> Result<Digest, Why> {
    let (file, _) = open(path)?;
    of_bytes(&file).map_err(Why::of)
}

/// A regular file, opened to be read, and what it is.
pub(super) fn open(path: &Path) -> Result<(OwnedFd, Stat), Why> {
    // Opening a pipe or a device must not wait for somebody at its other end.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(Why::of)?;
    let found = fstat(&file).map_err(Why::of)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok((file, found)),
        FileType::Directory => Err(Why::Directory),
        _ => Err(Why::NotRegular),
    }
}

impl Look {
    pub(crate) fn of(found: &Stat) -> Look {
        Look {
            device: found.st_dev,
            inode: found.st_ino,
            size: found.st_size,
            modified: (found.st_mtime, found.st_mtime_nsec as i64),
            changed: (found.st_ctime, found.st_ctime_nsec as i64),
        }
    }
}

/// Whether the file's last change lies far enough back that the next one will show.
pub(crate) fn is_settled(found: &Stat) -> bool {
    let changed = Duration::from_secs(u64::try_from(found.st_ctime).unwrap_or_default());
    changed + SETTLED < crate::boot::of_files()
}

/// The most bytes of a file that is part of an identity: hashing is not to hold an attempt up.
const MAX_FILE: usize = 1 << 30;

/// The digest of what is left to read of a file.
pub(super) fn of_bytes(file: &OwnedFd) -> Result<Digest, Errno> {
    let mut hash = Sha256::new();
    pieces(file, |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok(Digest(hash.finalize().into()))
}

/// Hands over what is left to read of a file, a piece after the other.
pub(super) fn pieces(
    file: &OwnedFd,
    mut take: impl FnMut(&[u8]) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let mut buffer = vec![0; 16 << 10];
    let mut left = MAX_FILE;
    loop {
        match rustix::io::read(file, &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) if read > left => return Err(Errno::FBIG),
            Ok(read) => {
                left -= read;
                take(buffer.get(..read).unwrap_or_default())?;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
