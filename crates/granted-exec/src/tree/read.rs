//! Reading a file at one moment of its life.

use std::os::fd::{BorrowedFd, OwnedFd};

use granted_core::digest::Digest;
use granted_core::write::path::ProjectPath;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat, openat2};
use rustix::io::{Errno, pread};

use super::{Content, Found, STRAIGHT, Tree, TreeError, TreeFault};
use crate::program::bytes::{Look, is_settled};

/// How often a file is read that changes meanwhile.
const READS: usize = 8;

/// A file that is no regular one is not waited for.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl Tree {
    /// Reads a file that has at most so many bytes. No link is followed, so the path is one that
    /// [`Tree::resolve`] gave.
    ///
    /// A file that is written meanwhile is read again, and refused if that does not end: what is given
    /// was in the file at one time.
    pub fn read(&self, path: &ProjectPath, limit: usize) -> Result<Found, TreeError> {
        let error = |fault| TreeError { path: path.to_string(), fault };
        match openat2(&self.root, path.as_str(), READ, Mode::empty(), STRAIGHT) {
            Ok(file) => whole(&file, limit).map(Found::File).map_err(error),
            Err(Errno::NOENT) => Ok(Found::Absent),
            Err(e) => Err(error(TreeFault::of(e))),
        }
    }
}

/// As [`Tree::read`], in an open folder.
pub(crate) fn read_in(
    folder: BorrowedFd<'_>,
    name: &str,
    limit: usize,
) -> Result<Found, TreeFault> {
    match openat(folder, name, READ | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(file) => whole(&file, limit).map(Found::File),
        Err(Errno::NOENT) => Ok(Found::Absent),
        Err(Errno::LOOP | Errno::MLINK) => Err(TreeFault::Kind("a symbolic link")),
        Err(Errno::NXIO | Errno::NODEV) => Err(TreeFault::Kind("a socket or a device")),
        Err(e) => Err(TreeFault::Io(e.into())),
    }
}

fn whole(file: &OwnedFd, limit: usize) -> Result<Content, TreeFault> {
    let io = |e: Errno| TreeFault::Io(e.into());
    let mut last = None;
    for _ in 0..READS {
        let before = regular(file)?;
        if usize::try_from(before.st_size).is_ok_and(|size| size > limit) {
            return Err(TreeFault::Large(limit));
        }
        let bytes = bytes(file, limit)?;
        let after = fstat(file).map_err(io)?;
        let is_one = Look::of(&before) == Look::of(&after)
            && i64::try_from(bytes.len()).is_ok_and(|size| size == after.st_size);
        // A change within the same tick of the clock would not show: the bytes are to say it then.
        if is_one && (is_settled(&after) || last.as_ref() == Some(&bytes)) {
            let digest = Digest::of(&bytes);
            let links = usize::try_from(after.st_nlink).unwrap_or(usize::MAX);
            return Ok(Content { bytes, digest, mode: after.st_mode & 0o7777, links });
        }
        last = Some(bytes);
    }
    Err(TreeFault::Changing)
}

fn regular(file: &OwnedFd) -> Result<Stat, TreeFault> {
    let found = fstat(file).map_err(|e| TreeFault::Io(e.into()))?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(found),
        FileType::Directory => Err(TreeFault::Kind("a directory")),
        FileType::Fifo => Err(TreeFault::Kind("a FIFO")),
        _ => Err(TreeFault::Kind("a device")),
    }
}

/// All bytes from the beginning, whatever was read before.
fn bytes(file: &OwnedFd, limit: usize) -> Result<Vec<u8>, TreeFault> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match pread(file, &mut buffer, all.len() as u64) {
            Ok(0) => return Ok(all),
            Ok(read) if all.len() + read > limit => return Err(TreeFault::Large(limit)),
            Ok(read) => all.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(e) => return Err(TreeFault::Io(e.into())),
        }
    }
}
