//! Subjects: the things that rows move.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::decision::Object;
use crate::id::Id;
use crate::text::{Shown, TextError, text_type};

text_type!(
    /// What a row moves, such as `grant:01JQ…` or `object:report/2026-09-30`.
    ///
    /// A subject's rows, in order, are all that a fold of it needs; the last of them is the guard
    /// of the next.
    Subject,
    |text| {
        let known = ["discharge:", "grant:", "object:", "trust:"].iter().any(|kind| text.starts_with(kind));
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

    /// Whether it is a grant.
    pub fn is_grant(&self) -> bool {
        self.as_str().starts_with("grant:")
    }

    /// What grants are about. Each mint moves it, so that two racing mints conflict.
    pub fn object(object: &Object) -> Subject {
        // Not by Display, which escapes: the subject holds the id's own bytes.
        Subject(format!("object:{}/{}", object.r#type.as_str(), object.id.as_str()).into())
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
