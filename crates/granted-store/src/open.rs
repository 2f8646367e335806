//! The one door through which paths are opened, made and replaced.
//!
//! Every open here takes regular files only, never follows a link in the last component, never
//! blocks on a FIFO, and is closed on exec. Errors name the path and say what lies there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use granted_core::custody::Breach;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::entropy;

/// Why a path was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing is there.
    #[error("`{}`: there is no such file", .0.display())]
    Missing(PathBuf),
    /// Something else than a regular file, or than a folder, is there.
    #[error("`{}` is {what}, not a {wanted}", .path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What it was to be.
        wanted: &'static str,
    },
    /// Somebody else could have written it, or a folder on the way to it.
    #[error("{breach}; to mend it: {}", .breach.mend())]
    Custody {
        /// What is wrong, and where.
        breach: Breach,
    },
    /// The system refused.
    #[error("`{}`: {}", .path.display(), in_words(.source))]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What the system says, in lower case and without the number that it has for it.
pub fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl OpenError {
    pub(crate) fn new(path: &Path, errno: Errno) -> OpenError {
        let path = path.to_owned();
        let kind = |path, what| OpenError::Kind { path, what, wanted: "regular file" };
        match errno {
            Errno::NOENT => OpenError::Missing(path),
            Errno::LOOP | Errno::MLINK => kind(path, "a symbolic link"),
            Errno::ISDIR => kind(path, "a directory"),
            Errno::NXIO | Errno::NODEV => kind(path, "a socket or a device"),
            errno => OpenError::Io { path, source: errno.into() },
        }
    }
}

/// What every open has.
const ALWAYS: OFlags =
    OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Files are for their owner only.
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens a file for reading.
pub fn read(path: &Path) -> Result<File, OpenError> {
    regular(CWD, path, path, OFlags::RDONLY).map(|opened| opened.0)
}

/// Opens the program that runs, whatever lies at its path by now. It is reached through a link of the
/// kernel's own.
pub fn own_program() -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open("/proc/self/exe", flags, Mode::empty())?))
}

/// Makes a file that must not be there, with mode 0600.
pub fn create(path: &Path) -> Result<File, OpenError> {
    regular(CWD, path, path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL).map(|opened| opened.0)
}

/// Opens a folder as a handle for the `…_at` functions. Links on the way to it are followed.
pub fn folder(path: &Path) -> Result<OwnedFd, OpenError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|e| OpenError::new(path, e))
}

/// Opens a folder below another, not through a link.
pub fn folder_at(above: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<OwnedFd, OpenError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::openat(above, name, flags, Mode::empty()).map_err(|e| match e {
        // For a link too.
        Errno::NOTDIR => no_folder(above, name, path),
        e => OpenError::new(path, e),
    })
}

fn no_folder(above: BorrowedFd<'_>, name: &OsStr, path: &Path) -> OpenError {
    match rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(e) => OpenError::new(path, e),
        Ok(stat) => {
            let what = what(FileType::from_raw_mode(stat.st_mode)).unwrap_or("a file");
            OpenError::Kind { path: path.to_owned(), what, wanted: "folder" }
        }
    }
}

/// A file, and what the system said of it when it was opened.
pub type Opened = (File, Stat);

/// As [`read`], below a folder. `path` is for messages.
pub fn read_at(folder: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<Opened, OpenError> {
    regular(folder, name, path, OFlags::RDONLY)
}

/// Opens a file below a folder that must be there for reading and writing. `path` is for messages.
pub fn write_at(folder: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<Opened, OpenError> {
    regular(folder, name, path, OFlags::RDWR)
}

/// Opens a file below a folder for reading and writing, made empty with mode 0600 if it is not there.
/// Its entry in the folder is not yet durable then. `path` is for messages.
pub fn ensure_at(folder: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<Opened, OpenError> {
    regular(folder, name, path, OFlags::RDWR | OFlags::CREATE)
}

/// As [`create`], below a folder. `path` is for messages.
pub fn create_at(folder: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<Opened, OpenError> {
    regular(folder, name, path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
}

fn regular<P: rustix::path::Arg>(
    folder: BorrowedFd<'_>,
    name: P,
    path: &Path,
    flags: OFlags,
) -> Result<Opened, OpenError> {
    let fd = rustix::fs::openat(folder, name, flags | ALWAYS, FILE)
        .map_err(|e| OpenError::new(path, e))?;
    let stat = rustix::fs::fstat(&fd).map_err(|e| OpenError::new(path, e))?;
    match what(FileType::from_raw_mode(stat.st_mode)) {
        None => Ok((File::from(fd), stat)),
        Some(what) => Err(OpenError::Kind { path: path.to_owned(), what, wanted: "regular file" }),
    }
}

/// In words, what is no regular file.
fn what(kind: FileType) -> Option<&'static str> {
    match kind {
        FileType::RegularFile => None,
        FileType::Directory => Some("a directory"),
        FileType::Symlink => Some("a symbolic link"),
        FileType::Fifo => Some("a FIFO"),
        FileType::Socket => Some("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        FileType::Unknown => Some("of an unknown kind"),
    }
}

/// Which file a path or a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of an open file, with its size.
    pub fn of(file: impl AsFd) -> io::Result<(Identity, u64)> {
        Ok(Identity::told(&rustix::fs::fstat(file)?))
    }

    /// As [`Identity::of`], by what the system said of the file.
    pub(crate) fn told(stat: &Stat) -> (Identity, u64) {
        // A size is never below zero.
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        (Identity { device: stat.st_dev, inode: stat.st_ino }, size)
    }

    /// Of what has this name in a folder, a link itself included; `None` if nothing has.
    pub fn at(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Identity>> {
        match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Identity { device: stat.st_dev, inode: stat.st_ino })),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// The inode's number and the device's, major and minor.
    pub fn numbers(self) -> (u64, u32, u32) {
        (self.inode, rustix::fs::major(self.device), rustix::fs::minor(self.device))
    }
}

/// Makes a folder, and those above it that are missing, with mode 0700 and durably.
pub fn make_folder(path: &Path) -> Result<(), OpenError> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let above = path.parent().unwrap_or(Path::new(""));
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) => sync_folder(above),
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) if !above.as_os_str().is_empty() => {
            make_folder(above)?;
            match rustix::fs::mkdir(path, Mode::RWXU) {
                Ok(()) => sync_folder(above),
                // Another process was faster.
                Err(Errno::EXIST) => Ok(()),
                Err(e) => Err(OpenError::new(path, e)),
            }
        }
        Err(e) => Err(OpenError::new(path, e)),
    }
}

