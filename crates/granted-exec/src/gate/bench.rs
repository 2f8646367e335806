//! The folder in which a gate runs.

use std::ffi::{CStr, CString};
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use granted_core::write::path::ProjectPath;
use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, chmodat, fchmod, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;

use super::sweep::{PREFIX, RANDOM, hold, sweep};
use super::{GateError, Needed, Proposed};
use crate::boot;
use crate::tree::{Found, Tree};

/// The most bytes of a file that a gate needs.
const MAX_NEED: usize = 16 << 20;
/// How long a folder is being removed, should something still write to it.
const REMOVAL: Duration = Duration::from_secs(10);

/// A folder of a gate's own, with the proposed files and those that the gate needs. It goes when this
/// is dropped.
#[derive(Debug)]
pub struct Bench {
    folder: PathBuf,
    root: PathBuf,
    temporary: PathBuf,
    project: PathBuf,
    proposed: Vec<ProjectPath>,
    needs: Vec<Needed>,
    /// While this is open, nobody else takes the folder for one that was left over.
    _held: OwnedFd,
}

impl Bench {
    /// Makes the folder in that of this path.
    ///
    /// What the gate needs is there as it is in the project, also where it was proposed otherwise: a
    /// gate is what it was before the change that it is to check.
    pub fn new(
        within: &Path,
        project: &Tree,
        proposed: &[Proposed<'_>],
        needs: &[ProjectPath],
    ) -> Result<Bench, GateError> {
        let project_path = std::fs::canonicalize(project.path())?;
        let within = std::fs::canonicalize(within)?;
        sweep(&within);
        let (folder, held) = loop {
            let made = tempfile::Builder::new()
                .prefix(PREFIX)
                .rand_bytes(RANDOM)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(&within)?;
            if let Some(held) = hold(made.path())? {
                // From here on it is removed by what is below.
                break (made.keep(), held);
            }
        };
        let mut bench = Bench {
            root: folder.join("tree"),
            temporary: folder.join("tmp"),
            folder,
            project: project_path,
            proposed: Vec::new(),
            needs: Vec::new(),
            _held: held,
        };
        std::fs::create_dir(&bench.root)?;
        std::fs::create_dir(&bench.temporary)?;
        for path in needs {
            let Found::File(found) = project.read(path, MAX_NEED)? else {
                return Err(GateError::Absent(path.clone()));
            };
            bench.put(path, &found.bytes, found.mode)?;
            bench.needs.push(Needed { path: path.clone(), digest: found.digest });
        }
        for Proposed { path, content, mode } in proposed {
            if !needs.contains(path) {
                bench.put(path, content, *mode)?;
            }
            bench.proposed.push((*path).clone());
        }
        Ok(bench)
    }

    /// The files that the gate needs, as they were copied: its identity is held to these.
    pub fn needs(&self) -> &[Needed] {
        &self.needs
    }

    /// The files that were proposed.
    pub(super) fn proposed(&self) -> &[ProjectPath] {
        &self.proposed
    }

    /// What stands for the root of the project: the gate runs in it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// For the gate's own temporary files.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// All that the gate may write to.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The project itself.
    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    fn put(&self, path: &ProjectPath, bytes: &[u8], mode: u32) -> io::Result<()> {
        let at = self.root.join(path.as_str());
        if let Some(above) = at.parent() {
            std::fs::create_dir_all(above)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = std::fs::File::from(openat(CWD, &at, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        Ok(fchmod(&file, Mode::from_raw_mode(mode & 0o777))?)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // Where that fails a folder is left over among the temporary files.
        let _left_over = remove(&self.folder, boot::now() + REMOVAL);
    }
}

/// Removes a folder, however deep it is and whatever may be done with what is in it.
///
/// A gate that went on may write to it at the same time, so no link is followed and time is bounded.
/// Each folder's folders are moved up into the first one, so that none is ever far away.
pub(super) fn remove(folder: &Path, until: Duration) -> io::Result<()> {
    open_up(CWD, folder)?;
    let top = openat(CWD, folder, FOLDER, Mode::empty())?;
    let mut moved = 0_u64;
    while boot::now() < until {
        match unlinkat(CWD, folder, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            other => return Ok(other?),
        }
        for name in names(&top)? {
            empty(&top, &name, &mut moved)?;
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// How a folder is opened that is not reached through a link.
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes what has this name, or moves what is in it one level up.
fn empty(top: &OwnedFd, name: &CStr, moved: &mut u64) -> io::Result<()> {
    if is_removed(top, name)? {
        return Ok(());
    }
    open_up(top, name)?;
    let inner = openat(top, name, FOLDER, Mode::empty())?;
    for within in names(&inner)? {
        if !is_removed(&inner, &within)? {
            // It could not be moved if its own bits forbade to write to it.
            open_up(&inner, &within)?;
            *moved += 1;
            let to = format!("moved-{moved}");
            match renameat_with(&inner, &*within, top, to, RenameFlags::NOREPLACE) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Removes what has this name, unless it is a folder.
fn is_removed(folder: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Lets us do everything with a folder, whatever its bits are. What is opened is what is changed.
pub(super) fn open_up(above: impl AsFd, name: impl Arg) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(above, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(chmodat(CWD, path, Mode::RWXU, AtFlags::empty())?)
}

/// Some of the names in a folder, of which there may be any number.
fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if name != c"." && name != c".." {
            names.push(name);
        }
        if names.len() == 10_000 {
            break;
        }
    }
    Ok(names)
}
