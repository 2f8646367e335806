//! The executors that a server runs, by name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use granted_core::text::{Name, TextError};
use granted_exec::Stop;

use crate::config::{Config, ExecutorEntry};
use crate::decision::actor::Command;

/// Where an executor comes from.
#[derive(Clone, Debug)]
enum Source {
    /// An entry of the config.
    Config(ExecutorEntry),
    /// A shell command on the command line.
    CommandLine(OsString),
}

/// The executors of the config, and those of the command line.
#[derive(Clone, Debug)]
pub struct Executors(BTreeMap<Name, Source>);

/// Why an executor on the command line cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutorError {
    /// It is not `NAME=COMMAND`.
    #[error("an executor is given as NAME=COMMAND")]
    Form,
    /// The name is none.
    #[error(transparent)]
    Name(#[from] TextError),
    /// The name is taken.
    #[error("there is an executor `{0}` already")]
    Taken(Name),
    /// The name is kept for `granted discharge --exec`.
    #[error("the name `exec` is kept for `granted discharge --exec`")]
    Kept,
}

/// An executor as it stands on the command line.
#[derive(Clone, Debug)]
pub struct Given {
    name: Name,
    command: OsString,
}

impl std::str::FromStr for Given {
    type Err = ExecutorError;

    /// Reads `NAME=COMMAND`.
    fn from_str(text: &str) -> Result<Given, ExecutorError> {
        let (name, command) = text.split_once('=').ok_or(ExecutorError::Form)?;
        if command.trim().is_empty() || command.contains('\0') {
            return Err(ExecutorError::Form);
        }
        Ok(Given { name: Name::new(name)?, command: command.into() })
    }
}

impl Executors {
    /// The config's executors and these; a name may stand for one only.
    pub fn new(config: Config, given: Vec<Given>) -> Result<Executors, ExecutorError> {
        let registered = config.executors.into_iter();
        let mut all: BTreeMap<Name, Source> =
            registered.map(|(name, entry)| (name, Source::Config(entry))).collect();
        for Given { name, command } in given {
            if name == Name::exec() {
                return Err(ExecutorError::Kept);
            }
            if all.contains_key(&name) {
                return Err(ExecutorError::Taken(name));
            }
            all.insert(name, Source::CommandLine(command));
        }
        Ok(Executors(all))
    }

    /// The executor of this name, ready to run once; one that says so if there is none.
    pub(super) fn command(&self, name: Name, stop: Stop) -> Command {
        match self.0.get(&name) {
            Some(Source::Config(entry)) => Command::entered(name, entry, stop),
            Some(Source::CommandLine(command)) => Command::shell(name, command.clone(), stop),
            None => Command::missing(name, self.0.keys(), stop),
        }
    }
}

impl fmt::Display for Executors {
    /// The names, and which of them came from the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (at, (name, source)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            match source {
                Source::Config(_) => write!(f, "{comma}`{name}`")?,
                Source::CommandLine(_) => write!(f, "{comma}`{name}` (command line)")?,
            }
        }
        Ok(())
    }
}
