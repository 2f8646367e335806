//! Issuing a grant, in the place of the one that the agent has.

use granted_core::spend::change::{Fresh, Terms, issue as decide};
use granted_core::spend::document::{name, render};
use granted_core::spend::{SpendGrant, Token};
use granted_core::store::{AppendError, Documents as _};
use granted_store::entropy;

use super::{SpendError, Spends, gather};
use crate::book::BookError;
use crate::ledger::witness;

/// A grant that was issued.
#[derive(Debug)]
pub struct Issued {
    /// The grant.
    pub grant: SpendGrant,
    /// The agent's token, which is told now and kept nowhere.
    pub token: Token,
    /// Whether the agent had one that this one takes the place of.
    pub replaced: bool,
}

/// Issues a grant. `authorize` takes the person's password, once, before anything is written.
pub fn issue(
    spends: &Spends<'_>,
    terms: &Terms,
    authorize: impl FnOnce() -> Result<(), String>,
) -> Result<Issued, SpendError> {
    let book = spends.book;
    witness::check(book)?;
    let id = book.id()?;
    let no_randomness = |e: std::io::Error| BookError::NoRandomness(e.to_string());
    let token = Token::new(entropy::random().map_err(no_randomness)?);
    let fresh = || {
        let grant = entropy::hex::<16>().map_err(no_randomness)?.parse();
        let grant = grant.map_err(|_| BookError::NoRandomness("too few of them".into()))?;
        Ok::<_, BookError>(Fresh { id: grant, token_hash: token.hash(), book: id })
    };
    // A person is not asked for a password for what cannot be.
    decide(terms, fresh()?, &gather::facts(spends, &terms.agent)?)?;
    authorize().map_err(SpendError::Person)?;
    loop {
        let facts = gather::facts(spends, &terms.agent)?;
        let (grant, draft) = decide(terms, fresh()?, &facts)?;
        let replaced = facts.grant.as_ref().is_some_and(|state| !state.is_over());
        put(spends, Some(&grant))?;
        match book.append(&[draft]) {
            Ok(_) => return Ok(Issued { grant, token, replaced }),
            // Nothing was written: what the agent has is what it had.
            Err(e @ (AppendError::Conflict | AppendError::NotWritten(_))) => {
                let old = facts.grant.as_ref().filter(|state| !state.is_over());
                put(spends, old.map(|state| &state.grant)).and(match e {
                    AppendError::Conflict => Ok(()),
                    e => Err(e.into()),
                })?;
            }
            // The row may be there: the document stays, or a live grant would lose its own.
            Err(e) => return Err(e.into()),
        }
    }
}

/// Makes this the agent's document, durably, whatever was there; with none, there is none.
fn put(spends: &Spends<'_>, grant: Option<&SpendGrant>) -> Result<(), SpendError> {
    let Some(grant) = grant else { return Ok(()) };
    let name = name(&grant.agent);
    spends.documents.remove(std::slice::from_ref(&name));
    let made = spends.documents.create(&[(name, render(grant).into_bytes())]);
    made.map_err(SpendError::Document)
}
