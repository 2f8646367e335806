//! Approving a request: the one way to a signer.

use granted_core::ledger::Draft;
use granted_core::spend::approve::{Decision, Facts, Refusal, approvable, commit, matches, stage};
use granted_core::spend::chain::{Chain, Key, Prepared, Transaction, Transactions};
use granted_core::spend::claim::{Invoked, SigningClaim, Stopped};
use granted_core::spend::document::Standing;
use granted_core::spend::settle;
use granted_core::spend::{Network, Request, RequestId, Sats};
use granted_core::store::AppendError;

use super::settle::{again, settle as bring_up};
use super::{SpendError, Spends, gather};
use crate::ledger::witness;

/// What a person reviews before they authorize a payment.
#[derive(Clone, Debug)]
pub struct Review<'a> {
    /// The network.
    pub network: Network,
    /// The request, with its recipient and amount.
    pub request: &'a Request,
    /// The real fee.
    pub fee: Sats,
    /// Amount and fee.
    pub total: Sats,
    /// What the budget has left after it.
    pub left: Sats,
}

/// The person at the terminal.
pub trait Person {
    /// Shows what would be paid; whether to go on.
    fn review(&mut self, review: &Review<'_>) -> Result<bool, String>;

    /// Takes the wallet's password, which is the authorization, and opens the key with it.
    fn unlock(&mut self) -> Result<Box<dyn Key>, String>;
}

/// What an approval works with.
pub struct Hands<'a> {
    /// Opens the wallet and its provider, which are not touched before the request was held against its
    /// grant.
    pub chain: &'a mut dyn FnMut() -> Result<Box<dyn Chain>, String>,
    /// The saved transactions.
    pub transactions: &'a dyn Transactions,
    /// The person.
    pub person: &'a mut dyn Person,
}

/// Where an approval left its request.
#[derive(Clone, Debug)]
pub struct Approved {
    /// The request.
    pub request: Request,
    /// What the budget of its grant has left.
    pub remaining: Sats,
}

/// The request that this id, or beginning of one, names, brought up to what the world shows; an error if
/// it waits for no approval.
pub fn waiting(
    spends: &Spends<'_>,
    id: &str,
    transactions: &dyn Transactions,
) -> Result<Request, SpendError> {
    let named = gather::named(spends, id)?;
    let request = bring_up(spends, &named, transactions)?.unwrap_or(named);
    approvable(&request)?;
    Ok(request)
}

/// Approves the request that this id, or beginning of one, names.
///
/// An error before the signer was asked leaves the request as it was, but for one that is recorded:
/// denied, or failed and free to be approved again. From the signer on nothing gives the draw back.
pub fn approve(
    spends: &Spends<'_>,
    id: &str,
    hands: &mut Hands<'_>,
) -> Result<Approved, SpendError> {
    witness::check(spends.book)?;
    let id = waiting(spends, id, hands.transactions)?.id;
    // Nobody is asked for what lies outside the grant.
    if let Held::Ended(request) = hold(spends, id, Sats::ZERO)? {
        return approved(spends, *request);
    }
    let opened = (hands.chain)().and_then(|chain| {
        let request = again(spends, id).map_err(|e| e.to_string())?;
        let prepared = chain.prepare(&request.filed.recipient, request.filed.amount_sat)?;
        Ok((chain, prepared))
    });
    let (chain, prepared) = match opened {
        Ok(opened) => opened,
        Err(why) => return approved(spends, unprepared(spends, id, &why)?),
    };
    let facts = match hold(spends, id, prepared.fee)? {
        Held::Inside(facts) => facts,
        Held::Ended(request) => return approved(spends, *request),
    };
    matches(&facts.request, &prepared)?;
    review(spends, &facts, &prepared, hands.person)?;
    let key = hands.person.unlock().map_err(SpendError::Person)?;
    // What was changed since the review is seen here.
    let claim = match reserve(spends, id, &prepared)? {
        Reserved::Claim(claim) => claim,
        Reserved::Ended(request) => return approved(spends, request),
    };
    let request = execute(spends, claim, key, &*chain, hands.transactions);
    approved(spends, request?)
}

