//! Signing as the person does.

use granted_core::trust::{PublicKey, SecretKey, Signature, Statement};

use crate::home::Home;
use crate::keys::{self, KeyName};
use crate::terminal::{Terminal, TerminalError};

/// Something that signs with the person's key.
pub trait Signer {
    /// The key that it signs with.
    fn key(&self) -> &PublicKey;

    /// Signs a statement.
    fn sign(&mut self, statement: &Statement) -> Result<Signature, SignError>;
}

/// Why nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// Nobody was there to be asked.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// The key cannot be used: one line for the person.
    #[error("{0}")]
    Key(String),
}

/// A key file of the home. Its password is asked for at the first signature, and then no more.
pub struct KeyFile {
    home: Home,
    name: KeyName,
    public: PublicKey,
    opened: Option<SecretKey>,
}

impl KeyFile {
    /// The key file of this name, as which it says what its public half is.
    pub fn new(home: &Home, name: KeyName) -> Result<KeyFile, String> {
        let stored = keys::read(home, &name)?;
        let public = stored.public.ok_or_else(|| {
            format!("the first line of `{}` does not say which key it is", stored.path.display())
        })?;
        Ok(KeyFile { home: home.clone(), name, public, opened: None })
    }
}

impl Signer for KeyFile {
    fn key(&self) -> &PublicKey {
        &self.public
    }

    fn sign(&mut self, statement: &Statement) -> Result<Signature, SignError> {
        let secret = match self.opened.take() {
            Some(secret) => secret,
            None => open(&self.home, &self.name)?,
        };
        let secret = self.opened.insert(secret);
        match secret.public() == &self.public {
            true => Ok(secret.sign(statement)),
            false => Err(SignError::Key(format!(
                "the key in `{}` is not the one that its first line says",
                keys::path(&self.home, &self.name).display()
            ))),
        }
    }
}

/// Opens a key file with the password that the person is asked for.
pub(crate) fn open(home: &Home, name: &KeyName) -> Result<SecretKey, SignError> {
    let stored = keys::read(home, name).map_err(SignError::Key)?;
    let password = Terminal::open()?.password(&format!("password of key `{name}`: "))?;
    stored.open(&password).map_err(SignError::Key)
}
