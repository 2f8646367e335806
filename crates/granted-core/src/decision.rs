//! Decisions: a time-bound grant for one object, and its discharge through an executor.

pub mod accept;
pub mod claim;
pub mod conclude;
pub mod discharge;
pub mod document;
pub mod event;
pub mod fold;
pub mod grant;
pub mod identity;
pub mod mint;
pub mod notice;
pub mod outcome;
pub mod overview;
pub mod report;
pub mod resolve;
pub mod revoke;
pub mod settle;
pub mod status;

pub use claim::{Acted, Claim, Permit};
pub use event::{About, ActResult, Ended, ExecutorUsed, From, Intent, Outcome, Tail};
pub use fold::{Attempt, GrantState, Held};
pub use grant::{Bind, Grant, Kind, Object, Receipt, Use};
pub use identity::Identity;
pub use outcome::{Class, REASONS, Reason};
pub use report::Report;
pub use status::Status;
