//! Runs a gate: a program that says whether proposed content is good.
//!
//! A gate sees a folder of its own, never the project: the proposed files, and those that the gate
//! needs as they are in the project, each at its place. There it runs with nothing to read, an
//! environment that says nothing of ours, and until a deadline, by which its process group is gone.
//!
//! Landlock and a filter of system calls confine it, where the kernel has them: it writes in that folder
//! only; reads and executes there and in the system's folders; opens no socket of any kind; signals
//! nobody else (Linux 6.12); changes no owner and no attribute; has none of root's rights over others,
//! and gains none. Not kept from it: the mode and the times of files of its user, wherever they lie; the
//! names and command lines of processes, that a file is there with its size, links and attributes, the files
//! of `/etc` that its user may read, time and space until the deadline. A process that leaves its session may go on after the end, as confined as before.

mod bench;
mod calls;
mod confine;
mod sweep;

use std::ffi::{CStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use granted_core::decision::Ended;
use granted_core::digest::Digest;
use granted_core::text::Shown;
use granted_core::write::path::ProjectPath;

use crate::program::{self, Missing, find};
use crate::run::act::{Times, act};
use crate::run::{Run, merged};
use crate::spawn::Image;
use crate::stop::Stop;
use crate::tree::TreeError;
pub use bench::Bench;

/// Where a program is found that is named without `/`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

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

/// A gate's command.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The program and its arguments. Among these `{file}` stands for the path at which the proposed
    /// file was put, and `{path}` for its path in the project.
    ///
    /// A program named without `/` is found in the system's folders; a relative path is that of a
    /// file that the gate needs.
    pub argv: &'a [String],
    /// How long it may take.
    pub timeout: Duration,
    /// Whether it runs also where this kernel cannot confine it.
    pub allow_unconfined: bool,
}

