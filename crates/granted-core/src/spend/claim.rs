//! The stages of a signature, in types: a [`SigningPermit`] is decided, a [`SigningClaim`] is durable,
//! an [`Invoked`] has been to the signer.
//!
//! A signer is only ever given an [`Order`], which only [`SigningClaim::sign`] makes, and only
//! [`SigningPermit::reserve`] makes a claim: by appending the row that draws on the budget. None of them
//! can be copied or made otherwise, so that no request is signed twice.
//!
//! ```compile_fail
//! let claim = granted_core::spend::claim::SigningClaim { };
//! ```
//!
//! ```compile_fail
//! use granted_core::spend::claim::SigningPermit;
//! fn twice(permit: SigningPermit, ledger: &dyn granted_core::store::Ledger) {
//!     let first = permit.reserve(ledger);
//!     let second = permit.reserve(ledger);
//! }
//! ```
//!
//! ```compile_fail
//! use granted_core::spend::{chain::Signer, claim::SigningClaim};
//! fn again(claim: SigningClaim, one: Box<dyn Signer>, two: Box<dyn Signer>) {
//!     let first = claim.sign(one);
//!     let second = claim.sign(two);
//! }
//! ```
//!
//! ```compile_fail
//! use granted_core::spend::{chain::Signer, claim::SigningClaim};
//! fn after_all(claim: SigningClaim, signer: Box<dyn Signer>) {
//!     let stopped = claim.stop();
//!     let signed = claim.sign(signer);
//! }
//! ```
//!
//! ```compile_fail
//! fn copy(claim: &granted_core::spend::claim::SigningClaim) -> granted_core::spend::claim::SigningClaim {
//!     claim.clone()
//! }
//! ```
//!
//! ```compile_fail
//! use granted_core::spend::chain::Order;
//! fn order(txid: &granted_core::spend::Txid) -> Order<'_> {
//!     Order { psbt: &[], txid }
//! }
//! ```

use super::chain::{Order, Origin, Prepared, Signed, Signer, Transaction};
use super::event::{Failed, Refund};
use super::settle::words;
use super::{GrantState, Request};
use crate::ledger::{By, Draft, Event, Row, Subject};
use crate::store::{AppendError, Ledger};
use crate::time::Stamp;

/// The decision that this request may be signed for. It has no effect until it is reserved.
#[must_use = "a permit that is not reserved lets nothing be signed"]
#[derive(Debug)]
pub struct SigningPermit {
    request: Request,
    prepared: Prepared,
    draft: Draft,
}

impl SigningPermit {
    pub(super) fn new(request: Request, prepared: Prepared, draft: Draft) -> SigningPermit {
        SigningPermit { request, prepared, draft }
    }

    /// Appends the row, which is the reservation and the state at once: of two racing approvals one gets
    /// [`AppendError::Conflict`].
    pub fn reserve(self, ledger: &dyn Ledger) -> Result<SigningClaim, AppendError> {
        let appended = ledger.append(std::slice::from_ref(&self.draft))?;
        let row = appended.lines.first().map(|line| Row::parse(&line.bytes));
        match row {
            Some(Ok(row)) => {
                let mut request = self.request;
                request.apply(&row);
                Ok(SigningClaim { request, prepared: self.prepared, since: row.at })
            }
            // It was written, and is not what it should be: nothing acts on it.
            _ => Err(AppendError::Unknown("the row does not read as it was written".into())),
        }
    }
}

/// A durable reservation: the signer may be asked, once.
#[must_use = "a claim that is dropped leaves its request unresolved and its draw kept"]
#[derive(Debug)]
pub struct SigningClaim {
    request: Request,
    prepared: Prepared,
    since: Stamp,
}

impl SigningClaim {
    /// The request, as the reservation left it.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What is to be signed.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Gives the claim up before the signer is asked.
    pub fn stop(self) -> Stopped {
        Stopped(self.request)
    }

    /// Asks the signer. From here on nothing is taken to mean that there is no signature.
    pub fn sign(self, signer: Box<dyn Signer>) -> Invoked {
        let Prepared { psbt, txid, .. } = &self.prepared;
        let came = match signer.sign(Order { psbt, txid }) {
            Ok(Signed::Finalized { txid: signed, bytes }) if signed == *txid => Ok(bytes),
            Ok(Signed::Finalized { txid: signed, .. }) => {
                Err(format!("the signer made transaction {signed}, and not {txid}"))
            }
            Ok(Signed::Unfinalized) => Err("a signature is missing".into()),
            Err(why) => Err(why),
        };
        Invoked { transaction: came.map(|bytes| self.transaction(bytes)), request: self.request }
    }

    fn transaction(&self, bytes: Vec<u8>) -> Transaction {
        let filed = &self.request.filed;
        Transaction {
            txid: self.prepared.txid.clone(),
            network: filed.network,
            recipient: self.prepared.recipient.clone(),
            amount: self.prepared.amount,
            fee: self.prepared.fee,
            created_at: self.since,
            is_broadcast: false,
            bytes,
            origin: Some(origin(&self.request)),
        }
    }
}

/// What the transaction of a request is known by.
pub fn origin(request: &Request) -> Origin {
    let filed = &request.filed;
    Origin { agent: filed.agent.clone(), request: request.id, intent: filed.intent_digest }
}

/// A claim that was given up before the signer was asked.
#[must_use = "a claim that is given up without a row leaves its draw"]
#[derive(Debug)]
pub struct Stopped(Request);

impl Stopped {
    /// The request.
    pub fn request(&self) -> &Request {
        &self.0
    }

    /// The row that gives the draw back and leaves the request failed; `grant` as it is now.
    pub fn draft(&self, grant: &GrantState, message: &str, by: &By) -> Draft {
        let request = &self.0;
        let fee_sat = request.paid().map_or(super::Sats::ZERO, |paid| paid.fee);
        let refund = Some(Refund { amount_sat: request.filed.amount_sat, fee_sat });
        let event = Event::SpendFailed(Failed { message: words(message), refund });
        let refs = vec![
            (Subject::spend(request.id), request.last),
            (Subject::spend_grant(&request.filed.grant_id), grant.last),
        ];
        Draft::new(event, by.clone(), refs)
    }
}

/// A claim that was used up: the signer was asked.
#[must_use = "what a signer made and nobody keeps is unresolved"]
#[derive(Debug)]
pub struct Invoked {
    /// The request.
    pub request: Request,
    /// The whole transaction, or what is known where there is none.
    pub transaction: Result<Transaction, String>,
}
