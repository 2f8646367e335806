//! Where the ledger and the grant documents are kept.
//!
//! In scope: a ledger in one file with its lock, its repair and its index ([`FileLedger`]), the
//! grant documents as files ([`FileDocuments`]), and the lock files by which a process shows that
//! it still acts ([`Acts`]). What rows mean is not known here; every rule is in `granted-core`.
//!
//! A program that appends must ignore `SIGXFSZ` (and restore it in its children): at a file size
//! limit the kernel kills it in the middle of a write otherwise, and with the signal ignored the
//! write fails and is undone.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod acts;
pub mod documents;
mod entropy;
pub mod file;
mod index;
pub mod open;
mod wait;

pub use acts::Acts;
pub use documents::FileDocuments;
pub use file::FileLedger;
pub use file::disk::{Disk, RealDisk};