/// Where a request stands to its grant.
enum Held {
    /// Inside: the facts that say so.
    Inside(Box<Facts>),
    /// Outside, and recorded so.
    Ended(Box<Request>),
}

/// Holds the request against its grant with this fee; a denial is recorded.
fn hold(spends: &Spends<'_>, id: RequestId, fee: Sats) -> Result<Held, SpendError> {
    loop {
        let facts = facts(spends, id)?;
        let draft = match stage(&facts, fee)? {
            Decision::Go(_) => return Ok(Held::Inside(Box::new(facts))),
            Decision::Deny(_, draft) => draft,
        };
        if let Some(request) = record(spends, id, *draft)? {
            return Ok(Held::Ended(Box::new(request)));
        }
    }
}

fn facts(spends: &Spends<'_>, id: RequestId) -> Result<Facts, SpendError> {
    let book = spends.book;
    let request = again(spends, id)?;
    let agent = gather::agent(spends, &request.filed.agent)?;
    let grant = gather::grant(spends, &request.filed.grant_id)?;
    let document =
        grant.as_ref().map_or(Standing::Missing, |state| gather::standing(spends, state));
    let (now, head, by) = (book.now(), book.ledger.head()?, book.by(None));
    Ok(Facts { now, head, by, request, agent, grant, document })
}

