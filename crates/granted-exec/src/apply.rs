//! Applies a change set to the files of a project: all of it or nothing.

use std::io;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::write::path::ProjectPath;

use crate::tree::Tree;

/// What a change set does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as [`Tree::resolve`] gave it.
    pub path: ProjectPath,
    /// The digest of what is there; `None` if the file is new.
    pub before: Option<Digest>,
    /// The digest of what is to be there; `None` if the file is to go.
    pub after: Option<Digest>,
    /// The permission bits of a file that is made anew. One that is replaced keeps its own.
    pub mode: u32,
}

/// A change set that is to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// A change set and its id, by which its temporary files are known. The `folders` are those that
    /// were missing when it was decided on, as [`Tree::missing_folders`] gave them.
    pub fn new(
        id: Id,
        changes: Vec<FileChange>,
        folders: Vec<ProjectPath>,
    ) -> Result<Order, OrderError> {
        if changes.is_empty() {
            return Err(OrderError::Empty);
        }
        Ok(Order { id, changes, folders })
    }
}

/// What applying asks of its caller.
pub trait Source {
    /// The content of this digest.
    fn content(&self, digest: Digest) -> io::Result<Vec<u8>>;

    /// Called before each step that changes anything on the disk, and after the last; an error is taken
    /// for one of that step. For tests that kill the process there, or have the step fail.
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
    },
    /// Something failed, and not all of it could be undone.
    Unknown {
        /// Why.
        why: String,
        /// The files that are neither as they were nor hold what somebody else put there, or of which
        /// that is not known.
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
        /// Why, in words.
        why: String,
        /// The files.
        files: Vec<ProjectPath>,
    },
}

/// Applies a change set, or leaves every file as it was.
pub fn apply(order: &Order, tree: &Tree, source: &dyn Source) -> Applied {
    let _ = (order, tree, source);
    Applied::NotDone { why: "not there yet".into() }
}

/// Sees to a change set whose process died in the middle. It may itself be repeated.
pub fn recover(order: &Order, tree: &Tree, source: &dyn Source) -> io::Result<Recovered> {
    let _ = (order, tree, source, &order.folders, &order.changes, order.id);
    Ok(Recovered::Old)
}
