//! Puts new contents in the place of the old ones.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use granted_core::digest::Digest;
use granted_core::write::path::ProjectPath;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::Order;
use super::file::{self, File, Held};
use super::steps::Steps;
use crate::tree::in_words;

/// Why a change set does not go on.
pub(super) enum Halt {
    /// These files are neither old nor new.
    Foreign(Vec<ProjectPath>),
    /// Something failed.
    Failed(String),
}

impl Halt {
    /// The error of a step that concerns this file.
    pub(super) fn at(file: &File<'_>, error: &io::Error) -> Halt {
        Halt::Failed(format!("`{}`: {}", file.change.path, in_words(error)))
    }

    /// The error of a step that concerns no file alone.
    pub(super) fn of(error: &io::Error) -> Halt {
        Halt::Failed(in_words(error))
    }
}

/// Brings every file that is old to its new content, durably, and looks at all of them once more. What
/// was displaced is beside them then.
pub(super) fn forward<'a>(
    order: &'a Order,
    files: &mut [File<'a>],
    made: &mut Vec<&'a ProjectPath>,
    steps: Steps<'_>,
) -> Result<(), Halt> {
    file::make_folders(order, steps, made)
        .and_then(|()| file::open_folders(files, steps))
        .map_err(|e| Halt::of(&e))?;
    for file in files.iter().filter(|file| !file.is_new) {
        stage(file, steps).map_err(|e| Halt::at(file, &e))?;
    }
    for file in files.iter_mut().filter(|file| !file.is_new) {
        file.touched = true;
        if !swap(file, steps).map_err(|e| Halt::at(file, &e))? {
            return Err(Halt::Foreign(vec![file.change.path.clone()]));
        }
    }
    file::sync(files, steps).map_err(|e| Halt::of(&e))?;
    let mut foreign = Vec::new();
    for file in files.iter() {
        if !file.by_path(steps).map_err(|e| Halt::at(file, &e))?.is(file.change.after) {
            foreign.push(file.change.path.clone());
        }
    }
    if foreign.is_empty() { Ok(()) } else { Err(Halt::Foreign(foreign)) }
}

/// Writes a file's new content beside it, unless it is there already.
fn stage(file: &File<'_>, steps: Steps<'_>) -> io::Result<()> {
    let Some(after) = file.change.after else { return Ok(()) };
    if file.beside()?.is(Some(after)) {
        return match file.is_ours()? {
            true => Ok(()),
            false => Err(io::Error::other(file.in_the_way())),
        };
    }
    let folder = file.folder()?;
    let old = match file.change.before {
        None => None,
        Some(_) => Some(open(folder, file.change.path.name())?),
    };
    let bytes = content(steps, after)?;
    // From a process that died while it wrote it.
    steps.remove(folder, &file.part)?;
    steps.write(folder, &file.part, &bytes, old.as_ref(), file.change.mode)?;
    // Only now that it is complete: a file of the other name is never half a content.
    steps.rename(folder, &file.part, &file.temp)
}

/// The content of this digest, held to it.
pub(super) fn content(steps: Steps<'_>, digest: Digest) -> io::Result<Vec<u8>> {
    let bytes = steps.source.content(digest)?;
    match Digest::of(&bytes) == digest {
        true => Ok(bytes),
        false => Err(io::Error::other("its content is not the one that was decided on")),
    }
}

/// An open file, to be looked at.
pub(super) fn open(folder: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// Puts a file's new content in the place of the old one, which is then beside it. If that is not what
/// it was to be, it is put back, and the answer is no.
fn swap(file: &File<'_>, steps: Steps<'_>) -> io::Result<bool> {
    let (folder, name) = (file.folder()?, file.change.path.name());
    match (file.change.before, file.change.after) {
        (None, _) => match steps.rename(folder, &file.temp, name) {
            Err(e) if is(&e, Errno::EXIST) => Ok(false),
            other => other.map(|()| true),
        },
        (Some(_), None) => match steps.rename(folder, name, &file.temp) {
            Err(e) if is(&e, Errno::NOENT) => Ok(false),
            Err(e) => Err(e),
            Ok(()) if file.beside()?.is(file.change.before) => Ok(true),
            Ok(()) => put_back(file, steps).map(|()| false),
        },
        (Some(_), Some(_)) => match steps.exchange(folder, &file.temp, name) {
            Err(e) if is(&e, Errno::NOENT) => Ok(false),
            Err(e) => Err(e),
            Ok(true) if file.beside()?.is(file.change.before) => Ok(true),
            Ok(true) => put_back(file, steps).map(|()| false),
            // This file system cannot exchange: it is looked at before, and not after.
            Ok(false) if file.named()?.is(file.change.before) => {
                steps.replace(folder, &file.temp, name).map(|()| true)
            }
            Ok(false) => Ok(false),
        },
    }
}

/// Puts what was displaced back in its place, if the new content is there, or nothing.
pub(super) fn put_back(file: &File<'_>, steps: Steps<'_>) -> io::Result<()> {
    let (folder, name) = (file.folder()?, file.change.path.name());
    match file.named()? {
        Held::Nothing => steps.rename(folder, &file.temp, name),
        held if held.is(file.change.after) => {
            steps.exchange(folder, &file.temp, name)?;
            if file.beside()?.is(file.change.after) {
                return Ok(());
            }
            // Something else came there in between: it is what stays.
            steps.exchange(folder, &file.temp, name)?;
            Err(io::Error::other("it changed while it was put back"))
        }
        _ => Err(io::Error::other("it changed before it could be put back")),
    }
}

/// Whether it is this error.
fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}
