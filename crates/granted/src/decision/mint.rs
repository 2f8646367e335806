//! Minting: the document first, then its row; a document without a row is read by nothing.

use std::collections::HashMap;

use granted_core::decision::document::{DocumentName, render};
use granted_core::decision::mint::{Facts, Refusal, Terms, mint_all, row};
use granted_core::decision::{Grant, Object};
use granted_core::ledger::{Draft, Subject};
use granted_core::store::{AppendError, ReadError};
use granted_core::trust::{Signature, Statement, Trust};

use super::gather;
use crate::book::{Book, BookError};
use crate::ledger::witness;

/// A grant that was minted, and where its document lies.
#[derive(Clone, Debug)]
pub struct Minted {
    /// The grant.
    pub grant: Grant,
    /// The document.
    pub path: String,
}

/// Why nothing was minted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MintError {
    /// One of them may not be; its place in what was asked, from 0.
    #[error("{1}")]
    Refused(usize, Refusal),
    /// A document could not be made.
    #[error("{0}")]
    Document(String),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Mints all of these, or none, without a signature.
#[cfg(test)]
pub fn mint(book: &Book, asked: &[Terms]) -> Result<Vec<Minted>, MintError> {
    mint_signed(book, asked, None, |_, _| Ok(Vec::new()))
}

/// Decides on all of these, and mints none: the grants, for somebody else to sign.
pub fn decide(book: &Book, asked: &[Terms]) -> Result<Vec<Grant>, MintError> {
    mint_all(&facts(book, asked)?).map_err(|(index, refusal)| MintError::Refused(index, refusal))
}

/// Mints all of these, or none. `decided` are the grants of an earlier decision on the same terms, which
/// may be signed already. Otherwise `sign` is asked once: for a signature of each grant, or for none.
pub fn mint_signed<E: From<MintError>>(
    book: &Book,
    asked: &[Terms],
    mut decided: Option<Vec<Grant>>,
    mut sign: impl FnMut(&Trust, &[Statement]) -> Result<Vec<Signature>, E>,
) -> Result<Vec<Minted>, E> {
    witness::check(book).map_err(BookError::from).map_err(MintError::from)?;
    loop {
        let facts = facts(book, asked).map_err(MintError::from)?;
        let trust = gather::trust(book).map_err(MintError::from)?;
        let refused = |(index, refusal)| MintError::Refused(index, refusal);
        // What was signed before a conflict is still what the person decided.
        let earlier = decided.is_some();
        let grants = match (decided.take(), mint_all(&facts).map_err(refused)?) {
            (Some(decided), _) => decided,
            (None, grants) => signed(grants, |statements| sign(&trust, statements))?,
        };
        let drafts = rows(book, &grants, &facts, &trust, earlier)?;
        let named = |grant: &Grant| {
            (DocumentName::new(&grant.object, grant.id), render(grant).into_bytes())
        };
        let documents: Vec<_> = grants.iter().map(named).collect();
        book.documents.create(&documents).map_err(MintError::Document)?;
        let names: Vec<DocumentName> = documents.into_iter().map(|(name, _)| name).collect();
        let path = |name: &DocumentName| book.documents.path(name);
        match book.append(&drafts) {
            Ok(_) => {
                let paths = names.iter().map(path);
                let minted = grants.into_iter().zip(paths);
                return Ok(minted.map(|(grant, path)| Minted { grant, path }).collect());
            }
            // Nothing was written: take the documents back, and decide again after a conflict.
            Err(AppendError::Conflict) => {
                book.documents.remove(&names);
                decided = Some(grants);
            }
            Err(e @ AppendError::NotWritten(_)) => {
                book.documents.remove(&names);
                return Err(MintError::from(e).into());
            }
            // The rows may be there: the documents stay, or live grants would lose theirs.
            Err(e @ AppendError::Unknown(_)) => return Err(MintError::from(e).into()),
        }
    }
}

/// The rows of the grants, which were decided on now or `earlier`.
fn rows(
    book: &Book,
    grants: &[Grant],
    facts: &[(Terms, Facts)],
    trust: &Trust,
    earlier: bool,
) -> Result<Vec<Draft>, MintError> {
    let row = |(index, (grant, (_, facts))): (usize, (&Grant, &(Terms, Facts)))| {
        // One that was decided on before may have been minted since, or closed with a damaged end.
        // Ids that were made now have no rows, and a sheet has many.
        let is_new = !earlier || book.ledger.rows(&Subject::grant(grant.id))?.is_empty();
        row(grant, facts, trust, is_new).map_err(|refusal| MintError::Refused(index, refusal))
    };
    grants.iter().zip(facts).enumerate().map(row).collect()
}

/// The grants with their signatures.
fn signed<E>(
    mut grants: Vec<Grant>,
    sign: impl FnOnce(&[Statement]) -> Result<Vec<Signature>, E>,
) -> Result<Vec<Grant>, E> {
    let statements: Vec<Statement> = grants.iter().map(Statement::grant).collect();
    let signatures = sign(&statements)?;
    grants.iter_mut().zip(signatures).for_each(|(grant, signature)| {
        grant.signatures = vec![signature];
    });
    Ok(grants)
}

fn facts<'a>(book: &Book, asked: &'a [Terms]) -> Result<Vec<(Terms, Facts)>, BookError> {
    let id = book.id()?;
    let (now, head) = (book.now(), book.ledger.head()?);
    // The objects of a sheet whose other grants do not matter, each looked up once.
    let mut moved: HashMap<&Object, u64> = HashMap::new();
    let facts = |terms: &'a Terms| {
        let (grants, object_last) = match (terms.again, moved.get(&terms.object)) {
            (true, Some(last)) => (Vec::new(), *last),
            (true, None) => (Vec::new(), gather::object_last(book, &terms.object)?),
            (false, _) => gather::grants_of(book, &terms.object)?,
        };
        moved.insert(&terms.object, object_last);
        let by = book.by(None);
        let new = book.new_id().map_err(|e| BookError::NoRandomness(e.to_string()))?;
        Ok((terms.clone(), Facts { now, head, book: id, id: new, grants, object_last, by }))
    };
    asked.iter().map(facts).collect()
}

impl From<ReadError> for MintError {
    fn from(error: ReadError) -> MintError {
        MintError::Book(error.into())
    }
}

impl From<AppendError> for MintError {
    fn from(error: AppendError) -> MintError {
        MintError::Book(error.into())
    }
}
