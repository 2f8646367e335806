//! The executors that grants are bound to when they are minted.

use std::collections::BTreeMap;

use granted_core::decision::Identity;
use granted_core::text::{Name, Shown};
use granted_exec::Stop;

use super::failure::{Failure, Kind};
use super::out::Out;
use crate::book::Book;
use crate::config::Config;
use crate::decision::actor::{Actor as _, Command};
use crate::render;

/// What these executors are, each looked at once. The config is read when the first is asked for.
pub(crate) struct Bound<'a> {
    book: &'a Book,
    config: Option<Config>,
    known: BTreeMap<Name, Identity>,
}

impl<'a> Bound<'a> {
    /// None yet.
    pub(crate) fn new(book: &'a Book) -> Bound<'a> {
        Bound { book, config: None, known: BTreeMap::new() }
    }

    /// What the executor of this name in the config is.
    pub(crate) fn executor(&mut self, name: &Name) -> Result<Box<Identity>, Failure> {
        if let Some(known) = self.known.get(name) {
            return Ok(Box::new(known.clone()));
        }
        let config = match self.config.take() {
            Some(config) => config,
            None => self.book.config()?,
        };
        let stop = Stop::new().map_err(Failure::system)?;
        let mut command = Command::registered(&config, name.clone(), stop);
        // Where no copy can be sealed, the grant would never be used.
        let identity = command.seal().map_err(|why| Failure::new(Kind::Config, why))?;
        self.config = Some(config);
        self.known.insert(name.clone(), identity.clone());
        Ok(Box::new(identity))
    }

    /// Tells the person what they were bound to, and what an argument names that is not part of it.
    pub(crate) fn show(&self, out: &Out) {
        for (name, identity) in &self.known {
            out.remark(format_args!("executor `{name}` is bound to what it is now:"));
            for (label, text) in render::executor(identity) {
                out.remark(format_args!("  {label:<8} {text}"));
            }
            for argument in unbound(identity) {
                out.remark(format_args!(
                    "note: its argument `{}` is a file that is not bound; list it under `files`, or \
                     make it the program",
                    Shown(argument)
                ));
            }
        }
    }
}

/// The arguments that name files, such as an interpreter's script, which are not bound.
fn unbound(identity: &Identity) -> impl Iterator<Item = &str> {
    let cwd = std::path::Path::new(&identity.cwd);
    let is_bound = move |argument: &str| {
        let path = cwd.join(argument);
        identity.parts().any(|(_, part)| std::path::Path::new(part.path.as_str()) == path)
    };
    let arguments = identity.argv.iter().skip(1).map(String::as_str);
    arguments.filter(move |argument| cwd.join(argument).is_file() && !is_bound(argument))
}
