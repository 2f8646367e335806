//! Finds the file that a command names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, access, stat};
use rustix::io::Errno;

use super::missing::{Missing, Why, shown};

/// The file that a command executes in this directory, absolute; looked for in the directories of
/// `path` if it is named without `/`.
pub fn program(argv: &[OsString], cwd: &Path, path: &OsStr) -> Result<PathBuf, Missing> {
    let named = argv.first().filter(|name| !name.is_empty()).ok_or(Missing::Empty)?;
    let at = |path, why| Missing::At { what: "program", path, why };
    if named.as_bytes().contains(&b'/') {
        let path = cwd.join(named);
        return match fault(&path) {
            None => Ok(path),
            Some(why) => Err(at(path, why)),
        };
    }
    let mut first = None;
    for directory in path.as_bytes().split(|byte| *byte == b':') {
        // An empty directory is the one in which the program runs, as everywhere.
        let file = cwd.join(OsStr::from_bytes(directory)).join(named);
        match fault(&file) {
            None => return Ok(file),
            Some(Why::Absent) => {}
            Some(why) => first = first.or(Some((file, why))),
        }
    }
    Err(match first {
        Some((path, why)) => at(path, why),
        None => Missing::NotOnPath { program: shown(named), path: shown(path) },
    })
}

/// Requires the directory in which a program runs.
pub(crate) fn directory(path: &Path) -> Result<(), Missing> {
    let why = match stat(path) {
        _ if path.is_relative() => Why::Relative,
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {
            match access(path, Access::EXEC_OK) {
                Ok(()) => return Ok(()),
                Err(error) => Why::of(error),
            }
        }
        Ok(_) => Why::NotDirectory,
        Err(error) => Why::of(error),
    };
    Err(Missing::At { what: "directory", path: path.to_owned(), why })
}

/// What keeps a file from being executed. The kernel may still refuse its content.
fn fault(path: &Path) -> Option<Why> {
    match stat(path) {
        Err(error) => Some(Why::of(error)),
        Ok(found) => match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {
                access(path, Access::EXEC_OK).is_err().then_some(Why::NotExecutable)
            }
            FileType::Directory => Some(Why::Directory),
            _ => Some(Why::NotRegular),
        },
    }
}

impl Why {
    /// What an error at a path says of it.
    pub(super) fn of(error: Errno) -> Why {
        match error {
            Errno::NOENT | Errno::NOTDIR => Why::Absent,
            other => Why::Unreadable(other.into()),
        }
    }
}
