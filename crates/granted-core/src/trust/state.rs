//! Which keys a book trusts, and whether it asks for signatures: a fold of the rows of `trust:keys`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::{KeyTrusted, KeyUntrusted, ModeSet};
use super::key::{KeyId, PublicKey};
use super::signature::{Flaw, Signature};
use super::statement::Statement;
use crate::decision::{Grant, Reason};
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Row, Subject};
use crate::text::{Name, Note};
use crate::time::Stamp;

/// Whether grants are to be signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They need not be.
    #[default]
    Open,
    /// Only a grant that a trusted key signed is minted or used.
    Signed,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A key that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted {
    /// The key.
    pub key: PublicKey,
    /// What the person calls it.
    pub name: Name,
    /// Since when.
    pub since: Stamp,
    /// The key that signed for it; `None` for the book's first.
    pub by: Option<KeyId>,
}

/// What a book trusts. Every row that made it so was verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Whether grants are to be signed.
    pub mode: Mode,
    /// The seq of the last row that moved it, 0 if none: what its next row and what is signed for it
    /// come after.
    pub last: u64,
    book: Option<Id>,
    keys: Vec<Trusted>,
    begun: bool,
}

/// Why something that was signed does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Nothing signed it.
    #[error("no trusted key signed it")]
    Missing,
    /// A key signed it that is not trusted.
    #[error("key {0} is not trusted")]
    Untrusted(KeyId),
    /// It was made for another book.
    #[error("it is of another book")]
    Book,
    /// The signature is wrong.
    #[error("the signature of key {0}: {1}")]
    Bad(KeyId, Flaw),
}

impl Trust {
    /// Folds the rows of `trust:keys`, oldest first. A row that the rules do not allow changes nothing: a
    /// program that can write the file can add one.
    pub fn fold(book: Id, rows: &[Row]) -> Trust {
        let mut trust = Trust { book: Some(book), ..Trust::default() };
        for row in rows {
            let _ = trust.apply(book, row);
        }
        trust
    }

    /// Takes in the next row, if the rules allow it; otherwise says why not.
    pub fn apply(&mut self, book: Id, row: &Row) -> Result<(), &'static str> {
        let last = std::mem::replace(&mut self.last, row.seq);
        match &row.event {
            Event::KeyTrusted(KeyTrusted { key, name, signature }) => {
                self.free(key, name).map_err(|_| "it trusts a key or a name that is trusted")?;
                let statement = Statement::trust(book, last, key, name);
                self.verify(&statement, signature.as_ref())
                    .map_err(|_| "no trusted key signed it")?;
                let by = signature.as_ref().map(|signature| signature.key);
                let (key, name) = (key.clone(), name.clone());
                self.keys.push(Trusted { key, name, since: row.at, by });
                self.begun = true;
            }
            Event::KeyUntrusted(KeyUntrusted { key, .. }) => {
                let before = self.keys.len();
                self.keys.retain(|trusted| trusted.key.id() != *key);
                if self.keys.len() == before {
                    return Err("it untrusts a key that is not trusted");
                }
            }
            Event::ModeSet(ModeSet { mode, signature }) => {
                if *mode == Mode::Open {
                    self.verify(&Statement::open(book, last), signature.as_ref())
                        .map_err(|_| "no trusted key signed it")?;
                }
                self.mode = *mode;
            }
            _ => return Err("it is no row of trust"),
        }
        Ok(())
    }

    /// The keys, oldest first.
    pub fn keys(&self) -> &[Trusted] {
        &self.keys
    }

    /// The trusted key with this id.
    pub fn key(&self, id: KeyId) -> Option<&Trusted> {
        self.keys.iter().find(|trusted| trusted.key.id() == id)
    }

    /// Whether a key was ever trusted: from then on what widens authority is signed.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Checks that a trusted key signed this, once the book has trusted one.
    pub fn verify(
        &self,
        statement: &Statement,
        signature: Option<&Signature>,
    ) -> Result<(), SignatureError> {
        match signature {
            None if self.begun => Err(SignatureError::Missing),
            None => Ok(()),
            Some(signature) => {
                let id = signature.key;
                let trusted = self.key(id).ok_or(SignatureError::Untrusted(id))?;
                let verified = signature.verify(&trusted.key, statement);
                verified.map_err(|flaw| SignatureError::Bad(id, flaw))
            }
        }
    }

    /// The trusted keys that signed a grant, or why it may not be used.
    ///
    /// Where signatures are asked for, one by a trusted key is enough. Where they are not, there need be none;
    /// but one by a trusted key that is wrong is told all the same.
    pub fn signers(&self, grant: &Grant) -> Result<Vec<&Trusted>, (Reason, SignatureError)> {
        if grant.signatures.is_empty() && self.mode == Mode::Open {
            return Ok(Vec::new());
        }
        let statement = Statement::grant(grant);
        let (mut good, mut flaw) = (Vec::new(), None);
        for signature in &grant.signatures {
            match (self.verify(&statement, Some(signature)), self.key(signature.key)) {
                (Ok(()), Some(trusted)) => good.push(trusted),
                (Err(why @ SignatureError::Bad(..)), _) => flaw = Some((Reason::BadSignature, why)),
                (Err(why), _) => flaw = flaw.or(Some((Reason::UntrustedKey, why))),
                (Ok(()), None) => {}
            }
        }
        let asked = self.mode == Mode::Signed;
        if asked && self.book.is_some_and(|book| book != grant.book) {
            return Err((Reason::BadSignature, SignatureError::Book));
        }
        match flaw {
            _ if !good.is_empty() => Ok(good),
            Some(flaw) if asked || flaw.0 == Reason::BadSignature => Err(flaw),
            None if asked => Err((Reason::Unsigned, SignatureError::Missing)),
            _ => Ok(good),
        }
    }

    /// As [`Trust::signers`], of a grant that is minted now: each of its signatures is by a trusted key.
    ///
    /// One by another key would come to count when that key is trusted, and the row of the mint would not
    /// tell that it does.
    pub fn signers_at_mint(&self, grant: &Grant) -> Result<Vec<&Trusted>, SignatureError> {
        let mut keys = grant.signatures.iter().map(|signature| signature.key);
        match keys.find(|key| self.key(*key).is_none()) {
            Some(key) => Err(SignatureError::Untrusted(key)),
            None => self.signers(grant).map_err(|(_, why)| why),
        }
    }

    /// Checks that neither key nor name is trusted.
    fn free(&self, key: &PublicKey, name: &Name) -> Result<(), Refusal> {
        if self.key(key.id()).is_some() {
            return Err(Refusal::Trusted(key.id()));
        }
        match self.keys.iter().any(|trusted| trusted.name == *name) {
            true => Err(Refusal::NameTaken(name.clone())),
            false => Ok(()),
        }
    }
}

