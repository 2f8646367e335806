//! Minting: the document first, then its row; a document without a row is read by nothing.

use std::collections::HashMap;

use granted_core::decision::document::{DocumentName, render};
use granted_core::decision::mint::{Facts, Refusal, Terms, mint_all};
use granted_core::decision::{Grant, Object};
use granted_core::store::AppendError;

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

/// Mints all of these, or none.
pub fn mint(book: &Book, asked: &[Terms]) -> Result<Vec<Minted>, MintError> {
    witness::check(book).map_err(BookError::from)?;
    loop {
        let facts = facts(book, asked)?;
        let (grants, drafts): (Vec<Grant>, Vec<_>) = mint_all(&facts)
            .map_err(|(index, refusal)| MintError::Refused(index, refusal))?
            .into_iter()
            .unzip();
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
            Err(AppendError::Conflict) => book.documents.remove(&names),
            Err(e @ AppendError::NotWritten(_)) => {
                book.documents.remove(&names);
                return Err(BookError::from(e).into());
            }
            // The rows may be there: the documents stay, or live grants would lose theirs.
            Err(e @ AppendError::Unknown(_)) => return Err(BookError::from(e).into()),
        }
    }
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