/// Appends a row; the request after it, or nothing if something moved first.
fn record(spends: &Spends<'_>, id: RequestId, draft: Draft) -> Result<Option<Request>, SpendError> {
    match spends.book.append(&[draft]) {
        Ok(_) => Ok(Some(again(spends, id)?)),
        Err(AppendError::Conflict) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Records that the payment could not be prepared, unless the request has moved on.
fn unprepared(spends: &Spends<'_>, id: RequestId, why: &str) -> Result<Request, SpendError> {
    loop {
        let request = again(spends, id)?;
        if !request.state.is_approvable() {
            return Ok(request);
        }
        let draft = settle::failed(&request, why, &spends.book.by(None));
        if let Some(request) = record(spends, id, draft)? {
            return Ok(request);
        }
    }
}

fn review(
    spends: &Spends<'_>,
    facts: &Facts,
    prepared: &Prepared,
    person: &mut dyn Person,
) -> Result<(), SpendError> {
    let total = prepared.amount.plus(prepared.fee).unwrap_or(Sats::MAX);
    let remaining = facts.grant.as_ref().map_or(Sats::ZERO, |state| state.remaining());
    let review = Review {
        network: spends.network,
        request: &facts.request,
        fee: prepared.fee,
        total,
        left: remaining.less(total),
    };
    match person.review(&review).map_err(SpendError::Person)? {
        true => Ok(()),
        false => Err(SpendError::Declined),
    }
}

/// What came of the row that authorizes a request.
enum Reserved {
    Claim(SigningClaim),
    /// It lies outside its grant by now, and that is recorded.
    Ended(Request),
}

/// Authorizes the request, draws on its budget and moves it, in one row. After an error the signer is not
/// even made.
fn reserve(
    spends: &Spends<'_>,
    id: RequestId,
    prepared: &Prepared,
) -> Result<Reserved, SpendError> {
    loop {
        let facts = facts(spends, id)?;
        let act = spends.book.acts.begin().map_err(|e| SpendError::Person(e.to_string()))?;
        match commit(&facts, prepared, act).map_err(|refusal| executing(id, refusal))? {
            Decision::Go(permit) => match permit.reserve(&*spends.book.ledger) {
                Ok(claim) => return Ok(Reserved::Claim(claim)),
                Err(AppendError::Conflict) => {}
                Err(e) => {
                    // The row may be there; then nothing was signed, and whoever comes finds it so.
                    spends.book.acts.keep();
                    return Err(e.into());
                }
            },
            Decision::Deny(_, draft) => {
                if let Some(request) = record(spends, id, *draft)? {
                    return Ok(Reserved::Ended(request));
                }
            }
        }
    }
}

/// Of a request that somebody else authorized first, the other side is what a person wants to hear of.
fn executing(id: RequestId, refusal: Refusal) -> SpendError {
    match refusal {
        Refusal::NotApprovable { status: "signing", .. } => SpendError::Executing(id),
        refusal => SpendError::Approve(refusal),
    }
}

/// Signs, saves and broadcasts. What cannot be recorded after the signer was asked is only said: the next
/// listing finds it.
fn execute(
    spends: &Spends<'_>,
    claim: SigningClaim,
    key: Box<dyn Key>,
    chain: &dyn Chain,
    transactions: &dyn Transactions,
) -> Result<Request, SpendError> {
    let ready = transactions.turn().and_then(|turn| Ok((turn, key.signer(claim.prepared())?)));
    let (turn, signer) = match ready {
        Ok(ready) => ready,
        Err(why) => return give_back(spends, &claim.stop(), &why),
    };
    let Invoked { request, transaction } = claim.sign(signer);
    let by = spends.book.by(None);
    let saved = transaction.and_then(|transaction: Transaction| {
        let unsaved = |why| format!("it was signed, and could not be saved: {why}");
        transactions.save(&transaction).map(|()| transaction).map_err(unsaved)
    });
    drop(turn);
    let transaction = match saved {
        Ok(transaction) => transaction,
        Err(why) => {
            return Ok(note(spends, request.clone(), settle::unresolved(&request, &why, &by)));
        }
    };
    let txid = &transaction.txid;
    let request = note(spends, request.clone(), settle::signed(&request, txid, &by));
    let draft = match chain.broadcast(&transaction) {
        Ok(()) => {
            if let Err(why) = transactions.mark_broadcast(txid) {
                spends.book.news.complain(format!("transaction {txid} was sent: {why}"));
            }
            settle::sent(&request, txid, &by)
        }
        Err(why) => settle::broadcast_pending(&request, txid, &why, &by),
    };
    Ok(note(spends, request, draft))
}

/// Gives the draw back of a request whose signer could not be made, and leaves it failed.
fn give_back(spends: &Spends<'_>, stopped: &Stopped, why: &str) -> Result<Request, SpendError> {
    let request = stopped.request();
    loop {
        let grant = gather::grant(spends, &request.filed.grant_id)?;
        let Some(grant) = grant else { return Ok(request.clone()) };
        let draft = stopped.draft(&grant, why, &spends.book.by(None));
        match record(spends, request.id, draft) {
            Ok(Some(request)) => return Ok(request),
            Ok(None) => {
                let now = again(spends, request.id)?;
                // Another took it for cut off.
                if now.last != request.last {
                    return Ok(now);
                }
            }
            Err(e) => {
                spends.book.acts.keep();
                return Err(e);
            }
        }
    }
}

/// Records what came after the signer was asked; the request after it.
fn note(spends: &Spends<'_>, request: Request, draft: Draft) -> Request {
    let id = request.id;
    match record(spends, id, draft) {
        Ok(Some(request)) => request,
        // Another took it for cut off, and brought it up to what it saw.
        Ok(None) => again(spends, id).unwrap_or(request),
        Err(e) => {
            spends.book.acts.keep();
            spends.book.news.complain(format!("request {id} could not be brought up: {e}"));
            request
        }
    }
}

fn approved(spends: &Spends<'_>, request: Request) -> Result<Approved, SpendError> {
    let grant = gather::grant(spends, &request.filed.grant_id)?;
    let remaining = grant.map_or(Sats::ZERO, |state| state.remaining());
    Ok(Approved { request, remaining })
}
