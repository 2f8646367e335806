//! What waits for the person, across the shapes of authority. Reads only.

mod decisions;
mod writes;

use granted_core::id::Id;
use granted_core::store::ReadError;
use granted_core::time::Stamp;
use serde::Serialize;

use crate::book::Book;

/// One thing that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// What it is about, for people. Shown escaped.
    pub about: String,
    /// The command that looks at it or ends it.
    pub command: String,
    /// Until when it waits.
    pub ends: Option<Stamp>,
    /// The attempt or the request.
    pub id: Id,
    /// Of which shape it is.
    pub shape: Shape,
    /// Since when it waits.
    pub since: Stamp,
    /// Why it waits.
    pub what: What,
}

/// A shape of authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A grant for one object.
    Decision,
    /// A change set.
    Write,
}

/// Why something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// An attempt of which nobody knows whether it happened.
    Uncertain,
    /// A change set that can be approved.
    Staged,
    /// A change set that was cut off while it was applied.
    CutOff,
    /// A change set of which some file is neither as it was nor as it was to be.
    Unresolved,
}

impl What {
    /// The word in a table.
    pub fn as_str(self) -> &'static str {
        match self {
            What::Uncertain => "uncertain",
            What::Staged => "staged",
            What::CutOff => "cut off",
            What::Unresolved => "unresolved",
        }
    }
}

/// What waits, the oldest first.
pub fn inbox(book: &Book) -> Result<Vec<Waiting>, ReadError> {
    let mut waiting = Vec::new();
    for of_shape in [decisions::waiting, writes::waiting] {
        waiting.extend(of_shape(book)?);
    }
    waiting.sort_by_key(|waiting| (waiting.since, waiting.id));
    Ok(waiting)
}
