//! Programs: found, checked and hashed before the claim, so that a missing one spends nothing.

pub(crate) mod bytes;
pub(crate) mod find;
mod identity;
mod missing;
mod sealed;

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use granted_core::decision::Identity;
use granted_core::digest::Digest;
use granted_core::text::Name;

use identity::Hashed;
pub use missing::{Missing, Why};
pub(crate) use sealed::Sealed;

/// What to run. Everything is resolved already: nothing is taken from our own environment.
#[derive(Clone)]
pub struct Definition {
    /// The executor's name.
    pub name: Name,
    /// The program and its arguments. A program without `/` is looked for in `path`; a relative
    /// one with `/` is relative to `cwd`.
    pub argv: Vec<OsString>,
    /// The directory in which it runs, absolute.
    pub cwd: PathBuf,
    /// The directories in which programs are looked for, separated by `:`.
    pub path: OsString,
    /// The whole environment, but for what a run adds. `path` is not in it unless it is put there.
    pub env: Vec<(OsString, OsString)>,
    /// The names of the variables that it asks for, whether they are in `env` or not: part of the
    /// program's identity.
    pub asks: Vec<String>,
    /// More files whose bytes are part of the program's identity, such as a script that an
    /// interpreter is given. A relative one is relative to `cwd`.
    pub files: Vec<PathBuf>,
    /// The program that confirms an act, and its arguments.
    pub confirm: Option<Vec<OsString>>,
}

/// A program that was there, executable, when it was prepared.
#[derive(Clone)]
pub struct Program {
    definition: Definition,
    digest: Digest,
    cwd: CString,
    env: Vec<(OsString, CString)>,
    command: Command,
    confirm: Option<Command>,
}

/// A file to execute, and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) program: CString,
    pub(crate) argv: Vec<CString>,
    /// What is executed in the place of the file.
    pub(crate) sealed: Option<Arc<Sealed>>,
}

impl Command {
    fn new(program: &Path, argv: &[OsString]) -> Result<Command, Missing> {
        let (program, argv) = (c_string(program.as_os_str())?, c_strings(argv)?);
        Ok(Command { program, argv, sealed: None })
    }

    fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.program.as_bytes()))
    }

    /// The same, run from a sealed copy of the file; and the digest of the copy.
    fn sealed(&self) -> Result<(Command, Hashed), Missing> {
        let sealed = Sealed::copy(self.path())?;
        let hashed = Hashed { path: self.path().to_owned(), digest: sealed.digest };
        Ok((Command { sealed: Some(Arc::new(sealed)), ..self.clone() }, hashed))
    }
}

impl Program {
    /// Finds the program and the one that confirms, checks them and the directory, and hashes
    /// them with the definition and its files.
    ///
    /// The digest is evidence of what was there. Of the environment it covers only the names that
    /// the definition asks for: not the values, which may be secret, nor what this caller happens to
    /// have set.
    pub fn prepare(definition: Definition) -> Result<Program, Missing> {
        require_a_kernel_that_can_watch()?;
        let Definition { ref argv, ref cwd, ref path, ref env, ref confirm, .. } = definition;
        find::directory(cwd)?;
        let found = |argv: &Vec<_>| Command::new(&find::program(argv, cwd, path)?, argv);
        let (command, confirm) = (found(argv)?, confirm.as_ref().map(found).transpose()?);
        let programs = hashed(&command, confirm.as_ref(), bytes::remembered)?;
        let files = identity::files(&definition, bytes::remembered)?;
        Ok(Program {
            digest: identity::digest(&definition, &programs, &files),
            cwd: c_string(cwd.as_os_str())?,
            env: variables(env)?,
            command,
            confirm,
            definition,
        })
    }

    /// What the program is now, by the bytes that lie at its paths.
    pub fn look(&self) -> Result<Identity, Missing> {
        let programs = hashed(&self.command, self.confirm.as_ref(), bytes::fresh)?;
        let files = identity::files(&self.definition, bytes::fresh)?;
        identity::identity(&self.definition, &programs, &files)
    }

