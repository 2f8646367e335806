//! Signing as the person does.

use granted_core::trust::{PublicKey, Signature, Statement};

/// Something that signs with the person's key.
pub trait Signer {
    /// The key that it signs with.
    fn key(&self) -> &PublicKey;

    /// Signs a statement.
    fn sign(&mut self, statement: &Statement) -> Result<Signature, SignError>;
}

/// Signs statements as the person does: all or none of them.
pub type Sign<'s> = dyn FnMut(&[Statement]) -> Result<Vec<Signature>, SignError> + 's;

/// Why nothing was signed: one line for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SignError(pub String);
