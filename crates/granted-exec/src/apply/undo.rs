//! Brings files back that were changed, when the rest could not be.

use std::io;

use granted_core::write::path::ProjectPath;

use super::file::{self, File};
use super::steps::Steps;
use super::swap::{self, put_back};

/// Brings everything back to what it was; the files for which that is not certain.
pub(super) fn undo(
    files: &[File<'_>],
    made: &[&ProjectPath],
    steps: Steps<'_>,
) -> Vec<ProjectPath> {
    let mut unknown = Vec::new();
    for file in files {
        let undone = match file.touched {
            true => unswap(file, steps).and_then(|()| clean(file, steps)),
            false => clean(file, steps),
        };
        if !undone.is_ok_and(|clean| clean) {
            unknown.push(file.change.path.clone());
        }
    }
    let durable =
        file::remove_folders(made.iter().copied(), steps).and_then(|()| file::sync(files, steps));
    if durable.is_err() {
        unknown = files.iter().map(|file| file.change.path.clone()).collect();
    }
    unknown
}

/// Brings a file back that this process began to change. It is known by what has its two names how far
/// that came.
fn unswap(file: &File<'_>, steps: Steps<'_>) -> io::Result<()> {
    let (named, beside) = (file.named()?, file.beside()?);
    if !beside.is(None) && !beside.is(file.change.after) {
        return put_back(file, steps);
    }
    if !beside.is(None) || !named.is(file.change.after) {
        return Ok(());
    }
    let (folder, name) = (file.folder()?, file.change.path.name());
    match (file.change.before, file.change.after) {
        // Somebody else has removed it, and before that nothing was changed.
        (_, None) => Ok(()),
        (None, Some(_)) => {
            steps.rename(folder, name, &file.temp)?;
            if file.beside()?.is(file.change.after) {
                return Ok(());
            }
            // Somebody has written to it in between.
            steps.rename(folder, &file.temp, name)?;
            Err(io::Error::other("it changed while it was removed"))
        }
        // It could not be exchanged: what it held is written once more.
        (Some(before), Some(_)) => {
            let bytes = swap::content(steps, before)?;
            let new = swap::open(folder, name)?;
            steps.write(folder, &file.part, &bytes, Some(&new), file.change.mode)?;
            steps.replace(folder, &file.part, name)
        }
    }
}

/// Removes what is beside a file, unless somebody else's content is there; whether nothing is left.
pub(super) fn clean(file: &File<'_>, steps: Steps<'_>) -> io::Result<bool> {
    if file.folder.is_none() {
        return Ok(true);
    }
    let folder = file.folder()?;
    // What has this name is never complete, or was not needed.
    steps.remove(folder, &file.part)?;
    let beside = file.beside()?;
    if beside.is(None) {
        return Ok(true);
    }
    let is_known = !file.is_foreign(beside);
    if is_known {
        steps.remove(folder, &file.temp)?;
    }
    Ok(is_known)
}
