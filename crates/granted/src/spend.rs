//! The verbs of spends: each a pipeline that gathers facts, folds, decides, appends and acts.
//!
//! In scope: grants, requests, and the one way to a signer. Not in scope: the wallet, which is asked
//! through the traits of [`granted_core::spend::chain`].

pub mod allow;
pub mod approve;
pub mod check;
pub mod dismiss;
pub mod file;
mod gather;
pub mod grant;
pub mod issue;
pub mod list;
pub mod log;
pub mod mode;
pub mod outlook;
pub mod requests;
pub mod revoke;
pub mod session;
pub mod settle;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod race_tests;
#[cfg(test)]
pub(crate) mod stage;
#[cfg(test)]
mod trap_tests;

use std::path::Path;

use granted_core::spend::approve::Refusal as NotApproved;
use granted_core::spend::change::Refusal as NotChanged;
use granted_core::spend::{Network, RequestId};
use granted_core::store::{AppendError, ReadError};
use granted_store::FileDocuments;
use granted_store::custody::Folder;

use crate::book::{Book, BookError};
use crate::ledger::witness::Doubt;
pub(crate) use gather::each_row;

/// The spends of one network: its rows in the book, and the documents of its grants.
pub struct Spends<'b> {
    pub(crate) book: &'b Book,
    pub(crate) network: Network,
    documents: FileDocuments,
}

impl<'b> Spends<'b> {
    /// The spends of this network, whose documents lie below `sats`. Makes nothing yet.
    pub fn new(book: &'b Book, network: Network, sats: &Path) -> Spends<'b> {
        // One that lies elsewhere than in the home of the book is a home of its own.
        let below = book.home().folder().within(sats);
        let home = if below.is_home() { Folder::new(sats) } else { below };
        let documents = FileDocuments::new(sats.join(network.as_str())).within(&home);
        Spends { book, network, documents }
    }
}

/// The network of the request that this id, or beginning of one, names: the first one where there is such a
/// request, beginning with this one.
pub(crate) fn network_of(book: &Book, sats: &Path, first: Network, text: &str) -> Network {
    let others = Network::ALL.into_iter().filter(|network| *network != first);
    let has = |network: &Network| gather::named(&Spends::new(book, *network, sats), text).is_ok();
    std::iter::once(first).chain(others).find(has).unwrap_or(first)
}

/// Why a verb did nothing, or stopped.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SpendError {
    /// The rules of grants.
    #[error(transparent)]
    Change(#[from] NotChanged),
    /// The rules of approving.
    #[error(transparent)]
    Approve(#[from] NotApproved),
    /// There is no such request.
    #[error("there is no request `{0}`")]
    Unknown(String),
    /// More than one begins so.
    #[error("`{0}` is the beginning of more than one request")]
    Ambiguous(String),
    /// A process acts for it.
    #[error("request {0} is being executed now")]
    Executing(RequestId),
    /// It was declined before.
    #[error("request {0} was declined already")]
    Dismissed(RequestId),
    /// It cannot be declined any more, or is no longer what it was.
    #[error("request {id} is {status}: {what}")]
    Past {
        /// The request.
        id: RequestId,
        /// Where it stands.
        status: &'static str,
        /// What can be done.
        what: String,
    },
    /// The person said no.
    #[error("nothing was authorized")]
    Declined,
    /// The person, or the wallet behind them, could not be asked.
    #[error("{0}")]
    Person(String),
    /// The wallet's saved transactions could not be read.
    #[error("{0}")]
    Wallet(String),
    /// A document could not be made.
    #[error("{0}")]
    Document(String),
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
}

impl From<ReadError> for SpendError {
    fn from(error: ReadError) -> SpendError {
        SpendError::Book(error.into())
    }
}

impl From<AppendError> for SpendError {
    fn from(error: AppendError) -> SpendError {
        SpendError::Book(error.into())
    }
}

impl From<Doubt> for SpendError {
    fn from(error: Doubt) -> SpendError {
        SpendError::Book(error.into())
    }
}
