//! The ledger itself: its last rows, its verification, its checkpoints and what holds them elsewhere,
//! and the person's way out of damage.

pub mod accept;
pub mod checkpoint;
pub mod held;
pub(crate) mod kinds;
pub mod proof;
pub mod prove;
mod rows;
pub mod tail;
pub mod verify;
pub mod witness;
