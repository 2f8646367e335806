//! placeholder

pub mod ledger;