/// What confined a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Landlock, of this version.
    Landlock {
        /// The version of its interface.
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

impl Gated {
    /// Whether the gate let the file pass: it ended by itself with 0, and left nothing behind.
    pub fn passed(&self) -> bool {
        self.run.ended == Ended::Exit(0) && self.run.left_behind == 0
    }
}

/// Why a gate was not run.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A file that it needs cannot be read.
    #[error("a file that the gate needs: {0}")]
    Need(#[from] TreeError),
    /// A file that it needs is not there.
    #[error("a file that the gate needs: `{0}` does not exist")]
    Absent(ProjectPath),
    /// The file is one that the gate needs, and so there as it is in the project.
    #[error("`{0}` is a file that the gate itself needs, so the gate cannot check it")]
    Own(ProjectPath),
    /// The file is none of those that were proposed.
    #[error("`{0}` is not among the proposed files")]
    NotProposed(ProjectPath),
    /// The program cannot be run.
    #[error(transparent)]
    Program(#[from] Missing),
    /// The program lies in the project, where agents write.
    #[error("the program `{}` lies in the project; name it by its path in the project", Shown(.0))]
    InProject(String),
    /// The program is named by a relative path, and not needed.
    #[error("the program `{}` is not among the files that the gate needs", Shown(.0))]
    NotNeeded(String),
    /// This kernel cannot confine it, and it may not run otherwise.
    #[error("this kernel cannot confine a gate; Linux 5.13 or later with Landlock can")]
    Unconfined,
    /// It could not be confined.
    #[error("the gate cannot be confined: {0}")]
    Confine(String),
    /// The gate's folder could not be made.
    #[error("a folder for the gate: {}", crate::tree::in_words(.0))]
    Io(#[from] std::io::Error),
}

impl Bench {
    /// Runs a gate on one of the proposed files, and returns when it has ended.
    ///
    /// A folder serves once: what ran in it may have changed everything there.
    pub fn run(
        self,
        command: Command<'_>,
        file: &ProjectPath,
        stop: &Stop,
    ) -> Result<Gated, GateError> {
        let times = Times { leaves: false, ..Times::new(command.timeout) };
        self.run_in(command, Some(file), times, true, stop)
    }

    /// Runs a gate on all the proposed files at once, which may be none. Nothing stands for one of them
    /// in its arguments.
    pub fn run_on_all(self, command: Command<'_>, stop: &Stop) -> Result<Gated, GateError> {
        let times = Times { leaves: false, ..Times::new(command.timeout) };
        self.run_in(command, None, times, true, stop)
    }

    /// As [`Bench::run`]; confined or not.
    fn run_in(
        &self,
        command: Command<'_>,
        file: Option<&ProjectPath>,
        times: Times,
        confined: bool,
        stop: &Stop,
    ) -> Result<Gated, GateError> {
        program::require_a_kernel_that_can_watch()?;
        let files = file.map_or(self.proposed(), std::slice::from_ref);
        if let Some(own) = self.needs().iter().find(|need| files.contains(&need.path)) {
            return Err(GateError::Own(own.path.clone()));
        }
        if let Some(file) = file.filter(|file| !self.proposed().contains(file)) {
            return Err(GateError::NotProposed(file.clone()));
        }
        let argv: Vec<OsString> =
            command.argv.iter().map(|text| self.argument(text, file)).collect();
        let program = self.program(&argv)?;
        let [path, cwd] = [program.as_os_str(), self.root().as_os_str()].map(program::c_string);
        let (path, cwd, argv) = (path?, cwd?, program::c_strings(&argv)?);
        let env = program::variables(&self.environment())?;
        let env: Vec<&CStr> = merged(&env, &[]);
        let image = Image { program: &path, argv: &argv, env: &env, cwd: &cwd, sealed: None };
        let rules = match confined {
            true => Some(confine::rules(self.folder(), &program)?),
            false => None,
        };
        let work = || -> Result<Gated, GateError> {
            let confinement = match rules {
                Some(rules) => confine::this_thread(rules, command.allow_unconfined)?,
                None => Confinement::None,
            };
            Ok(Gated { run: act(&image, times, stop, None), confinement })
        };
        // A thread of its own: it is confined for good, and so is what it starts.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, work)?;
            thread.join().map_err(|_| GateError::Confine("its thread was lost".into()))?
        })
    }

    /// An argument, with what it stands for.
    fn argument(&self, text: &str, file: Option<&ProjectPath>) -> OsString {
        match (text, file) {
            ("{file}", Some(file)) => self.root().join(file.as_str()).into(),
            ("{path}", Some(file)) => file.as_str().into(),
            (other, _) => other.into(),
        }
    }

    /// The file that is executed: the system's, or one that the gate needs, and never one of the
    /// project itself or a proposed one.
    fn program(&self, argv: &[OsString]) -> Result<PathBuf, GateError> {
        let named = argv.first().map(|name| name.to_string_lossy()).unwrap_or_default();
        if named.contains('/') && !named.starts_with('/') {
            let is_needed = ProjectPath::normalise(&named)
                .is_ok_and(|path| self.needs().iter().any(|need| need.path == path));
            if !is_needed {
                return Err(GateError::NotNeeded(named.into_owned()));
            }
            return Ok(find::program(argv, self.root(), PATH.as_ref())?);
        }
        let found = find::program(argv, Path::new("/"), PATH.as_ref())?;
        let real = std::fs::canonicalize(&found)?;
        match real.starts_with(self.project()) || real.starts_with(self.folder()) {
            true => Err(GateError::InProject(found.display().to_string())),
            false => Ok(found),
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let text = |name: &str, value: &str| (name.into(), value.into());
        vec![
            text("PATH", PATH),
            ("HOME".into(), self.temporary().into()),
            // A proposed file is not to be loaded in the place of a module.
            text("PYTHONSAFEPATH", "1"),
            text("PYTHONNOUSERSITE", "1"),
            ("TMPDIR".into(), self.temporary().into()),
            text("LANG", "C.UTF-8"),
            text("LC_ALL", "C.UTF-8"),
            text("TERM", "dumb"),
        ]
    }
}

#[cfg(test)]
mod tests;
