//! The signatures in the rows of a ledger, by the keys that are trusted at each of them.

use super::moves::{Move, Step, hash};
use crate::decision::event::{Minted, Resolved};
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::event::Accepted;
use crate::ledger::{Event, Row, Subject};
use crate::trust::state::SignatureError;
use crate::trust::{KeyId, Mode, Statement, Trust};
use crate::write::event::DirectGranted;

/// What the book trusts after the rows so far, and every key that it ever trusted.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    trust: Trust,
    keys: Vec<KeyId>,
}

impl Signatures {
    /// Checks the signatures of the row; `before` is the digest of the row before its append. Emits who
    /// signed a grant, and who is trusted where one is claimed.
    pub(super) fn check(
        &mut self,
        book: Id,
        row: &Row,
        before: Digest,
        emit: &mut dyn FnMut(Move),
    ) -> Result<(), &'static str> {
        let mut also = |subject: &Subject, step: Step| {
            // The same row moves it, so it comes after itself.
            emit(Move { subject: hash(subject), seq: row.seq, before: row.seq, step });
        };
        match &row.event {
            Event::KeyTrusted(body) => {
                self.trust.apply(book, row)?;
                self.keys.push(body.key.id());
            }
            Event::KeyUntrusted(_) | Event::ModeSet(_) => self.trust.apply(book, row)?,
            Event::Minted(Minted { grant }) => {
                let signers = self.trust.signers_at_mint(grant).map_err(|why| cause(&why))?;
                let keys = self.bits(signers.iter().map(|trusted| trusted.key.id()));
                if keys != 0 {
                    also(&Subject::grant(grant.id), Step::Signed { keys });
                }
            }
            Event::Intent(_) if self.trust.mode == Mode::Signed => {
                let keys = self.bits(self.trust.keys().iter().map(|trusted| trusted.key.id()));
                for (claimed, _) in row.refs.iter().skip(1) {
                    also(claimed, Step::Asked { keys });
                }
            }
            Event::Accepted(Accepted { by, reason, signature, what }) => {
                let statement = || Statement::accept(book, before, by, reason, what);
                self.verify(signature.as_ref(), statement)?;
            }
            Event::Resolved(Resolved { by, happened, note, signature }) => {
                let statement = || {
                    let (subject, last) = row.refs.first()?;
                    let id = subject.as_str().strip_prefix("discharge:")?.parse().ok()?;
                    Some(Statement::resolve(book, id, *last, *happened, by, note.as_ref()))
                };
                if let Some(statement) = statement() {
                    self.verify(signature.as_ref(), || statement)?;
                }
            }
            Event::DirectGranted(DirectGranted { grant, signature }) => {
                self.verify(Some(signature), || Statement::direct(grant))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn verify(
        &self,
        signature: Option<&crate::trust::Signature>,
        statement: impl FnOnce() -> Statement,
    ) -> Result<(), &'static str> {
        match signature.is_some() || self.trust.has_begun() {
            true => self.trust.verify(&statement(), signature).map_err(|why| cause(&why)),
            false => Ok(()),
        }
    }

    /// A bit for each of these keys, in the order in which the book came to trust them; all after the 63rd
    /// share one.
    fn bits(&self, keys: impl Iterator<Item = KeyId>) -> u64 {
        let place = |id: KeyId| self.keys.iter().position(|known| *known == id);
        keys.filter_map(place).fold(0, |bits, place| bits | 1 << place.min(63))
    }
}

fn cause(why: &SignatureError) -> &'static str {
    match why {
        SignatureError::Missing => "no trusted key signed it",
        SignatureError::Untrusted(_) => "the key that signed it is not trusted",
        SignatureError::Book => "it is of another book",
        SignatureError::Bad(..) => "its signature is wrong",
    }
}
