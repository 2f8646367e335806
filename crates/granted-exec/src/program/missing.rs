//! Why a program cannot be run.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::PathBuf;

use granted_core::text::Shown;

/// Why a program was not prepared: something that it needs is not there. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// A command without a program.
    #[error("no program is named: the command is empty")]
    Empty,
    /// None of the directories has the program.
    #[error("no program `{program}` in `{path}`")]
    NotOnPath {
        /// The program's name, shown.
        program: String,
        /// The directories, shown.
        path: String,
    },
    /// Something is not what it has to be.
    #[error("the {what} `{}` {why}", shown(.path.as_os_str()))]
    At {
        /// What it was to be: a program, a file or a directory.
        what: &'static str,
        /// Where it was looked for.
        path: PathBuf,
        /// What is wrong with it.
        why: Why,
    },
    /// An argument, path or variable that no program can be given.
    #[error("{0}")]
    Text(String),
    /// No sealed copy of a program can be made.
    #[error("no sealed copy of the program can be made: {0}")]
    Unsealed(io::Error),
    /// A sealed copy is there, and cannot be run.
    #[error("a sealed copy is run through /proc/self/fd, which is not there: {0}")]
    NoDescriptors(io::Error),
    /// The kernel has no descriptors for processes.
    #[error("this kernel cannot watch a program, Linux 5.3 or later can: {0}")]
    Kernel(io::Error),
}

/// What is wrong with a path.
#[derive(Debug)]
pub enum Why {
    /// Nothing is there.
    Absent,
    /// A directory is there.
    Directory,
    /// Something else than a regular file is there.
    NotRegular,
    /// Something else than a directory is there.
    NotDirectory,
    /// The path is relative, and to what is not known.
    Relative,
    /// It may not be executed.
    NotExecutable,
    /// It may not be looked at or read.
    Unreadable(io::Error),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Absent => f.write_str("does not exist"),
            Why::Directory => f.write_str("is a directory"),
            Why::NotRegular => f.write_str("is not a regular file"),
            Why::NotDirectory => f.write_str("is not a directory"),
            Why::Relative => f.write_str("is not an absolute path"),
            Why::NotExecutable => f.write_str("is not executable"),
            Why::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

/// A text of the system's, for people.
pub(super) fn shown(text: &OsStr) -> String {
    Shown(&text.to_string_lossy()).to_string()
}
