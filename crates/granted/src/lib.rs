//! Decide once: grants that agents discharge, and a ledger that confirms it.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

mod book;
pub mod cli;
mod clock;
pub mod config;
pub mod decision;
mod entropy;
mod files;
pub mod home;
pub mod ledger;
mod render;

pub use book::{Book, BookError};
pub use home::Home;
