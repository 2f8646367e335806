//! What a change set may say of itself, whoever asks for it.

use crate::write::event::Request;
use crate::write::pattern::is_control_plane;
use crate::write::request::content_digest;
use crate::write::{FileChange, ProjectPath};

/// The permission bits that there are.
const MODES: u32 = 0o7777;

/// Checks what is asked for.
pub(super) fn check_request(request: &Request) -> Result<(), &'static str> {
    let changes = &request.changes;
    if changes.is_empty() {
        return Err("it changes no file");
    }
    if request.agent.is_some() && changes.iter().any(|change| new_mode(change).is_some()) {
        return Err("it has an agent say the mode of a file");
    }
    check_changes(changes)?;
    match content_digest(&request.project, changes) == request.digest {
        true => Ok(()),
        false => Err("its `digest` is not that of its changes"),
    }
}

/// Checks files and the folders that are made for them.
pub(super) fn check_claimed(
    changes: &[FileChange],
    folders: &[ProjectPath],
) -> Result<(), &'static str> {
    let new = || changes.iter().filter(|change| change.before.is_none());
    if folders.iter().any(|folder| !new().any(|change| change.path.is_below(folder))) {
        return Err("its `folders` are not on the way to a new file");
    }
    match has_twice(folders.iter()) {
        true => Err("it makes a folder twice"),
        false => Ok(()),
    }
}

fn check_changes(changes: &[FileChange]) -> Result<(), &'static str> {
    for change in changes {
        let sha256 = [change.before.map(|b| b.sha256), change.after.map(|a| a.sha256)];
        if sha256[0] == sha256[1] {
            return Err("it leaves a file as it is");
        }
        if is_control_plane(&change.path) {
            return Err("it changes a file of the control plane");
        }
        let modes = [change.before.map(|before| before.mode), new_mode(change)];
        if modes.into_iter().flatten().any(|mode| mode & !MODES != 0) {
            return Err("its `mode` is none of a file");
        }
        if changes.iter().any(|other| other.path.is_below(&change.path)) {
            return Err("it has one path for a file and a folder");
        }
    }
    match has_twice(changes.iter().map(|change| &change.path)) {
        true => Err("it changes a file twice"),
        false => Ok(()),
    }
}

fn new_mode(change: &FileChange) -> Option<u32> {
    change.after.and_then(|after| after.mode)
}

fn has_twice<'a>(paths: impl Iterator<Item = &'a ProjectPath>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    paths.into_iter().any(|path| !seen.insert(path))
}
