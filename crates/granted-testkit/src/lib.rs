//! Test parts of granted: the contract that every store keeps, a store in memory, a store that
//! fails on demand, a clock that stands, and samples of rows.
//!
//! In scope: what the tests of more than one crate need. Not in scope: anything that is built into
//! the program; only tests depend on this crate.
//!
//! ```
//! use std::sync::Arc;
//! use granted_testkit::{MemoryLedger, contract};
//!
//! // Every store runs the same cases, each on a ledger of its own.
//! contract::all(&|clock| Arc::new(MemoryLedger::new(clock)));
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "only tests use this crate, and a broken promise is to end them"
)]

pub mod clock;
pub mod contract;
pub mod fault;
pub mod forged;
pub mod landlock;
pub mod memory;
pub mod proofs;
pub mod sample;
pub mod scribe;
pub mod spends;
pub mod story;
pub mod tale;
pub mod writes;

pub use clock::FixedClock;
pub use fault::{Fault, FaultyLedger};
pub use memory::{MemoryDocuments, MemoryLedger};
