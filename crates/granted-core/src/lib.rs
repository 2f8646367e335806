//! Every rule and format of granted.
//!
//! Pure: no clock, disk, network, randomness, environment, async or logging. Callers gather facts
//! and pass them in; decisions come back as values together with the rows to append.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod decision;
pub mod digest;
pub mod id;
pub mod json;
pub mod lag;
pub mod ledger;
pub mod store;
pub mod text;
pub mod time;
