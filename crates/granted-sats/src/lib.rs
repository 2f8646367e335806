//! A bitcoin wallet that watches from disk and signs from memory.
//!
//! What lies on disk is the seed, sealed with a password, and a watch-only wallet for each network, which
//! knows public descriptors only. Private keys exist while a transaction is signed and at no other
//! time.
//!
//! In scope: the seed and its sealing, the wallet's state, the chain as three kinds of providers tell
//! it, preparing, reading and signing transactions, and the records of what was signed. Not in scope:
//! who may spend what, which is a rule of `granted-core`; terminals, prompts and printing; the clock, which
//! is an argument everywhere.
//!
//! ```
//! use granted_sats::{Network, Seed};
//!
//! let seed = Seed::parse("abandon abandon abandon abandon abandon abandon abandon abandon abandon \
//!                         abandon abandon about")?;
//! let keys = seed.public_keys(Network::Mainnet)?;
//! assert!(keys.external.starts_with("tr([73c5da0a/86'/0'/0']xpub"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod chain;
pub mod config;
mod files;
#[cfg(test)]
mod funded;
pub mod held;
pub mod network;
pub mod payment;
pub mod prepare;
pub mod record;
pub mod seed;
pub mod sign;
pub mod unsure;
pub mod wallet;

pub use bdk_wallet::bitcoin;
pub use files::{FileError, Home, SeedError};
pub use granted_core::spend::Network;
pub use seed::Seed;
