//! Why a change set is refused.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the closed set of reasons, with the text of each.
macro_rules! refusals {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        /// Why a change set is refused. Nothing was written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Refusal {
            $($(#[$doc])* $variant,)+
        }

        impl Refusal {
            /// Every reason.
            pub const ALL: &'static [Refusal] = &[$(Refusal::$variant),+];

            /// The reason's text.
            pub fn as_str(self) -> &'static str {
                match self { $(Refusal::$variant => $text,)+ }
            }
        }
    };
}

refusals! {
    /// The nonce is missing, unknown, malformed, expired, used up, or another agent's: one answer for all,
    /// so that nobody learns which.
    Dispatch = "dispatch",
    /// The request itself: no files, a file twice, no rationale, a deletion without a base.
    Invalid = "invalid",
    /// A path that leads out of the project, or to what is no regular file.
    BadPath = "bad_path",
    /// What nobody writes.
    Protected = "protected",
    /// Outside the agent's write scopes.
    OutOfScope = "out_of_scope",
    /// The file is not what the agent based its change on.
    StaleBase = "stale_base",
    /// Nothing would change.
    NoChange = "no_change",
    /// The file is or would be too large.
    TooLarge = "too_large",
    /// The change set has too many files, or its row would be too long.
    TooManyFiles = "too_many_files",
    /// The agent has filed too much today.
    DayCap = "day_cap",
    /// Too many change sets wait.
    StagedCap = "staged_cap",
    /// There is no such gate.
    UnknownGate = "unknown_gate",
    /// A gate did not pass.
    GateFailed = "gate_failed",
    /// A gate could not be run, or not confined.
    GateUnavailable = "gate_unavailable",
    /// The key names another request.
    KeyReused = "key_reused",
    /// The brief cannot be read, or does not name the agent or the tool.
    NotInBrief = "not_in_brief",
    /// The ledger or the disk cannot be written.
    LedgerUnwritable = "ledger_unwritable",
    /// The ledger is shorter than it was, or another.
    LedgerRolledBack = "ledger_rolled_back",
    /// The clock is behind the ledger.
    ClockBehind = "clock_behind",
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_written_as_its_text() {
        for reason in Refusal::ALL {
            assert_eq!(serde_json::to_string(reason).unwrap(), format!("\"{reason}\""));
        }
    }
}
