//! The name of an agent in a brief.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{Name, Shown, TextError, text_type};

text_type!(
    /// An agent's name in a brief: 1 to 64 of `a-z0-9-`, the first a letter or digit.
    Agent,
    |text| {
        if text.is_empty() || text.len() > 64 {
            return Err(TextError::Length { what: "agent", max: 64, unit: "characters" });
        }
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match text.chars().find(|c| !plain(*c)).or(text.chars().next().filter(|c| *c == '-')) {
            Some(character) => Err(TextError::Character { what: "agent", character }),
            None => Ok(()),
        }
    }
);

impl Agent {
    /// The name as rows have it in `by`.
    pub fn to_name(&self) -> Option<Name> {
        Name::new(self.as_str()).ok()
    }
}
