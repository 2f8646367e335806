//! The one who asks for an attempt, as far as the attempt depends on it while it is under way.

use std::convert::Infallible;

/// What an attempt is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait a little for another attempt that has the same key.
    Wait,
    /// Record a refusal.
    Refusal,
    /// Claim the grant. From then on the attempt ends with an outcome, whatever the asker wants.
    Claim,
}

/// Is asked before each [`Step`] whether to go on.
pub trait Asker {
    /// Why it leaves.
    type Left;

    /// An error ends the attempt without a row.
    fn before(&self, step: Step) -> Result<(), Self::Left>;
}

/// Stays to the end.
pub struct Patient;

impl Asker for Patient {
    type Left = Infallible;

    fn before(&self, _: Step) -> Result<(), Infallible> {
        Ok(())
    }
}
