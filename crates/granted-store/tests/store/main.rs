//! The file store, from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests make files and failures by hand"
)]

mod append;
mod crash;
mod fault;
mod home;
mod index;
mod path;
mod process;
