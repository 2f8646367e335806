//! The verbs on the ledger as a whole.

pub mod verify;
