//! Applies a change set to the files of a project: all of it or nothing.
//!
//! Each new content is written beside its file, under a name that only this change set has, and made
//! durable there. Then each is exchanged with what is there, which is looked at only afterwards: what
//! was displaced can no longer change unseen. If it is not what it was to be, everything is put back.
//! Only when every folder is durable and every file was read once more by its path does the old content
//! go.
//!
//! A process that dies in between leaves each file old or new, whole, and [`recover`] tells which by
//! their digests: all old, it stays so; otherwise the rest is applied too.
//!
//! A replaced file keeps its permission bits (but for those that lend its owner's rights to whoever
//! runs it), its owner, its access list and its `user.` attributes. It is another file, however: other
//! hard links keep the old content, and so does a program that has the old file open.
//!
//! An [`Order`] is made of a durable claim only, and nothing else changes a file:
//!
//! ```compile_fail
//! use granted_core::write::FileChange;
//! fn without_a_claim(id: granted_core::id::Id, changes: Vec<FileChange>) {
//!     let order = granted_exec::apply::Order::new(id, changes, Vec::new());
//! }
//! ```

mod file;
mod recover;
mod steps;
mod swap;
mod undo;

use std::io;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::write::path::ProjectPath;
use granted_core::write::{self, Claim};

use crate::tree::{Tree, in_words};
use file::File;
pub use recover::recover;
use steps::Steps;
use swap::{Halt, forward};
use undo::undo;

/// The permission bits of a new file, where nothing says others.
pub const NEW_MODE: u32 = 0o644;

/// What a change set does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileChange {
    /// The file, as [`Tree::resolve`] gave it.
    path: ProjectPath,
    /// The digest of what is there; `None` if the file is new.
    before: Option<Digest>,
    /// The digest of what is to be there; `None` if the file is to go.
    after: Option<Digest>,
    /// The permission bits of a file that is made anew. One that is replaced keeps its own.
    mode: u32,
}

/// A claimed change set that is to be applied.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    id: Id,
    changes: Vec<FileChange>,
    folders: Vec<ProjectPath>,
}

/// Why some changes are no change set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// None at all.
    #[error("a change set changes at least one file")]
    Empty,
    /// One whose content stays, or that neither was nor will be there.
    #[error("`{0}` would not be changed")]
    Same(ProjectPath),
    /// Two changes of one file.
    #[error("`{0}` is changed twice")]
    Twice(ProjectPath),
    /// A file and what would lie below it.
    #[error("`{0}` cannot be a file and a folder")]
    Below(ProjectPath),
}

impl Order {
    /// What a claim permits.
    pub fn new(claim: &Claim) -> Result<Order, OrderError> {
        let change = |change: &write::FileChange| FileChange {
            path: change.path.clone(),
            before: change.before.map(|before| before.sha256),
            after: change.after.map(|after| after.sha256),
            mode: change.after.and_then(|after| after.mode).unwrap_or(NEW_MODE),
        };
        let changes = claim.changes().iter().map(change).collect();
        Order::of(claim.id(), changes, claim.folders().to_vec())
    }

    /// A change set and its id, by which its temporary files are known. The `folders` are those that
    /// were missing when it was decided on, as [`Tree::missing_folders`] gave them.
    fn of(
        id: Id,
        changes: Vec<FileChange>,
        folders: Vec<ProjectPath>,
    ) -> Result<Order, OrderError> {
        if changes.is_empty() {
            return Err(OrderError::Empty);
        }
        for (n, change) in changes.iter().enumerate() {
            let path = || change.path.clone();
            if change.before == change.after {
                return Err(OrderError::Same(path()));
            }
            for other in changes.iter().skip(n + 1).map(|other| &other.path) {
                if *other == change.path {
                    return Err(OrderError::Twice(path()));
                }
                if other.is_below(&change.path) {
                    return Err(OrderError::Below(path()));
                }
                if change.path.is_below(other) {
                    return Err(OrderError::Below(other.clone()));
                }
            }
        }
        Ok(Order { id, changes, folders })
    }
}

/// What applying asks of its caller.
pub trait Source {
    /// The content of this digest.
    fn content(&self, digest: Digest) -> io::Result<Vec<u8>>;

    /// Called before each step that changes anything on the disk; an error is taken for one of that
    /// step. For tests that kill the process there, or have the step fail.
    fn step(&self, _what: &'static str) -> io::Result<()> {
        Ok(())
    }
}

/// What became of a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Every file is as it was to be, durably.
    Done,
    /// Every file is as it was.
    NotDone {
        /// Why.
        why: String,
        /// The files that were not, or no longer, what the change set says, if it is that.
        changed: Vec<ProjectPath>,
    },
    /// Something failed, and not all of it could be undone: [`recover`] is to look at it.
    Unknown {
        /// Why.
        why: String,
        /// The files that may not be as they were.
        files: Vec<ProjectPath>,
    },
}

/// What became of a change set whose process died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// Every file is as it was.
    Old,
    /// Every file is as it was to be: it was so, or the rest of the change set was applied now.
    New,
    /// These hold something else, and nothing of that was touched.
    Unresolved {
        /// The files.
        files: Vec<ProjectPath>,
    },
}

/// Applies a change set, or leaves every file as it was.
pub fn apply(order: &Order, tree: &Tree, source: &dyn Source) -> Applied {
    let steps = Steps { tree, source };
    let (mut files, mut made) = (Vec::new(), Vec::new());
    let halt = match survey(order, steps, &mut files)
        .and_then(|()| forward(order, &mut files, &mut made, steps))
    {
        Ok(()) => match discard(&files, steps) {
            Ok(()) => return Applied::Done,
            // Every file is new, and durably so, but not everything that was displaced is gone.
            Err(e) => {
                let files = files.iter().map(|file| file.change.path.clone()).collect();
                return Applied::Unknown { why: in_words(&e), files };
            }
        },
        Err(halt) => halt,
    };
    let unknown = undo(&files, &made, steps);
    let (why, changed) = match halt {
        Halt::Failed(why) => (why, Vec::new()),
        Halt::Foreign(changed) => ("a file is not what it was to be".into(), changed),
    };
    match unknown.is_empty() {
        true => Applied::NotDone { why, changed },
        false => Applied::Unknown { why, files: unknown },
    }
}

/// Opens the files, and requires that each is what it was to be and that nothing has a temporary name.
fn survey<'a>(order: &'a Order, steps: Steps<'_>, files: &mut Vec<File<'a>>) -> Result<(), Halt> {
    let opened = file::open(order, steps).map_err(|e| Halt::of(&e))?;
    let mut foreign = Vec::new();
    for file in &opened {
        if !file.beside().map_err(|e| Halt::at(file, &e))?.is(None) {
            return Err(Halt::Failed(file.in_the_way()));
        }
        if !file.named().map_err(|e| Halt::at(file, &e))?.is(file.change.before) {
            foreign.push(file.change.path.clone());
        }
    }
    if !foreign.is_empty() {
        return Err(Halt::Foreign(foreign));
    }
    *files = opened;
    Ok(())
}

/// Removes what was displaced, durably.
fn discard(files: &[File<'_>], steps: Steps<'_>) -> io::Result<()> {
    for file in files.iter().filter(|file| file.change.before.is_some()) {
        steps.remove(file.folder()?, &file.temp)?;
    }
    file::sync(files, steps)
}

#[cfg(test)]
mod tests;
