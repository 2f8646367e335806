//! Where a path leads.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use granted_core::write::path::ProjectPath;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat2, readlinkat, statat};
use rustix::io::Errno;

use super::{Place, STRAIGHT, Tree, TreeError, TreeFault, WITHIN};

/// How often a path is looked at that changes meanwhile.
const LOOKS: usize = 16;

const HANDLE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

impl Tree {
    /// Where a path leads, with the links in the project followed: to be asked once, before anything is
    /// decided, since everything else here follows none.
    ///
    /// Folders on the way may be missing; what is there of them must be folders.
    pub fn resolve(&self, path: &ProjectPath) -> Result<Place, TreeError> {
        let error = |fault| TreeError { path: path.to_string(), fault };
        for _ in 0..LOOKS {
            if let Some(place) = self.look(path).map_err(error)? {
                return Ok(place);
            }
        }
        Err(error(TreeFault::Changing))
    }

    /// Those folders on the way to these files that are not there, each after the one in which it
    /// would lie. The paths are those that [`Tree::resolve`] gave.
    pub fn missing_folders<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a ProjectPath>,
    ) -> Result<Vec<ProjectPath>, TreeError> {
        let mut missing = BTreeSet::new();
        for path in paths {
            let mut above = path.parent();
            while let Some(folder) = above {
                let flags = HANDLE | OFlags::DIRECTORY;
                match openat2(&self.root, folder.as_str(), flags, Mode::empty(), STRAIGHT) {
                    Ok(_) => break,
                    Err(Errno::NOENT) => above = folder.parent(),
                    Err(e) => {
                        let fault = TreeFault::of(e);
                        return Err(TreeError { path: folder.to_string(), fault });
                    }
                }
                missing.insert(folder);
            }
        }
        Ok(missing.into_iter().collect())
    }

    /// A folder, opened without following a link, in which files may be made; `None` if it is missing.
    /// Without a path it is the root.
    pub(crate) fn folder(&self, path: Option<&ProjectPath>) -> Result<Option<OwnedFd>, TreeError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let text = path.map_or(".", ProjectPath::as_str);
        match openat2(&self.root, text, flags, Mode::empty(), STRAIGHT) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(TreeError { path: text.to_owned(), fault: TreeFault::of(e) }),
        }
    }

    /// One look at where a path leads; `None` if something moved meanwhile.
    fn look(&self, path: &ProjectPath) -> Result<Option<Place>, TreeFault> {
        // The longest part of it that is there, and what is left.
        let (mut part, mut rest) = (path.as_str(), None);
        let handle = loop {
            match openat2(&self.root, part, HANDLE, Mode::empty(), WITHIN) {
                Ok(handle) => break handle,
                Err(Errno::NOENT) if part == "." => return Err(TreeFault::Io(Errno::NOENT.into())),
                Err(Errno::NOENT) => {
                    let cut = part.rfind('/');
                    rest = path.as_str().get(cut.map_or(0, |at| at + 1)..);
                    part = cut.and_then(|at| part.get(..at)).unwrap_or(".");
                }
                Err(Errno::AGAIN) => return Ok(None),
                Err(e) => return Err(TreeFault::of(e)),
            }
        };
        if let Some(rest) = rest {
            let next = rest.split('/').next().unwrap_or(rest);
            match statat(&handle, next, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => {}
                Err(Errno::NOTDIR) => return Err(TreeFault::NotFolder),
                Err(e) => return Err(TreeFault::Io(e.into())),
                Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                    FileType::Symlink => return Err(TreeFault::Dangling),
                    _ => return Ok(None),
                },
            }
        }
        let Some(canonical) = self.canonical(&handle)? else { return Ok(None) };
        let text = match (canonical.as_str(), rest) {
            ("", None) => return Err(TreeFault::Root),
            ("", Some(rest)) => rest.to_owned(),
            (above, None) => above.to_owned(),
            (above, Some(rest)) => format!("{above}/{rest}"),
        };
        let path = ProjectPath::parse(&text).map_err(|e| TreeFault::Path(e.fault))?;
        Ok(Some(Place { path, is_there: rest.is_none() }))
    }

    /// The path of what is open, relative to the root, as the kernel has it and as it can be opened
    /// again without following a link; empty for the root. `None` if it has moved.
    fn canonical(&self, handle: &OwnedFd) -> Result<Option<String>, TreeFault> {
        let name = |file: &OwnedFd| {
            let link = format!("/proc/self/fd/{}", file.as_raw_fd());
            readlinkat(CWD, link, Vec::new()).map_err(|e| TreeFault::Io(e.into()))
        };
        let (root, found) = (name(&self.root)?.into_bytes(), name(handle)?.into_bytes());
        let below = match found.strip_prefix(&*root) {
            Some([]) => return Ok(Some(String::new())),
            Some([b'/', below @ ..]) => below,
            Some(below) if root == b"/" => below,
            _ => return Ok(None),
        };
        let text = std::str::from_utf8(below).map_err(|_| TreeFault::NotText)?;
        let again = openat2(&self.root, OsStr::from_bytes(below), HANDLE, Mode::empty(), STRAIGHT);
        let is_same = again.is_ok_and(|again| {
            let (one, other) = (fstat(handle), fstat(&again));
            matches!((one, other), (Ok(one), Ok(other))
                if (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
        });
        Ok(is_same.then(|| text.to_owned()))
    }
}

impl TreeFault {
    /// What an error of an `openat2` below the root says.
    pub(super) fn of(error: Errno) -> TreeFault {
        match error {
            Errno::LOOP => TreeFault::Link,
            Errno::NOTDIR => TreeFault::NotFolder,
            Errno::NXIO | Errno::NODEV => TreeFault::Kind("a socket or a device"),
            Errno::XDEV => TreeFault::Outside,
            other => TreeFault::Io(other.into()),
        }
    }
}
