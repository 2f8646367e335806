//! Where the ledger and the grant documents are kept.
//!
//! In scope: a ledger in one file with its lock, its repair and its index ([`FileLedger`]), the
//! grant documents as files ([`FileDocuments`]), the lock files by which a process shows that it
//! still acts ([`Acts`]), the contents that rows name ([`Blobs`]), and the custody of all these
//! ([`custody`]). Not in scope: what rows mean.
//! Every rule is in `granted-core`.
//!
//! ```
//! use std::sync::Arc;
//! use granted_core::store::{AppendError, Ledger};
//! use granted_store::FileLedger;
//! use granted_testkit::{FixedClock, sample};
//!
//! # let home = tempfile::tempdir()?;
//! let path = home.path().join("ledger.jsonl");
//! let open = || FileLedger::new(&path, Arc::new(FixedClock::default()), sample::by());
//!
//! open().append(&[sample::opened()])?;
//! open().append(&[sample::minted(7, 0)])?;
//!
//! // Another opening of the same file sees the rows, and nothing that has moved since is moved.
//! assert_eq!(open().rows(&sample::grant_subject(7))?.len(), 1);
//! assert_eq!(open().append(&[sample::minted(7, 0)]), Err(AppendError::Conflict));
//! assert_eq!(std::fs::read_to_string(&path)?.lines().count(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program that appends must ignore `SIGXFSZ` (and restore it in its children): at a file size
//! limit the kernel kills it in the middle of a write otherwise, and with the signal ignored the
//! write fails and is undone.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod acts;
pub mod blobs;
pub mod custody;
pub mod documents;
pub mod entropy;
pub mod file;
mod index;
pub mod nodes;
pub mod open;
mod wait;

pub use acts::Acts;
pub use blobs::Blobs;
pub use documents::FileDocuments;
pub use file::FileLedger;
pub use file::disk::{Disk, RealDisk};
pub use index::{IndexState, RUN_FORMAT};
pub use nodes::Groups;