/// A change of what a book trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Trust this key under this name.
    Trust(PublicKey, Name),
    /// Trust this key no more.
    Untrust(KeyId, Option<Note>),
    /// Ask for signatures, or do not.
    Mode(Mode),
}

/// Why a change is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The key is trusted.
    #[error("key {0} is trusted already")]
    Trusted(KeyId),
    /// Another key has the name.
    #[error("another trusted key is called `{0}`")]
    NameTaken(Name),
    /// The key is not trusted.
    #[error("key {0} is not trusted")]
    NotTrusted(KeyId),
    /// Signatures would be asked for that nobody can make.
    #[error("no key is trusted, so nobody could sign")]
    NoKey,
    /// The mode is that already.
    #[error("the mode is {0} already")]
    SameMode(Mode),
    /// It is not signed as it has to be.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

impl Change {
    /// What a trusted key has to sign for it; `None` for what only narrows, and for the first key.
    pub fn statement(&self, book: Id, trust: &Trust) -> Option<Statement> {
        match self {
            Change::Trust(key, name) if trust.begun => {
                Some(Statement::trust(book, trust.last, key, name))
            }
            Change::Mode(Mode::Open) => Some(Statement::open(book, trust.last)),
            Change::Trust(..) | Change::Untrust(..) | Change::Mode(Mode::Signed) => None,
        }
    }

    /// Decides whether to make the change; its row.
    pub fn draft(
        self,
        book: Id,
        trust: &Trust,
        signature: Option<Signature>,
        by: &By,
    ) -> Result<Draft, Refusal> {
        self.possible(trust)?;
        if let Some(statement) = self.statement(book, trust) {
            trust.verify(&statement, signature.as_ref())?;
        }
        let event = match self {
            Change::Trust(key, name) => Event::KeyTrusted(KeyTrusted { key, name, signature }),
            Change::Untrust(key, note) => Event::KeyUntrusted(KeyUntrusted { key, note }),
            Change::Mode(mode) => Event::ModeSet(ModeSet { mode, signature }),
        };
        Ok(Draft::new(event, by.clone(), vec![(Subject::trust(), trust.last)]))
    }

    /// Checks the change but for its signature: worth doing before a person is asked for one.
    pub fn possible(&self, trust: &Trust) -> Result<(), Refusal> {
        match self {
            Change::Trust(key, name) => trust.free(key, name),
            Change::Untrust(key, _) if trust.key(*key).is_none() => Err(Refusal::NotTrusted(*key)),
            Change::Mode(mode) if *mode == trust.mode => Err(Refusal::SameMode(*mode)),
            Change::Mode(Mode::Signed) if trust.keys.is_empty() => Err(Refusal::NoKey),
            Change::Untrust(..) | Change::Mode(_) => Ok(()),
        }
    }
}
