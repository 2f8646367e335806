//! The names that an agent and a person give.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{Name, Shown, TextError, text_type};

text_type!(
    /// The name of an agent that has a budget: 1 to 32 of `a-z0-9_-`.
    AgentName,
    |text| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        bounded("agent name", 32, text, "a-z 0-9 _ -", plain)
    }
);

impl AgentName {
    /// The same, as rows have it in `by`.
    pub fn name(&self) -> Option<Name> {
        // Every agent's name is a name.
        Name::new(self.as_str()).ok()
    }
}

text_type!(
    /// The handle by which an agent tries a filing again: 1 to 64 of `A-Za-z0-9_-`.
    IdempotencyKey,
    |text| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        bounded("idempotency key", 64, text, "A-Z a-z 0-9 _ -", plain)
    }
);

text_type!(
    /// An address in the one spelling that the network's rules give it: 1 to 128 of `A-Za-z0-9`.
    Address,
    |text| bounded("address", 128, text, "A-Z a-z 0-9", |c| c.is_ascii_alphanumeric())
);

text_type!(
    /// A transaction's id: 64 lower-case hexadecimal digits.
    Txid,
    |text| match text.len() {
        64 => bounded("txid", 64, text, "0-9 a-f", |c| matches!(c, '0'..='9' | 'a'..='f')),
        _ => Err(TextError::Length { what: "txid", max: 64, unit: "digits" }),
    }
);

fn bounded(
    what: &'static str,
    max: usize,
    text: &str,
    set: &'static str,
    fits: impl Fn(char) -> bool,
) -> Result<(), TextError> {
    if text.is_empty() || text.chars().nth(max).is_some() {
        return Err(TextError::Length { what, max, unit: "characters" });
    }
    match text.chars().find(|c| !fits(*c)) {
        Some(character) => Err(TextError::NoneOf { what, character, set }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded() {
        let long = "a".repeat(32);
        for good in ["a", "claude-2_b", "0", long.as_str()] {
            let name = AgentName::new(good).unwrap();
            assert_eq!(name.name().unwrap().as_str(), good);
        }
        for bad in ["", "A", "a b", "a/b", "..", "é", &"a".repeat(33)] {
            assert!(AgentName::new(bad).is_err(), "{bad}");
        }
        for good in ["Invoice-1_a", &"k".repeat(64)] {
            assert!(IdempotencyKey::new(good).is_ok());
        }
        for bad in ["", "a.b", "a b", &"k".repeat(65)] {
            assert!(IdempotencyKey::new(bad).is_err(), "{bad}");
        }
        let error = AgentName::new("Claude").unwrap_err().to_string();
        assert_eq!(error, "agent name: it may not hold the character `C`, only a-z 0-9 _ -");
        assert!(Txid::new("0a".repeat(32)).is_ok());
        for bad in ["", &"0A".repeat(32), &"0".repeat(63)] {
            assert!(Txid::new(bad).is_err(), "{bad}");
        }
        assert!(Address::new("tb1pexample").is_ok());
        assert!(Address::new("tb1p example").is_err());
    }
}
