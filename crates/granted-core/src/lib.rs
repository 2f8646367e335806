//! Every rule and format of granted.
//!
//! In scope: what a row, a grant and an outcome are; the states that rows fold to; each verb as a
//! pure decision over facts; what a ledger and a store of documents promise; the audit of a whole
//! ledger. Not in scope: clock, disk, network, randomness, environment, async and logging. Callers
//! gather facts and pass them in; decisions come back as values, with the rows to append.
//!
//! What holds everything together is that an append is refused if what it moves has moved:
//!
//! ```
//! use std::sync::Arc;
//! use granted_core::decision::GrantState;
//! use granted_core::store::{AppendError, Ledger};
//! use granted_testkit::{FixedClock, MemoryLedger, sample};
//!
//! let ledger = MemoryLedger::new(Arc::new(FixedClock::default()));
//! ledger.append(&[sample::opened()])?; // row 1
//! ledger.append(&[sample::minted(7, 0)])?; // row 2 mints grant 7, of which there was no row
//!
//! // Two attempts have seen row 2 of the grant, and both would claim it.
//! assert!(ledger.append(&[sample::intent(100, 7, 2)]).is_ok());
//! assert_eq!(ledger.append(&[sample::intent(101, 7, 2)]), Err(AppendError::Conflict));
//!
//! // The state is what the rows say.
//! let rows = ledger.rows(&sample::grant_subject(7))?;
//! let state = GrantState::fold(&rows).ok_or("it was minted")?;
//! assert!(state.is_spent());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod custody;
pub mod decision;
pub mod digest;
pub mod id;
pub mod json;
pub mod lag;
pub mod ledger;
pub mod proof;
pub mod spend;
pub mod store;
pub mod text;
pub mod time;
pub mod timer;
pub mod trust;
pub mod write;
