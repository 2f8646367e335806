//! What must hold under fire, with real processes, files and signals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    missing_docs
)]

mod accept;
mod bitcoin;
mod brief;
mod cases;
mod checkpoint;
mod client;
mod clock;
mod completions;
mod config;
mod corpora;
mod crowd;
mod custody;
mod cuts;
mod disk;
mod docs;
mod doctor;
mod document;
mod doors;
mod executors;
mod home;
mod index;
mod input;
mod install;
mod keys;
mod kills;
mod ledger_file;
mod manager;
mod mcp;
mod mortal;
mod names;
mod notices;
mod proof;
mod pty;
mod races;
mod sats;
mod sealed;
mod session;
mod signed;
mod storm;
mod streams;
mod threats;
mod timer;
mod tour;
mod witness;
mod write_rows;
mod writes;
mod writing;
