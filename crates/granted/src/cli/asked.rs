//! A grant as a person asks for it, by flags or by a file, and the terms that it becomes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use granted_core::decision::mint::{Terms, window};
use granted_core::decision::{Bind, Object, Use};
use granted_core::text::{Name, Note, ObjectId, ObjectType, Words};
use granted_core::time::Stamp;

use super::bound::Bound;
use super::failure::Failure;
use crate::files;

/// A grant as it was asked for, by flags or by a file.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) r#type: Option<ObjectType>,
    pub(crate) id: Option<ObjectId>,
    pub(crate) by: Option<Note>,
    pub(crate) not_after: Option<Stamp>,
    pub(crate) length: Option<Duration>,
    pub(crate) not_before: Option<Stamp>,
    pub(crate) decision: Use,
    pub(crate) scope: Option<Words>,
    pub(crate) not_scope: Vec<Note>,
    pub(crate) allow: Vec<Name>,
    pub(crate) executor: Option<Name>,
    pub(crate) bind_executor: Option<Name>,
    pub(crate) bind: Vec<PathBuf>,
    pub(crate) agent: Option<Name>,
    pub(crate) again: bool,
}

impl Asked {
    /// The terms: the window counted from now, the bound files and executors hashed.
    pub(crate) fn terms(&self, now: Stamp, bound: &mut Bound<'_>) -> Result<Terms, Failure> {
        let missing = |what: &str| Failure::usage(format!("{what} is missing"));
        let from = self.not_before.unwrap_or(now);
        let not_after = match (self.not_after, self.length) {
            (Some(not_after), None) => not_after,
            (None, Some(length)) => from.plus(length),
            (Some(_), Some(_)) => return Err(Failure::usage("it has both an end and a length")),
            (None, None) => {
                return Err(Failure::usage("a grant needs a deadline").hint(
                    "say --not-after TIME or --for DURATION; in a file, `not_after` or `for`",
                ));
            }
        };
        window(self.not_before, not_after, now)?;
        Ok(Terms {
            agent: self.agent.clone(),
            allowed_actions: self.allow.clone(),
            binds: self.bind.iter().map(|path| bind(path)).collect::<Result<_, Failure>>()?,
            decision: self.decision,
            executor: self.executor.clone().or_else(|| self.bind_executor.clone()),
            executor_bound: self.bind_executor.as_ref().map(|n| bound.executor(n)).transpose()?,
            minted_by: self.by.clone().ok_or_else(|| {
                missing("the hand that mints").hint("say --by WHO; in a file, `minted_by`")
            })?,
            not_after,
            not_before: self.not_before,
            not_scope: self.not_scope.clone(),
            object: Object {
                r#type: self.r#type.clone().ok_or_else(|| missing("the object's type"))?,
                id: self.id.clone().ok_or_else(|| missing("the object's id"))?,
            },
            scope: self.scope.clone().unwrap_or_default(),
            again: self.again,
        })
    }
}

/// A file and its digest now.
fn bind(path: &Path) -> Result<Bind, Failure> {
    let shown = path.display();
    let real = path.canonicalize().map_err(|e| Failure::at(path, &e))?;
    let text = real.to_str().ok_or_else(|| Failure::input(format!("`{shown}`: not UTF-8")))?;
    let sha256 = files::digest(&real).map_err(Failure::input)?;
    Ok(Bind {
        path: Note::new(text).map_err(|e| Failure::input(format!("`{shown}`: {e}")))?,
        sha256,
    })
}
