//! The bodies of `decision.*` rows.

use serde::{Deserialize, Serialize};

use super::{Class, Grant, Object, Reason};
use crate::digest::Digest;
use crate::id::Id;
use crate::json::{self, Json};
use crate::text::{Name, Note};
use crate::time::Stamp;
use crate::trust::Signature;

/// Body of `decision.minted`; moves `grant:ID` and `object:TYPE/ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minted {
    /// The whole grant.
    pub grant: Grant,
}

/// Body of `decision.intent`, the claim; moves `discharge:ID` and `grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// The lock file that the acting process holds, by its name in `acts/`.
    pub act: Box<str>,
    /// What the attempt is for, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Name>,
    /// When the act is stopped at the latest.
    pub deadline: Stamp,
    /// What carries it out.
    pub executor: ExecutorUsed,
    /// The attempt's key, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// What the grant is about.
    pub object: Object,
    /// The digest of the token with which the executor may write its own result.
    pub result_token_sha256: Digest,
}

/// The executor of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorUsed {
    /// The digest of its definition, program and files. Evidence of what ran; absent for a
    /// closure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Its name.
    pub name: Name,
}

/// Body of `decision.result` and `decision.late_result`; moves `discharge:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActResult {
    /// How the program ended; absent in a row that the executor itself wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Who wrote the row.
    pub from: From,
    /// Whether it claims success.
    pub ok: bool,
    /// The executor's own evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Json>,
    /// What the program wrote to stderr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Tail>,
    /// What the program wrote to stdout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Tail>,
}

impl ActResult {
    /// What the row shows for the act: the executor's own evidence, else how the program ended.
    pub fn evidence(&self) -> Option<Json> {
        let ended = |ended: Ended| match ended {
            Ended::Exit(status) => Json::object([("exit", Json::Int(status.into()))]),
            Ended::Signal(signal) => Json::object([("signal", Json::Int(signal.into()))]),
            Ended::NotStarted => Json::from("not_started"),
            Ended::Stopped => Json::from("stopped"),
            Ended::TimedOut => Json::from("timed_out"),
        };
        self.receipt.clone().or_else(|| self.ended.map(ended))
    }
}

/// Who wrote a result row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The executor, by `granted result` or through the act that a closure is handed.
    Executor,
    /// The process that ran the executor.
    Wrapper,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ended {
    /// With this status, 0 to 255.
    Exit(u8),
    /// It could not be started.
    NotStarted,
    /// By this signal, sent by somebody else.
    Signal(u8),
    /// Stopped by granted, since granted was told to stop.
    Stopped,
    /// Stopped by granted at the deadline.
    TimedOut,
}

/// The end of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// How many bytes came in all.
    #[serde(deserialize_with = "json::int")]
    pub bytes: u64,
    /// The last 4,096 of them, invalid UTF-8 replaced.
    pub tail: Box<str>,
}

/// Body of `decision.outcome`; moves `discharge:ID`, and `grant:ID` after a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What the attempt was about. Listed, read by no fold.
    pub about: About,
    /// More about the reason, for people. The agent's own strings in it are cut.
    pub detail: Box<str>,
    /// How it ended; always the one that the reason belongs to.
    pub outcome: Class,
    /// Why.
    pub reason: Reason,
}

/// What an attempt was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The grant that it would have used, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Id>,
    /// The object.
    pub object: Object,
}

/// Body of `decision.expired`, written once by `tick`; moves `grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expired {
    /// Always `expired`.
    pub outcome: Class,
    /// Always `expired`.
    pub reason: Reason,
    /// How often the grant had been discharged: 0, or more for a session.
    #[serde(deserialize_with = "json::int")]
    pub uses: u64,
}

/// Body of `decision.resolved`; moves `discharge:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolved {
    /// The hand that settled it.
    pub by: Note,
    /// What the person found.
    pub happened: bool,
    /// More, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    /// By a trusted key, once the book has trusted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// Body of `decision.revoked`; moves `grant:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoked {
    /// The hand that took it back, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Note>,
    /// More, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}
