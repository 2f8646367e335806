//! Subjects: the things that rows move.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::decision::Object;
use crate::digest::Digest;
use crate::id::Id;
use crate::spend::{AgentName, GrantId, Network, RequestId};
use crate::text::{Shown, TextError, text_type};
use crate::time::Stamp;

/// What a subject's text begins with.
const KINDS: [&str; 12] = [
    "discharge:",
    "grant:",
    "object:",
    "trust:",
    "write:",
    "writer:",
    "direct:",
    "dispatch:",
    "project:",
    "spend:",
    "spend-agent:",
    "spend-grant:",
];

text_type!(
    /// What a row moves, such as `grant:01JQ…` or `object:report/2026-09-30`.
    ///
    /// A subject's rows, in order, are all that a fold of it needs; the last of them is the guard
    /// of the next.
    Subject,
    |text| {
        let known = KINDS.iter().any(|kind| text.starts_with(kind));
        match known && text.len() <= 2_048 {
            true => Ok(()),
            false => Err(TextError::Length { what: "subject", max: 2_048, unit: "bytes" }),
        }
    }
);

impl Subject {
    /// One attempt.
    pub fn discharge(id: Id) -> Subject {
        Subject(format!("discharge:{id}").into())
    }

    /// One grant.
    pub fn grant(id: Id) -> Subject {
        Subject(format!("grant:{id}").into())
    }

    /// What grants are about. Each mint moves it, so that two racing mints conflict.
    pub fn object(object: &Object) -> Subject {
        // Not by Display, which escapes: the subject holds the id's own bytes.
        Subject(format!("object:{}/{}", object.r#type.as_str(), object.id.as_str()).into())
    }

    /// One change set.
    pub fn write(id: Id) -> Subject {
        Subject(format!("write:{id}").into())
    }

    /// The id of the change set that it is, if it is one.
    pub fn write_id(&self) -> Option<Id> {
        self.as_str().strip_prefix("write:")?.parse().ok()
    }

    /// What an agent filed in a project on the day of this instant, in UTC.
    pub fn writer(project: Digest, agent: &str, at: Stamp) -> Subject {
        let at = format!("{at:.0}");
        let day = at.split('T').next().unwrap_or_default();
        Subject(format!("writer:{project}/{agent}/{day}").into())
    }

    /// Whether it is a day of an agent in a project.
    pub fn is_day(&self) -> bool {
        self.as_str().starts_with("writer:")
    }

    /// One direct grant.
    pub fn direct(id: Id) -> Subject {
        Subject(format!("direct:{id}").into())
    }

    /// The id of the direct grant that it is, if it is one.
    pub fn direct_id(&self) -> Option<Id> {
        self.as_str().strip_prefix("direct:")?.parse().ok()
    }

    /// One dispatch, by the digest of its nonce.
    pub fn dispatch(id: Digest) -> Subject {
        Subject(format!("dispatch:{id}").into())
    }

    /// The digest of the dispatch's nonce, if it is a dispatch.
    pub fn dispatch_id(&self) -> Option<Digest> {
        Digest::parse(self.as_str().strip_prefix("dispatch:")?)
    }

    /// The direct grants of a project.
    pub fn project(key: Digest) -> Subject {
        Subject(format!("project:{key}").into())
    }

    /// One request to spend.
    pub fn spend(id: RequestId) -> Subject {
        Subject(format!("spend:{id}").into())
    }

    /// One instance of a grant to propose spends.
    pub fn spend_grant(id: &GrantId) -> Subject {
        Subject(format!("spend-grant:{}", id.as_str()).into())
    }

    /// What an agent may propose on a network. Each issue and each revocation moves it, so that two that
    /// race conflict.
    pub fn spend_agent(network: Network, agent: &AgentName) -> Subject {
        Subject(format!("spend-agent:{network}/{}", agent.as_str()).into())
    }

    /// Whether what a row says of it may spend it or take it back: a grant of any shape, or a request to
    /// spend.
    pub fn is_authority(&self) -> bool {
        ["grant:", "direct:", "spend"].iter().any(|kind| self.as_str().starts_with(kind))
    }

    /// What the book trusts.
    pub fn trust() -> Subject {
        Subject("trust:keys".into())
    }

    /// The subject as it stands in a row, in quotes: a row moves it only if its line holds these
    /// bytes, since rows are canonical.
    pub fn needle(&self) -> Vec<u8> {
        // Serialising a string to a Vec cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
