//! The way to every file that gives authority: from the home down, step by step, through open handles.
//!
//! The home itself may be reached through links; inside it none is followed. Each handle on the way is
//! asked who owns it and who may write it. What that comes to is kept beside the handle, and the
//! caller says whether it matters: the rule is in [`granted_core::custody`].

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use granted_core::custody::{Breach, Fault, Seen};
use rustix::fs::{AtFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::open::{self, Identity, OpenError, Opened};

/// The brief of a project: what lies in a folder that holds one, or below it, is for agents to write.
const BRIEF: &str = "granted.toml";

/// A folder that holds files which give authority, and the home that it lies in.
///
/// Clones share what was opened: it is opened again only if something else lies there by now.
#[derive(Clone, Debug)]
pub struct Folder(Arc<Place>);

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// The folder above, and the name in it; of a home, nothing.
    above: Option<(Folder, OsString)>,
    opened: Mutex<Option<(Identity, Arc<OwnedFd>)>>,
    /// What is wrong with the place of a home, asked for once.
    project: OnceLock<Option<Breach>>,
    me: u32,
}

/// How a file below a folder is opened: one of the `…_at` functions of [`open`].
pub type How = fn(BorrowedFd<'_>, &OsStr, &Path) -> Result<Opened, OpenError>;

impl Folder {
    /// A folder that is a home of its own.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        let path = match path.into() {
            path if path.as_os_str().is_empty() => PathBuf::from("."),
            path => path,
        };
        Folder::at(path, None, rustix::process::geteuid().as_raw())
    }

    fn at(path: PathBuf, above: Option<(Folder, OsString)>, me: u32) -> Folder {
        let (opened, project) = (Mutex::default(), OnceLock::new());
        Folder(Arc::new(Place { path, above, opened, project, me }))
    }

    /// The folder at this path, if it lies in this one; one that lies elsewhere is a home of its own.
    pub fn within(&self, path: &Path) -> Folder {
        match path.strip_prefix(self.path()) {
            Ok(below) => below.iter().fold(self.clone(), |folder, name| folder.join(name)),
            Err(_) => Folder::new(path),
        }
    }

    /// The folder of this name in it.
    pub fn join(&self, name: impl AsRef<OsStr>) -> Folder {
        let name = name.as_ref().to_owned();
        Folder::at(self.path().join(&name), Some((self.clone(), name)), self.0.me)
    }

    /// Whether it lies in no other home.
    pub fn is_home(&self) -> bool {
        self.0.above.is_none()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Opens it.
    pub fn open(&self) -> Result<Kept<Dir>, OpenError> {
        let path = self.path();
        let Some((above, name)) = &self.0.above else {
            let ask = || rustix::fs::stat(path);
            let (handle, stat) = self.handle(ask, || open::folder(path))?;
            let kept = Kept::new(handle, stat, path.to_owned(), None, self.0.me);
            let breach = kept.breach.or_else(|| self.project().cloned());
            return Ok(Kept { breach, ..kept });
        };
        let above = above.open()?;
        let ask = || rustix::fs::statat(&above.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        let open = || open::folder_at(above.handle.as_fd(), name, path);
        let (handle, stat) = self.handle(ask, open)?;
        Ok(Kept::new(handle, stat, path.to_owned(), above.breach, self.0.me))
    }

    /// The handle, opened unless what lies there is what was opened before: to ask for that costs less.
    fn handle(
        &self,
        ask: impl FnOnce() -> Result<Stat, Errno>,
        open: impl FnOnce() -> Result<OwnedFd, OpenError>,
    ) -> Result<(Dir, Stat), OpenError> {
        let opened = || self.0.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let before = opened().clone();
        if let Some((identity, handle)) = before
            && let Ok(stat) = ask()
            && Identity::told(&stat).0 == identity
        {
            return Ok((handle, stat));
        }
        let handle = Arc::new(open()?);
        let stat = rustix::fs::fstat(&handle).map_err(|e| OpenError::new(self.path(), e))?;
        *opened() = Some((Identity::told(&stat).0, Arc::clone(&handle)));
        Ok((handle, stat))
    }

    /// What makes the place of a home, which is there, part of a project.
    fn project(&self) -> Option<&Breach> {
        let find = || {
            let home = std::fs::canonicalize(self.path()).ok()?;
            let has_brief = |above: &&Path| rustix::fs::lstat(above.join(BRIEF)).is_ok();
            let brief = home.ancestors().find(has_brief)?.join(BRIEF);
            let fault = Fault::Project(home.display().to_string());
            Some(Breach { path: brief.display().to_string(), fault, me: self.0.me })
        };
        self.0.project.get_or_init(find).as_ref()
    }

    /// Opens it; makes it, and what is missing above it, with mode 0700 and durably.
    pub fn make(&self) -> Result<Kept<Dir>, OpenError> {
        match self.open() {
            Err(OpenError::Missing(_)) => {}
            opened => return opened,
        }
        match &self.0.above {
            None => open::make_folder(self.path())?,
            Some((above, name)) => {
                open::make_folder_at(above.make()?.handle.as_fd(), name, self.path())?;
            }
        }
        self.open()
    }

    /// Opens a file in it.
    pub fn file(&self, name: impl AsRef<OsStr>, how: How) -> Result<Kept<File>, OpenError> {
        self.open()?.file(name, how)
    }
}

/// The handle of a folder.
pub type Dir = Arc<OwnedFd>;

/// An open file or folder, and what keeps it from being relied on.
#[derive(Debug)]
pub struct Kept<T> {
    /// The handle.
    pub handle: T,
    /// Where it was opened.
    pub path: PathBuf,
    /// The first thing that is wrong on the way from the home to it.
    pub breach: Option<Breach>,
    /// What the system said of it when it was opened.
    pub(crate) stat: Stat,
    me: u32,
}

impl<T> Kept<T> {
    fn new(handle: T, stat: Stat, path: PathBuf, above: Option<Breach>, me: u32) -> Kept<T> {
        let breach = above.or_else(|| breach(&stat, &path, me));
        Kept { handle, path, breach, stat, me }
    }

    /// What is wrong with it, whatever lies above it.
    pub fn own_breach(&self) -> Option<Breach> {
        breach(&self.stat, &self.path, self.me)
    }

    /// What keeps it from being a secret.
    pub fn leak(&self) -> Option<Breach> {
        let fault = seen(&self.stat).leak()?;
        Some(Breach { path: self.path.display().to_string(), fault, me: self.me })
    }

    /// How many bytes the file had when it was opened.
    pub fn size(&self) -> u64 {
        Identity::told(&self.stat).1
    }

    /// The same, held only to what is wrong from here on down. For what the ledger alone is decided
    /// by: the folders above are the ledger's too, and to their custody every claim is held.
    pub fn from_here(self) -> Result<Kept<T>, OpenError> {
        match self.own_breach() {
            None => Ok(Kept { breach: None, ..self }),
            Some(breach) => Err(OpenError::Custody { breach }),
        }
    }

    /// The same, if it can be relied on.
    pub fn sound(self) -> Result<Kept<T>, OpenError> {
        match self.breach {
            None => Ok(self),
            Some(breach) => Err(OpenError::Custody { breach }),
        }
    }
}

impl Kept<Dir> {
    /// What the system says of the folder of this name in it; `None` if it is not there, or if what is
    /// there cannot be relied on.
    pub(crate) fn ask(&self, name: &str) -> Option<Stat> {
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        seen(&stat).fault(self.me).is_none().then_some(stat)
    }

    /// Opens a folder in it, not through a link.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> Result<Kept<Dir>, OpenError> {
        let (name, path) = (name.as_ref(), self.path.join(name.as_ref()));
        let handle = open::folder_at(self.handle.as_fd(), name, &path)?;
        let stat = rustix::fs::fstat(&handle).map_err(|e| OpenError::new(&path, e))?;
        Ok(Kept::new(Arc::new(handle), stat, path, self.breach.clone(), self.me))
    }

    /// What keeps a file in it from being relied on, of which the system said this.
    pub(crate) fn judge(&self, stat: &Stat, path: &Path) -> Option<Breach> {
        self.breach.clone().or_else(|| breach(stat, path, self.me))
    }

    /// Opens a file in it.
    pub fn file(&self, name: impl AsRef<OsStr>, how: How) -> Result<Kept<File>, OpenError> {
        let (name, path) = (name.as_ref(), self.path.join(name.as_ref()));
        let (file, stat) = how(self.handle.as_fd(), name, &path)?;
        Ok(Kept::new(file, stat, path, self.breach.clone(), self.me))
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

/// What is wrong with a file or folder of which the system said this.
fn breach(stat: &Stat, path: &Path, me: u32) -> Option<Breach> {
    let fault = seen(stat).fault(me)?;
    Some(Breach { path: path.display().to_string(), fault, me })
}

fn seen(stat: &Stat) -> Seen {
    Seen { owner: stat.st_uid, mode: stat.st_mode }
}

#[cfg(test)]
mod tests;
