//! Writes by their rows: what is decided, what is folded, what `granted ledger verify` finds.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod audit;
mod bodies;
mod brief;
mod decide;
mod direct;
mod dispatch;
mod request;
mod rows;
mod world;
