//! The grant: what a person decided, for one object, until a deadline.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Class, Identity, Reason};
use crate::digest::Digest;
use crate::id::Id;
use crate::json::Json;
use crate::text::{Name, Note, ObjectId, ObjectType, TextError, Words};
use crate::time::Stamp;
use crate::trust::Signature;

/// What a grant is about, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// The id.
    pub id: ObjectId,
    /// The type.
    pub r#type: ObjectType,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.r#type, self.id)
    }
}

/// Why a text is no `TYPE/ID`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// It has no `/`.
    #[error("an object is TYPE/ID, such as report/2026-09-30")]
    NoSlash,
    /// One of the two is none.
    #[error(transparent)]
    Part(#[from] TextError),
}

impl FromStr for Object {
    type Err = ObjectError;

    /// `TYPE/ID`: a type has no `/`, an id may.
    fn from_str(text: &str) -> Result<Object, ObjectError> {
        let (r#type, id) = text.split_once('/').ok_or(ObjectError::NoSlash)?;
        Ok(Object { id: id.parse()?, r#type: r#type.parse()? })
    }
}

/// The form of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// `granted/1`
    #[serde(rename = "granted/1")]
    V1,
}

impl fmt::Display for Kind {
    /// As in the document.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// How often a grant may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Use {
    /// Spent by the first claim, whatever comes of it, unless the executor declines.
    #[serde(rename = "APPROVE_ONCE")]
    Once,
    /// Any number of discharges, one at a time, until one is not `discharged` or the window ends.
    #[serde(rename = "APPROVE_SESSION")]
    Session,
}

/// A file whose bytes are part of what was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// The file's absolute path.
    pub path: Note,
    /// The digest of its bytes when the grant was minted.
    pub sha256: Digest,
}

/// A grant, its fields in canonical order. Times are within whole microseconds.
///
/// `consumed`, `consumed_at` and `receipt` are written by granted; every other field is fixed when
/// the grant is minted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The only agent that may discharge it, if one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Name>,
    /// The actions that it covers. Empty: any, but those that stay human.
    pub allowed_actions: Vec<Name>,
    /// Files that must not change between mint and the end of the act.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub binds: Vec<Bind>,
    /// The book that the grant is good in.
    pub book: Id,
    /// Whether it is spent.
    pub consumed: bool,
    /// When it was claimed, if it is spent.
    pub consumed_at: Option<Stamp>,
    /// How often it may be used.
    pub decision: Use,
    /// The only executor that may discharge it, if one is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<Name>,
    /// What that executor was when the grant was minted, if it is bound to be that. It runs from a
    /// sealed copy of these bytes then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor_bound: Option<Box<Identity>>,
    /// The grant's own id.
    pub id: Id,
    /// The form.
    pub kind: Kind,
    /// When it was minted.
    pub minted_at: Stamp,
    /// The hand that minted it: words, no identity.
    pub minted_by: Note,
    /// The window's end, exclusive. Always there: a grant without a deadline would be a standing
    /// permission.
    pub not_after: Stamp,
    /// The window's beginning, inclusive.
    pub not_before: Option<Stamp>,
    /// Words for the person: what is not covered.
    pub not_scope: Vec<Note>,
    /// What it is about.
    pub object: Object,
    /// What spent it.
    pub receipt: Option<Receipt>,
    /// Words for the person: what is covered.
    pub scope: Words,
    /// Signatures over every other field that is fixed at mint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<Signature>,
}

/// What spent a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// When the attempt ended; while it runs, when it began.
    pub at: Stamp,
    /// The attempt.
    pub discharge_id: Id,
    /// How it ended.
    pub outcome: ReceiptOutcome,
    /// Why; `None` while it runs.
    pub reason: Option<Reason>,
    /// The executor's own evidence, if it gave any.
    pub result: Option<Json>,
}

/// The outcome in a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReceiptOutcome {
    /// The attempt ended.
    Ended(Class),
    /// The attempt runs.
    Pending(Pending),
}

/// The word for an attempt that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pending {
    /// `pending`
    #[serde(rename = "pending")]
    Pending,
}

/// The verbs that never ride a grant unless it names them.
pub const STAYS_HUMAN: [&str; 5] = ["hire", "negotiate", "sign", "pay", "first_contact"];

/// Whether the action is one of [`STAYS_HUMAN`], also written with capitals, `-` or `.`: who asks chooses
/// the spelling.
pub(super) fn stays_human(action: &Name) -> bool {
    let plain: String = action.as_str().to_ascii_lowercase().replace(['-', '.'], "_");
    STAYS_HUMAN.contains(&plain.as_str())
}

impl Grant {
    /// Whether the window is open: `not_before` ≤ now < `not_after`.
    pub fn is_open(&self, now: Stamp) -> bool {
        self.not_before.is_none_or(|from| from <= now) && now < self.not_after
    }

    /// Whether the grant covers an attempt that names this action, or none.
    ///
    /// A grant that lists actions covers only those, by name. One that lists none covers any but
    /// those of [`STAYS_HUMAN`].
    pub fn covers(&self, action: Option<&Name>) -> bool {
        match action {
            None => self.allowed_actions.is_empty(),
            Some(action) if self.allowed_actions.is_empty() => !stays_human(action),
            Some(action) => self.allowed_actions.contains(action),
        }
    }

    /// The grant as it was minted: unspent.
    pub fn unspent(&self) -> Grant {
        Grant { consumed: false, consumed_at: None, receipt: None, ..self.clone() }
    }
}
