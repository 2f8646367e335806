//! What waits for the person, across the shapes of authority. Reads only.

mod decisions;
mod spends;
mod writes;

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
    pub id: String,
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
    /// A payment that an agent asks for.
    Spend,
}

/// Why something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// An attempt of which nobody knows whether it happened.
    Uncertain,
    /// A change set that can be approved.
    Staged,
    /// A payment that can be approved.
    Asked,
    /// A payment that lies outside its grant by now, so that it can only be declined.
    Outside,
    /// A payment that is signed, and that the network may not have.
    Unsent,
    /// A change set that was cut off while it was applied, or a payment in mid-approval.
    CutOff,
    /// A change set of which some file is neither as it was nor as it was to be; a payment of which a
    /// signature may exist.
    Unresolved,
}

impl What {
    /// The word in a table.
    pub fn as_str(self) -> &'static str {
        match self {
            What::Uncertain => "uncertain",
            What::Staged => "staged",
            What::Asked => "asked",
            What::Outside => "outside",
            What::Unsent => "unsent",
            What::CutOff => "cut off",
            What::Unresolved => "unresolved",
        }
    }
}

/// What waits, the oldest first.
pub fn inbox(book: &Book) -> Result<Vec<Waiting>, ReadError> {
    let mut waiting = Vec::new();
    for of_shape in [decisions::waiting, writes::waiting, spends::waiting] {
        waiting.extend(of_shape(book)?);
    }
    waiting.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
    Ok(waiting)
}
