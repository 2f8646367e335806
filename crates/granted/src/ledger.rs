//! The ledger itself: its last rows, its verification, and the person's way out of damage.

pub mod accept;
pub mod tail;
pub mod verify;
