//! A project's files, reached from its open root and never out of it.

mod place;
mod read;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use granted_core::digest::Digest;
use granted_core::text::Shown;
use granted_core::write::path::{PathFault, ProjectPath};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat};
use rustix::io::Errno;

pub(crate) use read::read_in;

/// The root of a project, held open: what becomes of the path by which it was found changes nothing.
///
/// Everything in it is reached from that handle, a name after the other, by the kernel itself
/// (`openat2`, Linux 5.6 or later), which lets no link and no `..` lead out. Nothing on another mount
/// is reached at all.
#[derive(Debug)]
pub struct Tree {
    root: OwnedFd,
    path: PathBuf,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path with every link followed: that of the file itself, or the one that it would get.
    pub path: ProjectPath,
    /// Whether anything is there.
    pub is_there: bool,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Absent,
    /// A regular file.
    File(Content),
}

/// A regular file, read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// Their digest.
    pub digest: Digest,
    /// Its permission bits, at most 0o7777.
    pub mode: u32,
    /// By how many names it is reached.
    pub links: usize,
}

impl Found {
    /// The digest of what is there; none of what is absent.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Found::Absent => None,
            Found::File(content) => Some(content.digest),
        }
    }
}

/// Why a path of a project was not resolved or read.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {fault}", Shown(.path))]
pub struct TreeError {
    /// The path, as it was asked for.
    pub path: String,
    /// What is wrong.
    pub fault: TreeFault,
}

/// What is wrong with a path of a project.
#[derive(Debug, thiserror::Error)]
pub enum TreeFault {
    /// A link leads out of the project, or begins at `/`; or something is mounted in the project.
    #[error("leads out of the project, through a link or to another mount")]
    Outside,
    /// Links that lead in a circle, or through `/proc`.
    #[error("is reached through a link that is not followed")]
    Link,
    /// A link to something that is not there.
    #[error("is reached through a link to something that does not exist")]
    Dangling,
    /// A segment before the last is no folder.
    #[error("lies below something that is not a folder")]
    NotFolder,
    /// It leads to the root itself.
    #[error("is the root of the project")]
    Root,
    /// It leads to something whose path is none.
    #[error("leads to a path that {0}")]
    Path(PathFault),
    /// The path to which it leads is not UTF-8.
    #[error("leads to a path that is not UTF-8")]
    NotText,
    /// Something else than a regular file.
    #[error("is {0}, not a regular file")]
    Kind(&'static str),
    /// More bytes than were to be read.
    #[error("has more than {0} bytes")]
    Large(usize),
    /// It changed each time it was looked at.
    #[error("changes while it is read")]
    Changing,
    /// The system refused.
    #[error("cannot be reached: {}", in_words(.0))]
    Io(io::Error),
}

/// What the system says, in lower case and without the number that it has for it; or what we say.
pub(crate) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

/// How far a path may lead: not out, not through `/proc`'s links, not to another mount.
const WITHIN: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_XDEV);

/// As [`WITHIN`], and through no link at all.
const STRAIGHT: ResolveFlags = WITHIN.union(ResolveFlags::NO_SYMLINKS);

impl Tree {
    /// Opens the root of a project, which may itself be reached through links.
    pub fn open(root: &Path) -> Result<Tree, TreeError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, root, flags, Mode::empty());
        let root_path = root.display().to_string();
        let error = |fault| TreeError { path: root_path.clone(), fault };
        match opened {
            Ok(handle) => Ok(Tree { root: handle, path: root.to_owned() }),
            Err(Errno::NOTDIR) => Err(error(TreeFault::NotFolder)),
            Err(other) => Err(error(TreeFault::Io(other.into()))),
        }
    }

    /// The path by which it was opened, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests;
