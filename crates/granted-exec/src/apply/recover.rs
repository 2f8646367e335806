//! Sees to a change set whose process died.

use std::io;

use super::file::{self, File};
use super::steps::Steps;
use super::swap::{Halt, forward, put_back};
use super::undo::clean;
use super::{Order, Recovered, Source};
use crate::tree::Tree;

/// Sees to a change set whose process died in the middle.
///
/// If every file is old it stays so; if each is old or new, the rest is applied. A content that is
/// neither is not touched, and if it was displaced it is put back first. After an error nothing is
/// known, and this may be called again, as it may at any time before the change set's end is recorded.
pub fn recover(order: &Order, tree: &Tree, source: &dyn Source) -> io::Result<Recovered> {
    let steps = Steps { tree, source };
    let mut files = file::open(order, steps)?;
    let mut unresolved = Vec::new();
    let (mut old, mut new) = (0, 0);
    for file in &mut files {
        let put = restore(file, steps)?;
        let named = file.named()?;
        match (named.is(file.change.before), named.is(file.change.after)) {
            _ if !put => unresolved.push(file.change.path.clone()),
            (true, _) => old += 1,
            (_, true) => {
                file.is_new = true;
                new += 1;
            }
            (false, false) => unresolved.push(file.change.path.clone()),
        }
    }
    if !unresolved.is_empty() {
        tidy(&files, steps)?;
        return Ok(Recovered::Unresolved { files: unresolved });
    }
    if new == 0 && old > 0 {
        tidy(&files, steps)?;
        file::remove_folders(order.folders.iter(), steps)?;
        return Ok(Recovered::Old);
    }
    match forward(order, &mut files, &mut Vec::new(), steps) {
        Ok(()) => {}
        Err(Halt::Foreign(unresolved)) => {
            tidy(&files, steps)?;
            return Ok(Recovered::Unresolved { files: unresolved });
        }
        Err(Halt::Failed(why)) => return Err(io::Error::other(why)),
    }
    tidy(&files, steps)?;
    Ok(Recovered::New)
}

/// Puts a foreign content that was displaced back in its place; whether none is left beside the file.
fn restore(file: &File<'_>, steps: Steps<'_>) -> io::Result<bool> {
    let beside = file.beside()?;
    if beside.is(None) || !file.is_foreign(beside) {
        return Ok(true);
    }
    // Where something else has the place by now, both stay.
    let _both = put_back(file, steps);
    let beside = file.beside()?;
    Ok(beside.is(None) || !file.is_foreign(beside))
}

/// Removes what is beside the files and is not somebody else's, durably.
fn tidy(files: &[File<'_>], steps: Steps<'_>) -> io::Result<()> {
    for file in files {
        clean(file, steps)?;
    }
    file::sync(files, steps)
}
