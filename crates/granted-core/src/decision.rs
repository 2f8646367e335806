//! Decisions: a time-bound grant for one object, and its discharge through an executor.

pub mod claim;
pub mod document;
pub mod event;
pub mod grant;
pub mod outcome;

pub use claim::{Claim, Permit};
pub use event::{About, ActResult, Ended, ExecutorUsed, From, Intent, Outcome, Tail};
pub use grant::{Bind, Grant, Kind, Object, Receipt, Use};
pub use outcome::{Class, REASONS, Reason};
