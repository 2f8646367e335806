//! A copy of a program's bytes that nobody can change any more.

use std::ffi::{CString, OsStr, OsString};
use std::fmt;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use granted_core::digest::Digest;
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags, fcntl_add_seals, fstat, memfd_create, open};
use rustix::io::Errno;

use super::{Missing, bytes, variable};

/// Tells a program that runs from a sealed copy where the file lies that was copied.
const PATH_VARIABLE: &str = "GRANTED_EXECUTOR_PATH";

/// A sealed copy of a program, in memory for as long as this lives.
pub(crate) struct Sealed {
    /// Open to be read, and closed in other programs.
    pub(crate) file: OwnedFd,
    /// The variable that the program is passed in addition.
    pub(crate) variable: (OsString, CString),
    pub(super) digest: Digest,
}

impl Sealed {
    /// Copies the file at this path.
    pub(super) fn copy(path: &Path) -> Result<Sealed, Missing> {
        let at = |why| Missing::At { what: "program", path: path.to_owned(), why };
        let unsealed = |error: Errno| Missing::Unsealed(error.into());
        let (from, _) = bytes::open(path).map_err(at)?;
        let copy = memory().map_err(unsealed)?;
        bytes::pieces(&from, |piece| write(&copy, piece)).map_err(unsealed)?;
        let all = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&copy, all).map_err(unsealed)?;
        let file = reopened(&copy).map_err(|error| Missing::NoDescriptors(error.into()))?;
        // Only now: until it was sealed, whoever can open our descriptors could write to it.
        let digest = bytes::of_bytes(&file).map_err(unsealed)?;
        let text = variable(OsStr::new(PATH_VARIABLE), path.as_os_str()).map_err(Missing::Text)?;
        Ok(Sealed { file, variable: (PATH_VARIABLE.into(), text), digest })
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sealed").field(&self.digest).finish()
    }
}

/// A file in memory that can be sealed and executed.
fn memory() -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create(c"granted-executor", flags | MemfdFlags::EXEC) {
        // Before Linux 6.3 nobody had to ask for the right to execute it.
        Err(Errno::INVAL) => memfd_create(c"granted-executor", flags),
        other => other,
    }
}

fn write(file: &OwnedFd, mut piece: &[u8]) -> Result<(), Errno> {
    while !piece.is_empty() {
        match rustix::io::write(file, piece) {
            Ok(written) => piece = piece.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The same file, opened in the way in which the kernel and an interpreter will: that it can be is known
/// before anything is claimed. Its number is none of the standard ones.
fn reopened(copy: &OwnedFd) -> Result<OwnedFd, Errno> {
    let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let (one, other) = (fstat(copy)?, fstat(&file)?);
    if (one.st_dev, one.st_ino) != (other.st_dev, other.st_ino) {
        return Err(Errno::STALE);
    }
    crate::spawn::not_standard(file)
}