    /// The program, run from a sealed copy of its bytes as they are now, and so the one that confirms;
    /// and what that is. Its further files are read where they lie.
    ///
    /// The copies are in memory for as long as the program that is returned.
    pub fn sealed(&self) -> Result<(Program, Identity), Missing> {
        let (command, hashed) = self.command.sealed()?;
        let mut programs = vec![hashed];
        let confirm = match &self.confirm {
            None => None,
            Some(confirm) => {
                let (confirm, hashed) = confirm.sealed()?;
                programs.push(hashed);
                Some(confirm)
            }
        };
        let files = identity::files(&self.definition, bytes::fresh)?;
        let identity = identity::identity(&self.definition, &programs, &files)?;
        let program = Program { digest: identity.digest, command, confirm, ..self.clone() };
        Ok((program, identity))
    }

    /// The executor's name.
    pub fn name(&self) -> &Name {
        &self.definition.name
    }

    /// The digest of the definition, the programs and the files, as they were when this was
    /// prepared.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The file that is executed, and the one that confirms.
    pub fn programs(&self) -> impl Iterator<Item = &Path> {
        let commands = std::iter::once(&self.command).chain(&self.confirm);
        commands.map(|command| path(&command.program))
    }

    /// Whether a second program confirms the act.
    pub fn has_confirm(&self) -> bool {
        self.confirm.is_some()
    }

    pub(crate) fn command(&self) -> &Command {
        &self.command
    }

    pub(crate) fn confirm(&self) -> Option<&Command> {
        self.confirm.as_ref()
    }

    pub(crate) fn cwd(&self) -> &CStr {
        &self.cwd
    }

    /// The variables, by name.
    pub(crate) fn env(&self) -> &[(OsString, CString)] {
        &self.env
    }
}

/// Without the environment, whose values may be secret.
impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Definition { name, argv, cwd, path, env: _, asks, files, confirm } = self;
        f.debug_struct("Definition")
            .field("name", name)
            .field("argv", argv)
            .field("cwd", cwd)
            .field("path", path)
            .field("asks", asks)
            .field("files", files)
            .field("confirm", confirm)
            .finish_non_exhaustive()
    }
}

/// Without the environment, whose values may be secret.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.definition.name)
            .field("digest", &self.digest)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

/// A program and the one that confirms, hashed.
fn hashed(
    command: &Command,
    confirm: Option<&Command>,
    hash: identity::Hash,
) -> Result<Vec<Hashed>, Missing> {
    let commands = std::iter::once(command).chain(confirm);
    commands.map(|command| Hashed::new("program", command.path().to_owned(), hash)).collect()
}

/// The variables as a program gets them, by name.
pub(crate) fn variables(env: &[(OsString, OsString)]) -> Result<Vec<(OsString, CString)>, Missing> {
    let text = |(name, value): &(OsString, OsString)| {
        variable(name, value).map(|text| (name.clone(), text)).map_err(Missing::Text)
    };
    env.iter().map(text).collect()
}

/// A variable as a program gets it, or why there is no such variable.
fn variable(name: &OsStr, value: &OsStr) -> Result<CString, String> {
    let shown = || missing::shown(name);
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return Err(format!("a variable of the environment may not be called `{}`", shown()));
    }
    let mut text = name.as_bytes().to_vec();
    text.push(b'=');
    text.extend_from_slice(value.as_bytes());
    CString::new(text).map_err(|_| format!("the variable `{}` holds a NUL byte", shown()))
}

/// The path that a text for the system holds.
pub(crate) fn path(text: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(text.to_bytes()))
}

pub(crate) fn c_strings(texts: &[OsString]) -> Result<Vec<CString>, Missing> {
    texts.iter().map(|text| c_string(text)).collect()
}

pub(crate) fn c_string(text: &OsStr) -> Result<CString, Missing> {
    CString::new(text.as_bytes())
        .map_err(|_| Missing::Text(format!("`{}` holds a NUL byte", missing::shown(text))))
}

/// Asks the kernel, once in a process that it answers, whether it could watch a program.
pub(crate) fn require_a_kernel_that_can_watch() -> Result<(), Missing> {
    static CAN: AtomicBool = AtomicBool::new(false);
    if !CAN.load(Ordering::Relaxed) {
        crate::spawn::can_watch().map_err(|error| Missing::Kernel(error.into()))?;
        CAN.store(true, Ordering::Relaxed);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
