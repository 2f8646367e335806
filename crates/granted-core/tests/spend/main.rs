//! The rules of spends.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod audit;
mod ladder;
