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
mod client;
mod doors;
mod home;
mod mcp;
mod readme;
mod threats;
mod tour;
