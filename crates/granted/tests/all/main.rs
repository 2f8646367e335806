//! What must hold under fire, with real processes, files and signals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod accept;
mod clock;
mod config;
mod disk;
mod document;
mod home;
mod index;
mod input;
mod ledger_file;
mod names;
mod readme;
mod session;
mod streams;
mod threats;
mod tour;
