//! The bodies of `write.*` rows.

use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::direct::DirectGrant;
use super::path::ProjectPath;
use super::project::Project;
use super::refusal::Refusal;
use crate::digest::Digest;
use crate::id::Id;
use crate::json;
use crate::text::{Name, Note, Words};
use crate::time::Stamp;
use crate::trust::Signature;

/// One file of a change set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// What it is to be; absent for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
    /// What was there; absent for a file that is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    /// Where: the path of what is really there, after links.
    pub path: ProjectPath,
}

impl FileChange {
    /// Whether the file is deleted.
    pub fn is_deletion(&self) -> bool {
        self.after.is_none()
    }
}

/// A file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// Its size.
    #[serde(deserialize_with = "json::int")]
    pub bytes: u64,
    /// The permission bits.
    pub mode: u32,
    /// The digest of its bytes.
    pub sha256: Digest,
}

/// A file as it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// Its size.
    #[serde(deserialize_with = "json::int")]
    pub bytes: u64,
    /// The permission bits of a file that is made anew; absent: the usual ones. One that is replaced
    /// keeps its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The digest of its bytes.
    pub sha256: Digest,
}

/// A gate that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRun {
    /// What confined it.
    pub confined: Confinement,
    /// The digest of its definition and of every file that it names.
    pub digest: Digest,
    /// How long it took.
    #[serde(deserialize_with = "json::int")]
    pub duration_ms: u64,
    /// Its name.
    pub gate: Name,
    /// The file that it looked at; absent if it looked at the change set as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<ProjectPath>,
}

/// What kept a gate from touching anything but its own tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// The kernel's Landlock.
    Landlock,
    /// Nothing: the brief allows it.
    None,
}

/// What an agent asks for: the part that a staged record and a direct write share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Who asks; absent for a person who reverts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The digest of the brief that allowed it.
    pub brief: Digest,
    /// The files.
    pub changes: Vec<FileChange>,
    /// [`super::request::content_digest`] of the project and the files: what a person approves.
    pub digest: Digest,
    /// The gates that passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateRun>,
    /// The gates that the agent asked for, beside those that the brief demands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates_asked: Vec<Name>,
    /// The agent's handle for trying again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// Where.
    pub project: Project,
    /// Why, in the agent's words.
    pub rationale: Note,
    /// The change set that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<Id>,
}

/// Body of `write.staged`; moves `write:ID`, the agent's day, and the dispatch if one was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Staged {
    /// Until when it can be approved, exclusive.
    pub expires: Stamp,
    /// What is asked for.
    pub request: Request,
    /// Why it was not applied at once, where the agent may hope for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Words>,
}

/// Body of `write.refused`; moves `write:ID`, and the dispatch if there was a known one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Who asked.
    pub agent: Agent,
    /// More, for people. The agent's own strings in it are cut.
    pub detail: Box<str>,
    /// Where.
    pub project: Project,
    /// Why.
    pub reason: Refusal,
}

/// Body of `write.approved`, a claim: moves `write:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approved {
    /// The lock file that the acting process holds, by its name in `acts/`.
    pub act: Box<str>,
    /// The hand that approved it.
    pub by: Note,
    /// The files as they are now, and are to be.
    pub changes: Vec<FileChange>,
    /// The digest that was shown, and approved.
    pub digest: Digest,
    /// The folders that are missing, and are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<ProjectPath>,
    /// The gates that passed now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateRun>,
}

/// Body of `write.direct`, a claim under a direct grant: moves `write:ID`, the agent's day, `direct:ID`
/// and the dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direct {
    /// The lock file that the acting process holds, by its name in `acts/`.
    pub act: Box<str>,
    /// The folders that are missing, and are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<ProjectPath>,
    /// What is asked for.
    pub request: Request,
}

/// Body of `write.applied`; moves `write:ID`, and the day that it was staged on. Every file was read again
/// and is as it was to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// Whether it was cut off and rolled forward.
    pub recovered: bool,
}

/// Body of `write.undone`; moves `write:ID`. Every file is as it was before: an approval can be given
/// again, a direct write is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undone {
    /// Why.
    pub detail: Box<str>,
}

/// Body of `write.unresolved`; moves `write:ID`. Some file is neither as it was nor as it was to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unresolved {
    /// More, for people.
    pub detail: Box<str>,
    /// The files.
    pub foreign: Vec<ProjectPath>,
}

/// Body of `write.rejected`; moves `write:ID`, and the day that it was staged on. Ends also what is
/// unresolved, with the files as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// The hand that rejected it.
    pub by: Note,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Note>,
}

/// Body of `write.expired`; moves `write:ID`, and the day that it was staged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expired {
    /// When it could be approved no more.
    pub expired: Stamp,
}

/// Body of `write.dispatched`; moves `dispatch:HASH`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatched {
    /// Whom it is for.
    pub agent: Agent,
    /// Until when, exclusive.
    pub expires: Stamp,
    /// Where.
    pub project: Project,
    /// How many change sets it is good for.
    pub uses: u32,
}

/// Body of `write.direct_granted`; moves `direct:ID` and `project:KEY`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectGranted {
    /// What was signed.
    pub grant: DirectGrant,
    /// By a trusted key.
    pub signature: Signature,
}

/// Body of `write.direct_revoked`; moves `direct:ID` and `project:KEY`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectRevoked {
    /// The hand that took it back, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Note>,
    /// More, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

/// Body of `write.direct_grants_loaded`; moves `project:KEY`. Written when an agent's server starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectGrantsLoaded {
    /// The grants that are in force, sorted.
    pub active: Vec<Id>,
    /// The digest of the grants file; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Digest>,
    /// The SHA-256 of each trusted key, so that the person sees which keys are trusted.
    pub key_fingerprints: Vec<Digest>,
    /// What kept others from being in force: at most ten, each cut to 200 characters.
    pub problems: Vec<Box<str>>,
    /// Where.
    pub project: Project,
}
