//! A project: the folder in which agents write.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::digest::Digest;
use crate::ledger::Subject;
use crate::text::{Shown, TextError, is_shown, text_type};
use crate::time::Stamp;

use super::agent::Agent;

text_type!(
    /// A project, by the real path of its root: absolute, at most 1,024 bytes, of characters that are
    /// shown as they are.
    Project,
    |text| {
        if !text.starts_with('/') || text.len() > 1_024 {
            return Err(TextError::Length { what: "absolute path of a project", max: 1_024, unit: "bytes" });
        }
        match text.chars().find(|c| !is_shown(*c)) {
            Some(character) => Err(TextError::Character { what: "project", character }),
            None => Ok(()),
        }
    }
);

impl Project {
    /// The digest of its path, which keeps checkouts of one name apart.
    pub fn key(&self) -> Digest {
        Digest::of(self.as_str().as_bytes())
    }

    /// The last part of its path.
    pub fn basename(&self) -> &str {
        self.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }

    /// What signing, revoking and loading direct grants move.
    pub fn subject(&self) -> Subject {
        Subject::project(self.key())
    }

    /// What an agent's filings of one day of UTC move, so that its caps hold whoever files at once.
    pub fn day(&self, agent: &Agent, at: Stamp) -> Subject {
        Subject::writer(self.key(), agent.as_str(), at)
    }
}
