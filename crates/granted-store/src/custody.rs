//! The way to every file that gives authority: from the home down, step by step, through open handles.
//!
//! The home itself may be reached through links; inside it none is followed. Each handle on the way is
//! asked who owns it and who may write it. What that comes to is kept beside the handle, and the
//! caller says whether it matters: a rule is in [`granted_core::custody`].

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use granted_core::custody::{Breach, Seen};
use rustix::fs::RenameFlags;

use crate::open::{self, OpenError};

/// A folder that holds files which give authority, and the home that it lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    home: PathBuf,
    below: Vec<OsString>,
    path: PathBuf,
}

/// How a file below a folder is opened: one of the `…_at` functions of [`open`].
pub type How = fn(BorrowedFd<'_>, &OsStr, &Path) -> Result<File, OpenError>;

impl Folder {
    /// A folder that is a home of its own.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        let path = match path.into() {
            path if path.as_os_str().is_empty() => PathBuf::from("."),
            path => path,
        };
        Folder { home: path.clone(), below: Vec::new(), path }
    }

    /// A folder in this home; one that lies elsewhere is a home of its own.
    pub fn within(home: &Path, path: &Path) -> Folder {
        match path.strip_prefix(home) {
            Ok(below) => below.iter().fold(Folder::new(home), |folder, name| folder.join(name)),
            Err(_) => Folder::new(path),
        }
    }

    /// The folder of this name in it.
    pub fn join(&self, name: impl AsRef<OsStr>) -> Folder {
        let name = name.as_ref();
        let below = self.below.iter().cloned().chain([name.to_owned()]).collect();
        Folder { home: self.home.clone(), below, path: self.path.join(name) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it.
    pub fn open(&self) -> Result<Kept<OwnedFd>, OpenError> {
        let mut kept = Kept::new(open::folder(&self.home)?, self.home.clone(), None)?;
        for name in &self.below {
            kept = kept.folder(name)?;
        }
        Ok(kept)
    }

    /// Opens it; makes it, and what is missing above it, with mode 0700 and durably.
    pub fn make(&self) -> Result<Kept<OwnedFd>, OpenError> {
        open::make_folder(&self.home)?;
        let mut kept = Kept::new(open::folder(&self.home)?, self.home.clone(), None)?;
        for name in &self.below {
            open::make_folder_at(kept.handle.as_fd(), name, &kept.path.join(name))?;
            kept = kept.folder(name)?;
        }
        Ok(kept)
    }

    /// Opens a file in it.
    pub fn file(&self, name: impl AsRef<OsStr>, how: How) -> Result<Kept<File>, OpenError> {
        self.open()?.file(name, how)
    }
}

/// An open file or folder, and what keeps it from being relied on.
#[derive(Debug)]
pub struct Kept<T> {
    /// The handle.
    pub handle: T,
    /// Where it was opened.
    pub path: PathBuf,
    /// The first thing that is wrong on the way from the home to it.
    pub breach: Option<Breach>,
}

impl<T: AsFd> Kept<T> {
    fn new(handle: T, path: PathBuf, above: Option<Breach>) -> Result<Kept<T>, OpenError> {
        let breach = match above {
            None => breach(&handle, &path)?,
            above => above,
        };
        Ok(Kept { handle, path, breach })
    }

    /// The same, held only to what is wrong from here on down. For what the ledger alone is decided
    /// by: the folders above are the ledger's too, and to their custody every claim is held.
    pub fn from_here(self) -> Result<Kept<T>, OpenError> {
        match breach(&self.handle, &self.path)? {
            None => Ok(Kept { breach: None, ..self }),
            Some(breach) => Err(OpenError::Custody { breach }),
        }
    }

    /// The handle, if it can be relied on.
    pub fn sound(self) -> Result<T, OpenError> {
        match self.breach {
            None => Ok(self.handle),
            Some(breach) => Err(OpenError::Custody { breach }),
        }
    }
}

impl Kept<OwnedFd> {
    /// Opens a folder in it, not through a link.
    pub fn folder(self, name: impl AsRef<OsStr>) -> Result<Kept<OwnedFd>, OpenError> {
        let (name, path) = (name.as_ref(), self.path.join(name.as_ref()));
        Kept::new(open::folder_at(self.handle.as_fd(), name, &path)?, path, self.breach)
    }

    /// Opens a file in it.
    pub fn file(&self, name: impl AsRef<OsStr>, how: How) -> Result<Kept<File>, OpenError> {
        let (name, path) = (name.as_ref(), self.path.join(name.as_ref()));
        Kept::new(how(self.handle.as_fd(), name, &path)?, path, self.breach.clone())
    }

    /// Puts a file that `fill` writes there, whole or not at all, whatever was there before.
    pub fn replace(
        &self,
        name: impl AsRef<OsStr>,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        open::put(self.handle.as_fd(), name.as_ref(), &self.path, RenameFlags::empty(), fill)
    }

    /// As [`Kept::replace`], but if anything is there it stays, and the error is of the kind
    /// `AlreadyExists`.
    pub fn place(
        &self,
        name: impl AsRef<OsStr>,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        open::put(self.handle.as_fd(), name.as_ref(), &self.path, RenameFlags::NOREPLACE, fill)
    }
}

/// What is wrong with an open file or folder.
pub fn breach(handle: impl AsFd, path: &Path) -> Result<Option<Breach>, OpenError> {
    let stat = rustix::fs::fstat(handle).map_err(|e| OpenError::new(path, e))?;
    let me = rustix::process::geteuid().as_raw();
    let fault = Seen { owner: stat.st_uid, mode: stat.st_mode }.fault(me);
    Ok(fault.map(|fault| Breach { path: path.display().to_string(), fault, me }))
}

#[cfg(test)]
mod tests;
