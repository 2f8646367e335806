//! What the tools of writes return.

use base64ct::{Base64, Encoding as _};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::text::{Name, Words};
use granted_core::time::Stamp;
use granted_core::write::decide::Denied;
use granted_core::write::event::Confinement;
use granted_core::write::request::Origin;
use granted_core::write::{FileChange, GateRun, ProjectPath, Refusal, RequestState};
use serde::Serialize;

use crate::write::file;
use crate::write::read::Read;

/// What became of a change set.
#[derive(Default, Serialize)]
pub(super) struct Answer {
    status: &'static str,
    request_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Refusal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<Current>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_grant: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_direct: Option<Words>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<File>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates: Vec<Gate>,
    replayed: bool,
}

/// What a file is now that a change was not based on.
#[derive(Serialize)]
struct Current {
    path: ProjectPath,
    base_sha256: Base,
}

#[derive(Serialize)]
struct File {
    path: ProjectPath,
    base_sha256: Base,
    sha256: Base,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Serialize)]
struct Gate {
    gate: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<ProjectPath>,
    confined: Confinement,
    duration_ms: u64,
}

/// A digest, or the word for a file that is not there.
#[derive(Serialize)]
#[serde(untagged)]
enum Base {
    Sha256(Digest),
    Absent(&'static str),
}

/// The word for a file that is not there.
pub(super) const ABSENT: &str = "absent";

impl Base {
    fn of(digest: Option<Digest>) -> Base {
        digest.map_or(Base::Absent(ABSENT), Base::Sha256)
    }
}

impl From<file::Answer> for Answer {
    fn from(answer: file::Answer) -> Answer {
        match answer {
            file::Answer::Filed { state, replayed } => Answer { replayed, ..Answer::of(&state) },
            file::Answer::Refused { id, denied } => Answer { request_id: id, ..denied.into() },
            file::Answer::Unknown { id, why } => Answer {
                status: "unknown",
                request_id: Some(id),
                detail: Some(why),
                ..Answer::default()
            },
        }
    }
}

impl From<Denied> for Answer {
    fn from(denied: Denied) -> Answer {
        let current = denied.stale.map(|stale| {
            let (path, digest) = *stale;
            Current { path, base_sha256: Base::of(digest) }
        });
        Answer {
            status: "refused",
            reason: Some(denied.reason),
            detail: Some(denied.detail),
            current,
            ..Answer::default()
        }
    }
}

impl Answer {
    /// There is no such request of this agent.
    pub(super) fn none(id: Id) -> Answer {
        Answer { status: "none", request_id: Some(id), ..Answer::default() }
    }

    /// How a request stands.
    pub(super) fn of(state: &RequestState) -> Answer {
        let (reason, refused) = match &state.origin {
            Origin::Refused(refused) => (Some(refused.reason), Some(refused.detail.to_string())),
            _ => (None, None),
        };
        let rejected = || {
            let why = state.rejected.as_ref()?.reason.as_ref();
            Some(why.map_or("the person rejected it".to_owned(), ToString::to_string))
        };
        let unresolved =
            || state.unresolved.as_ref().map(|unresolved| unresolved.detail.to_string());
        let undone = || state.undone.as_ref().map(ToString::to_string);
        let request = state.request();
        let (direct_grant, not_direct) = match &state.origin {
            Origin::Direct(_, grant) => (Some(*grant), None),
            Origin::Staged(staged) => (None, staged.why.clone()),
            Origin::Refused(_) => (None, None),
        };
        let waits = state.status == granted_core::write::Status::Staged;
        Answer {
            status: state.status.as_str(),
            request_id: Some(state.id),
            reason,
            detail: refused.or_else(rejected).or_else(unresolved).or_else(undone),
            current: None,
            direct_grant,
            not_direct,
            expires: state.expires().filter(|_| waits),
            digest: request.map(|request| request.digest),
            files: request.map_or(Vec::new(), |r| r.changes.iter().map(file_of).collect()),
            gates: request.map_or(Vec::new(), |r| r.gates.iter().map(gate_of).collect()),
            replayed: false,
        }
    }
}

fn file_of(change: &FileChange) -> File {
    File {
        path: change.path.clone(),
        base_sha256: Base::of(change.before.map(|before| before.sha256)),
        sha256: Base::of(change.after.map(|after| after.sha256)),
        bytes: change.after.map(|after| after.bytes),
    }
}

fn gate_of(run: &GateRun) -> Gate {
    Gate {
        gate: run.gate.clone(),
        path: run.path.clone(),
        confined: run.confined,
        duration_ms: run.duration_ms,
    }
}

/// A file that was read, or why it was not.
#[derive(Default, Serialize)]
pub(super) struct Content {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Refusal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<ProjectPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_sha256: Option<Base>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl From<Result<Read, Denied>> for Content {
    fn from(read: Result<Read, Denied>) -> Content {
        let Read { path, content } = match read {
            Ok(read) => read,
            Err(denied) => {
                return Content {
                    status: "refused",
                    reason: Some(denied.reason),
                    detail: Some(denied.detail),
                    ..Content::default()
                };
            }
        };
        let read = Content {
            status: "read",
            path: Some(path),
            exists: Some(content.is_some()),
            base_sha256: Some(Base::of(content.as_ref().map(|(_, digest)| *digest))),
            ..Content::default()
        };
        let Some((bytes, _)) = content else { return read };
        let length = bytes.len();
        let (encoding, text) = match String::from_utf8(bytes) {
            Ok(text) => ("utf-8", text),
            Err(e) => ("base64", Base64::encode_string(e.as_bytes())),
        };
        Content { bytes: Some(length), encoding: Some(encoding), content: Some(text), ..read }
    }
}
