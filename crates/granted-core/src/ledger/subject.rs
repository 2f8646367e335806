//! Subjects: the things that rows move.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::decision::Object;
use crate::id::Id;
use crate::spend::{AgentName, GrantId, Network, RequestId};
use crate::text::{Shown, TextError, text_type};

text_type!(
    /// What a row moves, such as `grant:01JQ…` or `object:report/2026-09-30`.
    ///
    /// A subject's rows, in order, are all that a fold of it needs; the last of them is the guard
    /// of the next.
    Subject,
    |text| {
        const KINDS: [&str; 7] = [
            "discharge:", "grant:", "object:", "spend-agent:", "spend-grant:", "spend:", "trust:",
        ];
        match KINDS.iter().any(|kind| text.starts_with(kind)) && text.len() <= 2_048 {
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

    /// Whether it is a grant.
    pub fn is_grant(&self) -> bool {
        self.as_str().starts_with("grant:")
    }

    /// What grants are about. Each mint moves it, so that two racing mints conflict.
    pub fn object(object: &Object) -> Subject {
        // Not by Display, which escapes: the subject holds the id's own bytes.
        Subject(format!("object:{}/{}", object.r#type.as_str(), object.id.as_str()).into())
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

    /// Whether what a row says of it may spend it or take it back: a grant of any shape, or a request.
    pub fn is_authority(&self) -> bool {
        self.is_grant() || self.as_str().starts_with("spend")
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
