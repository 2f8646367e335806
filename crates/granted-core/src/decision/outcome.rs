//! The four outcomes and their closed vocabulary of reasons.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Done, and the ledger confirms it.
    Discharged,
    /// Not done; or tried, and it said that it failed.
    Refused,
    /// Nobody can say whether it was done. Never acted on again.
    Uncertain,
    /// The window had closed.
    Expired,
}

impl Class {
    /// The word in rows, answers and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Discharged => "discharged",
            Class::Refused => "refused",
            Class::Uncertain => "uncertain",
            Class::Expired => "expired",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Declares the reasons, each of exactly one outcome.
macro_rules! reasons {
    ($(#[doc = $meaning:literal] $variant:ident = $text:literal is $class:ident,)+) => {
        /// Why an attempt ended as it did.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $(#[doc = $meaning] #[serde(rename = $text)] $variant,)+
        }

        /// Every reason there is, in the order of the documentation.
        pub const REASONS: &[Reason] = &[$(Reason::$variant),+];

        impl Reason {
            /// The word in rows, answers and messages.
            pub fn as_str(self) -> &'static str {
                match self { $(Reason::$variant => $text,)+ }
            }

            /// When an attempt ends with it, in words for people.
            pub fn meaning(self) -> &'static str {
                match self { $(Reason::$variant => $meaning.trim_ascii(),)+ }
            }

            /// The outcome that the reason belongs to.
            pub fn class(self) -> Class {
                match self { $(Reason::$variant => Class::$class,)+ }
            }
        }
    };
}

reasons! {
    /// Done, and the ledger confirms it.
    Confirmed = "confirmed" is Discharged,
    /// There is no grant for the object, or its document is gone.
    None = "none" is Refused,
    /// The grant is spent.
    Consumed = "consumed" is Refused,
    /// The window has not opened.
    NotYet = "not_yet" is Refused,
    /// The grant's document is damaged, edited, no plain file, or open to others.
    Unreadable = "unreadable" is Refused,
    /// The person took the grant back.
    Revoked = "revoked" is Refused,
    /// The grant or the executor does not allow the action, the type or the executor.
    ActionNotAllowed = "action_not_allowed" is Refused,
    /// The grant names an agent, and it is not this one.
    AgentNotNamed = "agent_not_named" is Refused,
    /// No such executor is registered, or its program cannot be run.
    UnknownExecutor = "unknown_executor" is Refused,
    /// Another attempt holds the grant and still runs.
    ClaimLost = "claim_lost" is Refused,
    /// The executor did nothing and said so; the grant stays live.
    ExecutorDeclined = "executor_declined" is Refused,
    /// The executor failed; what it did is not known.
    ExecutorFailed = "executor_failed" is Refused,
    /// The executor ended well, but its result row says that it failed.
    ResultFailed = "result_failed" is Refused,
    /// Signatures are required and the grant has none.
    Unsigned = "unsigned" is Refused,
    /// The grant is signed by a key that is not trusted.
    UntrustedKey = "untrusted_key" is Refused,
    /// The grant's signature is wrong.
    BadSignature = "bad_signature" is Refused,
    /// A file or an executor that the grant is bound to has changed.
    BindingChanged = "binding_changed" is Refused,
    /// The ledger cannot be written; nothing runs.
    LedgerUnwritable = "ledger_unwritable" is Refused,
    /// The ledger is shorter than it was, or another one.
    LedgerRolledBack = "ledger_rolled_back" is Refused,
    /// The clock is behind the ledger.
    ClockBehind = "clock_behind" is Refused,
    /// The request contradicts itself or an earlier one.
    InvalidRequest = "invalid_request" is Refused,
    /// The executor cannot say whether it happened, or contradicts itself.
    ExecutorUncertain = "executor_uncertain" is Uncertain,
    /// The executor was stopped at its deadline.
    Timeout = "timeout" is Uncertain,
    /// It may have happened, but no result row says so.
    NoResultRow = "no_result_row" is Uncertain,
    /// The executor's `confirm` command did not confirm it.
    NotConfirmed = "not_confirmed" is Uncertain,
    /// After the act the grant, its rows or what it is bound to were not what they were before.
    ReceiptMismatch = "receipt_mismatch" is Uncertain,
    /// The act was cut off.
    Interrupted = "interrupted" is Uncertain,
    /// The window has closed.
    Expired = "expired" is Expired,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
