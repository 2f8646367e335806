//! Who may widen authority: the person's keys, what they sign, and which of them a book trusts.
//!
//! A [`Statement`] is what is signed, built in one place. A [`Signature`] is only read; it counts
//! once a [`PublicKey`] has verified it over a statement. Which keys a book trusts, and whether it asks for
//! signatures at all, is [`Trust`]: a fold of rows, each of which is verified on the way.

pub mod event;
pub mod key;
pub mod secret;
pub mod signature;
pub mod sshsig;
pub mod state;
pub mod statement;
mod wire;

pub use key::{KeyError, KeyId, PublicKey};
pub use secret::{SealError, SecretKey};
pub use signature::{Flaw, Signature};
pub use state::{Change, Mode, Refusal, Trust, Trusted};
pub use statement::{Purpose, Statement};
