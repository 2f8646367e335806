//! The grant: a budget to propose payments with.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::agent::Address;
use super::{AgentName, Network, Sats};
use crate::digest::Digest;
use crate::id::Id;
use crate::text::{Shown, TextError, text_type};
use crate::time::Stamp;

text_type!(
    /// The id of one grant instance: 32 lower-case hexadecimal digits, new each time that one is issued.
    GrantId,
    |text| match text.len() {
        32 => match text.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f')) {
            Some(character) => Err(TextError::Character { what: "grant id", character }),
            None => Ok(()),
        },
        _ => Err(TextError::Length { what: "grant id", max: 32, unit: "digits" }),
    }
);

/// The kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The first version.
    #[serde(rename = "spend-grant/1")]
    V1,
}

/// What an agent may do with its grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Ask for payments, each of which waits for a person.
    #[default]
    Ask,
    /// Look only.
    Observe,
}

impl Mode {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::Observe => "observe",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A grant as it was issued. What it has been since (mode, recipients, draws, its end) is in rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpendGrant {
    /// The agent.
    pub agent: AgentName,
    /// The only recipients; absent: any, none: nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_recipients: Option<Vec<Address>>,
    /// The book that it belongs to.
    pub book: Id,
    /// The most that all its payments may cost, fees included.
    pub budget_sat: Sats,
    /// When it was issued.
    pub created_at: Stamp,
    /// From when on it is of no use.
    pub expires_at: Stamp,
    /// Which instance it is.
    pub grant_id: GrantId,
    /// The kind of document.
    pub kind: Kind,
    /// The most that a fee may be.
    pub max_fee_sat: Sats,
    /// The most that a recipient may get at once; absent: as much as the budget has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tx_sat: Option<Sats>,
    /// What the agent may do.
    pub mode: Mode,
    /// The network. On any other it is nothing.
    pub network: Network,
    /// The digest of the token by which the agent is known.
    pub token_hash: Digest,
}

impl SpendGrant {
    /// The cap on fees where none is given: a fiftieth of the budget, at least 1,000 sat, and at most
    /// all of it.
    pub fn default_max_fee(budget: Sats) -> Sats {
        let part = Sats::new((budget.to_u64() / 50).max(1_000)).unwrap_or(budget);
        part.min(budget)
    }

    /// What is shown of the token's digest.
    pub fn token_id(&self) -> String {
        self.token_hash.to_string().chars().take(12).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_on_fees_follows_the_budget() {
        for (budget, fee) in [(50_000, 1_000), (100_000, 2_000), (1_000, 1_000), (500, 500), (1, 1)]
        {
            let sats = |number| Sats::new(number).unwrap();
            assert_eq!(SpendGrant::default_max_fee(sats(budget)), sats(fee));
        }
    }

    #[test]
    fn ids_are_32_digits() {
        assert!(GrantId::new("0f".repeat(16)).is_ok());
        for bad in ["", "g1", &"0F".repeat(16), &"0".repeat(31), &"0".repeat(33)] {
            assert!(GrantId::new(bad).is_err(), "{bad}");
        }
    }
}