/// Makes a folder below another, with mode 0700 and durably, if nothing has that name yet.
pub fn make_folder_at(above: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<(), OpenError> {
    match rustix::fs::mkdirat(above, name, Mode::RWXU) {
        Ok(()) => rustix::fs::fsync(above).map_err(|e| OpenError::new(path, e)),
        Err(Errno::EXIST) => Ok(()),
        Err(e) => Err(OpenError::new(path, e)),
    }
}

/// Makes the entries of a folder durable. A sync of a file does not do that for its name.
pub fn sync_folder(path: &Path) -> Result<(), OpenError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let folder = folder(path)?;
    rustix::fs::fsync(&folder).map_err(|e| OpenError::new(path, e))
}

/// Makes a file's bytes and size durable.
pub fn sync(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}

/// Puts a file that `fill` writes at this place of a folder, whole or not at all, whatever was
/// there before. The folder may be reached through links.
pub fn replace(
    folder: &Path,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let handle = self::folder(folder).map_err(io::Error::other)?;
    put(handle.as_fd(), OsStr::new(name), folder, RenameFlags::empty(), fill)
}

/// As [`replace`], below an open folder, whose path is for messages. `how` says what becomes of a file
/// that is there.
///
/// While the new one is written, it has another name, ends in `.tmp` and is locked, so that one without
/// a lock is known to be left over from a crash.
pub(crate) fn put(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
    how: RenameFlags,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    put_unsynced(folder, name, path, how, fill)?;
    // The new name is only durable once the folder is.
    Ok(rustix::fs::fsync(folder)?)
}

/// As [`put`], but for the folder's own sync, which whoever puts several does once.
pub(crate) fn put_unsynced(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
    how: RenameFlags,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = OsString::from(format!(".{}.tmp", entropy::hex::<16>()?));
    let made = create_at(folder, &temporary, &path.join(&temporary)).map_err(io::Error::other)?;
    let file = made.0;
    let written = (|| {
        file.lock()?;
        let mut writer = BufWriter::with_capacity(1 << 16, file);
        fill(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        // The order matters: a rename may become durable before the bytes of the file that it
        // names, so these go first.
        sync(&file)?;
        Ok(rustix::fs::renameat_with(folder, &temporary, folder, name, how)?)
    })();
    if written.is_err() {
        // Either the rename was done, and this finds nothing, or the file is of no use.
        remove_at(folder, &temporary);
    }
    written
}

/// The names in a folder, but for those that are no text.
pub fn names(folder: impl AsFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        match entry.file_name().to_str() {
            Err(_) | Ok("." | "..") => {}
            Ok(name) => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

/// Removes a file of a folder, best effort: somebody else may have done so first.
pub fn remove_at(folder: impl AsFd, name: &OsStr) {
    let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_the_error_says_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("folder")).unwrap();
        rustix::fs::mknodat(CWD, at("fifo"), FileType::Fifo, FILE, 0).unwrap();
        create(&at("file")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (path, what) in [
            (at("folder"), "a directory"),
            (at("fifo"), "a FIFO"),
            (at("link"), "a symbolic link"),
            (at("socket"), "a socket"),
            ("/dev/full".into(), "a device"),
            (at("none"), "no such file"),
        ] {
            for how in [read_at, write_at] {
                let text = how(CWD, path.as_os_str(), &path).unwrap_err().to_string();
                assert!(text.contains(what) && text.contains(path.to_str().unwrap()), "{text}");
            }
        }
        assert!(create(&at("file")).is_err());
        for (name, what) in [("fifo", "a FIFO"), ("link", "a symbolic link"), ("file", "a file")] {
            let path = at(name);
            let text = folder_at(CWD, path.as_os_str(), &path).unwrap_err().to_string();
            assert!(text.ends_with(&format!("is {what}, not a folder")), "{text}");
        }
    }

    #[test]
    fn replaces_whole_and_leaves_nothing_behind() {
        use std::io::Write;
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        make_folder(&deep).unwrap();
        make_folder(&deep).unwrap();
        replace(&deep, "x", |file| file.write_all(b"one")).unwrap();
        replace(&deep, "x", |file| file.write_all(b"two")).unwrap();
        replace(&deep, "x", |_| Err(io::Error::other("no"))).unwrap_err();
        let place = RenameFlags::NOREPLACE;
        let at = folder(&deep).unwrap();
        let there = put(at.as_fd(), OsStr::new("x"), &deep, place, |file| file.write_all(b"four"));
        assert_eq!(there.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 1);
        assert_eq!(std::fs::metadata(deep.join("x")).unwrap().len(), 3);
    }
}
