//! The stages of a discharge, in types: a [`Permit`] is decided, a [`Claim`] is durable, an
//! [`Acted`] was used.
//!
//! An executor takes a claim by value, and only [`Permit::claim`] makes one: by appending the
//! intent row. None of them can be copied or made otherwise, so that no claim acts twice.
//!
//! ```compile_fail
//! let claim = granted_core::decision::Claim { };
//! ```
//!
//! ```compile_fail
//! fn twice(permit: granted_core::decision::Permit, ledger: &dyn granted_core::store::Ledger) {
//!     let first = permit.claim(ledger);
//!     let second = permit.claim(ledger);
//! }
//! ```
//!
//! ```compile_fail
//! fn again(claim: granted_core::decision::Claim) {
//!     let first = claim.act();
//!     let second = claim.act();
//! }
//! ```
//!
//! ```compile_fail
//! fn copy(claim: &granted_core::decision::Claim) -> granted_core::decision::Claim {
//!     claim.clone()
//! }
//! ```

use super::Grant;
use super::fold::{GrantState, Held};
use crate::id::Id;
use crate::ledger::{Draft, Row};
use crate::store::{AppendError, Appended, Ledger};

/// The decision that this attempt may claim this grant. It has no effect until it is claimed.
#[must_use = "a permit that is not claimed lets nothing run"]
#[derive(Debug)]
pub struct Permit {
    pub(super) state: GrantState,
    pub(super) discharge: Id,
    pub(super) intent: Draft,
}

impl Permit {
    /// The grant that would be used.
    pub fn grant(&self) -> &Grant {
        &self.state.grant
    }

    /// Appends the intent row, which is the claim: of two racing attempts one gets
    /// [`AppendError::Conflict`].
    pub fn claim(self, ledger: &dyn Ledger) -> Result<Claim, AppendError> {
        let appended = ledger.append(std::slice::from_ref(&self.intent))?;
        let row = appended.lines.first().map(|line| Row::parse(&line.bytes));
        match row {
            Some(Ok(row)) => {
                let held = Held::claimed(self.state, self.discharge, &row);
                Ok(Claim { held, intent: appended })
            }
            // It was written, and is not what it should be: nothing acts on it.
            _ => Err(AppendError::Unknown("the intent row does not read as it was written".into())),
        }
    }
}

/// A durable claim: the grant is held by this attempt, and the act may begin, once.
#[must_use = "a claim that is dropped leaves its grant spent and its outcome uncertain"]
#[derive(Debug)]
pub struct Claim {
    held: Held,
    intent: Appended,
}

impl Claim {
    /// Uses the claim up: whoever acts calls this, and then acts.
    pub fn act(self) -> Acted {
        Acted(self)
    }

    /// The grant that is held, as it was minted.
    pub fn grant(&self) -> &Grant {
        &self.held.grant.grant
    }

    /// The attempt.
    pub fn discharge(&self) -> Id {
        self.held.attempt.id
    }
}

/// A claim that was used up by an act. What is left is to record what came of it.
#[must_use = "an act whose end is not recorded is uncertain"]
#[derive(Debug)]
pub struct Acted(Claim);

impl Acted {
    /// The grant that is held, as it was minted.
    pub fn grant(&self) -> &Grant {
        self.0.grant()
    }

    /// The attempt.
    pub fn discharge(&self) -> Id {
        self.0.discharge()
    }

    /// The grant and the attempt as the claim left them.
    pub fn claimed(&self) -> &Held {
        &self.0.held
    }

    /// The intent row, on which the act rests.
    pub fn intent(&self) -> &Appended {
        &self.0.intent
    }
}
