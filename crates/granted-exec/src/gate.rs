//! Runs a gate: a program that says whether proposed content is good, on a copy of it.

use std::path::Path;
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::write::path::ProjectPath;

use crate::program::Missing;
use crate::run::Run;
use crate::stop::Stop;
use crate::tree::{Tree, TreeError};

/// A proposed file. One that is to go is not proposed at all.
#[derive(Clone, Copy, Debug)]
pub struct Proposed<'a> {
    /// Where it is to be.
    pub path: &'a ProjectPath,
    /// What it is to hold.
    pub content: &'a [u8],
    /// Its permission bits.
    pub mode: u32,
}

/// A file of the project that a gate needs, as it was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Where it lies in the project.
    pub path: ProjectPath,
    /// The digest of the very bytes that were copied.
    pub digest: Digest,
}

/// What confines a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Landlock, in this version of it.
    Landlock {
        /// The version.
        abi: u32,
    },
    /// Nothing.
    None,
}

/// What became of a gate's run.
#[derive(Clone, Debug)]
pub struct Gated {
    /// How it ended, and the ends of its output.
    pub run: Run,
    /// What confined it.
    pub confinement: Confinement,
}

/// Why a gate was not run.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A file that it needs.
    #[error("a file that the gate needs: {0}")]
    Need(#[from] TreeError),
    /// A file that it needs, and that is not there.
    #[error("a file that the gate needs: `{0}` does not exist")]
    Absent(ProjectPath),
    /// The proposed file is one that the gate needs.
    #[error("`{0}` is a file that the gate itself needs, so the gate cannot check it")]
    Own(ProjectPath),
    /// The program.
    #[error(transparent)]
    Program(#[from] Missing),
    /// A program in the project itself.
    #[error(
        "the program `{0}` lies in the project, where agents may write; name it relative and among the files that the gate needs"
    )]
    InProject(String),
    /// This kernel cannot confine it.
    #[error("this kernel cannot confine a gate (Landlock, Linux 5.13 or later)")]
    Unconfined,
    /// The temporary tree.
    #[error("the tree for the gate: {0}")]
    Io(#[from] std::io::Error),
}

/// A tree of a gate's own: the proposed files, and those that it needs.
#[derive(Debug)]
pub struct Bench {
    needs: Vec<Needed>,
}

/// A gate's command.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The program and its arguments, of which `{file}` and `{path}` stand for the proposed file's
    /// path in the tree and in the project.
    pub argv: &'a [String],
    /// How long it may take.
    pub timeout: Duration,
    /// Whether it runs also where this kernel cannot confine it.
    pub allow_unconfined: bool,
}

impl Bench {
    /// Makes a tree below the folder `tmp`. It goes when this is dropped.
    pub fn new(
        tmp: &Path,
        project: &Tree,
        proposed: &[Proposed<'_>],
        needs: &[ProjectPath],
    ) -> Result<Bench, GateError> {
        let _ = (tmp, project, proposed, needs);
        Ok(Bench { needs: Vec::new() })
    }

    /// The files that the gate needs, as they were copied: its identity is checked against these.
    pub fn needs(&self) -> &[Needed] {
        &self.needs
    }

    /// Runs a gate on one of the proposed files, and returns when it has ended.
    pub fn run(
        &self,
        command: Command<'_>,
        file: &ProjectPath,
        stop: &Stop,
    ) -> Result<Gated, GateError> {
        let _ = (command, file, stop);
        Err(GateError::Unconfined)
    }
}
